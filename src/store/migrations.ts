import { StoreUnavailable } from '../core/errors.ts';
import { type Column, type TableName, tables } from './schema.ts';

/** A database's names for the column types (schema.ts). */
type ColumnTypes = Readonly<Record<'big' | 'real' | 'blob' | 'id', string>>;

/** The statements that create the wanted tables with their indexes. */
export function createTables(types: ColumnTypes, isWanted: (table: TableName) => boolean): readonly string[] {
  const names = { text: 'text', integer: 'integer', ...types };
  return Object.entries(tables).flatMap(([table, { columns, more }]) => {
    if (!isWanted(table as TableName)) return [];
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
}

/** Rows of `positions` that held the projector's position in version 1. */
export const FOLD_POSITIONS = `('projector', 'projector:generation', 'rebuild', 'rebuild:generation')`;

/** Tables added after the first version. */
const later: readonly TableName[] = [
  'fold_positions',
  'hand_overs',
  'delivery_quarters',
  'decision_quarters',
  'set_aside',
  'settled_findings',
];

/** All migrations of a database that contains every table, in order. A release never changes an earlier one. */
export function migrationsFor(types: ColumnTypes): readonly (readonly string[])[] {
  return [
    createTables(types, (table) => !later.includes(table)),
    [
      ...createTables(types, (table) => table === 'fold_positions'),
      `insert into fold_positions select name, seq from positions where name in ${FOLD_POSITIONS}`,
      `delete from positions where name in ${FOLD_POSITIONS}`,
    ],
    createTables(types, (table) => table === 'hand_overs'),
    remadeIndexes(4),
    remadeIndexes(5),
    [
      ...createTables(types, (table) => table === 'delivery_quarters'),
      // Counts like src/projections/deliveries.ts.
      `insert into delivery_quarters (source, quarter, deliveries)
        select source, quarter, count(*) from (select source, ${quarterOf('received_at')} as quarter from delivery_history) as received
        group by source, quarter`,
    ],
    // SQLite only (sqlite/migrate.ts). Both databases number versions alike, because a backup of one can be restored
    // into the other.
    [],
    [
      ...createTables(types, (table) => table === 'decision_quarters'),
      // Counts like src/projections/decisions.ts.
      `insert into decision_quarters (source, quarter, given, partly_given, refused, withdrawn, other)
        select source, quarter, ${countOf('given', 'renewed-given')}, ${countOf('partly-given')}, ${countOf('refused')},
          ${countOf('withdrawn', 'partly-withdrawn')},
          count(*) - ${countOf('given', 'renewed-given', 'partly-given', 'refused', 'withdrawn', 'partly-withdrawn')}
        from (select d.source, ${quarterOf('d.at')} as quarter, case when exists (select 1 from decision_history as o
            where o.source = d.source and o.decision_id = d.decision_id and o.conflicts = 1) then 'disputed'
          else coalesce((select j.label from decision_judgements as j where j.source = d.source
            and j.decision_id = d.decision_id order by j.seq desc limit 1), d.label) end as judged
          from decision_history as d where d.is_first = 1) as judged
        group by source, quarter`,
    ],
    [
      // An entry may hold several events. A new database already has the columns.
      ...withParts.flatMap((table) => [
        `alter table ${table} add column if not exists part integer not null default 0`,
        `alter table ${table} drop constraint ${table}_pkey, add primary key (seq, part)`,
      ]),
      'alter table delivery_history add column if not exists events integer not null default 1',
      'alter table decision_history add column if not exists doubts text',
      ...remadeIndexes(9),
      ...createTables(types, (table) => table === 'set_aside' || table === 'settled_findings'),
    ],
  ];
}

/** Histories with a row for each event of an entry. */
const withParts = [
  'policy_history',
  'decision_history',
  'case_history',
  'scan_history',
  'integration_history',
] as const satisfies readonly TableName[];

/** Why a process does not fold into tables that another version of the program has migrated since it started. */
export function otherVersion(): StoreUnavailable {
  return new StoreUnavailable(
    'Another version of consent-ledger has migrated the database while this process was running: restart this process with that version.',
  );
}

/** The quarter of an hour of a time in a column. */
function quarterOf(column: string): string {
  return `substr(${column}, 1, 14) || case when substr(${column}, 15, 2) < '15' then '00'
    when substr(${column}, 15, 2) < '30' then '15' when substr(${column}, 15, 2) < '45' then '30' else '45' end`;
}

function countOf(...judgements: readonly string[]): string {
  return `sum(case when judged in (${judgements.map((one) => `'${one}'`).join(', ')}) then 1 else 0 end)`;
}

/** Statements that recreate the indexes changed in a version. */
export function remadeIndexes(version: keyof typeof changedIndexes): readonly string[] {
  return changedIndexes[version].flatMap(({ table, name }) => {
    const index = tables[table].more.find((part: string) => part.startsWith(`index ${name} `));
    if (index === undefined) throw new Error(`no index ${name} of ${table}`);
    return [`drop index if exists ${name}`, `create ${index}`];
  });
}

const changedIndexes = {
  4: [{ table: 'jobs', name: 'jobs_due' }],
  5: [{ table: 'decision_history', name: 'decision_history_pulled' }],
  9: [
    { table: 'decision_history', name: 'decision_history_unknown' },
    { table: 'delivery_history', name: 'delivery_history_unread' },
  ],
} as const;

/** One part of a schema, as a database describes it. */
export interface SchemaPart {
  readonly table: string;
  /** `table`, or something attached to it: `index jobs_due`, `trigger t`, `column seq`. */
  readonly part: string;
  readonly definition: string;
}

/** The differences between the schema that the migrations make and the actual one, in phrases; empty if there are none. */
export function schemaDifferences(expected: readonly SchemaPart[], found: readonly SchemaPart[]): string[] {
  const nameOf = ({ table, part }: SchemaPart) => (part === 'table' ? `table ${table}` : `${part} of table ${table}`);
  const definitions = new Map(found.map((one) => [nameOf(one), one.definition]));
  const known = new Set(expected.map(nameOf));
  const differences: string[] = [];
  for (const one of expected) {
    const definition = definitions.get(nameOf(one));
    if (definition === one.definition) continue;
    // If a table is missing, do not list its columns and indexes.
    if (definition === undefined && one.part !== 'table' && !definitions.has(`table ${one.table}`)) continue;
    differences.push(`${nameOf(one)} ${definition === undefined ? 'is missing' : 'was changed'}`);
  }
  for (const one of found) if (!known.has(nameOf(one))) differences.push(`${nameOf(one)} was added`);
  return differences;
}
