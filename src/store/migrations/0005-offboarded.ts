import type { ColumnTypes } from './0001-spine.ts';

/**
 * Sources that left, repeats that the pulled log settled, and the index that matches deliveries with pulled rows: with `via` and
 * `conflicts` in it the matching never leaves the index.
 */
export function offboarded(_: ColumnTypes): readonly string[] {
  return [
    'alter table sources add column offboarded_at text',
    'alter table ambiguous_repeats add column settled_repeats integer not null default 0',
    'drop index decision_history_decision',
    'create index decision_history_decision on decision_history (source, decision_id, seq, via, conflicts)',
  ];
}
