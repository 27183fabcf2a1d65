import { canonicalJson, isWellFormed } from '../core/canonical.ts';
import type { NewEntry } from '../core/entry.ts';
import type { SourceOptions } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ConsentLogRow } from '../service/consent-logs.ts';

/**
 * Fields of a row that tell about the answer and not about the decision, at any depth: they change each time the row is read, so they
 * are no part of what makes a row the same row (docs/assumptions.md, Consent log rows). A row stays in the ledger with all its bytes.
 *
 * Add a name only with care: rows that were pulled before and have such a field count as new once.
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
const bannerNames = ['banner_id', 'bannerId', 'banner', 'consent_banner_id', 'consentBannerId'];

/** Where to look for the id and the time of a row. */
export interface RowNames {
  readonly idNames: readonly string[];
  readonly timeNames: readonly string[];
  /** What a time without an offset means. */
  readonly assumedOffset: string;
}

/** The names of a source: its own first. */
export function rowNamesOf({ fieldNames, assumedOffset }: SourceOptions): RowNames {
  const own = (...names: string[]) => names.flatMap((name) => fieldNames[name] ?? []);
  return {
    idNames: [...own('recordId'), ...recordIdNames],
    timeNames: [...own('consentedAt', 'occurredAt', 'consentCreatedAt'), ...timeNames],
    assumedOffset,
  };
}

/** What every row of one page shares. */
export interface PageContext {
  readonly source: string;
  readonly names: RowNames;
  /** The banner asked for; null: no banner was named. */
  readonly bannerId: string | null;
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
  /** The row is no JSON object: kept with its bytes, and counted. */
  readonly malformed: boolean;
  /** When the row says it happened, ISO 8601 UTC; null where it does not say, or nothing that counts. */
  readonly occurredAt: string | null;
}

/**
 * Makes a row an entry. Its deduplication key covers its canonical content without the volatile fields: the record id is part of
 * that, so a row that changed upstream under its id is a new entry. A row that does not name its banner is told apart by the banner
 * it was asked for. A row whose content has no canonical form (lone surrogates, bytes that are no UTF-8) is known by its bytes.
 */
export function entryOfRow(keyOf: Ledger['keyOf'], row: ConsentLogRow, context: PageContext): RowEntry {
  const fields = isObject(row.value) ? row.value : null;
  const ownBanner = fields !== null && bannerNames.some((name) => isNamed(fields[name]));
  const banner = ownBanner ? '' : (context.bannerId ?? '');
  const content = row.isUtf8 ? canonicalContent(row.value) : null;
  const { idNames, timeNames } = context.names;
  const recordId = fields === null ? null : idOf(fields, idNames);
  const time = fields === null ? null : timeOf(fields, timeNames);
  return {
    entry: {
      source: context.source,
      kind: 'consent-log',
      dedupeKey:
        content === null
          ? keyOf('consent-log', 'bytes', banner, row.bytes)
          : keyOf('consent-log', 'content', banner, content),
      receivedAt: context.receivedAt,
      meta: canonicalJson({
        bannerId: context.bannerId,
        cursorSha256: context.cursorSha256,
        page: context.page,
        recordId: recordId !== null && isWellFormed(recordId) ? recordId : null,
        runId: context.runId,
        serverDate: context.serverDate?.toISOString() ?? null,
      }),
      body: row.bytes,
    },
    malformed: fields === null,
    occurredAt: time === null ? null : countingTime(time, context),
  };
}

function canonicalContent(value: unknown): Buffer | null {
  try {
    return canonicalJson(withoutVolatile(value));
  } catch {
    return null;
  }
}

/** The value itself where it holds no volatile field, which is the rule. */
function withoutVolatile(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.map(withoutVolatile);
    return kept.some((item, index) => item !== value[index]) ? kept : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const kept: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    if (volatileFields.has(key)) {
      changed = true;
      continue;
    }
    const own = value[key];
    const rest = typeof own === 'object' ? withoutVolatile(own) : own;
    if (rest !== own) changed = true;
    kept.push([key, rest]);
  }
  return changed ? Object.fromEntries(kept) : value;
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
function countingTime(time: string | number, context: PageContext): string | null {
  const at =
    typeof time === 'number' ? (time < SECONDS_BELOW ? time * 1000 : time) : Date.parse(withOffset(time, context));
  const received = Date.parse(context.receivedAt);
  return at >= received - TEN_YEARS && at <= received + 5 * MINUTE ? new Date(at).toISOString() : null;
}

function withOffset(time: string, { names }: PageContext): string {
  const iso = time.replace(' ', 'T');
  return /T/.test(iso) && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(iso) ? `${iso}${names.assumedOffset}` : iso;
}

function isNamed(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
