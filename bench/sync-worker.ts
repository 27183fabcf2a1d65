import { sourceOptionsSchema } from '../src/core/source.ts';
import { deriveKeys } from '../src/crypto/keys.ts';
import { createLedger } from '../src/ledger/ledger.ts';
import { createServiceClient } from '../src/service/client.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { pullConsentLogs } from '../src/sync/pull.ts';
import { ON_LOOPBACK } from '../test/service/answering-server.ts';
import { pageThrough } from './sandbox-pages.ts';

/**
 * One half of the sync benchmark, in its own process: `loop` fetches the pages and discards them, `sync` pulls them
 * into a ledger on disk. Warms up with the first service, measures with the second. Reports the rate and, at each
 * tenth, its resident memory.
 */
const [mode, runInUrl, baseUrl, apiKey, rows, folder] = process.argv.slice(2) as [
  'loop' | 'sync',
  string,
  string,
  string,
  string,
  string,
];
const expected = Number(rows);

async function once(url: string, file: string, afterPage: (rows: number) => void): Promise<number> {
  if (mode === 'loop')
    return pageThrough(url, apiKey, (count) => {
      afterPage(count);
      return Promise.resolve();
    });
  const store = await openSqliteStore({ path: `${folder}/${file}` });
  const ledger = createLedger({ store, keys: deriveKeys(Buffer.alloc(32, 1)) });
  const source = {
    slug: 'bench',
    name: 'bench',
    baseUrl: url,
    siteUrl: null,
    apiKey,
    siteKey: null,
    webhookSecrets: [],
    options: sourceOptionsSchema.parse({}),
  };
  const pulled = await pullConsentLogs(
    {
      store,
      ledger,
      clock: () => new Date(),
      service: createServiceClient({ destinations: ON_LOOPBACK, baseUrl: url, apiKey }),
      lookBackMs: 24 * 3_600_000,
    },
    { source, bannerId: null, actor: 'bench', onProgress: (progress) => afterPage(progress.rows) },
  );
  await ledger.close();
  await store.close();
  if (pulled.outcome !== 'finished')
    throw new Error(`the pull ended as ${pulled.outcome}: ${pulled.outcome === 'failed' ? pulled.error : ''}`);
  return pulled.stored;
}

await once(runInUrl, 'run-in.sqlite', () => undefined);
const memory: number[] = [];
const started = performance.now();
const seen = await once(baseUrl, 'measured.sqlite', (count) => {
  if (count >= (expected * (memory.length + 1)) / 10) memory.push(process.memoryUsage.rss() / 1_048_576);
});
const seconds = (performance.now() - started) / 1000;
if (seen !== expected) throw new Error(`${seen} rows arrived, not ${expected}`);
process.send?.({ seconds, memory });
process.disconnect?.();
