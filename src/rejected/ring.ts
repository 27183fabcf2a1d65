import type { Clock } from '../core/clock.ts';
import { MOST_REFUSED, oldestCount } from '../core/vocabulary.ts';
import { type InstanceKeys, openSealed, sealBytes } from '../crypto/keys.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import {
  type BufferedRejections,
  chooseItems,
  Gathering,
  type Pending,
  type Rejected,
  type RejectedCount,
  type RingLimits,
  ringLimits,
} from './write-buffer.ts';

export type { Rejected, RejectedCount } from './write-buffer.ts';

/** A rejected delivery in the ring, without its content. */
export interface RejectedItem {
  readonly id: number;
  readonly source: string;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  /** IPv4 address, or the first 64 bits of an IPv6 one. */
  readonly address: string;
  readonly reason: string;
  /** Length of the body. */
  readonly bytes: number;
}
export interface RejectedContent extends RejectedItem {
  readonly rawBody: Buffer;
  /** Without credentials and cookies. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface RingOptions {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  readonly limits?: Partial<RingLimits>;
  /** Milliseconds between writes while something is refused. */
  readonly flushEvery?: number;
  /** Called if collected deliveries could not be written; they are tried again. */
  readonly onError?: (error: unknown) => void;
}

/** Milliseconds between removals of old counts. */
const PURGE_EVERY = 600_000;

const itemColumns = ['id', 'source', 'received_at as receivedAt', 'address', 'reason', 'bytes'] as const;

/** The ring of rejected deliveries: outside the ledger, encrypted, limited, for 72 hours (docs/architecture.md). */
export type RejectedRing = ReturnType<typeof createRejectedRing>;

/** Opens the ring and its timer. Close it. */
export function createRejectedRing({ store, keys, clock, flushEvery = 5000, ...options }: RingOptions) {
  const limits = { ...ringLimits, ...options.limits };
  const gathering = new Gathering(clock);
  const oldest = () => new Date(clock().getTime() - limits.hours * 3_600_000).toISOString();
  const { flush, isFlushing } = createFlush(gathering, clock, {
    counts: (gathered, purging) => writeCounts(store, gathered, clock(), purging),
    items: (gathered) => writeItems(store, gathered, { restKey: keys.rest, now: clock(), limits }),
  });
  const timer = setInterval(() => {
    if (!isFlushing()) flush().catch((error: unknown) => options.onError?.(error));
  }, flushEvery);
  timer.unref();

  return {
    /** Counts a refused delivery and, if there is room, keeps its body. Never waits and never touches the store. */
    note: (rejected: Rejected) => gathering.note(rejected),
    /** Counts one without keeping a body (over the limit). */
    count: (source: string, reason: string) => gathering.count(source, reason),
    /** Writes everything collected: first the counts, so that whatever keeps bodies from being written does not stop them. */
    flush,
    /** Newest first. */
    list: (filter: { readonly source?: string; readonly limit?: number } = {}) =>
      listItems(store.read, oldest(), { limit: limits.items, ...filter }),
    /** One delivery with its content; null if it is gone or was altered. */
    read: (id: number) => readItem(store.read, keys.rest, oldest(), id),
    async remove(ids: readonly number[]): Promise<void> {
      if (ids.length > 0) await store.transaction((tx) => removeIn(tx, ids));
    },
    /** Counts for the minutes from `since` (ISO 8601 UTC) on. */
    counts: (since: string) => listCounts(store.read, since.slice(0, 16)),
    /** Writes everything collected and stops. */
    async close(): Promise<void> {
      clearInterval(timer);
      await flush().catch((error: unknown) => options.onError?.(error));
    },
  };
}

/** Writes everything collected, one write at a time. What could not be written is put back. */
function createFlush(
  gathering: Gathering,
  clock: Clock,
  write: {
    counts(gathered: BufferedRejections, purging: boolean): Promise<void>;
    items(gathered: BufferedRejections): Promise<void>;
  },
) {
  let flushing: Promise<void> | null = null;
  let lastPurge = clock().getTime();

  async function flushOnce(): Promise<void> {
    const now = clock().getTime();
    const purging = now - lastPurge > PURGE_EVERY;
    if (gathering.isEmpty && !purging) return;
    let unwritten = gathering.take();
    try {
      await write.counts(unwritten, purging);
      if (purging) lastPurge = now;
      unwritten = { ...unwritten, counts: new Map() };
      await write.items(unwritten);
    } catch (error) {
      gathering.putBack(unwritten);
      throw error;
    }
  }

  return {
    isFlushing: () => flushing !== null,
    async flush(): Promise<void> {
      await flushing?.catch(() => undefined);
      flushing ??= flushOnce().finally(() => {
        flushing = null;
      });
      return flushing;
    },
  };
}

async function writeCounts(store: Store, { counts }: BufferedRejections, now: Date, purging: boolean): Promise<void> {
  if (counts.size === 0 && !purging) return;
  await store.transaction(async (tx) => {
    await addCounts(tx, [...counts.values()]);
    if (purging) await tx.query.deleteFrom('rejected_counts').where('minute', '<', oldestCount(now)).execute();
  });
}

