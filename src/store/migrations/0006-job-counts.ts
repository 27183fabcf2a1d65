import type { ColumnTypes } from './0001-spine.ts';

/** Jobs that ever ended, by kind and outcome: rows of the jobs themselves are purged. */
export function jobCounts({ big }: ColumnTypes): readonly string[] {
  return [
    `create table job_counts (kind text not null, outcome text not null, count ${big} not null, primary key (kind, outcome))`,
  ];
}
