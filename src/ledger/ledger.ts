import { randomFillSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError, StoreUnavailable } from '../core/errors.ts';
import { commitmentOf, type Entry, type NewEntry, SALT_BYTES } from '../crypto/entry.ts';
import { dedupeKeyOf, type InstanceKeys } from '../crypto/keys.ts';
import type { Store } from '../store/store.ts';
import { isTracing, type OpenSpan, traced, tracedEntries } from '../tracing/trace.ts';
import { type CommitOptions, Committer } from './commit.ts';
import { diagnoseEntry } from './verify/entry-fault.ts';
import {
  type AlsoInTransaction,
  type Appended,
  type AppendLimits,
  type Batch,
  type Prepared,
  WaitingLine,
} from './waiting-line.ts';

export type { Appended } from './waiting-line.ts';

export interface LedgerOptions extends CommitOptions {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'dedupe' | 'append'>;
  readonly limits?: Partial<AppendLimits>;
  /** Called before every commit; a returned text refuses the append (the ledger is behind its journal, docs/architecture.md). */
  readonly refuse?: () => string | null;
}

const defaultLimits: AppendLimits = { batchEntries: 256, batchBytes: 4 << 20, waitingBytes: 64 << 20 };

/** Bytes that an entry takes besides meta and body: numbers, hashes, key. */
const ENTRY_OVERHEAD = 512;

/** The only way to write to the ledger. */
export type Ledger = ReturnType<typeof createLedger>;

/**
 * Opens the append path: entries are prepared (hashed as far as possible without a number), queue, and commit in
 * batches in order of arrival, one batch at a time. What arrives while a batch commits forms the next one.
 */
export function createLedger({ store, keys, limits: given, refuse = () => null, ...committing }: LedgerOptions) {
  const limits = { ...defaultLimits, ...given };
  const line = new WaitingLine(limits);
  const prepare = createPreparation();
  const listeners = createListeners();
  const committer = new Committer(store, keys.append, line, committing);
  let pauseMs = () => 0;
  const worker = createWorker({ line, committer, refuse, pauseMs: () => pauseMs(), tell: listeners.tell });
  let closed = false;

  return {
    /**
     * Appends entries in the order given: deduplicated, numbered without gaps, durable when it resolves. `also` commits
     * with them (a page and its cursor) and receives the outcome of each entry. Rejects with StoreUnavailable if the
     * store cannot write, with CodedError `overloaded` if the queue is full, with RangeError if several entries exceed
     * 256 entries or 4 MiB of meta and body.
     */
    async append(entries: readonly NewEntry[], also?: AlsoInTransaction): Promise<readonly Appended[]> {
      if (closed) throw new CodedError('shutting_down');
      const content = entries.reduce((sum, { meta, body }) => sum + meta.length + body.length, 0);
      assertFits(entries.length, content, limits);
      const bytes = content + entries.length * ENTRY_OVERHEAD;
      if (!line.hasRoomFor(bytes)) throw new CodedError('overloaded');
      const prepared = entries.map(prepare);
      const [first] = entries;
      const about = { source: first?.source, kind: first?.kind, entries: entries.length, bytes: content };
      return traced('append', about, async (span) => {
        const appended = await new Promise<readonly Appended[]>((resolve, reject) => {
          line.push({ prepared, bytes, also, resolve, reject });
          worker.start();
        });
        tellSpan(span, appended);
        return appended;
      });
    },
    /** A deduplication key over these parts (crypto/keys.ts dedupeKeyOf under this installation's key). */
    keyOf: (...parts: readonly (string | Uint8Array)[]) => dedupeKeyOf(keys.dedupe, ...parts),
    /** What is wrong with an entry by its own hashes and its MAC, in a sentence; null: it is what was appended. */
    faultOf: (entry: Entry): string | null => diagnoseEntry(entry, keys)?.sentence ?? null,
    /** Calls a listener after each commit with the highest known seq. Returns a function that removes it. */
    onAppended: listeners.add,
    /** From now on, waits this many milliseconds before each commit unless a full batch is waiting, so that more entries share it. */
    pauseBy(ms: () => number): void {
      pauseMs = ms;
    },
    /** Waits for queued appends, then refuses more. */
    async close(): Promise<void> {
      closed = true;
      await worker.ended();
      listeners.clear();
    },
  };
}

/** Adds to a span where the entries were stored, and which are new. */
function tellSpan(span: OpenSpan, appended: readonly Appended[]): void {
  if (!isTracing()) return;
  const stored = appended.filter(({ outcome }) => outcome === 'stored').map(({ seq }) => seq);
  const seq = stored[0] ?? appended[0]?.seq;
  const outcome = stored.length === 0 ? 'duplicate' : 'stored';
  span.set(stored.length > 1 ? { seq, lastSeq: stored.at(-1), outcome } : { seq, outcome });
  tracedEntries(stored);
}

function assertFits(entries: number, bytes: number, { batchEntries, batchBytes }: AppendLimits): void {
  // A single entry is limited only by the listener that accepted it.
  if (entries <= 1 || (entries <= batchEntries && bytes <= batchBytes)) return;
  throw new RangeError(`A batch is at most ${batchEntries} entries and ${batchBytes / (1 << 20)} MiB`);
}

interface WorkerParts {
  readonly line: WaitingLine;
  readonly committer: Committer;
  readonly refuse: () => string | null;
  readonly pauseMs: () => number;
  readonly tell: (seq: number) => void;
}

/** Empties the queue whenever something is in it. */
function createWorker({ line, committer, refuse, pauseMs, tell }: WorkerParts) {
  let working: Promise<void> | null = null;

  async function work(): Promise<void> {
    // Wait one turn of the event loop, so that deliveries that arrived together form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (!line.isEmpty) {
      const ms = line.fillsBatch ? 0 : pauseMs();
      if (ms > 0) await delay(ms);
      await answer(line.take());
    }
    working = null;
  }

  async function answer(batch: Batch): Promise<void> {
    try {
      const refusal = refuse();
      if (refusal !== null) throw new StoreUnavailable(refusal);
      const appended = await committer.commit(batch);
      // The next batch goes to the database first, which would be idle while these calls are answered.
      if (line.isEmpty) batch.resolve(appended);
      else process.nextTick(() => batch.resolve(appended));
      const last = appended.findLast(({ outcome }) => outcome === 'stored');
      if (last) tell(last.seq);
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.calls.length === 1) return batch.reject(error as Error);
      // Something in this batch cannot be stored: halve it until the culprit fails alone.
      for (const half of batch.halves()) await answer(half);
    }
  }

  return {
    start(): void {
      working ??= work();
    },
    ended: async () => working,
  };
}

function createPreparation(): (entry: NewEntry) => Prepared {
  const nextSalt = createSalts();
  return (entry) => {
    const salt = nextSalt();
    return {
      entry,
      salt,
      commitment: commitmentOf(salt, entry.meta, entry.body),
      identity: `${entry.source} ${entry.kind} ${Buffer.from(entry.dedupeKey).toString('latin1')}`,
    };
  };
}

/**
 * Cuts salts from larger blocks of random bytes: calling the generator for every entry would cost more than hashing it.
 */
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

function createListeners() {
  const listeners = new Set<(seq: number) => void>();
  return {
    add(listener: (seq: number) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** A listener's error must not make committed entries look as if they had failed. */
    tell(seq: number): void {
      for (const listener of listeners) {
        try {
          listener(seq);
        } catch (error) {
          process.emitWarning(error instanceof Error ? error : String(error));
        }
      }
    },
    clear: () => listeners.clear(),
  };
}
