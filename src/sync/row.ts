import { isWellFormed } from '../crypto/canonical.ts';
import type { NewEntry } from '../crypto/entry.ts';
import type { SourceOptions } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ConsentLogRow } from '../service/consent-logs.ts';
import { canonicalContent, volatileFields } from './row-content.ts';

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
/** Names under which a row may say whose it is: its id, or an object with one. In the spellings that APIs use. */
const bannerNames = ['banner_id', 'consent_banner_id', 'cookie_banner_id', 'widget_id', 'banner'].flatMap(spellingsOf);
const idsWithin = ['id', 'Id', 'ID'];

/** Where to look for the id and the time of a row. */
interface RowNames {
  readonly idNames: readonly string[];
  readonly timeNames: readonly string[];
  readonly bannerNames: readonly string[];
  /** Fields that tell about the answer and not about the decision. */
  readonly leftOut: ReadonlySet<string>;
  /** What a time without an offset means. */
  readonly assumedOffset: string;
}

/** The names of a source: its own first. */
export function rowNamesOf({ fieldNames, assumedOffset }: SourceOptions): RowNames {
  const own = (...names: string[]) => names.flatMap((name) => fieldNames[name] ?? []);
  // What a source says is part of a decision tells decisions apart, whatever it is called.
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
  /** The banner asked for; null: no banner was named. */
  readonly bannerId: string | null;
  /** The banner that a row which names none is told apart by: the one that the whole run asks for, '' for none. */
  readonly keyedBy: string;
  readonly runId: string;
  /** From 1, within its run. */
  readonly page: number;
  /** Names the cursor the page was asked with, without being one; null on the first page. */
  readonly cursorSha256: string | null;
  readonly serverDate: Date | null;
  /** Our clock, ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** A row on its way into the ledger. */
export interface RowEntry {
  readonly entry: NewEntry;
  /** `row`: a JSON object; `malformed`: other JSON; `unreadable`: a piece of a broken page. All are kept with their bytes. */
  readonly type: 'row' | 'malformed' | 'unreadable';
  /** When the row says it happened, in milliseconds since 1970; null where it does not say, or nothing that counts. */
  readonly occurredAt: number | null;
}

const MAX_UNREADABLE = 1 << 20;

/**
 * Makes the rows of a page entries. The deduplication key covers a row's canonical content without the volatile fields: the record id is
 * part of that, so a row that changed upstream under its id is a new entry. A row that does not name its banner is told apart by the
 * banner it was asked for. A row whose content has no canonical form (lone surrogates, bytes that are no UTF-8) is known by its bytes.
 */
export function createRowReader(keyOf: Ledger['keyOf'], context: PageContext) {
  const { source, receivedAt } = context;
  const { idNames, timeNames, leftOut } = context.names;
  const received = Date.parse(receivedAt);
  const metaOf = metaWriter(context);

  const readRow = (row: ConsentLogRow): RowEntry => {
    const { value } = row;
    const fields = isObject(value) ? value : null;
    const ownBanner = fields !== null && context.names.bannerNames.some((name) => namesBanner(fields[name]));
    const banner = ownBanner ? '' : context.keyedBy;
    const content = row.isUtf8 ? canonicalContent(value, leftOut) : null;
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
    const dedupeKey = keyOf('consent-log', 'unreadable', context.keyedBy, bytes);
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
    readRow /** Makes bytes that stood among rows and cannot be told to be one an entry of their own, at most their first mebibyte. */,
    readUnreadable,
  };
}

/**
 * Canonical JSON of what a row's entry says beside its bytes; all but the record id is the same for a whole page. The names stand in
 * canonical order, and texts are as JSON.stringify writes them, which is canonical for well-formed ones. `unreadable`: for a piece of a broken
 * page, how many bytes it had.
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

/** The first field that reads as a time: ISO 8601, or Unix seconds or milliseconds. */
function timeOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | number | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value))) return value;
  }
  return null;
}

const MINUTE = 60_000;
const TEN_YEARS = 10 * 365.25 * 24 * 60 * MINUTE;
/** Numbers below are seconds, above milliseconds since 1970: the border is the year 5138 in the one and 1973 in the other. */
const SECONDS_BELOW = 1e11;

/** The claimed time, where it lies within [received − 10 years, received + 5 minutes] (docs/architecture.md, Time). */
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
