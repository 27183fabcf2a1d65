/**
 * One day of an installation on one machine. Choices arrive at random moments, more of them in the evening; each is told
 * by a delivery and by a row of its site's consent log. Deliveries go first, then pulls in the order in which the
 * schedule enqueued them, then folding, as in the program (docs/decisions.md, Deliveries go first).
 */

import { SLOT_MS, startOfRun } from '../src/sync/look-back.ts';
import { randomFrom } from '../test/chaos/random.ts';

/** Seconds of the machine with nothing else to do, measured by `npm run bench -- simulate`. */
export interface Constants {
  /** A delivery, through HTTP. */
  readonly delivery: number;
  /** A pull without rows; a page with rows; a row already stored; a new row. */
  readonly sync: number;
  readonly page: number;
  readonly known: number;
  readonly row: number;
  /** An entry: folded, sealed, verified, and appended without HTTP or log, which takes the lock of all appends. */
  readonly fold: number;
  readonly seal: number;
  readonly verify: number;
  readonly append: number;
  /** On disk, of a choice that is delivered and pulled, with its read models. */
  readonly bytes: number;
}

export interface Scenario {
  readonly sites: number;
  /** Minutes between pulls. */
  readonly interval: number;
  /** Seconds that the service takes for a page. */
  readonly latency: number;
  /** Pulls at once, over all workers. */
  readonly atOnce: number;
  /** Sites that share a key: their pulls start five seconds apart, over five minutes at most (src/sync/sync-jobs.ts). */
  readonly sitesPerKey: number;
  /** SYNC_LOOK_BACK_HOURS: how late rows may appear, which decides what a pull reads again (src/sync/look-back.ts). */
  readonly lookBack: number;
  /** Only for comparison: every pull reads the whole look-back again. */
  readonly isAlwaysFar?: boolean;
  /** Days that the nightly recount reads again; 0: none. */
  readonly recountDays: number;
  readonly seed: number;
  /** Only for checks: sites of equal size. */
  readonly isEven?: boolean;
  /** Only for checks: as many deliveries as the machine can store, for so many seconds; no choices otherwise, and no pulls. */
  readonly fullLoad?: number;
}

/** Entries, seconds, and shares of the machine's time. */
export interface Outcome {
  readonly arrived: number;
  readonly stored: number;
  /** Choices whose delivery or row is not stored yet. */
  readonly waiting: number;
  /** Needed for everything that was due, including pulls that were skipped because the last one had not ended. */
  readonly needs: Record<'receiving' | 'pulling' | 'recount' | 'folding' | 'sealing' | 'lock', number>;
  /** Longest time from the schedule to the end of a pull: apart from the recount, and including it. */
  readonly pullDelay: number;
  readonly pullDelayInAll: number;
  readonly recountEnded: number | null;
  /** Longest time that an entry waited to be folded, and when the last of them was folded. */
  readonly foldDelay: number;
  readonly caughtUp: number;
  readonly choices: number;
  /** Choices in the second with most. */
  readonly peak: number;
  readonly rowsReadAgain: number;
}

const DAY = 86_400;
/** Choices of a site in a day: half of the sites have fewer than the median; the largest are cut off. */
const MEDIAN_SITE = 50;
const LARGEST_SITE = 20_000;
/** Pareto with exponent 1.5: the tail reaches thousands, and the inverse needs only a cube. */
const SMALLEST_SITE = MEDIAN_SITE / 2 ** (2 / 3);
const CUT = SMALLEST_SITE / LARGEST_SITE;
const PAGE_ROWS = 200;
const RECOUNT_AT = (3 * 60 + 40) * 60;
/** Folding gets a fifth of its speed beside deliveries, and half of the machine once an entry is this old, seconds. */
const FOLDING_LATE = 30;

/** A Poisson number; the normal approximation for a large mean. */
function poisson(mean: number, random: () => number): number {
  if (mean > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(mean + normal * Math.sqrt(mean)));
  }
  let count = 0;
  for (let left = Math.exp(-mean), product = random(); product > left; product *= random()) count += 1;
  return count;
}

/** Sites by their place in the order of pulls, with the choices that each makes in a day on average. */
function createSites({ sites, isEven = false }: Scenario, random: () => number) {
  // A prime stride, so that the order of pulls does not follow the size.
  const placeOf = (rank: number) => (rank * 7919) % sites;
  const cut = CUT ** 1.5;
  const sizes = new Float32Array(sites);
  for (let rank = 0; rank < sites; rank += 1)
    sizes[placeOf(rank)] = isEven ? MEDIAN_SITE : SMALLEST_SITE * (1 - ((rank + 0.5) / sites) * (1 - cut)) ** (-2 / 3);
  return {
    sizes,
    total: sizes.reduce((sum, size) => sum + size, 0),
    /** The site that makes the next choice: larger ones in proportion to their size. */
    next(): number {
      if (isEven) return Math.floor(random() * sites);
      const part = CUT ** 0.5 + random() * (1 - CUT ** 0.5);
      return placeOf(Math.min(sites - 1, Math.floor((sites * (1 - part ** 3)) / (1 - cut))));
    },
  };
}

