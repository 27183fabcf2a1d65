import type { Kysely, KyselyPlugin, RootOperationNode } from 'kysely';
import { keyOf, type TableName } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { type AnyTable, historyNames, isReadModel, lookups, readModelNames } from './tables.ts';

/** The name of the table that a rebuild fills instead of `table`. */
export function shadowName(table: TableName): TableName {
  return (isReadModel(table) ? `rebuild_${table}` : table) as TableName;
}

/** The same query builder, with the shadow table for each read model. */
export function overShadows(query: Query): Query {
  return query.withPlugin(shadowPlugin);
}

/**
 * Creates empty shadow tables with the columns of the real tables, whatever migrations have made of them, and with the
 * indexes that projecting needs. Shadow tables left by a dead rebuild are dropped first.
 */
export async function createShadows(query: Query): Promise<void> {
  await dropShadows(query);
  const any = query as unknown as Kysely<AnyTable>;
  for (const table of readModelNames) {
    const shadow = shadowName(table);
    await any.schema
      .createTable(shadow)
      .as(
        any
          .selectFrom(table)
          .selectAll()
          .where((eb) => eb.lit(false)),
      )
      .execute();
    await any.schema
      .createIndex(`${shadow}_key`)
      .unique()
      .on(shadow)
      .columns([...keyOf(table)])
      .execute();
    for (const [place, columns] of (lookups[table] ?? []).entries())
      await any.schema
        .createIndex(`${shadow}_lookup_${place}`)
        .on(shadow)
        .columns([...columns])
        .execute();
  }
}

/** Drops existing shadow tables. */
export async function dropShadows(query: Query): Promise<void> {
  for (const table of readModelNames) await query.schema.dropTable(shadowName(table)).ifExists().execute();
}

/** Deletes the histories in the shadow tables up to a seq. */
export async function emptyShadows(query: Query, upTo: number): Promise<void> {
  const any = query as unknown as Kysely<AnyTable>;
  for (const table of historyNames) await any.deleteFrom(shadowName(table)).where('seq', '<=', upTo).execute();
}

const shadowPlugin: KyselyPlugin = {
  transformQuery: ({ node }) => renamed(node) as RootOperationNode,
  transformResult: ({ result }) => Promise.resolve(result),
};

/** A copy of a query's tree with shadow names for tables. Values are not changed. */
function renamed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(renamed);
  if (typeof node !== 'object' || node === null) return node;
  const { kind } = node as { kind?: string };
  if (kind === undefined || kind === 'ValueNode' || kind === 'PrimitiveValueListNode') return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, child]) => [name, renamed(child)]));
  if (kind === 'SchemableIdentifierNode') {
    const { identifier } = copy as { identifier: { name: string } };
    copy['identifier'] = { ...identifier, name: shadowName(identifier.name as TableName) };
  }
  return copy;
}
