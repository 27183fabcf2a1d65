import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { canonicalJson } from '../../crypto/canonical.ts';
import { type ReadModelName, readModelNames, readModelTables } from '../../projections/tables.ts';
import type { Query, Store } from '../../store/store.ts';

/** A read model on both sides. */
export interface ComparedTable {
  readonly table: ReadModelName;
  /** Rows in the copy. */
  readonly rows: number;
  readonly same: boolean;
}

const PAGE = 2000;

/** The first seq up to `upTo` at which the leaf hashes differ; null when all are the same. */
export async function findDifferentLeaf(from: Store, to: Store, upTo: number): Promise<number | null> {
  const leaves = (store: Store, after: number) =>
    store.read
      .selectFrom('entries')
      .select(['seq', 'leaf_hash'])
      .where('seq', '>', after)
      .where('seq', '<=', upTo)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
  for (let after = 0; after < upTo; after += PAGE) {
    const [ours, theirs] = await Promise.all([leaves(from, after), leaves(to, after)]);
    for (const [place, row] of ours.entries()) {
      const other = theirs[place];
      if (other?.seq !== row.seq || !other.leaf_hash.equals(row.leaf_hash)) return row.seq;
    }
    if (ours.length !== theirs.length) return theirs[ours.length]?.seq ?? after + 1;
  }
  return null;
}

/** Compares every row of every read model, by digests, so that nothing but digests leaves either database. */
export async function compareReadModels(from: Store, to: Store): Promise<ComparedTable[]> {
  const compared: ComparedTable[] = [];
  for (const table of readModelNames) {
    const [ours, theirs] = await Promise.all([digest(from.read, table), digest(to.read, table)]);
    compared.push({ table, rows: theirs.rows, same: ours.rows === theirs.rows && ours.sha256 === theirs.sha256 });
  }
  return compared;
}

async function digest(read: Query, table: ReadModelName): Promise<{ rows: number; sha256: string }> {
  const any = read as unknown as Kysely<Record<string, Record<string, unknown>>>;
  const keys: readonly string[] = readModelTables[table].key;
  const hash = createHash('sha256');
  let rows = 0;
  let last: Record<string, unknown> | null = null;
  for (;;) {
    let query = any.selectFrom(table).selectAll().limit(PAGE);
    for (const key of keys) query = query.orderBy(key);
    if (last !== null) {
      const after = last;
      // Beyond the last key: greater in one column, and equal in those before it.
      query = query.where((eb) =>
        eb.or(
          keys.map((key, place) =>
            eb.and([...keys.slice(0, place).map((before) => eb(before, '=', after[before])), eb(key, '>', after[key])]),
          ),
        ),
      );
    }
    const page = await query.execute();
    for (const row of page) hash.update(canonicalJson(row)).update('\n');
    rows += page.length;
    last = page.at(-1) ?? null;
    if (page.length < PAGE || last === null) return { rows, sha256: hash.digest('hex') };
  }
}
