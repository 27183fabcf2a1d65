import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../core/errors.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import { countIn, type Outcome } from './queue-figures.ts';

/** Records that a job ended, for counting just before the transaction commits. */
export type CountEnd = (kind: string, outcome: Outcome) => void;
type Work<T> = (tx: StoreTransaction, countEnd: CountEnd) => Promise<T>;

interface Piece {
  readonly work: Work<unknown>;
  resolve(result: never): void;
  reject(error: unknown): void;
}

/** Pieces per transaction, limited because appends wait for it. */
const AT_ONCE = 64;

/**
 * Batches small transactions of this process: those requested while one is running share the next one, so that one sync
 * to disk serves all of them. Pieces are independent: if one fails, each is repeated in its own transaction, so it must
 * have no effect outside the database.
 */
export function createBatchedWrites(store: Pick<Store, 'engine' | 'transaction'>): <T>(work: Work<T>) => Promise<T> {
  const waiting: Piece[] = [];
  let running = false;

  const commit = (works: readonly Work<unknown>[]): Promise<unknown[]> =>
    store.transaction(async (tx) => {
      const ended = new Map<string, { kind: string; outcome: Outcome; count: number }>();
      const countEnd: CountEnd = (kind, outcome) => {
        const key = `${outcome} ${kind}`;
        ended.set(key, { kind, outcome, count: (ended.get(key)?.count ?? 0) + 1 });
      };
      const results = await (store.engine === 'postgres' ? atOnce : inTurn)(works, (work) => work(tx, countEnd));
      for (const { kind, outcome, count } of ended.values()) await countIn(tx.query, kind, outcome, count);
      return results;
    });

  async function commitAll(pieces: readonly Piece[]): Promise<void> {
    try {
      const results = await commit(pieces.map(({ work }) => work));
      for (const [place, { resolve }] of pieces.entries()) resolve(results[place] as never);
    } catch (error) {
      if (pieces.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of pieces) reject(error);
        return;
      }
      for (const piece of pieces) await commitAll([piece]);
    }
  }

  async function run(): Promise<void> {
    running = true;
    // Lets everything else requested in this turn of the event loop join.
    await nextTurn();
    while (waiting.length > 0) await commitAll(waiting.splice(0, AT_ONCE));
    running = false;
  }

  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push({ work, resolve, reject });
      if (!running) void run();
    });
}

export type BatchedWrites = ReturnType<typeof createBatchedWrites>;

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Runs statements concurrently on a remote server, to avoid a round trip for each. Rejects once all have ended. */
async function atOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(work));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
