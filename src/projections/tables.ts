import type { TableName, Tables } from '../store/schema.ts';

/** What a rebuild must know about a projected table. */
interface ReadModelTable {
  /** Its primary key. */
  readonly key: readonly string[];
  /** Columns by which projections look rows up, besides the key or a prefix of it. */
  readonly lookups?: readonly (readonly string[])[];
  /** History: rows are written once and never change. State: rows are updated by later entries. */
  readonly sort: 'history' | 'state';
}

/** Every table that is made from entries and can be rebuilt. */
export const readModelTables = {
  quarantine: { key: ['seq'], sort: 'history' },
  delivery_history: { key: ['seq'], sort: 'history' },
  delivery_counts: { key: ['source', 'day', 'event'], sort: 'state' },
  delivery_quarters: { key: ['source', 'quarter'], sort: 'state' },
  policy_history: { key: ['seq'], sort: 'history' },
  policies: { key: ['source', 'policy_id'], sort: 'state' },
  decision_history: {
    key: ['seq'],
    lookups: [
      ['source', 'decision_id', 'seq'],
      ['source', 'subject', 'seq'],
    ],
    sort: 'history',
  },
  decision_judgements: { key: ['source', 'decision_id', 'seq'], sort: 'history' },
  decisions: { key: ['source', 'subject', 'banner_id'], sort: 'state' },
  ambiguous_repeats: { key: ['seq'], sort: 'state' },
  case_history: { key: ['seq'], sort: 'history' },
  cases: { key: ['case_id'], lookups: [['source', 'request_id']], sort: 'state' },
  scan_history: { key: ['seq'], sort: 'history' },
  scans: { key: ['source', 'domain'], sort: 'state' },
  integration_history: { key: ['seq'], sort: 'history' },
  integrations: { key: ['source', 'integration_key'], sort: 'state' },
  action_history: { key: ['seq'], sort: 'history' },
  banner_evidence: { key: ['seq'], sort: 'history' },
  documents: { key: ['document_id'], sort: 'state' },
  snapshot_history: { key: ['seq'], sort: 'history' },
  policy_texts: { key: ['source', 'target', 'version'], sort: 'state' },
  calls: { key: ['request_id'], sort: 'state' },
  call_plans: { key: ['plan_id'], sort: 'state' },
  call_items: { key: ['plan_id', 'position'], sort: 'state' },
  listed_policies: { key: ['source', 'policy_id'], sort: 'state' },
  policy_lists: { key: ['source'], sort: 'state' },
} as const satisfies Partial<Record<TableName, ReadModelTable>>;

export type ReadModelName = keyof typeof readModelTables;
export const readModelNames = Object.keys(readModelTables) as readonly ReadModelName[];
export const historyNames = readModelNames.filter((table) => readModelTables[table].sort === 'history');
export const stateNames = readModelNames.filter((table) => readModelTables[table].sort === 'state');

/** A query builder that accepts any read-model table by name; rows are plain records. */
export type AnyTable = Record<string, Record<string, unknown>>;
export type ReadModelRow = Readonly<Record<string, unknown>>;

/** Whether a table is one of the read models. */
export function isReadModel(table: keyof Tables): table is ReadModelName {
  return Object.hasOwn(readModelTables, table);
}
