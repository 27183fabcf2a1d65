import { isUtf8 } from 'node:buffer';
import { mayEscapeKeys, parseJson } from '../core/json.ts';
import { createTurns } from '../jobs/event-loop.ts';
import { assertWithinLimits, cleanText, describeNoJson, readEnvelope, tooLarge, usualLimits } from './answer-json.ts';
import type { ServiceAnswer, Transport } from './api-transport.ts';
import {
  findElements,
  findMembers,
  findRows,
  mayHoldLongNumbers,
  readExactly,
  salvagePage,
  type TextRange,
} from './page-salvage.ts';
import type { ReadPace } from './rate-limit.ts';
import { ServiceError } from './service-error.ts';

/** Maximum rows per page (docs/service.md §8). */
const MAX_PAGE_ROWS = 200;
/** Maximum rows accepted in a page, for services that return more than documented. */
const MOST_ROWS = 5_000;
/** Maximum page size in bytes. Its parsed rows take several times as much memory. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Which page of the consent log (docs/service.md §4.5). */
export interface ConsentLogQuery {
  /** Null: everything that the key may see. */
  readonly bannerId: string | null;
  /** ISO 8601; null: from the beginning. */
  readonly from: string | null;
  /** ISO 8601; null: to the end. */
  readonly to: string | null;
  /** 1 to 200, default 200. */
  readonly limit?: number;
  /** `nextCursor` of the previous page; null: the first page. */
  readonly cursor: string | null;
  /** Send the cursor without any other parameter. */
  readonly isAlone?: boolean;
}

/** One row, unchanged. Its fields are not documented (docs/service.md §2.8), so none is required. */
export interface ConsentLogRow {
  /** The exact bytes of the row in the response. */
  readonly bytes: Buffer;
  /** The row as JSON, which may be parsed on each access; a number that a double may not hold exactly is given as text. */
  readonly value: unknown;
  /** Whether the bytes are UTF-8. If not, `value` contains replacement characters, and different rows may look the same. */
  readonly isUtf8: boolean;
}

/** One page of the consent log. */
export interface ConsentLogPage {
  readonly rows: readonly ConsentLogRow[];
  /** Null on the last page, and if {@link damage} says that the cursor could not be read. */
  readonly nextCursor: string | null;
  /** The service's Date header. */
  readonly serverDate: Date | null;
  /** The defects of a page that is not valid JSON; null for any other. */
  readonly damage: PageDamage | null;
}

/** A page that could not be read completely after repeated requests. */
interface PageDamage {
  /** Bytes found where rows are expected that cannot be read as rows. */
  readonly unreadable: readonly Buffer[];
  /** The cursor was lost too: there may be more pages, but no known way to reach them. */
  readonly cursorLost: boolean;
}

/**
 * Fetches one page of the consent log (docs/service.md §4.5). Also accepted: a missing `data` if nothing else in the
 * response could be the rows, a page that is a bare array, and a cursor that is null, absent, empty or a number. A page
 * of broken JSON is requested again. If it comes with the same bytes, or never complete, its readable part is returned
 * with its `damage`. Errors: ServiceError; `unreadable` if the response is not a page, or its rows or cursor cannot be
 * found; `too-large` over `maxBytes`.
 */
