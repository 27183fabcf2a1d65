import type { SourceOptions } from '../core/source.ts';
import { isWellFormed } from '../crypto/canonical.ts';
import type { NewEntry } from '../crypto/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ConsentLogRow } from '../service/consent-logs.ts';

/** Names under which a row may carry its own id, in the order tried (docs/assumptions.md, Consent log rows). */
const recordIdNames = [
  'record_id',
  'recordId',
  'consent_record_id',
  'consent_id',
  'consentId',
  'consent_log_id',
  'log_id',
  'logId',
  'id',
  'uuid',
  '_id',
];
/** Names under which a row may say when the choice was made, in the order tried. */
const timeNames = [
  'recorded_at',
  'recordedAt',
  'consented_at',
  'consentedAt',
  'decided_at',
  'timestamp',
  'occurred_at',
  'occurredAt',
  'time',
  'ts',
  'date',
  'created_at',
  'createdAt',
  'created',
];
/** Names under which a row may give its banner, as an id or an object with one, in the spellings that APIs use. */
const bannerNames = ['banner_id', 'consent_banner_id', 'cookie_banner_id', 'widget_id', 'banner'].flatMap(spellingsOf);
const idsWithin = ['id', 'Id', 'ID'];

/** Where to look for a row's id, time and banner. */
interface RowNames {
  readonly idNames: readonly string[];
  readonly timeNames: readonly string[];
  readonly bannerNames: readonly string[];
  /** Fields that describe the response, not the decision. */
  readonly leftOut: ReadonlySet<string>;
  /** What a time without an offset means. */
  readonly assumedOffset: string;
}

/** The names for a source; its own come first. */
export function rowNamesOf({ fieldNames, assumedOffset }: SourceOptions): RowNames {
  const own = (...names: string[]) => names.flatMap((name) => fieldNames[name] ?? []);
  // A field that the source's settings name belongs to the decision and always counts, even if it looks volatile.
  const told = new Set(Object.values(fieldNames).flatMap((names) => names.map((name) => name.split('.').at(-1))));
  return {
    idNames: [...own('recordId'), ...recordIdNames],
    timeNames: [...own('consentedAt', 'occurredAt', 'consentCreatedAt'), ...timeNames],
    bannerNames: [...own('bannerId'), ...bannerNames],
    leftOut: new Set([...volatileFields].filter((name) => !told.has(name))),
    assumedOffset,
  };
}

