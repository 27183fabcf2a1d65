import type { Clock } from '../core/clock.ts';
import { sha256 } from '../core/hash.ts';
import type { InstanceKeys } from '../core/keys.ts';
import { openSealed, sealBytes } from '../core/seal.ts';
import { REFUSED_COUNT_DAYS } from '../core/vocabulary.ts';
import type { Store, StoreTransaction } from '../store/store.ts';
import { addressGroup } from '../core/address.ts';
import { chooseItems, ITEM_OVERHEAD, ringLimits, type RingLimits } from './choose.ts';

/** A delivery that was answered with 401. */
export interface Rejected {
  readonly source: string;
  /** Why: `missing`, `mismatch` … */
  readonly reason: string;
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly address: string;
}

/** A rejected delivery of the ring, without its content. */
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

/** Refused deliveries of one source in one minute for one reason. */
export interface RejectedCount {
  readonly source: string;
  /** UTC, YYYY-MM-DDTHH:MM. */
  readonly minute: string;
  readonly reason: string;
  readonly count: number;
}

/** The ring of rejected deliveries: outside the ledger, encrypted, bounded, for 72 hours (docs/architecture.md). */
export interface RejectedRing {
  /** Counts a refused delivery and, when there is room, keeps its body. Never waits and never touches the store. */
  note(rejected: Rejected): void;
  /** Counts one without keeping a body (over the limit). */
  count(source: string, reason: string): void;
  /** Writes what has gathered, in one transaction. */
  flush(): Promise<void>;
  /** Newest first. */
  list(filter?: { readonly source?: string; readonly limit?: number }): Promise<readonly RejectedItem[]>;
  /** One with its content; null when it is gone or was altered. */
  read(id: number): Promise<RejectedContent | null>;
  remove(ids: readonly number[]): Promise<void>;
  /** Counts of the minutes from `since` (ISO 8601 UTC) on. */
  counts(since: string): Promise<readonly RejectedCount[]>;
  /** Writes what has gathered and stops. */
  close(): Promise<void>;
}

export interface RingOptions {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'rest'>;
  readonly clock: Clock;
  readonly limits?: Partial<RingLimits>;
  /** Milliseconds between two writes while something is refused. */
  readonly flushEvery?: number;
  /** Told when gathered deliveries could not be written; they are tried again. */
  readonly onError?: (error: unknown) => void;
}

const PENDING_ITEMS = 500;
const PENDING_BYTES = 8 * 1024 ** 2;
const COUNT_KEYS = 10_000;
const HEADER_BYTES = 16 * 1024;
const RECENT = 2000;
const never = /^(?:authorization|proxy-authorization|cookie|x-api-key)$/;

interface Pending {
  readonly source: string;
  readonly reason: string;
  readonly receivedAt: string;
  readonly address: string;
  readonly bytes: number;
  readonly rawBody: Uint8Array;
  readonly headers: Record<string, string | readonly string[]>;
}