/** More in the evening (20:00) than in the morning; 1 on average. */
function dayCurve(second: number): number {
  return 1 + 0.9 * Math.cos((2 * Math.PI * (second - 20 * 3600)) / DAY);
}

/** The part of a day's choices that are made between two seconds. */
function partOfDay(from: number, to: number): number {
  const wave = (second: number) => Math.sin((2 * Math.PI * (second - 20 * 3600)) / DAY) / (2 * Math.PI);
  return (to - from) / DAY + 0.9 * (wave(to) - wave(from));
}

/** Steps of a second. All sums are exact, and the result depends on nothing but the arguments. */
export function simulate(constants: Constants, scenario: Scenario): Outcome {
  const { sites, interval, latency, atOnce, sitesPerKey, lookBack, isAlwaysFar, recountDays, fullLoad } = scenario;
  const random = randomFrom(scenario.seed);
  const { sizes, total, next } = createSites(scenario, random);
  const entry = constants.delivery + constants.seal;
  const queue = createQueue(sites);
  const unpulled = new Uint32Array(sites);
  const readTo = new Float64Array(sites).fill(-60 * interval);
  // As if the day before had been like this one: the log has what arrived since its last pull.
  let [rowsWaiting, deliveriesWaiting, choices, rowsStored, delivered] = [0, 0, 0, 0, 0];
  for (let site = 0; site < sites; site += 1) {
    const rows = poisson(((sizes[site] ?? 0) * interval) / 1440, random);
    unpulled[site] = rows;
    rowsWaiting += rows;
  }
  const before = rowsWaiting;
  const work = { pulling: 0, recount: 0 };
  const done = { pulls: 0, recounts: 0 };
  const due = { pulls: 0, recounts: 0 };
  const releases: { at: number; due: number; group: number; isRecount: boolean }[] = [];
  const appendedAt = new Float64Array(DAY);
  let [folded, foldStep, debt, slots, peak, rowsReadAgain] = [0, 0, 0, 0, 0, 0];
  let [pullDelay, pullDelayInAll, foldDelay, caughtUp] = [0, 0, 0, 0];
  let recountEnded: number | null = null;

  function schedule(at: number, isRecount: boolean): void {
    const step = Math.min(5, 300 / sitesPerKey);
    for (let group = 0; group < sitesPerKey; group += 1)
      releases.push({ at: at + group * step, due: at, group, isRecount });
    due[isRecount ? 'recounts' : 'pulls'] += sites;
  }

  /** Rows that a pull reads although they are stored: those of its look-back. */
  function readAgain(site: number, now: number): number {
    const end = readTo[site] ?? 0;
    // Spread by the golden ratio, like the program's hash of the names.
    const shiftMs = Math.floor(((site * 0.618034) % 1) * SLOT_MS);
    const lookBackOf = { farMs: lookBack * 3_600_000, shiftMs, form: { period: 'time' as const } };
    const from = isAlwaysFar === true ? end - lookBack * 3600 : startOfRun(end * 1000, now * 1000, lookBackOf) / 1000;
    return (sizes[site] ?? 0) * partOfDay(from, end);
  }

  /** Seconds of the machine that one job takes. */
  function pull(job: number, now: number): { readonly takes: number; readonly pages: number } {
    const isRecount = job >= sites;
    const site = job % sites;
    const size = sizes[site] ?? 0;
    const rows = isRecount ? 0 : (unpulled[site] ?? 0);
    const known = isRecount ? size * recountDays : readAgain(site, now);
    const pages = Math.max(1, Math.ceil((rows + known) / PAGE_ROWS));
    // A page without rows is not committed: that is certain only if there are new ones.
    const withRows = rows > 0 ? pages : pages * (1 - Math.exp(-known));
    const takes = constants.sync + withRows * constants.page + known * constants.known + rows * constants.row;
    rowsReadAgain += known;
    if (isRecount) {
      done.recounts += 1;
      work.recount += takes;
    } else {
      done.pulls += 1;
      work.pulling += takes;
      unpulled[site] = 0;
      readTo[site] = now;
      rowsWaiting -= rows;
      rowsStored += rows;
    }
    return { takes, pages };
  }

  for (let now = 0; now < DAY; now += 1) {
    if (now % (interval * 60) === 0 && fullLoad === undefined) schedule(now, false);
    if (now === RECOUNT_AT && recountDays > 0) schedule(now, true);
    while (releases[0] !== undefined && releases[0].at <= now) {
      const { due: at, group, isRecount } = releases.shift() as (typeof releases)[number];
      for (let site = group; site < sites; site += sitesPerKey) queue.add(isRecount ? site + sites : site, at);
    }
    const load = fullLoad === undefined ? (total * dayCurve(now)) / DAY : now < fullLoad ? 1 / entry : 0;
    const came = fullLoad === undefined ? poisson(load, random) : Math.floor(load);
    for (let n = 0; n < came; n += 1) {
      const site = next();
      unpulled[site] = (unpulled[site] ?? 0) + 1;
    }
    choices += came;
    rowsWaiting += came;
    deliveriesWaiting += came;
    peak = Math.max(peak, came);

    const age = foldStep < now ? now - foldStep : 0;
    foldDelay = Math.max(foldDelay, age);
    const isLate = age > FOLDING_LATE;
    const free = (isLate ? 0.5 : 1) - debt;
    const stored = Math.min(deliveriesWaiting, Math.max(0, Math.floor(free / entry)));
    deliveriesWaiting -= stored;
    delivered += stored;
    let left = free - stored * entry;
    // Places that are free for another pull; each is taken for as long as the service and the machine need.
    slots = Math.min(slots + atOnce, atOnce);
    while (left > 0 && slots > 0) {
      const job = queue.take();
      if (job === null) break;
      const { takes, pages } = pull(job.id, now);
      left -= takes;
      slots -= takes + pages * latency;
      const delay = now + Math.min(1, Math.max(1 - left, 1 - slots / atOnce)) - job.due;
      if (job.id >= sites) recountEnded = now + 1;
      else {
        pullDelayInAll = Math.max(pullDelayInAll, delay);
        const isRecounting = done.recounts < due.recounts || job.due < (recountEnded ?? 0);
        if (!isRecounting) pullDelay = Math.max(pullDelay, delay);
      }
    }
    debt = Math.max(0, -left);
    const appended = delivered + rowsStored;
    appendedAt[now] = appended;
    const share = Math.max(isLate ? 0.5 : 0.2, isLate ? 0.5 + left : left);
    const fold = Math.min(appended - folded, Math.floor(share / constants.fold));
    folded += fold;
    if (folded < appended || fold > 0) caughtUp = now + Math.min(1, (fold * constants.fold) / share);
    while (foldStep <= now && (appendedAt[foldStep] ?? 0) <= folded) foldStep += 1;
  }
  const stored = delivered + rowsStored;
  const expected = { pulls: due.pulls / Math.max(1, done.pulls), recounts: due.recounts / Math.max(1, done.recounts) };
  return {
    arrived: 2 * choices + before,
    stored,
    waiting: deliveriesWaiting + rowsWaiting,
    needs: {
      receiving: (choices * constants.delivery) / DAY,
      pulling: (work.pulling * expected.pulls) / DAY,
      recount: (work.recount * expected.recounts) / DAY,
      folding: (2 * choices * constants.fold) / DAY,
      sealing: (2 * choices * constants.seal) / DAY,
      lock: (2 * choices * constants.append) / DAY,
    },
    pullDelay,
    pullDelayInAll: Math.max(pullDelayInAll, queue.oldest(DAY)),
    recountEnded: done.recounts < due.recounts ? null : (recountEnded ?? 0),
    foldDelay,
    caughtUp,
    choices,
    peak,
    rowsReadAgain,
  };
}

/** Pulls and recounts in the order in which they became due. One that still waits is not enqueued again (src/sync/sync-jobs.ts). */
function createQueue(sites: number) {
  const room = 2 * sites + 1;
  const ids = new Int32Array(room);
  const dues = new Float64Array(room);
  const isWaiting = new Uint8Array(2 * sites);
  let [first, end] = [0, 0];
  return {
    add(id: number, due: number): void {
      if (isWaiting[id] === 1) return;
      isWaiting[id] = 1;
      ids[end] = id;
      dues[end] = due;
      end = (end + 1) % room;
    },
    take(): { readonly id: number; readonly due: number } | null {
      if (first === end) return null;
      const job = { id: ids[first] ?? 0, due: dues[first] ?? 0 };
      isWaiting[job.id] = 0;
      first = (first + 1) % room;
      return job;
    },
    /** How long the first one has waited at this time. */
    oldest: (now: number) => (first === end ? 0 : now - (dues[first] ?? 0)),
  };
}
