import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Figure, median, medianSync, report, withFolder } from './figures.ts';
import { type LoadResult, sendLoad } from './load.ts';
import { type Progress, SECRET, type Served, startServe, startVerifyOnly, watchProgress } from './served.ts';

export const ROUNDS = 3;
export const CONNECTIONS = 64;

/** Durations of the parts of a round. Folding the backlog takes about as long again: two minutes for three rounds. */
export const seconds = (scale: number) => ({
  warmUp: Math.max(1, 2 * scale),
  verify: Math.max(2, 5 * scale),
  load: Math.max(2, 10 * scale),
  half: Math.max(2, 6 * scale),
});

/** The results for one server. */
export interface Received extends LoadResult {
  /** Deliveries a second. */
  readonly perSecond: number;
  /** Microseconds of CPU time per delivery: of the main thread, and of all threads. */
  readonly processor: { readonly main: number; readonly all: number };
}

/** `load` over 64 connections, after a warm-up. */
export async function measure(served: Served, warmUp: number, load: number): Promise<Received> {
  const options = { port: served.port, connections: CONNECTIONS, rate: null, secret: SECRET };
  await sendLoad({ ...options, seconds: warmUp });
  const before = served.processor();
  const result = await sendLoad({ ...options, seconds: load });
  const after = served.processor();
  return {
    ...result,
    perSecond: result.answered / result.seconds,
    processor: {
      main: (after.main - before.main) / result.answeredInAll,
      all: (after.all - before.all) / result.answeredInAll,
    },
  };
}

/** The program under full load, while it catches up, and then at half of that load. */
interface ServeRound extends Received {
  readonly longest: number;
  readonly atEnd: Progress;
  readonly caughtUp: number;
  readonly half: LoadResult & { readonly longest: number };
  readonly memory: number;
}

export async function measureVerify(folder: string, scale: number): Promise<Received> {
  report('  the baseline, which only verifies');
  const served = await startVerifyOnly(folder);
  const { warmUp, verify } = seconds(scale);
  try {
    return await measure(served, warmUp, verify);
  } finally {
    await served.stop();
  }
}

/** `serve` over SQLite, or over the PostgreSQL database at `url`. */
export async function measureServe(folder: string, scale: number, url?: string): Promise<ServeRound> {
  await mkdir(folder, { recursive: true });
  const served = await startServe(folder, url);
  try {
    const watch = await watchProgress(
      url === undefined ? { engine: 'sqlite', path: join(folder, 'ledger.sqlite') } : { engine: 'postgres', url },
    );
    try {
      const { warmUp, load, half } = seconds(scale);
      report('  the program under full load');
      const { result, longest } = await watch.during(measure(served, warmUp, load));
      const atEnd = await watch.look();
      report(
        `  ${Math.round(result.perSecond)} deliveries a second; folding the ${atEnd.behind} entries that are left`,
      );
      const caughtUp = await watch.caughtUp();
      const rate = result.perSecond / 2;
      report('  the program at half that rate');
      const atHalf = await watch.during(
        sendLoad({ port: served.port, connections: CONNECTIONS, rate, secret: SECRET, seconds: half }),
      );
      return {
        ...result,
        longest,
        atEnd,
        caughtUp,
        half: { ...atHalf.result, longest: atHalf.longest },
        memory: served.peakMemory(),
      };
    } finally {
      await watch.close();
    }
  } finally {
    await served.stop();
  }
}

/**
 * The built program as started by users, with SQLite and everything on, and an application that only verifies,
 * alternately.
 */
export function benchReceive(scale: number): Promise<Figure[]> {
  return withFolder(async (folder) => {
    const sync = medianSync(folder);
    const rounds: { verify: Received; serve: ServeRound }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      report(`round ${round + 1} of ${ROUNDS}`);
      rounds.push({
        verify: await measureVerify(folder, scale),
        serve: await measureServe(join(folder, String(round)), scale),
      });
    }
    return figuresOf('receive, SQLite', rounds, 0.5, sync);
  });
}

export function figuresOf(
  name: string,
  rounds: readonly { readonly verify: Received; readonly serve: ServeRound }[],
  wanted: number,
  sync: number,
): Figure[] {
  const of = (pick: (round: { verify: Received; serve: ServeRound }) => number) => median(rounds.map(pick));
  const each = (pick: (round: { verify: Received; serve: ServeRound }) => number, digits: number) =>
    rounds.map((round) => pick(round).toFixed(digits)).join(' · ');
  const ratio = of(({ verify, serve }) => serve.perSecond / verify.perSecond);
  const p99 = of(({ verify, serve }) => serve.p99 / verify.p99);
  const half = of(({ serve }) => serve.half.p99);
  const halfBehind = of(({ serve }) => serve.half.longest);
  const longest = of(({ serve }) => serve.longest);
  const caughtUp = of(({ serve }) => serve.caughtUp / serve.seconds);
  const plain = { ratio: null, wanted: '', reached: null };
  return [
    {
      name: `${name}, ${CONNECTIONS} connections`,
      value: `${each(({ serve }) => serve.perSecond, 0)}/s`,
      baseline: `verify only ${each(({ verify }) => verify.perSecond, 0)}/s`,
      ratio,
      wanted: `≥ ${wanted}`,
      reached: ratio >= wanted,
    },
    {
      name: `${name}, p99`,
      value: `${each(({ serve }) => serve.p99, 1)} ms`,
      baseline: `verify only ${each(({ verify }) => verify.p99, 1)} ms; median sync of the disk ${sync.toFixed(2)} ms`,
      ratio: p99,
      wanted: '≤ 3',
      reached: p99 <= 3,
    },
    {
      name: `${name}, p50`,
      value: `${each(({ serve }) => serve.p50, 1)} ms`,
      baseline: `verify only ${each(({ verify }) => verify.p50, 1)} ms`,
      ...plain,
    },
    {
      name: `${name}, CPU time per delivery (main thread / all threads)`,
      value: `${each(({ serve }) => serve.processor.main, 0)} / ${each(({ serve }) => serve.processor.all, 0)} µs`,
      baseline: `verify only ${each(({ verify }) => verify.processor.main, 0)} / ${each(({ verify }) => verify.processor.all, 0)} µs`,
      ratio: of(({ verify, serve }) => serve.processor.all / verify.processor.all),
      wanted: '',
      reached: null,
    },
    {
      name: `${name}, read models behind at most`,
      value: `${each(({ serve }) => serve.longest, 1)} s; at the end ${each(({ serve }) => serve.atEnd.behind, 0)} entries`,
      baseline: '',
      ratio: null,
      wanted: '≤ 60 s',
      reached: longest <= 60,
    },
    {
      name: `${name}, caught up after the load`,
      value: `${each(({ serve }) => serve.caughtUp, 1)} s`,
      baseline: `the load lasted ${each(({ serve }) => serve.seconds, 0)} s`,
      ratio: caughtUp,
      wanted: '≤ 1',
      reached: caughtUp <= 1,
    },
    {
      name: `${name}, at half of that load, p99`,
      value: `${each(({ serve }) => serve.half.p99, 1)} ms`,
      baseline: '',
      ratio: null,
      wanted: '≤ 10 ms',
      reached: half <= 10,
    },
    {
      name: `${name}, at half of that load, read models behind at most`,
      value: `${each(({ serve }) => serve.half.longest, 1)} s`,
      baseline: '',
      ratio: null,
      wanted: '≤ 1 s',
      reached: halfBehind <= 1,
    },
    { name: `${name}, memory`, value: `${each(({ serve }) => serve.memory, 0)} MiB`, baseline: '', ...plain },
  ];
}
