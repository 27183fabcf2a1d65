import type { Kysely } from 'kysely';
import { readEntryPage } from '../store/queries/entry-pages.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { TableName } from '../store/schema.ts';
import { MOVED_TO } from '../store/settings.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';

/** Tables that are copied row by row: configuration, and unfinished work. */
export const copiedWhole = [
  'settings',
  'positions',
  'sources',
  'people',
  'recovery_codes',
  'passkeys',
  'sync_positions',
  'jobs',
  'schedules',
  'rejected_deliveries',
  'rejected_counts',
  'job_counts',
  'call_slots',
] as const satisfies readonly TableName[];

/** Tables that a copy includes and a backup does not: a link revoked since must not come back with a backup. */
export const copiedOnly = ['hand_overs'] as const satisfies readonly TableName[];

/** Tables that grow with the ledger: copied page by page, and only what is missing. */
export const copiedByPage = ['entries', 'arrivals', 'checkpoints'] as const satisfies readonly TableName[];

/**
 * Officers sign in again, because sessions and stored answers belong to the server that created them. A revoked token
 * must not come back with an earlier backup.
 */
export const leftBehind = [
  'sign_in_links',
  'sessions',
  'sign_in_failures',
  'api_tokens',
  'idempotency_keys',
] as const satisfies readonly TableName[];

/** Names of positions that the copy recomputes from the entries; backups of version 1 contain them. */
export const madeAnew: readonly string[] = ['projector', 'projector:generation', 'rebuild', 'rebuild:generation'];

type AnyTable = Record<string, Record<string, unknown>>;
type Row = Readonly<Record<string, unknown>>;
const any = (query: Query) => query as unknown as Kysely<AnyTable>;

/** Rows per statement: an entry or a refused delivery can be 1 MiB. */
const ROWS = 200;
const BYTES = 8 << 20;

/** Copies entries after the last one in `to`, in order of seq, up to `upTo`; resolves with their number. Existing ones stay. */
export async function copyEntries(
  from: Store,
  to: Store,
  upTo: number,
  onProgress: (done: number, total: number) => void,
): Promise<number> {
  const start = await lastSeq(to.read);
  let done = start;
  while (done < upTo) {
    const page = await readEntryPage(from.read, done, upTo, { entries: ROWS, bytes: BYTES });
    if (page === null) break;
    await to.transaction((tx) => insertInPortions(tx, 'entries', page.rows, 'fail'));
    done = page.to;
    onProgress(done, upTo);
  }
  return done - start;
}

/** Copies repeats and checkpoints, replacing existing rows. */
export async function copyByPage(from: Store, to: Store, upTo: number): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await arrivalsAfter(from, after, upTo);
    const last = rows.at(-1);
    if (last === undefined) break;
    await to.transaction((tx) => insertInPortions(tx, 'arrivals', rows, 'replace'));
    after = last.seq;
  }
  const checkpoints = await from.read
    .selectFrom('checkpoints')
    .select(['epoch', 'size'])
    .where('size', '<=', upTo)
    .orderBy('epoch')
    .orderBy('size')
    .execute();
  const there = await to.read.selectFrom('checkpoints').select(['epoch', 'size']).execute();
  const known = new Set(there.map(({ epoch, size }) => `${epoch}/${size}`));
  for (const { epoch, size } of checkpoints.filter((one) => !known.has(`${one.epoch}/${one.size}`))) {
    const row = await from.read
      .selectFrom('checkpoints')
      .selectAll()
      .where('epoch', '=', epoch)
      .where('size', '=', size)
      .executeTakeFirstOrThrow();
    await to.transaction((tx) => tx.insertMany('checkpoints', [row], 'keep'));
  }
}

function arrivalsAfter(from: Store, after: number, upTo: number) {
  return from.read
    .selectFrom('arrivals')
    .selectAll()
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .orderBy('seq')
    .limit(ROWS)
    .execute();
}

/** Makes a small table the same as in `from`. Ids assigned by the database are assigned again. */
export async function copyWhole(from: Store, to: Store, table: TableName): Promise<void> {
  let rows: Row[] = await any(from.read).selectFrom(table).selectAll().execute();
  // Only the old database is retired, so do not copy this setting.
  if (table === 'settings') rows = rows.filter(({ name }) => name !== MOVED_TO);
  if (table === 'rejected_deliveries') {
    rows.sort((a, b) => Number(a['id']) - Number(b['id']));
    rows = rows.map(({ id: _drawn, ...rest }) => rest);
  }
  await to.transaction(async (tx) => {
    // The copy's own settings and positions are kept alongside the copied ones.
    if (table !== 'settings' && table !== 'positions') await any(tx.query).deleteFrom(table).execute();
    await insertInPortions(tx, table, rows, table === 'settings' || table === 'positions' ? 'replace' : 'fail');
  });
}

export async function insertInPortions(
  tx: StoreTransaction,
  table: TableName,
  rows: readonly Row[],
  onConflict: 'fail' | 'replace',
): Promise<void> {
  let portion: Row[] = [];
  let bytes = 0;
  const flush = async () => {
    await tx.insertMany(table, portion, onConflict);
    portion = [];
    bytes = 0;
  };
  for (const row of rows) {
    portion.push(row);
    bytes += Object.values(row).reduce<number>(
      (sum, value) => sum + (value instanceof Uint8Array || typeof value === 'string' ? value.length : 8),
      0,
    );
    if (portion.length >= ROWS || bytes >= BYTES) await flush();
  }
  if (portion.length > 0) await flush();
}

const PAGE = 2000;

/** All rows of a table in order of its key, page by page. */
export async function* readByKey(
  read: Query,
  table: TableName,
  keys: readonly string[],
): AsyncGenerator<readonly Record<string, unknown>[]> {
  let last: Record<string, unknown> | null = null;
  for (;;) {
    let query = any(read).selectFrom(table).selectAll().limit(PAGE);
    for (const key of keys) query = query.orderBy(key);
    if (last !== null) {
      const after = last;
      // After the last key: greater in one column and equal in those before it.
      query = query.where((eb) =>
        eb.or(
          keys.map((key, place) =>
            eb.and([...keys.slice(0, place).map((before) => eb(before, '=', after[before])), eb(key, '>', after[key])]),
          ),
        ),
      );
    }
    const page: Record<string, unknown>[] = await query.execute();
    yield page;
    last = page.at(-1) ?? null;
    if (page.length < PAGE || last === null) return;
  }
}