/** What every row of one page shares. */
interface PageContext {
  readonly source: string;
  readonly names: RowNames;
  /** The banner requested; null: none was named. */
  readonly bannerId: string | null;
  /** The banner used in the key of rows that name none: the one that the whole run requests, if any. */
  readonly keyedBy: string | null;
  readonly runId: string;
  /** From 1, within its walk. */
  readonly page: number;
  /** Identifies the cursor of the request without revealing it; null on the first page. */
  readonly cursorSha256: string | null;
  readonly serverDate: Date | null;
  /** Our clock, ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** A row about to enter the ledger. */
export interface RowEntry {
  readonly entry: NewEntry;
  /**
   * `row`: a JSON object; `malformed`: other JSON; `unreadable`: a piece of a broken page. All of these are kept with
   * their bytes. `suppressed`: a row about someone whose records were erased after the row was made; it is not stored.
   */
  readonly type: 'row' | 'malformed' | 'unreadable' | 'suppressed';
  /**
   * When the row says it happened, in milliseconds since 1970; null if it does not say, or if the time does not count.
   */
  readonly occurredAt: number | null;
}

const MAX_UNREADABLE = 1 << 20;

/**
 * Turns the rows of a page into entries. The deduplication key covers a row's canonical content without the volatile
 * fields. The record id is part of that content, so a row that changed upstream under its id becomes a new entry. If a
 * row names no banner, the requested banner is part of the key. If its content has no canonical form (lone surrogates,
 * invalid UTF-8), the key covers its bytes.
 */
export function createRowReader(keyOf: Ledger['keyOf'], context: PageContext) {
  const { source, receivedAt } = context;
  const { idNames, timeNames, leftOut } = context.names;
  const received = Date.parse(receivedAt);
  const metaOf = metaWriter(context);
  const membersOf = createMembers(leftOut);

  const readRow = (row: ConsentLogRow): RowEntry => {
    const { value } = row;
    const fields = isObject(value) ? value : null;
    const ownBanner = fields !== null && context.names.bannerNames.some((name) => namesBanner(fields[name]));
    const banner = ownBanner ? '' : (context.keyedBy ?? '');
    const content = row.isUtf8 ? canonicalContent(value, membersOf) : null;
    const recordId = fields === null ? null : idOf(fields, idNames);
    const time = fields === null ? null : timeOf(fields, timeNames);
    return {
      entry: {
        source,
        kind: 'consent-log',
        dedupeKey:
          content === null
            ? keyOf('consent-log', 'bytes', banner, row.bytes)
            : keyOf('consent-log', 'content', banner, content),
        receivedAt,
        meta: metaOf(recordId),
        body: row.bytes,
      },
      type: fields === null ? 'malformed' : 'row',
      occurredAt: time === null ? null : countingTime(time, context.names.assumedOffset, received),
    };
  };

  const readUnreadable = (bytes: Buffer): RowEntry => {
    const body = bytes.subarray(0, MAX_UNREADABLE);
    const dedupeKey = keyOf('consent-log', 'unreadable', context.keyedBy ?? '', bytes);
    const entry = {
      source,
      kind: 'consent-log' as const,
      dedupeKey,
      receivedAt,
      meta: metaOf(null, bytes.length),
      body,
    };
    return { entry, type: 'unreadable', occurredAt: null };
  };
  return {
    readRow,
    /** Makes an entry of bytes found among rows that cannot be read as a row; keeps at most the first mebibyte. */
    readUnreadable,
  };
}

/**
 * Canonical JSON of the meta of a row's entry; only the record id varies within a page. The names are written in
 * canonical order and strings as JSON.stringify writes them, which is canonical if they are well-formed. `unreadable`:
 * the size in bytes of an unreadable piece.
 */
function metaWriter(context: PageContext): (recordId: string | null, unreadable?: number) => Buffer {
  const { bannerId, cursorSha256, page, runId, serverDate } = context;
  const before = `{"bannerId":${JSON.stringify(bannerId)},"cursorSha256":${JSON.stringify(cursorSha256)},"page":${page},"recordId":`;
  const after = `,"runId":${JSON.stringify(runId)},"serverDate":${JSON.stringify(serverDate?.toISOString() ?? null)}`;
  return (recordId, unreadable) => {
    const told = recordId !== null && isWellFormed(recordId) ? recordId : null;
    const length = unreadable === undefined ? '' : `,"unreadable":${unreadable}`;
    return Buffer.from(`${before}${JSON.stringify(told)}${after}${length}}`, 'utf8');
  };
}

function idOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (isNamed(value)) return String(value).slice(0, 200);
  }
  return null;
}

/** The first field that can be read as a time: ISO 8601, Unix seconds or milliseconds. */
function timeOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | number | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value))) return value;
  }
  return null;
}

const MINUTE = 60_000;
const TEN_YEARS = 10 * 365.25 * 24 * 60 * MINUTE;
/**
 * Smaller numbers are seconds, larger ones milliseconds since 1970. The limit is the year 5138 in seconds and 1973 in
 * milliseconds.
 */
const SECONDS_BELOW = 1e11;

/** The claimed time, if it lies within [received − 10 years, received + 5 minutes] (docs/architecture.md, Time). */
function countingTime(time: string | number, assumedOffset: string, received: number): number | null {
  const at =
    typeof time === 'number'
      ? time < SECONDS_BELOW
        ? time * 1000
        : time
      : Date.parse(withOffset(time, assumedOffset));
  return at >= received - TEN_YEARS && at <= received + 5 * MINUTE ? at : null;
}

