import { type Selectable, sql, SqliteAdapter } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';

type Row = Selectable<Tables['entries']>;

/** The size of a page: its maximum number of entries, and of bytes of content. A page has at least one entry. */
export interface PageSize {
  readonly entries: number;
  readonly bytes: number;
}

/** Consecutive entries: whole rows in order of seq, the seq at which they end, and whether more may follow. */
export interface EntryPage {
  readonly rows: readonly Row[];
  readonly to: number;
  readonly full: boolean;
}

/**
 * One page of the entries after `after`, up to `upTo` (inclusive). Null if there are none.
 *
 * The database returns a page as two values: a JSON array of numbers, texts and lengths, and all bytes concatenated.
 * Otherwise a row of twelve columns costs 20 µs of this thread, most of it for six buffers, which is more than checking
 * the entry takes; packed, it costs 2 µs on SQLite's own thread (docs/decisions.md). If a column holds something that
 * this program never wrote (SQLite accepts any type in any column), the page is read row by row, so that it is seen as
 * it is.
 */
export async function readEntryPage(
  query: Query,
  after: number,
  upTo: number,
  size: PageSize,
): Promise<EntryPage | null> {
  const packing = query.getExecutor().adapter instanceof SqliteAdapter ? inSqlite : inPostgres;
  // Lengths are read without the contents. Only if they exceed the page are they added up one by one.
  const { rows } = await sql<Packed>`with
    next as (
      select seq, coalesce(length(meta), 0) + coalesce(length(body), 0) as bytes
      from entries where seq > ${after} and seq <= ${upTo} order by seq limit ${size.entries}
    ),
    page as (
      select * from entries
      where seq > ${after} and seq <= (select case when sum(bytes) <= ${size.bytes} then max(seq) else (
        select max(seq) from (select seq, bytes, sum(bytes) over (order by seq) as so_far from next) as counted
        where so_far <= ${size.bytes} or so_far = bytes
      ) end from next)
      order by seq
    )
    select max(seq) as last, count(*) as entries, (select count(*) from next) as next, ${packing.fitting} as fitting, ${packing.heads} as heads, ${packing.bytes} as bytes
    from page`.execute(query);
  const [packed] = rows;
  if (packed === undefined || packed.last === null) return null;
  const to = packed.last;
  const full = Number(packed.next) >= size.entries || Number(packed.next) > Number(packed.entries);
  const unpacked = Number(packed.fitting) === Number(packed.entries) ? unpack(packed) : null;
  if (unpacked !== null) return { rows: unpacked, to, full };
  const each = query.selectFrom('entries').selectAll().where('seq', '>', after).where('seq', '<=', to).orderBy('seq');
  return { rows: await each.execute(), to, full };
}

/** Whether an entry's body contains exactly these bytes. */
export function holdsBytes(query: Query, bytes: Buffer) {
  return query.getExecutor().adapter instanceof SqliteAdapter
    ? sql<boolean>`instr(entries.body, ${bytes}) > 0`
    : sql<boolean>`position(${bytes}::bytea in entries.body) > 0`;
}

/** Entry numbers in the order given, in portions of limited content size, each with at least one entry. */
export async function* inPortions(query: Query, seqs: Iterable<number>, size: PageSize): AsyncGenerator<number[]> {
  let some: number[] = [];
  for (const seq of seqs) {
    some.push(seq);
    if (some.length < size.entries) continue;
    yield* portionsOf(query, some, size.bytes);
    some = [];
  }
  if (some.length > 0) yield* portionsOf(query, some, size.bytes);
}

async function* portionsOf(query: Query, seqs: readonly number[], bytes: number): AsyncGenerator<number[]> {
  const rows = await query
    .selectFrom('entries')
    .select(['seq', sql<number>`coalesce(length(meta), 0) + coalesce(length(body), 0)`.as('bytes')])
    .where('seq', 'in', seqs)
    .execute();
  const bytesOf = new Map(rows.map((row) => [row.seq, Number(row.bytes)]));
  let portion: number[] = [];
  let sum = 0;
  for (const seq of seqs) {
    sum += bytesOf.get(seq) ?? 0;
    if (portion.length > 0 && sum > bytes) {
      yield portion;
      portion = [];
      sum = bytesOf.get(seq) ?? 0;
    }
    portion.push(seq);
  }
  yield portion;
}

