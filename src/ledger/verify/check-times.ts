import type { Checking, Misdated, Run, StatedTime } from './check-types.ts';

/** Clocks differ, and are corrected by small steps. */
const TOLERANCE_MS = 300_000;
/** Contradictions that are listed. */
const LISTED = 20;

interface Dated {
  readonly seq: number;
  readonly at: string;
}

/** Entries between two stated times, of which only the first and the last in time are kept. */
interface Stretch {
  /** Entries before it. */
  readonly after: number;
  oldest: Dated | null;
  newest: Dated | null;
}

/**
 * Compares times of receipt with stated times. Its memory grows with the number of `sizes` (those of the statements that
 * may be made), not of entries.
 */
export function createTimeline(sizes: Iterable<number>) {
  const stretches: Stretch[] = [0, ...new Set(sizes)]
    .sort((a, b) => a - b)
    .map((after) => ({ after, oldest: null, newest: null }));
  let place = 0;
  return {
    /** In order of seq. */
    entry(seq: number, receivedAt: string): void {
      while ((stretches[place + 1]?.after ?? Infinity) < seq) place += 1;
      const stretch = stretches[place];
      if (stretch === undefined || Number.isNaN(Date.parse(receivedAt))) return;
      if (stretch.oldest === null || receivedAt < stretch.oldest.at) stretch.oldest = { seq, at: receivedAt };
      if (stretch.newest === null || receivedAt > stretch.newest.at) stretch.newest = { seq, at: receivedAt };
    },
    /** Entries older than a statement before them, and statements older than what they cover. */
    misdated(given: readonly StatedTime[]): readonly Misdated[] {
      const stated = [...given].sort((a, b) => a.size - b.size);
      return [...olderEntries(stretches, stated), ...olderStatements(stretches, stated)].slice(0, LISTED);
    },
  };
}

/** Both in the order of the ledger. */
function* olderEntries(stretches: readonly Stretch[], stated: readonly StatedTime[]): Generator<Misdated> {
  let latest: StatedTime | null = null;
  let next = 0;
  for (const { after, oldest } of stretches) {
    for (let one = stated[next]; one !== undefined && one.size <= after; one = stated[(next += 1)])
      if (latest === null || one.at > latest.at) latest = one;
    if (oldest !== null && latest !== null && isEarlier(oldest.at, latest.at))
      yield { seq: oldest.seq, sentence: olderText(oldest, latest) };
  }
}

function* olderStatements(stretches: readonly Stretch[], stated: readonly StatedTime[]): Generator<Misdated> {
  let newest: Dated | null = null;
  let next = 0;
  for (const one of stated) {
    for (
      let stretch = stretches[next];
      stretch !== undefined && stretch.after < one.size;
      stretch = stretches[(next += 1)]
    )
      if (stretch.newest !== null && stretch.newest.at > (newest?.at ?? '')) newest = stretch.newest;
    if (newest !== null && newest.seq <= one.size && isEarlier(one.at, newest.at))
      yield { seq: newest.seq, sentence: coveredText(newest, one) };
  }
}

const isEarlier = (one: string, other: string) => Date.parse(one) + TOLERANCE_MS < Date.parse(other);

function olderText(entry: Dated, { what, at }: StatedTime): string {
  return `it says that it was received on ${entry.at}, but it was appended after ${what} was made on ${at}: its place is proven, its time is not`;
}

function coveredText(entry: Dated, { what, at }: StatedTime): string {
  return `it says that it was received on ${entry.at}, but ${what} covers it and was made on ${at}: one of the two clocks was wrong`;
}

/** Compares the times of entries with those of checkpoints, cosignatures and tokens. */
export function beginTimes({ signed, stated }: Run): Checking {
  const made = signed.database.flatMap(({ head, faults, where, createdAt }) =>
    head === null || faults.length > 0 ? [] : [{ what: where, size: head.size, at: createdAt }],
  );
  const kept = (signed.witnessed?.kept ?? []).flatMap(({ head }) => (head === null ? [] : [head.size]));
  const timeline = createTimeline([...made.map(({ size }) => size), ...kept]);
  return {
    entry: ({ seq, receivedAt }) => timeline.entry(seq, String(receivedAt)),
    counts: () => ({ misdated: timeline.misdated([...made, ...stated]) }),
  };
}
