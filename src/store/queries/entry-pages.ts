import { type Selectable, SqliteAdapter, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';

type Row = Selectable<Tables['entries']>;

/** The columns that form an entry's leaf in the tree, without its content. */
export type LeafRow = Omit<Row, 'salt' | 'meta' | 'body'>;

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
 * this program never wrote (SQLite accepts any type in any column), the page is read row by row, so that the value is
 * seen as it is.
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

/**
 * The same for leaves: a page of at most this many entries after `after`, up to `upTo` (inclusive). Rows in order of
 * seq; none at the end.
 */
export async function readLeafPage(
  query: Query,
  after: number,
  upTo: number,
  entries: number,
): Promise<readonly LeafRow[]> {
  const packing = query.getExecutor().adapter instanceof SqliteAdapter ? inSqlite : inPostgres;
  const { rows } = await sql<PackedLeaves>`with
    page as (
      select ${sql.join(leafColumns.map((column) => sql.ref(column)))} from entries
      where seq > ${after} and seq <= ${upTo} order by seq limit ${entries}
    )
    select count(*) as entries, ${packing.fittingLeaves} as fitting, ${packing.leafHeads} as heads, ${packing.hashes} as bytes
    from page`.execute(query);
  const [packed] = rows;
  if (packed === undefined || Number(packed.entries) === 0) return [];
  const unpacked = Number(packed.fitting) === Number(packed.entries) ? unpackLeaves(packed) : null;
  if (unpacked !== null) return unpacked;
  const each = query.selectFrom('entries').select(leafColumns).where('seq', '>', after).where('seq', '<=', upTo);
  return each.orderBy('seq').limit(entries).execute();
}

const leafColumns = [
  ...(['seq', 'source', 'source_seq', 'kind', 'received_at'] as const),
  ...(['dedupe_key', 'commitment', 'leaf_hash', 'mac'] as const),
] as const;

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

interface PackedLeaves {
  readonly entries: number;
  /** Entries whose columns have the types and lengths with which this program writes them. */
  readonly fitting: number;
  /** JSON: a {@link LeafHead} or {@link Head} for each entry. */
  readonly heads: string;
  readonly bytes: Buffer;
}

interface Packed extends PackedLeaves {
  /** Null if there are no more entries. */
  readonly last: number | null;
  /** The number of entries if only the page's limit on entries counted; its limit on bytes may allow fewer. */
  readonly next: number;
}

type LeafHead = readonly [seq: number, source: string, sourceSeq: number, kind: Row['kind'], receivedAt: string];

type Head = readonly [...head: LeafHead, salt: number | null, meta: number | null, body: number | null];

/** Bytes of the deduplication key, the commitment, the leaf hash and the MAC. */
const HASH = 32;
/** From this page size in bytes, hashes are copied. With small contents, a page of 500 entries stays below it. */
const LARGE = 1 << 20;

const fittingLeafInSqlite = sql`typeof(seq) = 'integer' and typeof(source_seq) = 'integer' and typeof(source) = 'text' and typeof(kind) = 'text'
    and typeof(received_at) = 'text' and typeof(dedupe_key) = 'blob' and length(dedupe_key) = ${sql.lit(HASH)}
    and typeof(commitment) = 'blob' and length(commitment) = ${sql.lit(HASH)} and typeof(leaf_hash) = 'blob' and length(leaf_hash) = ${sql.lit(HASH)}
    and typeof(mac) = 'blob' and length(mac) = ${sql.lit(HASH)}`;
// JSON accepts no blobs, so texts are cast: a column of another type does not fit, and is not read from here.
const leafHeadInSqlite = sql`seq, cast(source as text), cast(source_seq as integer), cast(kind as text), cast(received_at as text)`;
const hashesOf = sql`dedupe_key || commitment || leaf_hash || mac`;

const inSqlite = {
  fitting: sql`sum(${fittingLeafInSqlite} and typeof(salt) in ('blob', 'null') and typeof(meta) in ('blob', 'null') and typeof(body) in ('blob', 'null'))`,
  heads: sql`json_group_array(json_array(${leafHeadInSqlite}, length(salt), length(meta), length(body)))`,
  // Concatenation gives a text; the cast makes its bytes a blob again.
  bytes: sql`cast(group_concat(${hashesOf} || coalesce(salt, x'') || coalesce(meta, x'') || coalesce(body, x''), '') as blob)`,
  fittingLeaves: sql`sum(${fittingLeafInSqlite})`,
  leafHeads: sql`json_group_array(json_array(${leafHeadInSqlite}))`,
  hashes: sql`cast(group_concat(${hashesOf}, '') as blob)`,
};

// JSON would round a number beyond 2^53 − 1.
const fittingInPostgres = sql`count(*) filter (where seq between -9007199254740991 and 9007199254740991 and source_seq between -9007199254740991 and 9007199254740991
    and length(dedupe_key) = ${sql.lit(HASH)} and length(commitment) = ${sql.lit(HASH)} and length(leaf_hash) = ${sql.lit(HASH)} and length(mac) = ${sql.lit(HASH)})`;
const leafHeadInPostgres = sql`seq, source, source_seq, kind, received_at`;

const inPostgres = {
  fitting: fittingInPostgres,
  heads: sql`json_agg(json_build_array(${leafHeadInPostgres}, length(salt), length(meta), length(body)))`,
  bytes: sql`string_agg(${hashesOf} || coalesce(salt, '') || coalesce(meta, '') || coalesce(body, ''), ''::bytea)`,
  fittingLeaves: fittingInPostgres,
  leafHeads: sql`json_agg(json_build_array(${leafHeadInPostgres}))`,
  hashes: sql`string_agg(${hashesOf}, ''::bytea)`,
};

/** Null if there are too many bytes or too few. */
function unpackLeaves({ heads, bytes }: PackedLeaves): LeafRow[] | null {
  let at = 0;
  const takeHash = () => bytes.subarray(at, (at += HASH));
  const rows = (JSON.parse(heads) as LeafHead[]).map(([seq, source, sourceSeq, kind, receivedAt]) => ({
    ...{ seq, source, source_seq: sourceSeq, kind, received_at: receivedAt },
    ...{ dedupe_key: takeHash(), commitment: takeHash(), leaf_hash: takeHash(), mac: takeHash() },
  }));
  return at === bytes.length ? rows : null;
}

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
