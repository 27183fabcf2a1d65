import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase, withPostgres } from './databases.ts';
import { type Figure, median, medianSync, report, withFolder } from './figures.ts';
import { sendLoad } from './load.ts';
import { CONNECTIONS, figuresOf, measureServe, measureVerify, ROUNDS, seconds } from './receive.ts';
import { SECRET, type Served, startServe } from './served.ts';

/**
 * Like `receive`, with the ledger in PostgreSQL on the same machine and disk; then one, two and four instances of the
 * program on one database, which share the machine with the database and the load.
 */
export function benchReceivePostgres(scale: number): Promise<Figure[]> {
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const sync = medianSync(folder);
      const rounds: Parameters<typeof figuresOf>[1][number][] = [];
      const together: Record<number, number[]> = { 1: [], 2: [], 4: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        report(`round ${round + 1} of ${ROUNDS}`);
        const fresh = (name: string) => createDatabase(server, `${name}_${round}`);
        rounds.push({
          verify: await measureVerify(folder, scale),
          serve: await measureServe(join(folder, `serve-${round}`), scale, await fresh('serve')),
        });
        for (const [processes, rates] of Object.entries(together)) {
          report(`  ${processes} instances on one database`);
          const into = join(folder, `together-${processes}-${round}`);
          rates.push(await measureTogether(into, await fresh(`together_${processes}`), Number(processes), scale));
        }
      }
      const alone = median(together[1] ?? []);
      return [
        ...figuresOf('receive, PostgreSQL', rounds, 0.4, sync),
        ...[2, 4].map((processes): Figure => {
          const rate = median(together[processes] ?? []);
          return {
            name: `receive, PostgreSQL, ${processes} processes`,
            value: `${Math.round(rate)}/s`,
            baseline: `one process ${Math.round(alone)}/s`,
            ratio: rate / alone,
            wanted: '≥ 1',
            reached: rate >= alone,
          };
        }),
      ];
    }),
  );
}

/** Several instances on one database, loaded together over 64 connections; the total rate. */
async function measureTogether(folder: string, url: string, processes: number, scale: number): Promise<number> {
  await mkdir(folder);
  const served: Served[] = [];
  try {
    for (let n = 0; n < processes; n += 1) served.push(await startServe(folder, url));
    const connections = Math.round(CONNECTIONS / processes);
    const load = (lasting: number) =>
      Promise.all(
        served.map(({ port }) => sendLoad({ port, connections, rate: null, secret: SECRET, seconds: lasting })),
      );
    const { warmUp, verify } = seconds(scale);
    await load(warmUp);
    return (await load(verify)).reduce((sum, result) => sum + result.answered / result.seconds, 0);
  } finally {
    await Promise.all(served.map((one) => one.stop()));
  }
}
