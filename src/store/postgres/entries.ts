import { INSTALLATION } from '../../core/vocabulary.ts';
import type { Entry } from '../../crypto/entry.ts';
import { MOVED_TO } from '../settings.ts';
import { ConstraintViolation, type EntryKey, type LedgerHead, type OnConflict } from '../store.ts';
import { type PostgresConnection, WRITE_LOCK } from './driver.ts';
import { binaryArray, oid } from './values.ts';

/** Columns of `entries`, each with its type and value. */
const columns: readonly [name: string, type: keyof typeof oid, of: (entry: Entry) => unknown][] = [
  ['seq', 'int8', ({ seq }) => seq],
  ['source', 'text', ({ source }) => source],
  ['source_seq', 'int8', ({ sourceSeq }) => sourceSeq],
  ['kind', 'text', ({ kind }) => kind],
  ['dedupe_key', 'bytea', ({ dedupeKey }) => dedupeKey],
  ['received_at', 'text', ({ receivedAt }) => receivedAt],
  ['meta', 'bytea', ({ meta }) => meta],
  ['body', 'bytea', ({ body }) => body],
  ['salt', 'bytea', ({ salt }) => salt],
  ['commitment', 'bytea', ({ commitment }) => commitment],
  ['leaf_hash', 'bytea', ({ leafHash }) => leafHash],
  ['mac', 'bytea', ({ mac }) => mac],
];

const INSERT = `insert into entries (${columns.map(([name]) => name).join(', ')})
  select * from unnest(${columns.map(([, type], place) => `$${place + 1}::${type}[]`).join(', ')})`;

/*
 * A row rejected by a unique index has been written nevertheless, and stays in the table's file until it is vacuumed.
 * Once content has been erased, a repeat must not leave its bytes there again, so its key is looked up first. Until the
 * first erasure, this costs one index look-up.
 */
const NO_REPEAT = `(not exists (select 1 from entries where source = '${INSTALLATION}' and kind = 'erasure')
    or not exists (select 1 from unnest($2::text[], $4::text[], $5::bytea[]) as wanted (source, kind, dedupe_key)
      where (select seq from entries where entries.source = wanted.source and entries.kind = wanted.kind
        and entries.dedupe_key = wanted.dedupe_key) is not null))`;

const INSERT_NEW = `${INSERT} where ${NO_REPEAT}`;

/*
 * The fast path. One statement, and so one transaction and one round trip, takes the write lock if it is free right
 * now, checks that the ledger ends where the caller believes, and inserts.
 *
 * Why entries commit in the order of seq: a statement sees the transactions that had committed when it began, so one
 * that inserts n + 1 … m has seen n committed. If two have seen n, both insert n + 1, and the unique index lets only
 * one of them commit; the other fails as a whole. So nobody can insert m + 1 before m is committed and seen, and a
 * reader that sees a seq sees all before it. This holds with or without the lock. The lock protects transactions that
 * look up keys first: without it, this statement could take the number that they have just read as the next, and they
 * would fail instead of waiting. This statement must not wait for the lock: it would still see the state from before
 * the wait, and the insert would fail.
 */
const INSERT_AT = `${INSERT}
  where (select case when pg_try_advisory_xact_lock(${WRITE_LOCK}) then (select coalesce(max(seq), 0) from entries) else -1 end) = $${columns.length + 1}::int8
    and ${NO_REPEAT}`;

/** Inserts entries; rejects with ConstraintViolation if a number or key exists. */
export async function insertEntries(connection: PostgresConnection, entries: readonly Entry[]): Promise<void> {
  await connection.run(INSERT, packed(entries), 'insert entries');
}

/** Like insertEntries, for entries whose keys were not looked up. */
export async function insertNewEntries(connection: PostgresConnection, entries: readonly Entry[]): Promise<void> {
  const { count } = await connection.run(INSERT_NEW, packed(entries), 'insert new entries');
  if (count !== entries.length) throw new ConstraintViolation('a key exists');
}

/**
 * Inserts entries if the ledger still ends at `expectedSeq`. False, with nothing written, if it does not, or if a
 * number or key exists.
 */
export async function insertEntriesAt(
  connection: PostgresConnection,
  expectedSeq: number,
  entries: readonly Entry[],
): Promise<boolean> {
  try {
    const { count } = await connection.run(INSERT_AT, [...packed(entries), expectedSeq], 'insert entries at');
    return count === entries.length;
  } catch (error) {
    if (error instanceof ConstraintViolation) return false;
    throw error;
  }
}

function packed(entries: readonly Entry[]): Buffer[] {
  for (const { meta, body, salt } of entries) {
    if (meta === null || body === null || salt === null) throw new Error('an erased entry cannot be inserted');
  }
  return columns.map(([, type, of]) => binaryArray(oid[type], entries.map(of)));
}

/** The seq of each key, in the order given; null if it does not exist. */
export async function findSeqs(connection: PostgresConnection, keys: readonly EntryKey[]): Promise<(number | null)[]> {
  const { rows } = await connection.run(
    FIND_SEQS,
    [
      binaryArray(
        oid.text,
        keys.map(({ source }) => source),
      ),
      binaryArray(
        oid.text,
        keys.map(({ kind }) => kind),
      ),
      binaryArray(
        oid.bytea,
        keys.map(({ dedupeKey }) => dedupeKey),
      ),
    ],
    'find seqs',
  );
  return rows.map(({ seq }) => seq as number | null);
}

