import { createDatabase, withPostgres } from './databases.ts';
import { type Figure, median, medianSync, percentile, withFolder } from './figures.ts';
import type { LoadResult } from './load.ts';
import { CONNECTIONS, measureReceive, measureTogether } from './receive-client.ts';

const ROUNDS = 3;

/**
 * The same as `receive` with the ledger in PostgreSQL on the same machine and disk; then one, two and three processes on one database,
 * which share the machine with the database and the load.
 */
export function benchReceivePostgres(scale: number): Promise<Figure[]> {
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const sync = medianSync(folder);
      const verify: LoadResult[] = [];
      const durable: LoadResult[] = [];
      const together: Record<number, number[]> = { 1: [], 2: [], 3: [] };
      for (let round = 0; round < ROUNDS; round += 1) {
        const fresh = (name: string) => createDatabase(server, `${name}_${round}`);
        verify.push(await measureReceive('verify', `${folder}/${round}.sqlite`, Math.round(60_000 * scale)));
        durable.push(await measureReceive('durable', await fresh('durable'), Math.round(30_000 * scale)));
        for (const processes of [1, 2, 3]) {
          const rate = await measureTogether(
            await fresh(`together_${processes}`),
            processes,
            Math.round(20_000 * scale),
          );
          together[processes]?.push(rate);
        }
      }
      const rates = (results: LoadResult[]) => results.map((result) => result.answered / result.seconds);
      const ratio = median(rates(durable).map((rate, round) => rate / (rates(verify)[round] as number)));
      const latency = (results: LoadResult[]) => median(results.map(({ latencies }) => percentile(latencies, 0.99)));
      const alone = median(together[1] ?? []);
      return [
        {
          name: `receive, PostgreSQL, ${CONNECTIONS} connections`,
          value: `${Math.round(median(rates(durable)))}/s`,
          baseline: `verify only ${Math.round(median(rates(verify)))}/s`,
          ratio,
          wanted: '≥ 0.4',
          reached: ratio >= 0.4,
        },
        {
          name: `receive, PostgreSQL, ${CONNECTIONS} connections, p99`,
          value: `${latency(durable).toFixed(2)} ms`,
          baseline: `verify only ${latency(verify).toFixed(2)} ms; median sync of the disk ${sync.toFixed(2)} ms`,
          ratio: latency(durable) / latency(verify),
          wanted: '',
          reached: null,
        },
        ...[2, 3].map((processes): Figure => {
          const rate = median(together[processes] ?? []);
          return {
            name: `receive, PostgreSQL, ${processes} processes`,
            value: `${Math.round(rate)}/s`,
            baseline: `one process ${Math.round(alone)}/s`,
            ratio: rate / alone,
            wanted: '',
            reached: null,
          };
        }),
      ];
    }),
  );
}
