import { isUtf8 } from 'node:buffer';
import { findElements, findMembers, mayHoldLongNumbers, parseExactly, type Span } from './json-rows.ts';
import { cleanText, readEnvelope, ServiceError } from './service-error.ts';
import type { ServiceAnswer, Transport } from './transport.ts';

/** Rows per page at most (docs/service.md §8). */
export const MAX_PAGE_ROWS = 200;

/** Which page of the consent log (docs/service.md §4.5). */
export interface ConsentLogQuery {
  /** Null: whatever the key may see. */
  readonly bannerId: string | null;
  /** ISO 8601; null: from the beginning. */
  readonly from: string | null;
  /** ISO 8601; null: to the end. */
  readonly to: string | null;
  /** 1 to 200, default 200. */
  readonly limit?: number;
  /** `nextCursor` of the page before; null: the first page. */
  readonly cursor: string | null;
}

/** One row as it came. Its fields are not documented (docs/service.md §2.8), so nothing is required of it. */
export interface ConsentLogRow {
  /** The exact bytes of the row in the answer. */
  readonly bytes: Buffer;
  /** The row read as JSON; a number that a double cannot be trusted to hold is given as its text. */
  readonly value: unknown;
  /** Whether the bytes are UTF-8: if not, `value` holds replacement characters and does not tell rows apart. */
  readonly isUtf8: boolean;
}

/** One page of the consent log. */
export interface ConsentLogPage {
  readonly rows: readonly ConsentLogRow[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** The service's Date header. */
  readonly serverDate: Date | null;
}

/**
 * Fetches one page of the consent log (docs/service.md §4.5).
 * Taken besides the documented form: a missing `data` when nothing else in the answer could be the rows, a page that is a bare array,
 * and a cursor that is null, absent, empty or a number.
 * Errors: ServiceError; `unreadable` when the answer is no JSON, or when its rows or its cursor cannot be told.
 */
export function fetchConsentLogPage(
  transport: Transport,
  query: ConsentLogQuery,
  signal?: AbortSignal,
): Promise<ConsentLogPage> {
  return transport.request({
    path: '/consent/logs',
    query: {
      banner_id: query.bannerId,
      from: query.from,
      to: query.to,
      limit: query.limit ?? MAX_PAGE_ROWS,
      cursor: query.cursor,
    },
    signal,
    read: readPage,
  });
}

/** Reads a page out of an answer; exported for tests. Errors: ServiceError `unreadable`. */
export function readPage(answer: Pick<ServiceAnswer, 'bytes' | 'serverDate'>): ConsentLogPage {
  const bytes = withoutMark(answer.bytes);
  const text = bytes.toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // What JSON.parse says quotes the text around the fault, which is a visitor's row: only its kind is told.
    throw new ServiceError('unreadable', { detail: describeNoJson(bytes) });
  }
  const latin1 = bytes.toString('latin1');
  const members = findMembers(latin1);
  const rowsAt = findRowsSpan(json, members);
  const spans = rowsAt === null ? [] : (findElements(latin1, rowsAt.span.start) ?? []);
  const values = rowsAt?.values ?? [];
  if (spans.length !== values.length) throw new ServiceError('unreadable', { detail: 'rows could not be told apart' });
  const careful = mayHoldLongNumbers(latin1);
  const wholeIsUtf8 = isUtf8(bytes);
  const rows = spans.map((span, index): ConsentLogRow => {
    const rowBytes = bytes.subarray(span.start, span.end);
    return {
      bytes: rowBytes,
      value: careful ? readCarefully(rowBytes, values[index]) : values[index],
      isUtf8: wholeIsUtf8 || isUtf8(rowBytes),
    };
  });
  return { rows, nextCursor: readCursor(json, members, latin1), serverDate: answer.serverDate };
}

function readCarefully(bytes: Buffer, value: unknown): unknown {
  const text = bytes.toString('utf8');
  return mayHoldLongNumbers(text) ? parseExactly(text) : value;
}

/** Where the rows are. Null: an answer without rows. */
function findRowsSpan(
  json: unknown,
  members: Map<string, Span> | null,
): { span: Span; values: readonly unknown[] } | null {
  if (Array.isArray(json)) return { span: { start: 0, end: 0 }, values: json as unknown[] };
  if (members === null || typeof json !== 'object' || json === null) {
    throw new ServiceError('unreadable', { detail: 'the answer is neither an object nor an array' });
  }
  const data = memberOf(json, 'data');
  const span = members.get('data');
  if (Array.isArray(data) && span !== undefined) return { span, values: data as unknown[] };
  if (data !== undefined && data !== null) throw new ServiceError('unreadable', { detail: '`data` is not an array' });
  const { code, detail } = readEnvelope(JSON.stringify(json), null);
  if (code !== undefined || detail !== undefined) {
    throw new ServiceError('unreadable', {
      detail: ['an error with a success status', code, detail].filter(Boolean).join(': '),
    });
  }
  // Rows under another name must not pass for an empty page: the watermark would move beyond them.
  const other = Object.entries(json).find(([, value]) => Array.isArray(value) && value.length > 0);
  if (other !== undefined) {
    throw new ServiceError('unreadable', { detail: `no \`data\`, but an array \`${cleanText(other[0], null, 60)}\`` });
  }
  return null;
}

function readCursor(json: unknown, members: Map<string, Span> | null, latin1: string): string | null {
  for (const name of ['next_cursor', 'nextCursor']) {
    const cursor = memberOf(json, name);
    if (cursor === undefined || cursor === null || cursor === '' || cursor === false) continue;
    if (typeof cursor === 'string') return cursor;
    const span = members?.get(name);
    // The digits as they stand: a double may not hold them.
    if (typeof cursor === 'number' && span !== undefined) return latin1.slice(span.start, span.end);
    throw new ServiceError('unreadable', { detail: `\`${name}\` is neither text nor a number` });
  }
  return null;
}

function memberOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? (json as Record<string, unknown>)[name]
    : undefined;
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function describeNoJson(bytes: Buffer): string {
  if (bytes.length === 0) return 'the answer is empty';
  const start = bytes.toString('latin1', 0, 200).trimStart();
  if (start.startsWith('<')) return 'a web page instead of JSON';
  return start.startsWith('{') || start.startsWith('[') ? 'the JSON is cut off or broken' : 'no JSON';
}
