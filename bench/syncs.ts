import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { loadConfig } from '../src/config/config.ts';
import { openContext } from '../src/context/context.ts';
import { sourceOptionsSchema } from '../src/core/source.ts';
import { createLog } from '../src/log/log.ts';
import { startWorker } from '../src/worker/worker.ts';
import { startRedis } from '../test/servers/redis.ts';
import { createDatabase, withPostgres } from './databases.ts';
import { type Figure, median, withFolder } from './figures.ts';

const ROUNDS = 3;
/** Jobs of a process that pull at once (src/jobs/job.ts). */
const AT_ONCE = 32;

/** Requests of each sync, rows that each page returns although they are known, and syncs a second to reach. */
const WANTED = [
  [1, 0, 500],
  [1, 50, 250],
  [6, 0, 100],
] as const;

/**
 * A scheduled `sync-all` with nothing new, for this many sources with a key each, until all have been pulled. Compared
 * with as many plain requests to the same service.
 */
export function benchSyncs(scale: number): Promise<Figure[]> {
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const redis = await startRedis();
      const service = await startLog();
      try {
        const addressOf = (rows: number) => `${service.address}/known-${rows}/api/v1`;
        const sources = Math.max(100, Math.round(1000 * scale));
        const figures: Figure[] = [];
        for (const [requests, rows, wanted] of WANTED) {
          const baseUrl = addressOf(rows);
          const bare = [];
          for (let round = 0; round < ROUNDS; round += 1) bare.push(await measureRequests(baseUrl, sources));
          const url = await createDatabase(server, `syncs_${requests}_${rows}`);
          const both: [string, Record<string, string>][] = [
            ['SQLite', {}],
            ['PostgreSQL and Redis', { DATABASE_URL: url, REDIS_URL: redis.url }],
          ];
          for (const [name, env] of both) {
            const of = { sources, banners: requests === 1 ? 0 : requests };
            const rates = await measureTurns(join(folder, `${name.slice(0, 6)}-${requests}-${rows}`), env, baseUrl, of);
            figures.push({
              name: `syncs of ${sources} sources with nothing new, ${requests} requests each, ${rows} known rows a page, ${name}`,
              value: `${rates.map((rate) => Math.round(rate)).join(' · ')}/s`,
              baseline: `requests alone ${Math.round(median(bare))}/s`,
              ratio: (requests * median(rates)) / median(bare),
              wanted: `≥ ${wanted}/s`,
              reached: median(rates) >= wanted,
            });
          }
        }
        return figures;
      } finally {
        service.stop();
        await redis.close();
      }
    }),
  );
}

/** A service in its own process (empty-log.ts). */
export async function startLog() {
  const service = fork(fileURLToPath(new URL('./empty-log.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = (await once(service, 'message')) as [number];
  return { address: `http://127.0.0.1:${port}`, stop: () => service.kill() };
}

async function measureRequests(baseUrl: string, count: number): Promise<number> {
  const started = performance.now();
  let left = count;
  const pull = async () => {
    while (left-- > 0) await (await request(`${baseUrl}/consent/logs`)).body.json();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, pull));
  return (count / (performance.now() - started)) * 1000;
}

/** A program on this folder, with the database that `more` names (SQLite if none). */
export async function openForBench(folder: string, more: Record<string, string>) {
  await mkdir(folder);
  const signingKey = join(folder, 'signing.pem');
  await writeFile(signingKey, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  const env = {
    DATA_DIR: folder,
    INSTANCE_KEY: Buffer.alloc(32, 1).toString('base64'),
    SIGNING_KEY_FILE: signingKey,
    ...more,
  };
  return openContext(loadConfig(env, folder), createLog('fatal'));
}

/** Syncs per second in each round, after a first sync of all sources. */
export async function measureTurns(
  folder: string,
  more: Record<string, string>,
  baseUrl: string,
  { sources, banners }: { readonly sources: number; readonly banners: number },
): Promise<number[]> {
  const options = sourceOptionsSchema.parse({ banners: Array.from({ length: banners }, (_, n) => `banner-${n}`) });
  const context = await openForBench(folder, more);
  try {
    for (let n = 0; n < sources; n += 1) {
      const source = { slug: `s${n}`, name: `Source ${n}`, baseUrl, apiKey: `key-${n}-0123456789`, options };
      const added = await context.sources.add(source, 'bench');
      if (added.outcome !== 'done') throw new Error(`the source was not added: ${JSON.stringify(added)}`);
    }
    const worker = await startWorker(context);
    context.projector.start((listener) => context.ledger.onAppended(listener));
    const rates: number[] = [];
    for (let turn = 0; turn <= ROUNDS; turn += 1) {
      const started = performance.now();
      await context.jobs.enqueue({ kind: 'sync-all' });
      await whenDone(context, (turn + 1) * sources);
      rates.push((sources / (performance.now() - started)) * 1000);
    }
    await worker.stop();
    return rates.slice(1);
  } finally {
    await context.close();
  }
}

async function whenDone({ store }: Awaited<ReturnType<typeof openContext>>, wanted: number): Promise<void> {
  for (;;) {
    const row = await store.read
      .selectFrom('job_counts')
      .select('count')
      .where('kind', '=', 'sync')
      .where('outcome', '=', 'done')
      .executeTakeFirst();
    if (Number(row?.count ?? 0) >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
