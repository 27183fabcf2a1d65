import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  SqliteAdapter,
  sql,
} from 'kysely';
import { columnsOf, type Tables } from '../schema.ts';
import type { Query } from '../store.ts';

type CaseRow = Selectable<Tables['cases']>;

/**
 * The state of `cases`. Every change of a row adds one to the history, whose last one is `seq`; an erasure, and a
 * rebuild that replaces rows, begins a new generation (projections/position.ts).
 */
export interface CasesVersion {
  readonly seq: number;
  readonly generation: number;
}

/** Read it before the rows that it stands for: later changes are then found by {@link changedSince}. */
export async function casesVersion(read: Query): Promise<CasesVersion> {
  const { seq, generation } = await read
    .selectNoFrom((eb) => [
      eb
        .selectFrom('case_history')
        .select((history) => history.fn.max('seq').as('seq'))
        .as('seq'),
      eb
        .selectFrom('fold_positions')
        .select('fold_positions.seq')
        .where('name', '=', 'projector:generation')
        .as('generation'),
    ])
    .executeTakeFirstOrThrow();
  return { seq: Number(seq ?? 0), generation: Number(generation ?? 0) };
}

/** Ids of the cases changed by later entries, at most `limit`. */
export async function changedSince(read: Query, { seq }: CasesVersion, limit: number): Promise<readonly string[]> {
  const rows = await read
    .selectFrom('case_history')
    .select('case_id')
    .distinct()
    .where('seq', '>', seq)
    .limit(limit)
    .execute();
  return rows.map(({ case_id: caseId }) => caseId);
}

/**
 * Rows of `cases`, read as two texts: with ten thousand rows, making an object of each takes longer than everything
 * else. `folded` is separate because quoting JSON in JSON doubles the time; it has no line breaks.
 */
export async function readManyCases(
  read: Query,
  wanted: SelectQueryBuilder<Tables, 'cases', CaseRow>,
): Promise<readonly CaseRow[]> {
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
  const foldedOf = folded.split('\n');
  return (JSON.parse(heads) as unknown[][]).map((values, place) => {
    const row = Object.fromEntries(names.map((name, column) => [name, values[column]]));
    return { ...row, folded: foldedOf[place] ?? '' } as unknown as CaseRow;
  });
}

/** Every row as an array of these columns, all in one JSON text. */
function rowsAsText(isSqlite: boolean, names: readonly string[]) {
  const columns = sql.join(names.map((name) => sql.ref(name)));
  return isSqlite
    ? sql<string>`json_group_array(json_array(${columns}))`
    : sql<string>`coalesce(json_agg(json_build_array(${columns})), '[]')::text`;
}

/** The source of each of these cases; unknown ids are left out. */
export async function sourcesOfCases(read: Query, caseIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (caseIds.length === 0) return new Map();
  const rows = await read.selectFrom('cases').select(['case_id', 'source']).where('case_id', 'in', caseIds).execute();
  return new Map(rows.map((row) => [row.case_id, row.source]));
}

/** The source of a case; null: the read models hold no such case. */
export async function sourceOfCase(read: Query, caseId: string): Promise<string | null> {
  return (await sourcesOfCases(read, [caseId])).get(caseId) ?? null;
}

/** The numbers of a case's entries, each once, in ascending order. */
export async function entriesOfCase(query: Query, caseId: string): Promise<readonly number[]> {
  const moves = await query
    .selectFrom('case_history')
    .select('seq')
    .where('case_id', '=', caseId)
    .orderBy('seq')
    .execute();
  return [...new Set(moves.map(({ seq }) => Number(seq)))];
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

const requesterColumns = [
  'case_id as caseId',
  'kind',
  'state',
  'receipt_at as receivedAt',
  'channel',
  'requester_name as name',
  'requester_email as email',
  'subject',
] as const;

/**
 * The cases of a source whose requester may have this name, e-mail address or subject, in lower case and without spaces
 * at the ends; empty: not searched. The database ignores case only in ASCII, so a case with a text beyond ASCII or with
 * repeated spaces is always among them.
 */
export async function readLikelyRequesters(
  read: Query,
  source: string,
  wanted: Readonly<Record<'requester_name' | 'requester_email' | 'subject', string>>,
): Promise<readonly Requester[]> {
  const isSqlite = read.getExecutor().adapter instanceof SqliteAdapter;
  const columns = (['requester_name', 'requester_email', 'subject'] as const).filter((column) => wanted[column] !== '');
  if (columns.length === 0) return [];
  return read
    .selectFrom('cases')
    .select(requesterColumns)
    .where('source', '=', source)
    .where((eb) =>
      eb.or(
        columns.map((name) => {
          const column = eb.ref(name);
          return isSqlite
            ? sql<boolean>`(lower(trim(${column})) = ${wanted[name]} or length(${column}) <> octet_length(${column}) or instr(${column}, '  '))`
            : sql<boolean>`(lower(trim(${column}) collate "C") = ${wanted[name]} or length(${column}) <> octet_length(${column}) or strpos(${column}, '  ') > 0)`;
        }),
      ),
    )
    .execute();
}

/** The cases of a source in these states, latest received first, at most `limit`. */
export function readLatestRequesters(
  read: Query,
  source: string,
  states: readonly string[],
  limit: number,
): Promise<readonly Requester[]> {
  return read
    .selectFrom('cases')
    .select(requesterColumns)
    .where('source', '=', source)
    .where('state', 'in', [...states])
    .orderBy('receipt_at', 'desc')
    .orderBy('case_id')
    .limit(limit)
    .execute();
}

/**
 * Cases assigned to nobody (null), to an account (its id, whatever the person's name was at the time), or to someone
 * named by exactly this text. For `where`.
 */
export function assignedTo(read: Query, assignee: string | null) {
  const isSqlite = read.getExecutor().adapter instanceof SqliteAdapter;
  return (eb: ExpressionBuilder<Tables, 'cases'>) => {
    const folded = eb.ref('folded');
    const given = isSqlite
      ? sql<string | null>`json_extract(${folded}, '$.assignee')`
      : sql<string | null>`${folded}::json ->> 'assignee'`;
    if (assignee === null) return sql<boolean>`(${given}) is null`;
    return /^p-[0-9a-f]{8,64}$/.test(assignee)
      ? sql<boolean>`(${given}) like ${`% (${assignee})`}`
      : sql<boolean>`(${given}) = ${assignee}`;
  };
}

/** Cases that ask for a right, alone or with others. */
export function asksFor(kind: string) {
  return (eb: ExpressionBuilder<Tables, 'cases'>): ExpressionWrapper<Tables, 'cases', SqlBool> =>
    // Only parts have a `kind` in the folded JSON; in texts, quotation marks are escaped.
    eb.or([eb('kind', '=', kind), eb('folded', 'like', `%"kind":"${kind}"%`)]);
}

/**
 * Cases with a message of the requester that is open, or those without. For `where`. In the folded JSON, quotation marks
 * of texts are escaped. Until the ledger is folded again, rows of an earlier version have one `message`.
 */
export function hasOpenMessage(read: Query, wanted: boolean) {
  const place = read.getExecutor().adapter instanceof SqliteAdapter ? sql.raw('instr') : sql.raw('strpos');
  return (eb: ExpressionBuilder<Tables, 'cases'>) => {
    const folded = eb.ref('folded');
    const found = sql<boolean>`(${place}(${folded}, '"openMessages":[{') > 0 or ${place}(${folded}, '"message":{') > 0)`;
    return wanted ? found : sql<boolean>`not ${found}`;
  };
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
