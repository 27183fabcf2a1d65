import { type ChildProcess, fork } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, median, medianSync, report, withFolder } from './figures.ts';

const ROUNDS = 3;
const PAGE_ROWS = 200;

interface Listening {
  readonly baseUrl: string;
  readonly apiKey: string;
}
interface Measured {
  readonly seconds: number;
  readonly memory: readonly number[];
}

/**
 * A first sync of the sandbox's consent log into a ledger on disk, compared with a loop that fetches the same pages and
 * discards them. Service, loop and sync are separate processes; loop and sync alternate, each after a warm-up. At
 * several latencies: 0 ms is the fastest possible service on the same machine, 20 and 50 ms are typical of a remote
 * service. For memory, a million rows at 0 ms: the peak over the second half of the rows compared with the peak over
 * the first.
 */
export function benchSync(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const figures: Figure[] = [];
    const disk = medianSync(folder).toFixed(2);
    for (const latency of [0, 10, 20, 50]) {
      const rows = Math.max(4000, Math.round((latency === 0 ? 100_000 : 40_000) * scale));
      report(`${count(rows)} rows, ${latency} ms a page`);
      const pairs = await measureRounds(rows, latency, folder);
      const rate = (pick: 'loop' | 'sync') => median(pairs.map((pair) => rows / pair[pick].seconds));
      const ratio = median(pairs.map(({ loop, sync }) => loop.seconds / sync.seconds));
      figures.push({
        name: `sync, ${count(rows)} rows, ${latency} ms a page`,
        value: `${Math.round(rate('sync'))} rows/s`,
        baseline: `pages discarded ${Math.round(rate('loop'))} rows/s; median sync of the disk ${disk} ms`,
        ratio,
        wanted: '≥ 0.8',
        reached: ratio >= 0.8,
      });
    }
    // Fewer rows would measure the warm-up: V8 and SQLite reach their own memory after about 50,000 rows.
    const rows = Math.max(200_000, Math.round(1_000_000 * scale));
    report(`${count(rows)} rows`);
    const { memory, seconds } = await withServices(rows, 0, (run) => run('sync', rows, folder));
    const first = Math.max(...memory.slice(0, 5));
    const second = Math.max(...memory.slice(5));
    figures.push({
      name: `memory of the sync of ${count(rows)} rows`,
      value: `at most ${second.toFixed(0)} MiB over the second half, ${Math.round(rows / seconds)} rows/s`,
      baseline: `at most ${first.toFixed(0)} MiB over the first half`,
      ratio: second / first,
      wanted: '≤ 1.1',
      reached: second / first <= 1.1,
    });
    return figures;
  });
}

async function measureRounds(rows: number, latency: number, folder: string) {
  return withServices(rows, latency, async (run) => {
    const pairs: { loop: Measured; sync: Measured }[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      pairs.push({ loop: await run('loop', rows, folder), sync: await run('sync', rows, folder) });
    return pairs;
  });
}

type Run = (mode: 'loop' | 'sync', rows: number, folder: string) => Promise<Measured>;

/** A service with the rows, and one with thirty pages for warming up. */
async function withServices<T>(rows: number, latency: number, work: (run: Run) => Promise<T>): Promise<T> {
  const servers = [start('sync-server', [30 * PAGE_ROWS, 0]), start('sync-server', [rows, latency])];
  try {
    const [runIn, service] = (await Promise.all(servers.map(nextMessage))) as [Listening, Listening];
    return await work(async (mode, expected, folder) => {
      // Everything left by the last run, including the files next to a database.
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
      const worker = start('sync-worker', [mode, runIn.baseUrl, service.baseUrl, service.apiKey, expected, folder]);
      return (await nextMessage(worker)) as Measured;
    });
  } finally {
    for (const server of servers) server.kill();
  }
}

function start(name: string, args: readonly (string | number)[]): ChildProcess {
  return fork(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)), args.map(String), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`${child.spawnargs.at(-1)} ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

function count(rows: number): string {
  return new Intl.NumberFormat('en').format(rows);
}