export async function fetchConsentLogPage(
  transport: Transport,
  query: ConsentLogQuery,
  {
    signal,
    pace,
    maxBytes = MOST_BYTES,
  }: {
    readonly signal?: AbortSignal | undefined;
    readonly pace?: ReadPace | undefined;
    readonly maxBytes?: number | undefined;
  } = {},
): Promise<ConsentLogPage> {
  let best: ConsentLogPage | null = null;
  let broken: Buffer | null = null;
  const read = async (answer: ServiceAnswer): Promise<ConsentLogPage> => {
    pace?.answered(answer.headers);
    const page = await readPage(answer);
    if (page.damage === null) return page;
    // Damage in transit differs each time; the same bytes twice are what the service has.
    const isSame = broken?.equals(answer.bytes) === true;
    broken = answer.bytes;
    if (best === null || !isBetter(best, page)) best = page;
    if (isSame && !page.damage.cursorLost) return page;
    throw new ServiceError('unreadable', { detail: 'the JSON is cut off or broken' });
  };
  await pace?.beforeRead(signal);
  const request = transport.request({
    path: '/consent/logs',
    query: {
      banner_id: query.bannerId,
      from: query.from,
      to: query.to,
      limit: query.isAlone === true ? null : (query.limit ?? MAX_PAGE_ROWS),
      cursor: query.cursor,
    },
    signal,
    maxBytes,
    read,
  });
  return request.catch((error: unknown) => {
    if (best !== null && error instanceof ServiceError && error.kind === 'unreadable') return best;
    throw error;
  });
}

/** Whether `one` has more of a page than `other`. */
function isBetter(one: ConsentLogPage, other: ConsentLogPage): boolean {
  const [a, b] = [one.damage?.cursorLost === true, other.damage?.cursorLost === true];
  return a === b ? one.rows.length > other.rows.length : b;
}

/**
 * Reads a page from a response, in slices that leave time for deliveries; exported for tests. From a page of broken
 * JSON it returns the readable part, with its `damage`. Errors: ServiceError; `unreadable` if it is not a page,
 * `too-large` beyond the limits.
 */
export async function readPage(answer: Pick<ServiceAnswer, 'bytes' | 'serverDate'>): Promise<ConsentLogPage> {
  const { serverDate } = answer;
  const bytes = withoutMark(answer.bytes);
  const turns = createTurns();
  const latin1 = bytes.toString('latin1');
  const whole = bytes.length <= AT_ONCE ? readAtOnce(bytes, latin1) : null;
  if (whole !== null) return { ...whole, serverDate, damage: null };
  assertWithinLimits(bytes);
  await turns.take();
  const salvaged = await salvagePage(latin1, turns);
  await turns.take();
  if (salvaged === null || (salvaged.rows.length === 0 && salvaged.frame === null && salvaged.broken.length === 0))
    return { rows: [], nextCursor: readWithoutRows(bytes, latin1), serverDate, damage: null };
  const { frame, isWhole } = salvaged;
  if (salvaged.rows.length + salvaged.broken.length > MOST_ROWS)
    throw tooLarge(`more than ${MOST_ROWS} rows in one page`);
  const wholeIsUtf8 = isUtf8(bytes);
  const rows = salvaged.rows.map(({ start, end }): ConsentLogRow => {
    const rowBytes = bytes.subarray(start, end);
    return {
      bytes: rowBytes,
      get value() {
        return valueOf(rowBytes);
      },
      isUtf8: wholeIsUtf8 || isUtf8(rowBytes),
    };
  });
  const cursor = cursorOfFrame(frame, rows.length === 0 && isWhole);
  const unreadable = salvaged.broken.map(({ start, end }) => bytes.subarray(start, end));
  const damage = isWhole && cursor !== null ? null : { unreadable, cursorLost: cursor === null };
  return { rows, nextCursor: cursor?.next ?? null, serverDate, damage };
}

/** Size in bytes up to which a page is parsed at once, which takes less than a millisecond. */
const AT_ONCE = 256 * 1024;

/** Reads a page by parsing it once; null if that might read it differently than row by row. */
function readAtOnce(bytes: Buffer, latin1: string): Pick<ConsentLogPage, 'rows' | 'nextCursor'> | null {
  if (!isUtf8(bytes)) return null;
  const text = bytes.toString('utf8');
  const start = findRows(latin1);
  if (start === null || mayHoldLongNumbers(text) || mayEscapeKeys(text)) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const values = Array.isArray(json) ? json : memberOf(json, 'data');
  const found = findElements(latin1, start, usualLimits.depth - 2);
  if (!Array.isArray(values) || found?.elements.length !== values.length || values.length > MOST_ROWS) return null;
  // Null also if the page contains `data` twice: then the values may not be those of these elements.
  const cursor = cursorOfFrame(`${latin1.slice(0, start)}[]${latin1.slice(found.end)}`, false);
  if (cursor === null) return null;
  const rows = found.elements.map(
    (span, place): ConsentLogRow => ({
      bytes: bytes.subarray(span.start, span.end),
      value: values[place],
      isUtf8: true,
    }),
  );
  return { rows, nextCursor: cursor.next };
}

