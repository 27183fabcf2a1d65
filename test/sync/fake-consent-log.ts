import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One row of the fake service: when it was recorded, and its exact JSON text. */
export interface FakeRow {
  readonly bannerId: string;
  readonly at: number;
  readonly text: string;
}

/** A fault of one request. */
export type Fault =
  | { readonly type: 'status'; readonly status: number; readonly retryAfter?: string }
  /** Responds to a request with a cursor as if the cursor were unknown. */
  | { readonly type: 'expired'; readonly status: 400 | 404 | 410 }
  | { readonly type: 'truncated' }
  | { readonly type: 'dropped' }
  /** No rows, and the cursor leads to the page that was due. */
  | { readonly type: 'empty' }
  /** Repeats the page with another cursor. */
  | { readonly type: 'repeated' }
  /** The next cursor is one of an earlier page. */
  | { readonly type: 'looping' };

export interface FakeOptions {
  readonly order?: 'ascending' | 'descending';
  /** The service's page limit, below the documented 200. */
  readonly pageRows?: number;
  /** Delays a response until the promise settles; null: no delay. */
  readonly wait?: (query: URLSearchParams) => Promise<void> | null;
  /** Called for each request, `nth` from 1. */
  readonly fault?: (nth: number, query: URLSearchParams) => Fault | null;
  /** What the response to a request waits for; null: nothing. */
  /** Refuses cursors after this many pages of a window; 0: even the first one. */
  readonly cursorsExpireAfter?: { readonly pages: number; readonly status: number } | null;
  /** Uses whole days, whatever is requested; the day of `to` is included or not. */
  readonly cutsToDays?: 'inclusive' | 'exclusive';
  /** Answers 400 to anything but dates, and reads `to` as a whole day. */
  readonly takesDatesOnly?: boolean;
  /** Answers 400 to times with a fraction of a second. */
  readonly takesSecondsOnly?: boolean;
  /** Answers 400 to a cursor that comes with other parameters. */
  readonly takesCursorAlone?: boolean;
  /** Answers 400 to times that have an offset. */
  readonly takesNoOffset?: boolean;
  /** Answers 400 unless both ends of the period are given, or if only one is. */
  readonly wantsBothEnds?: 'always' | 'or-none';
  readonly ignoresPeriod?: boolean;
  /** Returns all rows of the period in one page. */
  readonly ignoresLimit?: boolean;
  /** Length of cursors. */
  readonly cursorBytes?: number;
  readonly hold?: (nth: number) => Promise<void> | null;
  /** The Date header; null: none. Default: now. */
  readonly date?: () => Date | null;
}

export interface FakeConsentLog {
  readonly baseUrl: string;
  /** May be changed while it runs. */
  rows: FakeRow[];
  options: FakeOptions;
  readonly requests: URLSearchParams[];
}

interface Cursor {
  /** The query of the cursor. */
  readonly of: string;
  /** The page of the window that it leads to; 1 is the first after the beginning. */
  readonly depth: number;
  readonly after: number;
  readonly index: number;
  readonly nonce: number;
}

/**
 * The service's GET /consent/logs (docs/service.md §4.5) on a free loopback port, with faults on demand; closed when
 * the test ends. Cursors name the row to continue after, so rows that arrive during a run move no page.
 */
