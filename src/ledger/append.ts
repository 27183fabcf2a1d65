import { randomFillSync } from 'node:crypto';
import { type Entry, commitmentOf, type NewEntry, placeEntry, SALT_BYTES } from '../core/entry.ts';
import { CodedError, StoreUnavailable } from '../core/errors.ts';
import { dedupeKeyOf, type InstanceKeys } from '../core/keys.ts';
import type { EntryKey, LedgerHead, Store, StoreTransaction } from '../store/store.ts';
import type { Appended, Ledger } from './ledger.ts';

/** Limits of one batch and of the waiting line. */
export interface AppendLimits {
  readonly batchEntries: number;
  readonly batchBytes: number;
  /** Bytes of meta and body that may wait; beyond them appends are refused as `overloaded`. */
  readonly waitingBytes: number;
}

const defaultLimits: AppendLimits = { batchEntries: 256, batchBytes: 4 << 20, waitingBytes: 64 << 20 };

export interface LedgerOptions {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'dedupe' | 'append'>;
  readonly limits?: Partial<AppendLimits>;
  /** Asked before every commit; a text refuses the append (the ledger is behind its journal, docs/architecture.md). */
  readonly refuse?: () => string | null;
}

/** Rolls a transaction back whose entries were not as new as they were taken to be. */
const notAllNew = new Error('a key exists already');

