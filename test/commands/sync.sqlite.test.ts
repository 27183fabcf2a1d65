// SQLite only: the messages about the service do not depend on the database.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { createLog } from '../../src/log/log.ts';
import { runHere, runIn } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { fakeConsentLog, minuteRows } from '../sync/fake-consent-log.ts';
import { temporaryFolder } from '../temporary.ts';

it('`sync` says that a request is retried, and why', async () => {
  const folder = await temporaryFolder();
  const fake = await fakeConsentLog(minuteRows(5, '2026-07-01T00:00:00.000Z'), {
    fault: (nth) => (nth === 1 ? { type: 'status', status: 500 } : null),
  });
  const env = environment(folder, { SERVICE_BASE_URL: fake.baseUrl, SERVICE_API_KEY: 'pak_live_test' });
  const { code, stdout, stderr } = await runIn(folder, ['sync', '--banner', 'bnr_1', '--json'], { env });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ banners: [{ outcome: 'finished', stored: 5 }] }]);
  expect(stderr).toMatch(/^default: retrying a request to the service: .*HTTP 500/m);
  expect(stderr).not.toContain('{"');
});

it('`sync` dismisses a banner that the service does not know, and restores it', async () => {
  const folder = await temporaryFolder();
  const fake = await fakeConsentLog(minuteRows(5, '2026-07-01T00:00:00.000Z'), {
    fault: (_, query) => (query.get('banner_id') === 'bnr_gone' ? { type: 'status', status: 404 } : null),
  });
  const env = environment(folder, { SERVICE_BASE_URL: fake.baseUrl, SERVICE_API_KEY: 'pak_live_test' });
  const run = (...args: string[]) => runHere(folder, args, env);
  const dismiss = (...more: string[]) => run('sync', 'dismiss', '--source', 'default', ...more);
  expect(await dismiss('--banner', 'bnr_typo')).toMatchObject({ code: 2, stderr: expect.stringContaining('bnr_typo') });

  await deliverBanner(folder, env);
  expect(await dismiss('--banner', 'bnr_gone')).toMatchObject({
    code: 0,
    stdout: 'default, banner bnr_gone: no longer pulled; its rows are kept.\n',
  });
  expect((await run('sync', 'status')).stdout).toMatch(/bnr_gone +│? *dismissed|bnr_gone.*dismissed/);
  const restored = await dismiss('--banner', 'bnr_gone', '--restore', '--json');
  expect(JSON.parse(restored.stdout)).toMatchObject({ outcome: 'recorded' });
  expect((await run('sync', 'status')).stdout).not.toContain('dismissed');
});

it('`sync` extends a withdrawal by request if a sync brings earlier consent on another banner', async () => {
  const folder = await temporaryFolder();
  const row = (bannerId: string, at: string) => ({
    ...{ bannerId, at: Date.parse(at) },
    text: JSON.stringify({
      ...{ id: `clog_${bannerId}`, banner_id: bannerId, subject: 'visitor-7', status: 'granted', created_at: at },
      purposes: { analytics: true, marketing: true },
    }),
  });
  const recent = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const fake = await fakeConsentLog([row('bnr_1', recent(9))]);
  const profile = join(folder, 'controller.json');
  await writeFile(profile, JSON.stringify({ name: 'Acme GmbH', country: 'DE', otherSystems: [] }));
  const access = { SERVICE_BASE_URL: fake.baseUrl, SERVICE_API_KEY: 'pak_live_test', CONTROLLER_FILE: profile };
  const env = environment(folder, access);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(folder, [...args, '--json'], env);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  await run('sync', '--full');
  const request = [
    '--kind',
    'withdraw-consent',
    '--channel',
    'letter',
    '--jurisdiction',
    'DE',
    '--subject',
    'visitor-7',
  ];
  const { caseId } = await run('dsar', 'open', '--received', recent(1), ...request);
  for (const move of ['start', 'mark-ready']) await run('dsar', 'move', String(caseId), move);
  const details = JSON.stringify({ channel: 'letter', disclosure: 'categories-only' });
  await run('dsar', 'move', String(caseId), 'answer', '--details', details);
  fake.rows = [...fake.rows, row('bnr_late', recent(8))];
  await run('sync', '--full');
  expect(await run('consent', 'show', 'visitor-7')).toMatchObject({
    standing: ['bnr_1', 'bnr_late'].map((bannerId) => ({
      bannerId,
      purposes: ['analytics', 'marketing'].map((purpose) => ({ purpose, state: 'withdrawn' })),
    })),
  });
});

/** A delivery that names the banner; the rows do not. */
async function deliverBanner(folder: string, env: Record<string, string>): Promise<void> {
  const context = await openContext(loadConfig(env, folder), createLog('fatal'));
  await appendDelivery(
    context.ledger,
    {
      source: 'default',
      rawBody: Buffer.from(
        JSON.stringify({ event: 'consent.recorded', data: { banner_id: 'bnr_gone', subject: 'h', status: 'granted' } }),
      ),
      headers: {},
      secretId: 's',
      verdict: 'verified',
      contentType: null,
    },
    new Date().toISOString(),
  );
  await context.projector.catchUp();
  await context.close();
}