/** A subquery per key instead of a join: a planner that believes the table to be small would answer a join by reading all of it. */
export const FIND_SEQS = `select (select seq from entries where entries.source = wanted.source and entries.kind = wanted.kind
    and entries.dedupe_key = wanted.dedupe_key) as seq
  from unnest($1::text[], $2::text[], $3::bytea[]) with ordinality as wanted (source, kind, dedupe_key, place) order by place`;

/** Reads the head of the ledger. */
export async function readHead(connection: PostgresConnection, sources: readonly string[]): Promise<LedgerHead> {
  const { rows } = await connection.run(READ_HEADS, [binaryArray(oid.text, sources)], 'read head');
  const [head, ...perSource] = rows as { source: string | null; seq: number; moved_to: string | null }[];
  return {
    seq: head?.seq ?? 0,
    sourceSeq: new Map(perSource.map(({ source, seq }) => [source as string, seq])),
    movedTo: head?.moved_to ?? null,
  };
}

export const READ_HEADS = `select null as source, (select coalesce(max(seq), 0) from entries) as seq, (select value from settings where name = '${MOVED_TO}') as moved_to
  union all select wanted.source, coalesce((select max(source_seq) from entries where entries.source = wanted.source), 0), null
  from unnest($1::text[]) as wanted (source)`;

type Row = Readonly<Record<string, unknown>>;

/** A table's shape according to the catalogue. */
interface TableShape {
  /** OID of each column's type. */
  readonly types: ReadonlyMap<string, number>;
  /** Columns of its primary key, or else of a unique index; empty if it has neither. */
  readonly key: readonly string[];
}

/** Reads the shape of a table, each only once. */
export type TableShapes = (connection: PostgresConnection, table: string) => Promise<TableShape>;

export function createTableShapes(): TableShapes {
  const known = new Map<string, TableShape>();
  return async (connection, table) => {
    const kept = known.get(table);
    if (kept !== undefined) return kept;
    const columns = await connection.run(
      `select attname as name, atttypid::int8 as type from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    const key = await connection.run(
      `select a.attname as name
        from (select indexrelid, indrelid, indkey from pg_index
          where indrelid = $1::regclass and indisunique and indpred is null and indexprs is null and indisvalid
          order by indisprimary desc, indexrelid limit 1) as i
        cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum order by k.place`,
      [table],
    );
    const shape = {
      types: new Map(columns.rows.map(({ name, type }) => [name as string, type as number])),
      key: key.rows.map(({ name }) => name as string),
    };
    known.set(table, shape);
    return shape;
  };
}

/** Inserts rows in one statement with one array per column. Names of tables and columns come from the code, never from outside. */
export async function insertMany(
  connection: PostgresConnection,
  shapes: TableShapes,
  {
    table,
    rows,
    onConflict,
  }: { readonly table: string; readonly rows: readonly Row[]; readonly onConflict: OnConflict },
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { types, key } = await shapes(connection, table);
  const columns = Object.keys(first);
  for (const row of rows) {
    if (Object.keys(row).length !== columns.length || !columns.every((column) => column in row))
      throw new TypeError(`insertMany(${table}): rows with different columns`);
  }
  const wanted = onConflict === 'replace' ? lastOfEachKey(rows, key) : rows;
  const arrays = columns.map((column) => {
    const type = types.get(column);
    if (type === undefined) throw new TypeError(`insertMany(${table}): there is no column ${column}`);
    try {
      return binaryArray(
        type,
        wanted.map((row) => row[column]),
      );
    } catch (error) {
      throw new TypeError(`insertMany(${table}.${column}): ${(error as Error).message}`, { cause: error });
    }
  });
  const names = columns.map((column) => `"${column}"`).join(', ');
  const unnested = columns.map((column, place) => `$${place + 1}::${typeName(types.get(column))}[]`).join(', ');
  await connection.run(
    `insert into "${table}" (${names}) select * from unnest(${unnested})${conflictClause(table, { key, given: columns, all: [...types.keys()] }, onConflict)}`,
    arrays,
  );
}

const typeNames: Readonly<Record<number, string>> = { 17: 'bytea', 20: 'int8', 23: 'int4', 25: 'text', 701: 'float8' };

function typeName(type: number | undefined): string {
  const name = type === undefined ? undefined : typeNames[type];
  if (name === undefined) throw new TypeError(`columns of type ${type} are not used`);
  return name;
}

/**
 * One statement may not change a row twice, so of several rows with the same key only the last is kept, as if they came
 * one after the other.
 */
function lastOfEachKey(rows: readonly Row[], key: readonly string[]): readonly Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    byKey.set(JSON.stringify(key.map((column) => keyPart(row[column]))), row);
  }
  return byKey.size === rows.length ? rows : [...byKey.values()];
}

function keyPart(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

function conflictClause(
  table: string,
  {
    key,
    given,
    all,
  }: { readonly key: readonly string[]; readonly given: readonly string[]; readonly all: readonly string[] },
  onConflict: OnConflict,
): string {
  if (onConflict === 'fail') return '';
  if (onConflict === 'keep') return ' on conflict do nothing';
  if (key.length === 0) throw new TypeError(`insertMany(${table}): nothing says which row to replace`);
  // Replacing a row discards the old one entirely: columns that are not given get their default.
  const changes = all
    .filter((column) => !key.includes(column))
    .map((column) => `"${column}" = ${given.includes(column) ? `excluded."${column}"` : 'default'}`);
  const action = changes.length === 0 ? 'nothing' : `update set ${changes.join(', ')}`;
  return ` on conflict (${key.map((column) => `"${column}"`).join(', ')}) do ${action}`;
}