export async function fakeConsentLog(rows: readonly FakeRow[], options: FakeOptions = {}): Promise<FakeConsentLog> {
  const firstCursors = new Map<string, string>();
  let nonce = 0;
  const fake = { baseUrl: '', rows: [...rows], options, requests: [] as URLSearchParams[] };
  const server = createServer((request, response) => {
    const held = fake.options.hold?.(fake.requests.length + 1) ?? null;
    const { searchParams } = new URL(request.url ?? '/', 'http://fake');
    const awaited = fake.options.wait?.(searchParams) ?? null;
    if (held === null && awaited !== null) return void awaited.then(() => answer(request, response));
    if (held === null) return answer(request, response);
    fake.requests.push(searchParams);
    void held.then(() => response.destroy());
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    let query = new URL(request.url ?? '/', 'http://fake').searchParams;
    fake.requests.push(query);
    const { options } = fake;
    const fault = fake.options.fault?.(fake.requests.length, query) ?? null;
    response.sendDate = false;
    const date = (fake.options.date ?? (() => new Date()))();
    if (date !== null) response.setHeader('date', date.toUTCString());
    if (fault?.type === 'dropped') return void request.socket.destroy();
    if (fault?.type === 'status') {
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter);
      return refuse(response, fault.status);
    }
    const text = query.get('cursor');
    if (fault?.type === 'expired' && text !== null) return refuse(response, fault.status);
    const cursor = text === null ? null : (JSON.parse(Buffer.from(text, 'base64url').toString()) as Cursor);
    if (options.takesCursorAlone === true && cursor !== null && query.size > 1) return refuse(response, 400);
    if (options.takesCursorAlone === true && cursor !== null) query = new URLSearchParams(cursor.of);
    const times = [query.get('from'), query.get('to')].filter((time) => time !== null);
    if (options.takesDatesOnly === true && times.some((time) => time.length > 10)) return refuse(response, 400);
    if (options.takesSecondsOnly === true && times.some((time) => time.includes('.'))) return refuse(response, 400);
    if (options.takesNoOffset === true && times.some((time) => /(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$|^.{10}$/.test(time)))
      return refuse(response, 400);
    const isOpen = options.wantsBothEnds === 'always' ? times.length < 2 : times.length === 1;
    if (options.wantsBothEnds !== undefined && isOpen) return refuse(response, 400);
    if (cursor !== null && cursor.depth > (options.cursorsExpireAfter?.pages ?? Number.POSITIVE_INFINITY))
      return refuse(response, options.cursorsExpireAfter?.status ?? 400);
    const [from, to] = periodOf(query, options);

    const sign = fake.options.order === 'descending' ? -1 : 1;
    const banner = query.get('banner_id');
    const all: (FakeRow & { readonly index: number })[] = [];
    for (const [index, row] of fake.rows.entries()) {
      if (row.at < from || row.at >= to || (banner !== null && row.bannerId !== banner)) continue;
      if (cursor !== null && sign * (row.at - cursor.after || index - cursor.index) <= 0) continue;
      all.push({ ...row, index });
    }
    all.sort((a, b) => sign * (a.at - b.at || a.index - b.index));
    const limit = Math.min(Number(query.get('limit') ?? 50), fake.options.pageRows ?? 200);
    const isAll = options.ignoresLimit === true;
    const page = fault?.type === 'empty' ? [] : isAll ? all : all.slice(0, limit);
    const last = page.at(-1);
    const make = (after: number, index: number) =>
      Buffer.from(
        JSON.stringify({
          of: query.toString().replace(/&?cursor=[^&]*/, ''),
          depth: (cursor?.depth ?? 0) + 1,
          after,
          index,
          nonce: (nonce += 1),
        } satisfies Cursor) + ' '.repeat(options.cursorBytes ?? 0),
      ).toString('base64url');
    let next = last !== undefined && all.length > page.length ? make(last.at, last.index) : null;
    const start = cursor ?? { after: sign * Number.MIN_SAFE_INTEGER, index: 0 };
    if (fault?.type === 'empty' || (fault?.type === 'repeated' && next !== null)) next = make(start.after, start.index);
    const window = `${query.get('banner_id')} ${query.get('from')} ${query.get('to')}`;
    if (fault?.type === 'looping' && next !== null) next = firstCursors.get(window) ?? next;
    else if (next !== null && !firstCursors.has(window)) firstCursors.set(window, next);

    const body = `{"data": [${page.map((row) => row.text).join(' ,\n')}], "next_cursor":${JSON.stringify(next)}}`;
    response.setHeader('content-type', 'application/json');
    if (fault?.type === 'truncated') return void response.end(body.slice(0, Math.max(1, body.length - 10)));
    response.end(body);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  fake.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  return fake;
}

const DAY = 86_400_000;

/** The requested period in milliseconds, without its end. */
function periodOf(query: URLSearchParams, options: FakeOptions): readonly [number, number] {
  const [from, to] = [query.get('from'), query.get('to')];
  if (options.ignoresPeriod === true) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isByDay = options.cutsToDays !== undefined || options.takesDatesOnly === true;
  const at = (time: string) => (isByDay ? Math.floor(Date.parse(time) / DAY) * DAY : Date.parse(time));
  const whole = isByDay && options.cutsToDays !== 'exclusive' ? DAY : 0;
  return [from === null ? Number.NEGATIVE_INFINITY : at(from), to === null ? Number.POSITIVE_INFINITY : at(to) + whole];
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { code: `e${status}`, message: 'as the test asked' } }));
}

/** Rows of one banner, one every minute from `from` on, each with an id and a time. */
export function minuteRows(count: number, from: string, bannerId = 'bnr_1'): FakeRow[] {
  return Array.from({ length: count }, (_, index) => {
    const at = Date.parse(from) + index * 60_000;
    return {
      bannerId,
      at,
      text: JSON.stringify({
        id: `clog_${bannerId}_${index}`,
        banner_id: bannerId,
        action: 'accept',
        created_at: new Date(at).toISOString(),
      }),
    };
  });
}