async function writeItems(
  store: Store,
  { pending }: BufferedRejections,
  { restKey, now, limits }: { readonly restKey: Uint8Array; readonly now: Date; readonly limits: RingLimits },
): Promise<void> {
  // Chosen and sealed before the write lock is taken, because appends wait for it.
  const kept = await itemsIn(store.read);
  const chosen = chooseItems(kept, pending, now, limits);
  const rows = new Map(chosen.enter.map((item) => [item, sealRow(item, restKey)]));
  if (rows.size + chosen.leave.length === 0) return;
  await store.transaction(async (tx) => {
    // Another process may have written since: under the lock, its items count as well.
    const { enter, leave } = (await isStill(tx.query, kept))
      ? chosen
      : chooseItems(await itemsIn(tx.query), chosen.enter, now, limits);
    await removeIn(tx, leave);
    // Many rows per statement: in a flood, each statement waits for its turn in the busy process, and appends wait for
    // all of them.
    for (const chunk of chunks(enter.flatMap((item) => rows.get(item) ?? [])))
      await tx.query.insertInto('rejected_deliveries').values(chunk).execute();
  });
}

function itemsIn(query: Query) {
  return query
    .selectFrom('rejected_deliveries')
    .select(['id', 'address', 'bytes', 'received_at as receivedAt'])
    .execute();
}

/** Whether the ring has these items, judged by their number, bytes and highest id, without reading all of them. */
async function isStill(query: Query, kept: readonly { readonly id: number; readonly bytes: number }[]) {
  const { count, bytes, highest } = await query
    .selectFrom('rejected_deliveries')
    .select((eb) => [eb.fn.countAll().as('count'), eb.fn.sum('bytes').as('bytes'), eb.fn.max('id').as('highest')])
    .executeTakeFirstOrThrow();
  return (
    Number(count) === kept.length &&
    Number(bytes ?? 0) === kept.reduce((sum, item) => sum + Number(item.bytes), 0) &&
    Number(highest ?? 0) === kept.reduce((most, { id }) => Math.max(most, Number(id)), 0)
  );
}

async function listItems(
  read: Query,
  oldest: string,
  { source, limit }: { readonly source?: string; readonly limit: number },
): Promise<readonly RejectedItem[]> {
  let query = read.selectFrom('rejected_deliveries').select(itemColumns).where('received_at', '>=', oldest);
  if (source !== undefined) query = query.where('source', '=', source);
  return query.orderBy('id', 'desc').limit(limit).execute();
}

async function readItem(read: Query, restKey: Uint8Array, oldest: string, id: number): Promise<RejectedContent | null> {
  const row = await read
    .selectFrom('rejected_deliveries')
    .select([...itemColumns, 'sealed'])
    .where('id', '=', id)
    .where('received_at', '>=', oldest)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { sealed, ...item } = row;
  const opened = openSealed(restKey, sealed, contextOf(item.source, item.receivedAt));
  if (opened === null) return null;
  const { headers, body } = JSON.parse(opened.toString('utf8')) as { headers: Record<string, string>; body: string };
  return { ...item, headers, rawBody: Buffer.from(body, 'base64') };
}

/** The source of a refused delivery that is still stored, however old; null: there is none with this number. */
export async function sourceOfRejected(read: Query, id: number): Promise<string | null> {
  const row = await read.selectFrom('rejected_deliveries').select('source').where('id', '=', id).executeTakeFirst();
  return row?.source ?? null;
}

async function listCounts(read: Query, minute: string): Promise<readonly RejectedCount[]> {
  return read
    .selectFrom('rejected_counts')
    .selectAll()
    .where('minute', '>=', minute)
    .orderBy('minute')
    .orderBy('source')
    .orderBy('reason')
    .execute();
}

async function removeIn({ query }: StoreTransaction, ids: readonly number[]): Promise<void> {
  for (const chunk of chunks(ids)) await query.deleteFrom('rejected_deliveries').where('id', 'in', chunk).execute();
}

async function addCounts({ query }: StoreTransaction, counts: readonly RejectedCount[]): Promise<void> {
  for (const chunk of chunks(counts)) {
    await query
      .insertInto('rejected_counts')
      .values(chunk.map(({ source, minute, reason, count }) => ({ source, minute, reason, count })))
      .onConflict((conflict) =>
        conflict.columns(['source', 'minute', 'reason']).doUpdateSet((eb) => ({
          count: eb
            .case()
            // A number that no flood reaches, but a row altered in the database may: the others still have to be counted.
            .when('rejected_counts.count', '>', MOST_REFUSED / 2)
            .then(MOST_REFUSED)
            .else(eb('rejected_counts.count', '+', eb.ref('excluded.count')))
            .end(),
        })),
      )
      .execute();
  }
}

/** Limits the number of parameters per statement. */
function chunks<T>(items: readonly T[]): T[][] {
  const result: T[][] = [];
  for (let start = 0; start < items.length; start += 500) result.push(items.slice(start, start + 500));
  return result;
}

function sealRow(item: Pending, restKey: Uint8Array) {
  const { source, receivedAt, address, reason, bytes, headers, rawBody } = item;
  const plain = JSON.stringify({ headers, body: Buffer.from(rawBody).toString('base64') });
  const sealed = sealBytes(restKey, Buffer.from(plain, 'utf8'), contextOf(source, receivedAt));
  return { source, received_at: receivedAt, address, reason, bytes, sealed };
}

// Binds source and time to the content, so that neither can be changed in the database unnoticed.
function contextOf(source: string, receivedAt: string): string {
  return `rejected:${JSON.stringify([source, receivedAt])}`;
}
