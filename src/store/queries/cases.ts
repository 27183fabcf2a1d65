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

/** A list as last read, and its rows. */
export interface KeptCases {
  readonly heads: string;
  readonly folded: string;
  readonly rows: readonly CaseRow[];
}

/**
 * Rows of `cases`, read as two texts: with ten thousand rows, making an object of each takes longer than everything
 * else. If the texts are unchanged, the same row objects are returned. `folded` is separate because quoting JSON in
 * JSON doubles the time; it has no line breaks.
 */
export async function readManyCases(
  read: Query,
  wanted: SelectQueryBuilder<Tables, 'cases', CaseRow>,
  before: KeptCases | undefined,
): Promise<KeptCases> {
  const names = columnsOf('cases').filter((name) => name !== 'folded');
  const isSqlite = read.getExecutor().adapter instanceof SqliteAdapter;
  const { heads, folded } = await read
    .selectFrom(wanted.as('c'))
    .select([
      rowsAsText(
        isSqlite,
        names.map((name) => `c.${name}`),
      ).as('heads'),
      (isSqlite
        ? sql<string>`coalesce(group_concat(c.folded, char(10)), '')`
        : sql<string>`coalesce(string_agg(c.folded, chr(10)), '')`
      ).as('folded'),
    ])
    .executeTakeFirstOrThrow();
  if (heads === before?.heads && folded === before.folded) return before;
  const foldedOf = folded.split('\n');
  const rows = (JSON.parse(heads) as unknown[][]).map((values, place) => {
    const row = Object.fromEntries(names.map((name, column) => [name, values[column]]));
    return { ...row, folded: foldedOf[place] ?? '' } as unknown as CaseRow;
  });
  return { heads, folded, rows };
}

/** Every row as an array of these columns, all in one JSON text. */
function rowsAsText(isSqlite: boolean, names: readonly string[]) {
  const columns = sql.join(names.map((name) => sql.ref(name)));
  return isSqlite
    ? sql<string>`json_group_array(json_array(${columns}))`
    : sql<string>`coalesce(json_agg(json_build_array(${columns})), '[]')::text`;
}

/** A case and its requester. */
export interface Requester {
  readonly caseId: string;
  readonly kind: string;
  readonly state: string;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
  readonly channel: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly subject: string | null;
}

/** The requester of each case of a source; as one text, like {@link readManyCases}. */
export async function readRequesters(read: Query, source: string): Promise<readonly Requester[]> {
  const isSqlite = read.getExecutor().adapter instanceof SqliteAdapter;
  const columns = ['case_id', 'kind', 'state', 'receipt_at', 'channel', 'requester_name', 'requester_email', 'subject'];
  const { rows } = await read
    .selectFrom('cases')
    .select(rowsAsText(isSqlite, columns).as('rows'))
    .where('source', '=', source)
    .executeTakeFirstOrThrow();
  type Text = string | null;
  return (JSON.parse(rows) as [string, string, string, string, string, Text, Text, Text][]).map(
    ([caseId, kind, state, receivedAt, channel, name, email, subject]) => {
      return { caseId, kind, state, receivedAt, channel, name, email, subject };
    },
  );
}

const searched = ['case_id', 'request_id', 'requester_name', 'requester_email', 'subject'] as const;

/** Cases with a text in a name, an address, an identifier or their own number, ignoring case. For `where`. */
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

/** SQLite lowercases only ASCII letters, so a name that begins with `É` is searched in both forms. */
function spellingsOf(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const asciiLower = (some: string) => some.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const titled = lower.replace(/(?<![\p{L}\p{M}])\p{L}/gu, (letter) => letter.toUpperCase());
  return [...new Set([lower, asciiLower(text), asciiLower(titled)])];
}

function escaped(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}
