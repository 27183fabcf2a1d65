import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { startRedis } from '../test/servers/redis.ts';
import { createDatabase, withPostgres } from './databases.ts';
import { type Figure, median, report, withFolder } from './figures.ts';
import { measureServe, seconds as secondsOf } from './receive.ts';
import { type Constants, type Outcome, type Scenario, simulate } from './simulated-day.ts';
import { measureTurns, openForBench, startLog } from './syncs.ts';
import { fill } from './verify.ts';

/** Bytes of a decision that is delivered and pulled, relative to one that is only delivered (docs/performance.md). */
const BYTES_OF_BOTH = 3530 / (720 + 1260);

/**
 * A day of many sites, simulated with constants that are measured first: what each part of one installation would have
 * to do, and how many sites it can serve. Two measurements that the constants do not come from check the simulation.
 * SIMULATE_CONSTANTS, the JSON that a run printed, simulates without measuring, for instance another machine.
 */
export async function benchSimulate(scale: number): Promise<Figure[]> {
  const given = process.env.SIMULATE_CONSTANTS;
  if (given !== undefined) return daysOf(JSON.parse(given) as Constants);
  return withFolder((folder) =>
    withPostgres(async (server) => {
      const redis = await startRedis();
      const log = await startLog();
      try {
        const sources = Math.max(50, Math.round(300 * scale));
        const turns = async (path: string, count = sources) => {
          report(`  ${count} syncs at once, ${path}`);
          const name = path.replaceAll('/', '_').replaceAll('-', '');
          const env = { DATABASE_URL: await createDatabase(server, `log${name}_${count}`), REDIS_URL: redis.url };
          const rates = await measureTurns(join(folder, `${name}${count}`), env, `${log.address}${path}/api/v1`, {
            sources: count,
            banners: 0,
          });
          return 1 / median(rates);
        };
        report('constants');
        const [none, few, many, fresh] = [
          await turns('/known-0/'),
          await turns('/known-50/'),
          await turns('/known-200/'),
          await turns('/known-50/new-10/'),
        ];
        const url = await createDatabase(server, 'serve');
        const served = await measureServe(join(folder, 'serve'), 0.3 * scale, url);
        const bytes = await sizeOfEntry(url);
        const ledger = await measureLedger(join(folder, 'ledger'), await createDatabase(server, 'ledger'), scale);
        const known = Math.max(0, (many - few) / 150);
        const constants: Constants = {
          ...ledger,
          delivery: 1 / served.perSecond,
          fold: served.caughtUp / served.atEnd.behind,
          sync: none,
          page: Math.max(0, few - none - 50 * known),
          known,
          row: Math.max(0, (fresh - few) / 10),
          bytes: bytes * BYTES_OF_BOTH,
        };
        const figures = constantsOf(constants);
        report(figures[0]?.value ?? '');
        report('checks');
        figures.push(await checkPull(constants, (path) => turns(path, 1000)));
        const longer = await measureServe(join(folder, 'longer'), 2 * scale, await createDatabase(server, 'longer'));
        figures.push(checkCatchUp(constants, longer, scale));
        report('days');
        return [...figures, ...daysOf(constants)];
      } finally {
        log.stop();
        await redis.close();
      }
    }),
  );
}

