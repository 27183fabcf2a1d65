import { type Column, tables } from './schema.ts';

/** How a database names the types of columns (schema.ts). */
type ColumnTypes = Readonly<Record<'big' | 'real' | 'blob' | 'id', string>>;

/** All migrations in order, as statements for one of the databases. A release never changes an earlier one. */
export function migrationsFor(types: ColumnTypes): readonly (readonly string[])[] {
  const names = { text: 'text', integer: 'integer', ...types };
  const first = Object.entries(tables).flatMap(([table, { columns, more }]) => {
    const declared = Object.entries<Column<unknown>>(columns).map(
      ([column, { type, rule }]) => `${column} ${names[type]}${rule}`,
    );
    const indexes = more.filter((part) => /^(unique )?index /.test(part));
    const constraints = more.filter((part) => !indexes.includes(part));
    return [
      `create table ${table} (${[...declared, ...constraints].join(', ')})`,
      ...indexes.map((index) => `create ${index}`),
    ];
  });
  return [first];
}

/** One thing that a schema consists of, as a database describes it. */
export interface SchemaPart {
  readonly table: string;
  /** `table`, or what belongs to it: `index jobs_due`, `trigger t`, `column seq`. */
  readonly part: string;
  readonly definition: string;
}

/** What differs between the schema that the migrations make and the one that is there, in phrases; empty when nothing does. */
export function schemaDifferences(expected: readonly SchemaPart[], found: readonly SchemaPart[]): string[] {
  const nameOf = ({ table, part }: SchemaPart) => (part === 'table' ? `table ${table}` : `${part} of table ${table}`);
  const definitions = new Map(found.map((one) => [nameOf(one), one.definition]));
  const known = new Set(expected.map(nameOf));
  const differences: string[] = [];
  for (const one of expected) {
    const definition = definitions.get(nameOf(one));
    if (definition === one.definition) continue;
    // Of a table that is missing, its columns and indexes need no mention.
    if (definition === undefined && one.part !== 'table' && !definitions.has(`table ${one.table}`)) continue;
    differences.push(`${nameOf(one)} ${definition === undefined ? 'is missing' : 'was changed'}`);
  }
  for (const one of found) if (!known.has(nameOf(one))) differences.push(`${nameOf(one)} was added`);
  return differences;
}
