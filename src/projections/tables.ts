import { type TableName, type Tables, tables } from '../store/schema.ts';

type FoldedTo<Sort> = {
  [Name in TableName]: (typeof tables)[Name] extends { readonly folded: Sort } ? Name : never;
}[TableName];

/** Every table that is made from entries and can be rebuilt. */
export type ReadModelName = FoldedTo<'history' | 'state'>;

const namesOf = <Sort extends 'history' | 'state'>(...sorts: readonly Sort[]) =>
  (Object.keys(tables) as TableName[]).filter((name): name is FoldedTo<Sort> => {
    const table = tables[name];
    return 'folded' in table && (sorts as readonly string[]).includes(table.folded);
  });
export const readModelNames = namesOf('history', 'state');
export const historyNames = namesOf('history');
export const stateNames = namesOf('state');
const names: ReadonlySet<string> = new Set(readModelNames);

/** Columns by which projections look rows up, besides the key or a prefix of it. */
export const lookups: Readonly<Partial<Record<ReadModelName, readonly (readonly string[])[]>>> = {
  decision_history: [
    ['source', 'decision_id', 'seq'],
    ['source', 'subject', 'seq'],
  ],
  cases: [['source', 'request_id']],
};

/** A query builder that accepts any read-model table by name; rows are plain records. */
export type AnyTable = Record<string, Record<string, unknown>>;
export type ReadModelRow = Readonly<Record<string, unknown>>;

/** Whether a table is one of the read models. */
export function isReadModel(table: keyof Tables): table is ReadModelName {
  return names.has(table);
}