function valueOf(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return parseJson(text, mayHoldLongNumbers(text) ? readExactly : undefined);
}

/**
 * Null if it is unknown whether there is a next page. If the page contains nothing else, throws ServiceError
 * `unreadable` with the reason.
 */
function cursorOfFrame(frame: string | null, isAllThereIs: boolean): { readonly next: string | null } | null {
  if (frame === null) return null;
  const json = parseJson(Buffer.from(frame, 'latin1').toString('utf8'));
  try {
    // Rows that occur a second time in the response were not separated.
    const data = Array.isArray(json) ? json : memberOf(json, 'data');
    if (!Array.isArray(data) || data.length > 0)
      throw new ServiceError('unreadable', { detail: 'the response contains `data` twice' });
    return { next: readCursor(json, findMembers(frame), frame) };
  } catch (error) {
    if (isAllThereIs) throw error;
    return null;
  }
}

/** A response without an array of rows is larger only by mistake. */
const MAX_WITHOUT_ROWS = 1024 * 1024;

/**
 * The cursor of a response without rows that is a valid empty page. Errors: ServiceError `unreadable` if it is
 * something else.
 */
function readWithoutRows(bytes: Buffer, latin1: string): string | null {
  let json: unknown;
  try {
    if (bytes.length > MAX_WITHOUT_ROWS) throw new SyntaxError('too long for an empty page');
    json = parseJson(bytes.toString('utf8'));
  } catch {
    // JSON.parse quotes the text around the error, which is a visitor's row: report only the kind of error.
    throw new ServiceError('unreadable', { detail: describeNoJson(bytes) });
  }
  if (typeof json !== 'object' || json === null)
    throw new ServiceError('unreadable', { detail: 'the response is neither an object nor an array' });
  const data = memberOf(json, 'data');
  if (data !== undefined && data !== null) throw new ServiceError('unreadable', { detail: '`data` is not an array' });
  const { code, detail } = readEnvelope(JSON.stringify(json), null);
  if (code !== undefined || detail !== undefined) {
    throw new ServiceError('unreadable', {
      detail: ['an error with a success status', code, detail].filter(Boolean).join(': '),
    });
  }
  // Rows under another name, or a message, must not pass as an empty page: the watermark would move past rows that were
  // not returned.
  const isPage = cursorNames.some((name) => Object.hasOwn(json, name));
  const other = Object.entries(json).find(
    ([name, value]) => !cursorNames.includes(name) && holdsSomething(name, value, isPage),
  );
  if (other !== undefined)
    throw new ServiceError('unreadable', { detail: `no \`data\`, but \`${cleanText(other[0], null, 60)}\`` });
  return readCursor(json, findMembers(latin1), latin1);
}

/**
 * Whether a member is content that an empty page could not have. Counts and flags are not; if there is no cursor, only
 * zero and false.
 */
function holdsSomething(name: string, value: unknown, isPage: boolean): boolean {
  if (value === false) return name === 'ok' || name === 'success';
  if (typeof value === 'number' || value === true) return !isPage && value !== 0;
  return Array.isArray(value)
    ? value.length > 0
    : (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null);
}

const cursorNames: readonly string[] = ['next_cursor', 'nextCursor'];

function readCursor(json: unknown, members: Map<string, TextRange> | null, latin1: string): string | null {
  for (const name of cursorNames) {
    const cursor = memberOf(json, name);
    if (cursor === undefined || cursor === null || cursor === '' || cursor === false) continue;
    if (typeof cursor === 'string') return cursor;
    const span = members?.get(name);
    // The digits as written: a double may not hold them.
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