function withOffset(time: string, assumedOffset: string): string {
  if (time.endsWith('Z')) return time;
  const iso = time.replace(' ', 'T');
  return /T/.test(iso) && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(iso) ? `${iso}${assumedOffset}` : iso;
}

function namesBanner(value: unknown): boolean {
  return isNamed(value) || (isObject(value) && idsWithin.some((name) => isNamed(value[name])));
}

/** `banner_id`, `bannerId`, `BannerId`, `banner-id`. */
function spellingsOf(name: string): string[] {
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([name, camel, camel[0]?.toUpperCase() + camel.slice(1), name.replaceAll('_', '-')])];
}

function isNamed(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Fields of a row that describe the response rather than the decision, at any depth: they change each time the row is
 * read, so they do not count when rows are compared (docs/assumptions.md, Consent log rows). A row stays in the ledger
 * with all its bytes.
 *
 * Add a name only with care: rows pulled earlier that have such a field will count as new once.
 */
export const volatileFields: ReadonlySet<string> = new Set(
  [
    'fetched_at',
    'retrieved_at',
    'exported_at',
    'served_at',
    'generated_at',
    'synced_at',
    'request_id',
    'response_id',
    'export_id',
    'trace_id',
  ].flatMap((name) => [name, name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]),
);

/**
 * The content that identifies a row: RFC 8785 canonical JSON of a parsed value, without the volatile fields. Null if it has no
 * canonical form (a lone surrogate), or is nested too deeply.
 *
 * Hand-written because a pull spends most of its time here: it takes a fifth of the time of the library, which needs a copy without the volatile
 * fields. A property-based test compares the two.
 */
export function canonicalContent(value: unknown, membersOf = createMembers(volatileFields)): string | null {
  try {
    return write(value, membersOf);
  } catch (error) {
    if (error === noCanonicalForm || error instanceof RangeError) return null;
    throw error;
  }
}

const noCanonicalForm = new TypeError('a string holds a lone surrogate');

function write(value: unknown, membersOf: MembersOf): string {
  if (typeof value === 'string') return quoted(value);
  if (value === true) return 'true';
  if (value === false) return 'false';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? write(item, membersOf) : `,${write(item, membersOf)}`;
    return `[${text}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const { key, label } of membersOf(Object.keys(fields))) text += label + write(fields[key], membersOf);
  return `{${text}}`;
}

/** The members of an object in canonical order: each key, and what stands before its value. */
type MembersOf = (keys: readonly string[]) => readonly { readonly key: string; readonly label: string }[];

/** How many sets of keys are remembered. */
const FEW_SETS = 8;

/** Remembers the last sets of keys: the rows of a log have few, and sorting takes longer than comparing. */
export function createMembers(leftOut: ReadonlySet<string>): MembersOf {
  const known: { readonly keys: readonly string[]; readonly members: ReturnType<MembersOf> }[] = [];
  let oldest = 0;
  return (keys) => {
    for (const one of known) if (areSame(one.keys, keys)) return one.members;
    const sorted = keys.filter((key) => !leftOut.has(key)).sort();
    const members = sorted.map((key, place) => ({ key, label: `${place === 0 ? '' : ','}${quoted(key)}:` }));
    known[oldest] = { keys, members };
    oldest = (oldest + 1) % FEW_SETS;
    return members;
  };
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let place = 0; place < one.length; place += 1) if (one[place] !== other[place]) return false;
  return true;
}

/** Text that needs no escaping between quotes. */
const plain = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  if (!isWellFormed(text)) throw noCanonicalForm;
  return JSON.stringify(text);
}

/** The counts of a run that has not ended. */
export type Totals = { -readonly [K in keyof PullTotals]: PullTotals[K] };

export function noTotals(): Totals {
  return { pages: 0, rows: 0, stored: 0, duplicates: 0, malformed: 0, unreadable: 0, earliest: null, latest: null };
}

/** How many rows, and how many unreadable pieces, are new in the ledger. */
export function countNew(
  rows: readonly RowEntry[],
  appended: readonly { readonly outcome: string }[],
): { stored: number; unreadable: number } {
  const counted = { stored: 0, unreadable: 0 };
  for (const [place, { type }] of rows.entries()) {
    if (appended[place]?.outcome !== 'stored') continue;
    if (type === 'unreadable') counted.unreadable += 1;
    else counted.stored += 1;
  }
  return counted;
}

/** The earliest time that rows give and that counts, ISO 8601 UTC; null without any. */
export function earliestOf(rows: readonly RowEntry[]): string | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { occurredAt } of rows) if (occurredAt !== null && occurredAt < earliest) earliest = occurredAt;
  return earliest === Number.POSITIVE_INFINITY ? null : new Date(earliest).toISOString();
}

/** Adds a page that was committed. `stored`: of its rows, those new in the ledger. */
export function addPage(totals: Totals, rows: readonly RowEntry[], stored: number): void {
  const unreadable = rows.reduce((count, { type }) => count + (type === 'unreadable' ? 1 : 0), 0);
  totals.pages += 1;
  totals.rows += rows.length - unreadable;
  totals.stored += stored;
  const suppressed = rows.reduce((count, { type }) => count + (type === 'suppressed' ? 1 : 0), 0);
  if (suppressed > 0) totals.suppressed = (totals.suppressed ?? 0) + suppressed;
  totals.duplicates += rows.length - unreadable - suppressed - stored;
  totals.unreadable += unreadable;
  let earliest = Number.POSITIVE_INFINITY;
  let latest = Number.NEGATIVE_INFINITY;
  for (const { type, occurredAt } of rows) {
    if (type === 'malformed') totals.malformed += 1;
    if (occurredAt === null) continue;
    if (occurredAt < earliest) earliest = occurredAt;
    if (occurredAt > latest) latest = occurredAt;
  }
  if (earliest > latest) return;
  const [first, last] = [new Date(earliest).toISOString(), new Date(latest).toISOString()];
  if (totals.earliest === null || first < totals.earliest) totals.earliest = first;
  if (totals.latest === null || last > totals.latest) totals.latest = last;
}

/** The counts of two windows of one call. */
export function joinTotals(before: PullTotals | undefined, own: PullTotals): PullTotals {
  if (before === undefined) return { ...own };
  const times = (a: string | null, b: string | null) => [a, b].filter((time) => time !== null).sort();
  return {
    pages: before.pages + own.pages,
    rows: before.rows + own.rows,
    stored: before.stored + own.stored,
    duplicates: before.duplicates + own.duplicates,
    malformed: before.malformed + own.malformed,
    unreadable: before.unreadable + own.unreadable,
    ...(before.suppressed === undefined && own.suppressed === undefined
      ? {}
      : { suppressed: (before.suppressed ?? 0) + (own.suppressed ?? 0) }),
    earliest: times(before.earliest, own.earliest)[0] ?? null,
    latest: times(before.latest, own.latest).at(-1) ?? null,
  };
}

/** Counts of a pull. `rows` came; `stored` are new in the ledger; `duplicates` were there already. */
export interface PullTotals {
  readonly pages: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Rows that are not JSON objects: stored with their bytes anyway. */
  readonly malformed: number;
  /** Pieces of broken pages that could not be read as rows: stored with their bytes, and counted in none of the others. */
  readonly unreadable: number;
  /** Rows that were left out because their subject was erased since; absent: none. */
  readonly suppressed?: number;
  /** Earliest and latest time that the rows give and that counts, ISO 8601 UTC. */
  readonly earliest: string | null;
  readonly latest: string | null;
}