interface Packed {
  /** Null if there are no more entries. */
  readonly last: number | null;
  readonly entries: number;
  /** Entries within the page's number, of which its bytes may allow fewer. */
  readonly next: number;
  /** Entries whose columns have the types and lengths with which this program writes them. */
  readonly fitting: number;
  /** JSON: a {@link Head} for each entry. */
  readonly heads: string;
  readonly bytes: Buffer;
}

type Head = readonly [
  seq: number,
  source: string,
  sourceSeq: number,
  kind: Row['kind'],
  receivedAt: string,
  salt: number | null,
  meta: number | null,
  body: number | null,
];

/** Bytes of the deduplication key, the commitment, the leaf hash and the MAC. */
const HASH = 32;
/** From this page size in bytes, hashes are copied. With small contents, a page of 500 entries stays below it. */
const LARGE = 1 << 20;

const inSqlite = {
  fitting: sql`sum(typeof(seq) = 'integer' and typeof(source_seq) = 'integer' and typeof(source) = 'text' and typeof(kind) = 'text'
    and typeof(received_at) = 'text' and typeof(dedupe_key) = 'blob' and length(dedupe_key) = ${sql.lit(HASH)}
    and typeof(commitment) = 'blob' and length(commitment) = ${sql.lit(HASH)} and typeof(leaf_hash) = 'blob' and length(leaf_hash) = ${sql.lit(HASH)}
    and typeof(mac) = 'blob' and length(mac) = ${sql.lit(HASH)} and typeof(salt) in ('blob', 'null') and typeof(meta) in ('blob', 'null')
    and typeof(body) in ('blob', 'null'))`,
  // JSON accepts no blobs, so texts are cast: a column of another type does not fit, and is not read from here.
  heads: sql`json_group_array(json_array(seq, cast(source as text), cast(source_seq as integer), cast(kind as text), cast(received_at as text), length(salt), length(meta), length(body)))`,
  // Concatenation gives a text; the cast makes its bytes a blob again.
  bytes: sql`cast(group_concat(dedupe_key || commitment || leaf_hash || mac || coalesce(salt, x'') || coalesce(meta, x'') || coalesce(body, x''), '') as blob)`,
};

const inPostgres = {
  // JSON would round a number beyond 2^53 − 1.
  fitting: sql`count(*) filter (where seq between -9007199254740991 and 9007199254740991 and source_seq between -9007199254740991 and 9007199254740991
    and length(dedupe_key) = ${sql.lit(HASH)} and length(commitment) = ${sql.lit(HASH)} and length(leaf_hash) = ${sql.lit(HASH)} and length(mac) = ${sql.lit(HASH)})`,
  heads: sql`json_agg(json_build_array(seq, source, source_seq, kind, received_at, length(salt), length(meta), length(body)))`,
  bytes: sql`string_agg(dedupe_key || commitment || leaf_hash || mac || coalesce(salt, '') || coalesce(meta, '') || coalesce(body, ''), ''::bytea)`,
};

/** Null if the bytes do not match the lengths. */
function unpack({ heads, bytes }: Packed): Row[] | null {
  const rows: Row[] = [];
  let at = 0;
  const take = (length: number) => bytes.subarray(at, (at += length));
  // A retained hash must not keep a large page in memory.
  const takeHash = bytes.length > LARGE ? () => Buffer.from(take(HASH)) : () => take(HASH);
  const optional = (length: number | null) => (length === null ? null : take(length));
  for (const [seq, source, sourceSeq, kind, receivedAt, salt, meta, body] of JSON.parse(heads) as Head[]) {
    rows.push({
      seq,
      source,
      source_seq: sourceSeq,
      kind,
      received_at: receivedAt,
      dedupe_key: takeHash(),
      commitment: takeHash(),
      leaf_hash: takeHash(),
      mac: takeHash(),
      salt: optional(salt),
      meta: optional(meta),
      body: optional(body),
    });
  }
  return at === bytes.length ? rows : null;
}
