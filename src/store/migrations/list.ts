import { type ColumnTypes, spine } from './0001-spine.ts';

/** All migrations in order, as statements for one of the databases. A release never changes an earlier one. */
export function migrationsFor(types: ColumnTypes): readonly (readonly string[])[] {
  return [spine(types)];
}
