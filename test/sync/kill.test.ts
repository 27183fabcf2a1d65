import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginInstallation, runIn, untilThere } from '../cli/command-line.ts';
import { cliPath, environment } from '../serving.ts';
import { openStoreIn, runs, temporaryFolder } from '../temporary.ts';
import { type FakeConsentLog, fakeConsentLog, minuteRows } from './fake-consent-log.ts';

const PAGES = 8;
const PAGE_ROWS = 10;
const ROWS = PAGES * PAGE_ROWS - 3;
/** The last page stored before the kill; `npm run test:long` tries each. */
const LATEST = Array.from({ length: PAGES }, (_, page) => page).filter(
  (page) => runs(1) > 1 || [0, 1, PAGES - 1].includes(page),
);

interface Report {
  readonly banners: readonly Record<string, unknown>[];
}

function environmentOf(folder: string, fake: FakeConsentLog): Record<string, string> {
  return environment(folder, { SERVICE_BASE_URL: fake.baseUrl, SERVICE_API_KEY: 'pak_live_test' });
}

describe('a sync whose process is killed', () => {
  it.each(LATEST)(
    'after page %i continues there: every row once, no page fetched twice except the one in transit',
    async (kept) => {
      const folder = await temporaryFolder();
      // The page after the last stored one never arrives, so the test knows which pages were stored at the kill.
      let held: (() => void) | null = null;
      const gate = new Promise<void>((resolve) => {
        held = resolve;
      });
      const fake = await fakeConsentLog(minuteRows(ROWS, '2026-07-01T00:00:00.000Z'), {
        pageRows: PAGE_ROWS,
        hold: (nth) => (nth > kept ? gate : null),
      });
      const env = environmentOf(folder, fake);
      await beginInstallation(folder, env);
      const child = spawn(process.execPath, [cliPath, 'sync', '--banner', 'bnr_1'], {
        env,
        cwd: folder,
        stdio: 'ignore',
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const exited = once(child, 'exit');
      const stored = Math.min(kept * PAGE_ROWS, ROWS);
      await untilThere(() => Promise.resolve(fake.requests.length > kept ? true : null));
      const store = await openStoreIn(folder);
      onTestFinished(() => store.close());
      const storedRows = () =>
        store.read
          .selectFrom('entries')
          .select(['body', 'source_seq'])
          .where('kind', '=', 'consent-log')
          .orderBy('seq')
          .execute();
      await untilThere(async () => ((await storedRows()).length === stored ? true : null));
      child.kill('SIGKILL');
      expect(await exited).toEqual([null, 'SIGKILL']);
      const [position] = await store.read.selectFrom('sync_positions').selectAll().execute();
      expect(position?.rows_total ?? 0).toBe(stored);

      fake.options = { pageRows: PAGE_ROWS };
      (held as (() => void) | null)?.();
      const before = fake.requests.length;
      const { code, stdout, stderr } = await runIn(folder, ['sync', '--banner', 'bnr_1', '--json'], { env });
      expect(code, stderr).toBe(0);
      expect((JSON.parse(stdout) as Report[])[0]?.banners).toMatchObject([
        { outcome: 'finished', resumed: kept > 0, rows: ROWS - stored, stored: ROWS - stored, duplicates: 0 },
      ]);
      expect(fake.requests[before]?.get('cursor') ?? null).toBe(position?.cursor ?? null);
      // Requests with a `from` are the look-back up to now, which follows the interrupted window.
      const pages = fake.requests.filter((query) => !query.has('from'));
      expect(pages).toHaveLength(PAGES + 1);
      const rows = await storedRows();
      expect(rows.map(({ body }) => body?.toString('utf8'))).toEqual(fake.rows.map(({ text }) => text));
      expect(rows.at(-1)?.source_seq).toBeGreaterThanOrEqual(ROWS);
    },
  );
});
