// SQLite only: what a command tells of the service has nothing to do with the database.
import { expect, it } from 'vitest';
import { runIn } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { fakeConsentLog, minuteRows } from '../sync/fake-consent-log.ts';
import { temporaryFolder } from '../temporary.ts';

it('tells in words that the service is asked again, and why', async () => {
  const folder = await temporaryFolder();
  const fake = await fakeConsentLog(minuteRows(5, '2026-07-01T00:00:00.000Z'), {
    fault: (nth) => (nth === 1 ? { type: 'status', status: 500 } : null),
  });
  const env = environment(folder, { SERVICE_BASE_URL: fake.baseUrl, SERVICE_API_KEY: 'pak_live_test' });
  const { code, stdout, stderr } = await runIn(folder, ['sync', '--banner', 'bnr_1', '--json'], { env });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ banners: [{ outcome: 'finished', stored: 5 }] }]);
  expect(stderr).toMatch(/^default: the service is asked again: .*HTTP 500/m);
  expect(stderr).not.toContain('{"');
});