/** Bytes of the database for each entry, with its read models and indexes. */
async function sizeOfEntry(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      `select (pg_database_size(current_database()) - pg_database_size('template1')) / (select count(*) from entries) as bytes`,
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

/** Seconds per entry for appending in a program without HTTP, for sealing and for verifying. */
async function measureLedger(folder: string, url: string, scale: number) {
  const count = Math.max(2000, Math.round(40_000 * scale));
  const context = await openForBench(folder, { DATABASE_URL: url });
  const timed = async (work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    return (performance.now() - started) / 1000 / count;
  };
  try {
    return {
      append: await timed(() => fill(context.ledger, count)),
      seal: await timed(() => context.seal()),
      verify: await timed(() => context.verify()),
    };
  } finally {
    await context.close();
  }
}

/** Two workers as in compose.yaml, a service that takes 100 ms, a key for each site, and the program's defaults. */
const USUAL = { latency: 0.1, atOnce: 64, sitesPerKey: 1, lookBack: 24, recountDays: 7, seed: 1 };
const CHECK = { ...USUAL, sites: 1, interval: 1440, recountDays: 0 };
const plain = { baseline: '', ratio: null, wanted: '', reached: null };

function constantsOf(constants: Constants): Figure[] {
  const rounded = Object.entries(constants).map(([name, value]) => [name, Number(value.toPrecision(3))]);
  return [{ name: 'constants, seconds and bytes', value: JSON.stringify(Object.fromEntries(rounded)), ...plain }];
}

/** A round of a thousand sources with 50 rows known and 2 new, from a service that takes 100 ms. */
async function checkPull(constants: Constants, turns: (path: string) => Promise<number>): Promise<Figure> {
  const took = 1000 * (await turns('/known-50/new-2/wait-100/'));
  // A day of choices is known, as in what was measured.
  const scenario = { ...CHECK, sites: 1000, interval: 60, atOnce: 32, isEven: true, isAlwaysFar: true };
  const { pullDelay } = simulate(constants, scenario);
  return checked('a round of 1,000 pulls, 50 rows known and 2 new, 100 ms', pullDelay, took);
}

/** The catching up after a load that is several times as long as that of the constants. */
function checkCatchUp(
  constants: Constants,
  { seconds, caughtUp }: { readonly seconds: number; readonly caughtUp: number },
  scale: number,
): Figure {
  // A warm-up before it, and each of the two loads has a first second that is not counted.
  const fullLoad = Math.round(seconds + secondsOf(2 * scale).warmUp + 2);
  const simulated = simulate(constants, { ...CHECK, fullLoad }).caughtUp - fullLoad;
  return checked(`catching up after ${fullLoad} s of full load`, simulated, caughtUp);
}

function checked(name: string, simulated: number, measured: number): Figure {
  const ratio = simulated / measured;
  const value = `simulated ${simulated.toFixed(1)} s`;
  return {
    name: `check: ${name}`,
    value,
    baseline: `measured ${measured.toFixed(1)} s`,
    ratio,
    wanted: '',
    reached: null,
  };
}

const INTERVALS = [
  [15, 'every 15 min'],
  [60, 'every hour'],
  [1440, 'once a day'],
] as const;

function daysOf(constants: Constants): Figure[] {
  const run = (more: Partial<Scenario> & Pick<Scenario, 'sites' | 'interval'>) =>
    simulateSample(constants, { ...USUAL, ...more });
  const figures: Figure[] = [];
  for (const [interval, often] of INTERVALS) {
    for (const sites of [1000, 10_000, 100_000, 1_000_000]) {
      report(`  ${sites} sites, ${often}`);
      const day = run({ sites, interval });
      const needs = needsOf(constants, { ...USUAL, sites, interval }, day);
      figures.push(dayOf(`${count(sites)} sites, ${often}`, constants, { ...day, needs }, interval));
    }
    for (const [setting, more] of Object.entries(SETTINGS)) {
      const most = mostSites(interval, (sites) => run({ ...more, sites, interval }));
      const value = `${count(most)} sites; a million need ${Math.ceil(1_000_000 / most)} installations`;
      figures.push({ name: `one installation, ${often}, ${setting}`, value, ...plain });
    }
  }
  return figures;
}

/** Sites that are simulated one by one. More are represented by as many, on a correspondingly smaller share of the machine. */
const SAMPLE = 20_000;

function simulateSample(constants: Constants, scenario: Scenario): Outcome {
  const factor = Math.max(1, scenario.sites / SAMPLE);
  const slower = Object.fromEntries(Object.entries(constants).map(([name, took]) => [name, took * factor]));
  const day = simulate(
    { ...constants, ...slower, bytes: constants.bytes },
    { ...scenario, sites: Math.round(scenario.sites / factor), atOnce: scenario.atOnce / factor },
  );
  const whole = (value: number) => Math.round(value * factor);
  const counts = { choices: whole(day.choices), peak: whole(day.peak), rowsReadAgain: whole(day.rowsReadAgain) };
  return { ...day, ...counts };
}

/** Machines that would be enough for every simulated day. */
const MACHINES = 20;

/**
 * What a day needs if nothing is late. Pulls that cannot keep up are further apart, so more of them look far back: then
 * the needs are those of a machine that is so many times faster.
 */
function needsOf(constants: Constants, scenario: Scenario, { needs }: Outcome): Outcome['needs'] {
  const { lock: _, ...parts } = needs;
  if (sumOf(parts) < 1) return needs;
  const faster = Object.fromEntries(Object.entries(constants).map(([name, took]) => [name, took / MACHINES]));
  const atOnce = scenario.atOnce * MACHINES;
  const kept = simulateSample({ ...constants, ...faster }, { ...scenario, atOnce }).needs;
  return Object.fromEntries(Object.entries(kept).map(([part, need]) => [part, need * MACHINES])) as Outcome['needs'];
}

const sumOf = (parts: Record<string, number>) => Object.values(parts).reduce((sum, part) => sum + part, 0);

const SETTINGS: Record<string, Partial<Scenario>> = {
  'default settings': {},
  'without the nightly recount': { recountDays: 0 },
  'with SYNC_LOOK_BACK_HOURS=72': { lookBack: 72 },
  'if every pull looked back a day': { isAlwaysFar: true },
};

function dayOf(name: string, { bytes }: Constants, day: Outcome, interval: number): Figure {
  const { lock, ...parts } = day.needs;
  const share = (value: number) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
  const all = sumOf(parts);
  const [first] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0] ?? [''];
  const gigabytes = (day.choices * bytes) / 1e9;
  const ended = day.recountEnded === null ? 'not on that day' : `at ${clockOf(day.recountEnded)}`;
  return {
    name,
    value: [
      ...Object.entries(parts).map(([part, value]) => `${part} ${share(value)}`),
      `together ${share(all)}`,
      `append lock ${share(lock)}`,
    ].join(', '),
    baseline: [
      `most for ${first}`,
      `pulls ${minutes(day.pullDelay)} late at most (${minutes(day.pullDelayInAll)} beside the recount, which ends ${ended})`,
      `read models ${day.foldDelay} s behind`,
      `peak ${day.peak}/s`,
      `${count(day.rowsReadAgain)} rows read again`,
      `${gigabytes.toPrecision(3)} GB a day, ${((gigabytes * 365) / 1000).toPrecision(3)} TB a year`,
    ].join('; '),
    ratio: all,
    wanted: '≤ 1',
    reached: holds(day, interval),
  };
}

/**
 * Every pull ends before the next one is due, apart from the hours of the recount, and the
 * read models are at most five minutes behind, or an hour after a pull once a day.
 */
function holds(day: Outcome, interval: number): boolean {
  const isRecounted = day.recountEnded !== null;
  return isRecounted && day.pullDelay <= interval * 60 && day.foldDelay <= Math.max(300, interval * 2.5);
}

/** The largest number of sites for which a day holds, in steps of a tenth. */
function mostSites(interval: number, run: (sites: number) => Outcome): number {
  const { lock: _, ...parts } = run(10_000).needs;
  let sites = (1.2 * 10_000) / sumOf(parts);
  while (sites > 100 && !holds(run(rounded(sites)), interval)) sites *= 0.9;
  return rounded(sites);
}

const rounded = (sites: number) => Number(sites.toPrecision(2));
const count = (value: number) => new Intl.NumberFormat('en').format(Math.round(value));
const minutes = (seconds: number) => (seconds < 120 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`);
const clockOf = (second: number) => new Date(second * 1000).toISOString().slice(11, 16);
