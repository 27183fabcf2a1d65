import type { Entry } from '../../crypto/entry.ts';
import { MOVED_TO } from '../settings.ts';
import { ConstraintViolation, type EntryKey, type LedgerHead, type OnConflict } from '../store.ts';
import { FIND_SEQS } from './dedupe.ts';
import type { SqliteConnection } from './driver.ts';

/*
 * A batch of entries is ONE statement with two parameters: all bytes in one buffer, and a JSON array with the position
 * of each piece. Passing a row this way costs 2 µs, against 9 µs with a parameter per column and 4 µs with hex in JSON;
 * bodies need not be valid UTF-8 (docs/decisions.md).
 */
const INSERT = `insert into entries (seq, source, source_seq, kind, dedupe_key, received_at, meta, body, salt, commitment, leaf_hash, mac)
  select value->>0, value->>1, value->>2, value->>3, substr(?2, value->>5, 32), value->>4,
    substr(?2, (value->>5) + 160, value->>6), substr(?2, (value->>5) + 160 + (value->>6), value->>7),
    substr(?2, (value->>5) + 32, 32), substr(?2, (value->>5) + 64, 32), substr(?2, (value->>5) + 96, 32), substr(?2, (value->>5) + 128, 32)
  from jsonb_each(?1)`;
const INSERT_AT = `${INSERT} where (select coalesce(max(seq), 0) from entries) = ?3`;

/** Inserts entries; rejects with ConstraintViolation if a number or key exists. */
export async function insertEntries(connection: SqliteConnection, entries: readonly Entry[]): Promise<void> {
  const [places, bytes] = packed(entries);
  await connection.run(INSERT, [places, bytes]);
}

/**
 * Inserts entries if the ledger still ends at `expectedSeq`. False, with nothing written, if it does not, or if a
 * number or key exists.
 */
export async function insertEntriesAt(
  connection: SqliteConnection,
  expectedSeq: number,
  entries: readonly Entry[],
): Promise<boolean> {
  const [places, bytes] = packed(entries);
  try {
    return (await connection.run(INSERT_AT, [places, bytes, expectedSeq])) === entries.length;
  } catch (error) {
    if (error instanceof ConstraintViolation) return false;
    throw error;
  }
}

function packed(entries: readonly Entry[]): [string, Buffer] {
  const pieces: Buffer[] = [];
  const places: (string | number)[][] = [];
  let offset = 1; // substr counts from 1
  for (const entry of entries) {
    const { meta, body, salt } = entry;
    if (meta === null || body === null || salt === null) throw new Error('an erased entry cannot be inserted');
    pieces.push(entry.dedupeKey, salt, entry.commitment, entry.leafHash, entry.mac, meta, body);
    places.push([
      entry.seq,
      entry.source,
      entry.sourceSeq,
      entry.kind,
      entry.receivedAt,
      offset,
      meta.length,
      body.length,
    ]);
    offset += 160 + meta.length + body.length;
  }
  return [JSON.stringify(places), Buffer.concat(pieces)];
}

/** The seq of each key, in the order given; null if it does not exist. */
export async function findSeqs(connection: SqliteConnection, keys: readonly EntryKey[]): Promise<(number | null)[]> {
  const wanted = keys.map((key) => [key.source, key.kind, Buffer.from(key.dedupeKey).toString('hex')]);
  const rows = await connection.all(FIND_SEQS, [JSON.stringify(wanted)]);
  const found: (number | null)[] = keys.map(() => null);
  for (const row of rows) found[Number(row.place)] = Number(row.seq);
  return found;
}

export const READ_HEADS = `select null as source, (select max(seq) from entries) as seq, (select value from settings where name = '${MOVED_TO}') as moved_to
  union all select wanted.value, (select max(source_seq) from entries where source = wanted.value), null from json_each(?) as wanted`;

/** Reads the head of the ledger. */
export async function readHead(connection: SqliteConnection, sources: readonly string[]): Promise<LedgerHead> {
  const rows = await connection.all(READ_HEADS, [JSON.stringify(sources)]);
  const head = rows.find(({ source }) => source === null);
  return {
    seq: Number(head?.seq ?? 0),
    sourceSeq: new Map(
      rows.flatMap(({ source, seq }) => (source === null ? [] : [[String(source), Number(seq ?? 0)]])),
    ),
    movedTo: typeof head?.moved_to === 'string' ? head.moved_to : null,
  };
}

type Row = Readonly<Record<string, unknown>>;

const verb: Record<OnConflict, [before: string, after: string]> = {
  fail: ['insert into', ''],
  keep: ['insert into', ' where true on conflict do nothing'],
  replace: ['insert or replace into', ''],
};

/** From this many rows, columns with the same value in all rows are looked for. */
const MANY_ROWS = 20;

/**
 * Inserts rows in one statement with one JSON parameter; bytes are passed as hex. In large batches, a value that is the
 * same in all rows becomes a parameter: most columns of a batch of decisions are such, and SQLite searches each JSON
 * row from its beginning for every value. Column names come from the code, never from outside.
 */
export async function insertMany(
  connection: SqliteConnection,
  table: string,
  rows: readonly Row[],
  onConflict: OnConflict,
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const isSame = (column: string) => rows.length >= MANY_ROWS && rows.every((row) => row[column] === first[column]);
  const same = columns.filter(isSame);
  const varying = columns.filter((column) => !same.includes(column));
  const blobs = new Set(varying.filter((column) => rows.some((row) => row[column] instanceof Uint8Array)));
  const values = columns.map((column) => {
    const place = varying.indexOf(column);
    if (place < 0) return `?${same.indexOf(column) + 2}`;
    return blobs.has(column) ? `unhex(value->>${place})` : `value->>${place}`;
  });
  const cells = rows.map((row) => {
    if (Object.keys(row).length !== columns.length)
      throw new TypeError(`insertMany(${table}): rows with different columns`);
    return varying.map((column) => cell(table, column, row[column]));
  });
  const shared = same.map((column) => {
    const value = first[column];
    return value instanceof Uint8Array ? Buffer.from(value) : cell(table, column, value);
  });
  const [before, after] = verb[onConflict];
  await connection.run(
    `${before} ${table} (${columns.join(', ')}) select ${values.join(', ')} from jsonb_each(?1)${after}`,
    [JSON.stringify(cells), ...shared],
  );
}

function cell(table: string, column: string, value: unknown): string | number | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`insertMany(${table}.${column}): ${value}`);
    return value;
  }
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  throw new TypeError(`insertMany(${table}.${column}): cannot hold ${typeof value}`);
}
