import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Figure, median } from './figures.ts';
import { pageThrough } from './sandbox-pages.ts';

interface Listening {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Rows read before the clock starts, so that neither server is measured while its code is compiled. */
const WARM_UP_ROWS = 20_000;

/**
 * Reads the sandbox's consent log to its end, 200 rows per page over one keep-alive connection. The server has its own
 * process, which reports its collected heap at each tenth of the way. The baseline is a tenth of the rows in a separate
 * server: with constant memory, and pages whose cost depends only on their size, neither heap nor rate depends on the
 * number of rows. Both servers are warm before they are timed.
 */
export async function benchSandbox(scale: number): Promise<Figure[]> {
  const rows = Math.max(10_000, Math.round(1_000_000 * scale));
  const small = await measure(Math.round(rows / 10));
  const large = await measure(rows);
  const growth = large.lastMiB - large.firstMiB;
  const count = new Intl.NumberFormat('en').format(rows);
  return [
    {
      name: `sandbox, ${count} consent rows paged through`,
      value: `${Math.round(large.rate)} rows/s`,
      baseline: `a tenth of the rows ${Math.round(small.rate)} rows/s`,
      ratio: large.rate / small.rate,
      wanted: '≥ 0.5',
      reached: large.rate >= small.rate / 2,
    },
    {
      name: 'heap of the sandbox during that run',
      value: `${large.firstMiB.toFixed(1)} MiB after the first tenth, ${large.lastMiB.toFixed(1)} MiB at the end`,
      baseline: `a tenth of the rows ${small.lastMiB.toFixed(1)} MiB`,
      ratio: large.lastMiB / small.lastMiB,
      wanted: 'grows by less than 4 MiB',
      reached: growth < 4,
    },
  ];
}

async function measure(rows: number): Promise<{ rate: number; firstMiB: number; lastMiB: number }> {
  const server = fork(fileURLToPath(new URL('./sandbox-server.ts', import.meta.url)), [String(rows)], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`the sandbox ended with ${code}`));
      server.once('exit', ended);
      server.once('message', (message) => {
        server.off('exit', ended);
        resolve(message as T);
      });
    });
  try {
    const { baseUrl, apiKey } = await next<Listening>();
    await pageThrough(baseUrl, apiKey, async () => undefined, WARM_UP_ROWS);
    const heaps: number[] = [];
    const started = performance.now();
    let pausedMs = 0;
    const seen = await pageThrough(baseUrl, apiKey, async (count) => {
      if (count < (rows * (heaps.length + 1)) / 10) return;
      const asked = performance.now();
      const answer = next<number>();
      server.send('heap');
      heaps.push((await answer) / 1_048_576);
      pausedMs += performance.now() - asked;
    });
    const seconds = (performance.now() - started - pausedMs) / 1000;
    if (seen !== rows) throw new Error(`${seen} rows arrived, not ${rows}`);
    return { rate: rows / seconds, firstMiB: heaps[0] ?? Number.NaN, lastMiB: median(heaps.slice(-2)) };
  } finally {
    server.kill();
  }
}
