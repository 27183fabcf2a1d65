import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type Selectable,
  type SelectQueryBuilder,
  SqliteAdapter,
  type SqlBool,
  sql,
} from 'kysely';
import { columnsOf, type Tables } from '../schema.ts';
import type { Query } from '../store.ts';

type CaseRow = Selectable<Tables['cases']>;

/** What a list was read as last, and its rows. */
export interface KeptCases {
  readonly text: string;
  readonly rows: readonly CaseRow[];
}

/**
 * Rows of `cases`, read as one JSON text: for ten thousand rows, making an object of each takes longer than everything else. If the text is the one of the last
 * time, its rows are returned, the same objects.
 */
export async function readManyCases(
  read: Query,
  wanted: SelectQueryBuilder<Tables, 'cases', CaseRow>,
  before: KeptCases | undefined,
): Promise<KeptCases> {
  const names = columnsOf('cases');
  const columns = sql.join(names.map((name) => sql.ref(`c.${name}`)));
  const rows =
    read.getExecutor().adapter instanceof SqliteAdapter
      ? sql<string>`json_group_array(json_array(${columns}))`
      : sql<string>`coalesce(json_agg(json_build_array(${columns})), '[]')::text`;
  const { text } = await read.selectFrom(wanted.as('c')).select(rows.as('text')).executeTakeFirstOrThrow();
  if (text === before?.text) return before;
  const parsed = JSON.parse(text) as unknown[][];
  return {
    text,
    rows: parsed.map(
      (values) => Object.fromEntries(names.map((name, place) => [name, values[place]])) as unknown as CaseRow,
    ),
  };
}

const searched = ['case_id', 'request_id', 'requester_name', 'requester_email', 'subject'] as const;

/** Cases that hold a text in a name, an address, an identifier or their own number, in any case of its letters. For `where`. */
export function mentionsText(text: string) {
  return (eb: ExpressionBuilder<Tables, 'cases'>): ExpressionWrapper<Tables, 'cases', SqlBool> =>
    eb.or(
      searched.flatMap((column) =>
        spellingsOf(text).map(
          (spelling) => sql<boolean>`lower(${eb.ref(column)}) like ${`%${escaped(spelling)}%`} escape '!'`,
        ),
      ),
    );
}

/** SQLite lowers ASCII letters only: a name that begins with `É` is looked for with both. */
function spellingsOf(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const asciiLower = (some: string) => some.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const titled = lower.replace(/(?<![\p{L}\p{M}])\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([lower, asciiLower(text), asciiLower(titled)])];
}

function escaped(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}