/** Opens the ring and its timer. Close it. */
export function createRejectedRing(options: RingOptions): RejectedRing {
  const { store, keys, clock } = options;
  const limits = { ...ringLimits, ...options.limits };
  let pending: Pending[] = [];
  let pendingBytes = 0;
  const pendingOf = new Map<string, number>();
  let counts = new Map<string, RejectedCount>();
  let flushing: Promise<void> | null = null;
  let lastPurge = clock().getTime();
  // Digests of what was noted lately: a sender that repeats a refused delivery takes one place, not many.
  const recent = new Set<string>();

  function count(source: string, reason: string): void {
    const minute = clock().toISOString().slice(0, 16);
    const key = JSON.stringify([source, minute, reason]);
    const before = counts.get(key);
    if (before === undefined && counts.size >= COUNT_KEYS) return;
    counts.set(key, { source, minute, reason, count: (before?.count ?? 0) + 1 });
  }

  function note({ source, reason, rawBody, headers, address }: Rejected): void {
    count(source, reason);
    const group = addressGroup(address);
    if (pending.length >= PENDING_ITEMS || pendingBytes + rawBody.length > PENDING_BYTES) return;
    const ofGroup = pendingOf.get(group) ?? 0;
    if (ofGroup >= PENDING_ITEMS / 2) return;
    const kept = keepHeaders(headers);
    const digest = digestOf(source, kept, rawBody);
    if (recent.has(digest)) return;
    recent.add(digest);
    if (recent.size > RECENT) for (const oldest of recent) if (recent.delete(oldest)) break;
    pending.push({
      source,
      reason,
      receivedAt: clock().toISOString(),
      address: group,
      bytes: rawBody.length,
      rawBody,
      headers: kept,
    });
    pendingBytes += rawBody.length + ITEM_OVERHEAD;
    pendingOf.set(group, ofGroup + 1);
  }

  async function write(): Promise<void> {
    const now = clock();
    const purging = now.getTime() - lastPurge > 600_000;
    if (pending.length === 0 && counts.size === 0 && !purging) return;
    const [newcomers, newCounts, bytes] = [pending, counts, pendingBytes];
    pending = [];
    pendingBytes = 0;
    pendingOf.clear();
    counts = new Map();
    try {
      // Decided and sealed before the write lock is taken: appends wait for it meanwhile.
      const kept = await store.read
        .selectFrom('rejected_deliveries')
        .select(['id', 'address', 'bytes', 'received_at as receivedAt'])
        .execute();
      const { enter, leave } = chooseItems(kept, newcomers, now, limits);
      const rows = enter.map((item) => sealRow(item, keys.rest));
      if (rows.length + leave.length + newCounts.size === 0 && !purging) return;
      await store.transaction(async (tx) => {
        for (const chunk of chunks(leave))
          await tx.query.deleteFrom('rejected_deliveries').where('id', 'in', chunk).execute();
        for (const row of rows) await tx.query.insertInto('rejected_deliveries').values(row).execute();
        await addCounts(tx, [...newCounts.values()]);
        if (purging)
          await tx.query
            .deleteFrom('rejected_counts')
            .where('minute', '<', daysBefore(now, REFUSED_COUNT_DAYS))
            .execute();
      });
      lastPurge = purging ? now.getTime() : lastPurge;
    } catch (error) {
      // Back into the line, as far as there is room beside what has come since.
      pending = [...newcomers, ...pending].slice(0, PENDING_ITEMS);
      pendingBytes += bytes;
      for (const [key, old] of newCounts) counts.set(key, { ...old, count: old.count + (counts.get(key)?.count ?? 0) });
      throw error;
    }
  }

  async function flush(): Promise<void> {
    await flushing?.catch(() => undefined);
    flushing ??= write().finally(() => {
      flushing = null;
    });
    return flushing;
  }

  const timer = setInterval(() => {
    if (flushing === null) flush().catch((error: unknown) => options.onError?.(error));
  }, options.flushEvery ?? 5000);
  timer.unref();

  const expiry = () => new Date(clock().getTime() - limits.hours * 3_600_000).toISOString();
  const itemColumns = ['id', 'source', 'received_at as receivedAt', 'address', 'reason', 'bytes'] as const;

  return {
    note,
    count,
    flush,
    async list(filter = {}) {
      let query = store.read.selectFrom('rejected_deliveries').select(itemColumns).where('received_at', '>=', expiry());
      if (filter.source !== undefined) query = query.where('source', '=', filter.source);
      return query
        .orderBy('id', 'desc')
        .limit(filter.limit ?? limits.items)
        .execute();
    },
    async read(id) {
      const row = await store.read
        .selectFrom('rejected_deliveries')
        .select([...itemColumns, 'sealed'])
        .where('id', '=', id)
        .where('received_at', '>=', expiry())
        .executeTakeFirst();
      if (row === undefined) return null;
      const { sealed, ...item } = row;
      const opened = openSealed(keys.rest, sealed, contextOf(item.source, item.receivedAt));
      if (opened === null) return null;
      const { headers, body } = JSON.parse(opened.toString('utf8')) as {
        headers: Record<string, string>;
        body: string;
      };
      return { ...item, headers, rawBody: Buffer.from(body, 'base64') };
    },
    async remove(ids) {
      if (ids.length === 0) return;
      await store.transaction(async ({ query }) => {
        for (const chunk of chunks(ids))
          await query.deleteFrom('rejected_deliveries').where('id', 'in', chunk).execute();
      });
    },
    async counts(since) {
      return store.read
        .selectFrom('rejected_counts')
        .selectAll()
        .where('minute', '>=', since.slice(0, 16))
        .orderBy('minute')
        .orderBy('source')
        .orderBy('reason')
        .execute();
    },
    async close() {
      clearInterval(timer);
      await flush().catch((error: unknown) => options.onError?.(error));
    },
  };
}

// Source and time are bound to the content: neither can be exchanged in the database without it showing.
function contextOf(source: string, receivedAt: string): string {
  return `rejected:${JSON.stringify([source, receivedAt])}`;
}

/** What makes two refused deliveries the same: source, body and signatures; other headers may differ with each attempt. */
function digestOf(source: string, headers: Record<string, unknown>, rawBody: Uint8Array): string {
  const signatures = Object.entries(headers).filter(([name]) => name.includes('signature'));
  const head = Buffer.from(JSON.stringify([source, signatures]), 'utf8');
  return sha256(Buffer.concat([sha256(head), sha256(rawBody)])).toString('latin1');
}

function sealRow(item: Pending, restKey: Uint8Array) {
  const { source, receivedAt, address, reason, bytes, headers, rawBody } = item;
  const plain = JSON.stringify({ headers, body: Buffer.from(rawBody).toString('base64') });
  const sealed = sealBytes(restKey, Buffer.from(plain, 'utf8'), contextOf(source, receivedAt));
  return { source, received_at: receivedAt, address, reason, bytes, sealed };
}

function keepHeaders(headers: Rejected['headers']): Record<string, string | readonly string[]> {
  const kept: Record<string, string | readonly string[]> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || never.test(name)) continue;
    bytes += name.length + String(value).length;
    if (bytes > HEADER_BYTES) break;
    kept[name] = value;
  }
  return kept;
}

async function addCounts(tx: StoreTransaction, counts: readonly RejectedCount[]): Promise<void> {
  for (const { source, minute, reason, count } of counts) {
    await tx.query
      .insertInto('rejected_counts')
      .values({ source, minute, reason, count })
      .onConflict((conflict) =>
        conflict
          .columns(['source', 'minute', 'reason'])
          .doUpdateSet((eb) => ({ count: eb('rejected_counts.count', '+', count) })),
      )
      .execute();
  }
}

function chunks(ids: readonly number[]): number[][] {
  const result: number[][] = [];
  for (let start = 0; start < ids.length; start += 500) result.push(ids.slice(start, start + 500));
  return result;
}

function daysBefore(now: Date, days: number): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 16);
}
