import { type Figure, median, medianSync, percentile, withFolder } from './figures.ts';
import type { LoadResult } from './load.ts';
import { CONNECTIONS, measureReceive } from './receive-client.ts';

const ROUNDS = 3;

/** Receive, durable, 64 connections, SQLite, beside the same Fastify app that only verifies; the two in turn, three rounds. */
export function benchReceive(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const sync = medianSync(folder);
    const verify: LoadResult[] = [];
    const durable: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      verify.push(await measureReceive('verify', `${folder}/${round}-v.sqlite`, Math.round(60_000 * scale)));
      durable.push(await measureReceive('durable', `${folder}/${round}-d.sqlite`, Math.round(40_000 * scale)));
    }
    const rates = (results: LoadResult[]) => results.map((result) => result.answered / result.seconds);
    const ratio = median(rates(durable).map((rate, round) => rate / (rates(verify)[round] as number)));
    const name = `receive, durable, ${CONNECTIONS} connections`;
    const latency = (share: number): Figure => {
      const value = median(durable.map(({ latencies }) => percentile(latencies, share)));
      const ofVerify = median(verify.map(({ latencies }) => percentile(latencies, share)));
      return {
        name: `${name}, p${share * 100}`,
        value: `${value.toFixed(2)} ms`,
        baseline: `verify only ${ofVerify.toFixed(2)} ms; median sync of the disk ${sync.toFixed(2)} ms`,
        ratio: value / ofVerify,
        wanted: '',
        reached: null,
      };
    };
    return [
      {
        name,
        value: `${Math.round(median(rates(durable)))}/s`,
        baseline: `verify only ${Math.round(median(rates(verify)))}/s`,
        ratio,
        wanted: '≥ 0.5',
        reached: ratio >= 0.5,
      },
      latency(0.5),
      latency(0.99),
    ];
  });
}