type AlsoInTransaction = (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>;

/** An entry on its way, with what does not depend on its place computed while the previous batch commits. */
interface Prepared {
  readonly entry: NewEntry;
  readonly salt: Buffer;
  readonly commitment: Buffer;
  /** Identifies (source, kind, key) within a batch. */
  readonly identity: string;
  readonly bytes: number;
}

interface Waiting {
  readonly prepared: readonly Prepared[];
  readonly bytes: number;
  readonly also: AlsoInTransaction | undefined;
  resolve(appended: readonly Appended[]): void;
  reject(error: Error): void;
}

/**
 * The one append path: group commit in order of arrival, at most one batch under way. Appends that arrive while a batch
 * commits wait in line and form the next one, hashed meanwhile.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const { store, keys } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const line: Waiting[] = [];
  const listeners = new Set<(seq: number) => void>();
  const salts = createSalts();
  let waitingBytes = 0;
  let running: Promise<void> | null = null;
  let closed = false;
  // The head this process saw last. Only ever a guess: the statement that relies on it checks it.
  let known: { seq: number; sourceSeq: Map<string, number> } | null = null;
  // Whether the last look at the head found it where this process had left it. While others append too, the guarded statement would
  // mostly be in vain, and the batch goes under the lock at once; when they fall silent, the next look finds that out.
  let alone = true;
  // The highest seq this process ever gave out or saw: a ledger that ends below it has lost entries.
  let highest = 0;
  // Whether what came last with a transaction of its own was new altogether: a log that is pulled for the first time is, one that is read again is not.
  let expectNew = false;
  // The same of what came last without one.
  let expectNewBatch = false;

  function prepare(entry: NewEntry): Prepared {
    const salt = salts();
    return {
      entry,
      salt,
      commitment: commitmentOf(salt, entry.meta, entry.body),
      identity: `${entry.source} ${entry.kind} ${Buffer.from(entry.dedupeKey).toString('latin1')}`,
      bytes: entry.meta.length + entry.body.length + 512,
    };
  }

  async function work(): Promise<void> {
    // One turn of the event loop, so that deliveries which arrived together form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (line.length > 0) await commit(takeBatch());
    running = null;
  }

  /** Takes from the line what fits into a batch beside what is in it already. */
  function takeBatch(begun: readonly Waiting[] = [], mayJoin: (source: string) => boolean = () => true): Waiting[] {
    const batch: Waiting[] = [];
    const joining = begun.length > 0;
    const identities = new Set(begun.flatMap(({ prepared }) => prepared.map(({ identity }) => identity)));
    let entries = begun.reduce((sum, { prepared }) => sum + prepared.length, 0);
    let bytes = begun.reduce((sum, one) => sum + one.bytes, 0);
    const before = bytes;
    for (let next = line[0]; next !== undefined; next = line[0]) {
      const full = entries + next.prepared.length > limits.batchEntries || bytes + next.bytes > limits.batchBytes;
      // A transaction of someone's own goes alone, so that its failure is theirs alone.
      if ((joining || batch.length > 0) && (full || next.also !== undefined)) break;
      // A repeat of what is in the batch already would make the whole of it fail.
      if (joining) {
        if (next.prepared.some((one) => identities.has(one.identity) || !mayJoin(one.entry.source))) break;
        for (const { identity } of next.prepared) identities.add(identity);
      }
      line.shift();
      batch.push(next);
      entries += next.prepared.length;
      bytes += next.bytes;
      if (next.also !== undefined) break;
    }
    waitingBytes -= bytes - before;
    return batch;
  }

  async function commit(batch: Waiting[]): Promise<void> {
    try {
      const refusal = options.refuse?.() ?? null;
      if (refusal !== null) throw new StoreUnavailable(refusal);
      const appended = (await appendFast(batch)) ?? (await appendAsNew(batch)) ?? (await appendSlowly(batch));
      const last = appended.findLast(({ outcome }) => outcome === 'stored');
      let place = 0;
      for (const waiting of batch) {
        waiting.resolve(appended.slice(place, place + waiting.prepared.length));
        place += waiting.prepared.length;
      }
      if (last) tell(last.seq);
    } catch (error) {
      known = null;
      if (error instanceof StoreUnavailable || batch.length === 1) {
        for (const waiting of batch) waiting.reject(error as Error);
      } else {
        // Something in this batch cannot be stored: it shall fail alone.
        const middle = batch.length >> 1;
        await commit(batch.slice(0, middle));
        await commit(batch.slice(middle));
      }
    }
  }

  /** What a listener throws is its own fault, and must not make what is committed look as if it failed. */
  function tell(seq: number): void {
    for (const listener of listeners) {
      try {
        listener(seq);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  /** Numbers from the head seen last, in one guarded statement; null when that did not hold, with nothing written. */
  async function appendFast(batch: readonly Waiting[]): Promise<Appended[] | null> {
    if (known === null || !alone || batch[0]?.also !== undefined) return null;
    const head = known;
    const sourceSeq = new Map(head.sourceSeq);
    const identities = new Set<string>();
    const entries: Entry[] = [];
    for (const { prepared } of batch) {
      for (const one of prepared) {
        const own = sourceSeq.get(one.entry.source);
        if (own === undefined || identities.has(one.identity)) return null;
        identities.add(one.identity);
        sourceSeq.set(one.entry.source, own + 1);
        entries.push(
          placeEntry(one.entry, head.seq + entries.length + 1, own + 1, one.salt, one.commitment, keys.append),
        );
      }
    }
    if (!(await store.insertEntriesAt(head.seq, entries))) return null;
    known = { seq: head.seq + entries.length, sourceSeq };
    highest = known.seq;
    return entries.map(({ seq }) => ({ outcome: 'stored', seq }));
  }

  /**
   * A batch that cannot go the fast way, with a transaction of its own or beside other processes, but whose entries will be new: under the
   * write lock, without looking the keys up, which takes as long as inserting. Null when the insertion fails, with nothing written: then a
   * key does exist, and the slow way finds out which.
   */
  async function appendAsNew(batch: Waiting[]): Promise<readonly Appended[] | null> {
    if (batch[0]?.also === undefined) return !alone && expectNewBatch ? appendBeside(batch) : null;
    const identities = new Set(batch.flatMap(({ prepared }) => prepared.map(({ identity }) => identity)));
    const count = batch.reduce((sum, { prepared }) => sum + prepared.length, 0);
    if (!expectNew || identities.size < count) return null;
    try {
      return await appendSlowly(batch, true);
    } catch (error) {
      if (error !== notAllNew) throw error;
      expectNew = false;
      return null;
    }
  }

  /**
   * Beside other processes: what arrived while this one waited for the lock joins the batch, so that the fewer turns it gets the more it
   * does with each.
   */
  async function appendBeside(batch: Waiting[]): Promise<readonly Appended[] | null> {
    const sources = sourcesOf(batch);
    let found = 0;
    let next: { seq: number; sourceSeq: Map<string, number> } | null = null;
    let appended: Appended[] = [];
    const inserted = await store.insertEntriesAfter(sources, (head) => {
      assertContinues(head);
      batch.push(...takeBatch(batch, (source) => head.sourceSeq.has(source)));
      const sourceSeq = new Map(head.sourceSeq);
      const entries = batch
        .flatMap(({ prepared }) => prepared)
        .map((one, place) => {
          const own = (sourceSeq.get(one.entry.source) ?? 0) + 1;
          sourceSeq.set(one.entry.source, own);
          return placeEntry(one.entry, head.seq + place + 1, own, one.salt, one.commitment, keys.append);
        });
      found = head.seq;
      next = { seq: head.seq + entries.length, sourceSeq };
      appended = entries.map(({ seq }) => ({ outcome: 'stored', seq }));
      return entries;
    });
    if (!inserted) {
      expectNewBatch = false;
      return null;
    }
    remember(found, next);
    return appended;
  }

  function sourcesOf(batch: readonly Waiting[]): string[] {
    const named = batch.flatMap(({ prepared }) => prepared.map(({ entry }) => entry.source));
    return [...new Set([...(known?.sourceSeq.keys() ?? []), ...named])];
  }

  /** Throws when the ledger goes on elsewhere, or has lost entries that this process saw in it. */
  function assertContinues({ seq, movedTo }: LedgerHead): void {
    if (movedTo !== null) throw new StoreUnavailable(`the installation has moved to ${movedTo}`);
    if (seq >= highest) return;
    throw new StoreUnavailable(
      `the ledger ends at ${seq} and ended at ${highest} before: entries were taken from it, and their numbers must not be given out again`,
    );
  }

  function remember(found: number, head: { seq: number; sourceSeq: Map<string, number> } | null): void {
    alone = known === null || known.seq === found;
    known = head;
    highest = Math.max(highest, head?.seq ?? 0);
  }

  /** Looks every key up, unless all are taken to be new, and reads the head under the write lock. */
  async function appendSlowly(batch: readonly Waiting[], allNew = false): Promise<Appended[]> {
    const prepared = batch.flatMap((waiting) => waiting.prepared);
    const sources = sourcesOf(batch);
    const outcome = await store.transaction(async (tx) => {
      const existing = allNew ? [] : await tx.findSeqs(prepared.map(({ entry }): EntryKey => entry));
      const head = await tx.head(sources);
      assertContinues(head);
      const sourceSeq = new Map(head.sourceSeq);
      const bySeq = new Map<string, number>();
      const entries: Entry[] = [];
      const repeats: { seq: number; at: string }[] = [];
      const appended = prepared.map((one, place): Appended => {
        const earlier = existing[place] ?? bySeq.get(one.identity);
        if (earlier !== undefined) {
          repeats.push({ seq: earlier, at: one.entry.receivedAt });
          return { outcome: 'duplicate', seq: earlier };
        }
        const seq = head.seq + entries.length + 1;
        const own = (sourceSeq.get(one.entry.source) ?? 0) + 1;
        sourceSeq.set(one.entry.source, own);
        bySeq.set(one.identity, seq);
        entries.push(placeEntry(one.entry, seq, own, one.salt, one.commitment, keys.append));
        return { outcome: 'stored', seq };
      });
      if (entries.length > 0) await insertIn(tx, entries, allNew);
      if (repeats.length > 0) await tx.countArrivals(repeats);
      await batch[0]?.also?.(tx, appended);
      return { appended, found: head.seq, head: { seq: head.seq + entries.length, sourceSeq } };
    });
    remember(outcome.found, outcome.head);
    const allStored = outcome.appended.every((one) => one.outcome === 'stored');
    if (batch[0]?.also === undefined) expectNewBatch = allStored;
    else if (prepared.length > 1) expectNew = allStored;
    return outcome.appended;
  }

  /** An outage is an outage; any other failure to insert what was not looked up is taken for a key that exists. */
  async function insertIn(tx: StoreTransaction, entries: readonly Entry[], allNew: boolean): Promise<void> {
    try {
      await tx.insertEntries(entries);
    } catch (error) {
      throw allNew && !(error instanceof StoreUnavailable) ? notAllNew : error;
    }
  }

  return {
    append(entries, alsoInTransaction) {
      if (closed) return Promise.reject(new CodedError('shutting_down'));
      const content = entries.reduce((sum, { meta, body }) => sum + meta.length + body.length, 0);
      if (entries.length > 1 && (entries.length > limits.batchEntries || content > limits.batchBytes)) {
        const mebibytes = limits.batchBytes / (1 << 20);
        return Promise.reject(new RangeError(`A batch is at most ${limits.batchEntries} entries and ${mebibytes} MiB`));
      }
      const prepared = entries.map(prepare);
      const bytes = prepared.reduce((sum, one) => sum + one.bytes, 0);
      if (waitingBytes + bytes > limits.waitingBytes && line.length > 0)
        return Promise.reject(new CodedError('overloaded'));
      waitingBytes += bytes;
      return new Promise((resolve, reject) => {
        line.push({ prepared, bytes, also: alsoInTransaction, resolve, reject });
        running ??= work();
      });
    },
    keyOf: (...parts) => dedupeKeyOf(keys.dedupe, ...parts),
    onAppended(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      closed = true;
      await running;
      listeners.clear();
    },
  };

  /** Salts out of one larger draw: a call to the generator per entry would cost more than its hashes. */
  function createSalts(): () => Buffer {
    const pool = Buffer.allocUnsafe(SALT_BYTES * 128);
    let used = pool.length;
    return () => {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      used += SALT_BYTES;
      return Buffer.from(pool.subarray(used - SALT_BYTES, used));
    };
  }
}
