import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { LogPage, LogQuery } from '../consent-log.ts';
import type { Dialect } from '../dialect.ts';
import { layJson } from '../dialects.ts';
import type { Drawn } from '../faults.ts';
import type { DecisionHappening } from '../happenings.ts';
import type { Cursors } from '../keys.ts';
import { mix } from '../prng.ts';
import type { World } from '../world.ts';
import { AnswerError, invalidRequest, notFound } from './answers.ts';
import type { Authenticate } from './authenticate.ts';
import { faultsOf } from './fault-hooks.ts';

/** Rows per page if `limit` is not given; not documented. */
const DEFAULT_LIMIT = 50;

const querySchema = z.object({
  banner_id: z.string().min(1).optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  limit: z
    .string()
    .regex(/^\d{1,6}$/, 'must be an integer')
    .transform(Number)
    .pipe(z.number().min(1).max(200))
    .optional(),
  cursor: z.string().max(500).optional(),
});

interface ConsentLogRoutes {
  readonly authenticate: Authenticate;
  readonly clock: () => Date;
  readonly dialect: Dialect;
  readonly cursors: Cursors;
}

/** GET /consent/logs (docs/service.md §4.5). */
export function addConsentLogRoutes(
  app: FastifyInstance,
  { authenticate, clock, dialect, cursors }: ConsentLogRoutes,
): void {
  /** Page number within its period, from 2, for the most recent cursors. */
  const pageNumbers = new Map<string, number>();
  const note = (cursor: string, page: number): string => {
    if (pageNumbers.size >= 10_000) pageNumbers.clear();
    pageNumbers.set(cursor, page);
    return cursor;
  };

  app.get('/consent/logs', { config: { target: 'consent-logs' } }, async (request, reply) => {
    reply.type('application/json; charset=utf-8').serializer((page) => layJson(dialect.layout, page));
    const caller = authenticate(request);
    const parsed = querySchema.safeParse(request.query);
    if (!parsed.success) throw invalidRequest(firstProblem(parsed.error));
    const { banner_id: bannerId = null, limit = DEFAULT_LIMIT, cursor } = parsed.data;
    const worlds =
      bannerId === null ? caller : caller.filter(({ client }) => client.banners.some(({ id }) => id === bannerId));
    if (worlds.length === 0) throw notFound('No such consent banner.');
    const from = parsed.data.from === undefined ? null : boundary('from', parsed.data.from, 'start');
    const to = parsed.data.to === undefined ? null : boundary('to', parsed.data.to, 'end');
    if (from !== null && to !== null && from > to) throw invalidRequest('from lies after to.');

    const query = JSON.stringify([
      worlds.map(({ client }) => client.slug),
      bannerId,
      parsed.data.from ?? null,
      parsed.data.to ?? null,
    ]);
    const place = cursor === undefined ? 0 : cursors.read(query, cursor);
    if (place === null) throw invalidRequest('The cursor does not belong to this query.');
    const number = cursor === undefined ? 1 : (pageNumbers.get(cursor) ?? 2);
    const expiring = faultsOf(request).find('cursor-expires-after');
    if (expiring !== null && number > expiring.pages)
      throw new AnswerError(expiring.status, 'cursor_expired', 'The cursor has expired.');
    const { world, index, position } = readPlace(worlds, place);
    const asked: LogQuery = { bannerId, from, to, limit, order: dialect.rowOrder, position, now: clock().getTime() };
    const page = disturbPage(asked, world.log.page(asked), faultsOf(request));
    const data = page.rows.map((row) => dialect.row(row));
    const next =
      page.next !== null ? placeOf(index, page.next) : index + 1 < worlds.length ? placeOf(index + 1, null) : null;
    if (next !== null) return { data, next_cursor: note(cursors.make(query, next, page.nonce), number + 1) };
    return dialect.lastPage === 'absent' ? { data } : { data, next_cursor: dialect.lastPage === 'empty' ? '' : null };
  });
}

const ROOM = 2 ** 40;

/** A cursor names a client and a place in its log; with several clients, their logs follow one another. */
function placeOf(index: number, position: number | null): number {
  return index * ROOM + (position === null ? 0 : position + 1);
}

function readPlace(
  worlds: readonly World[],
  place: number,
): { readonly world: World; readonly index: number; readonly position: number | null } {
  const index = Math.floor(place / ROOM);
  const world = worlds[index];
  if (world === undefined) throw invalidRequest('The cursor does not belong to this query.');
  const within = place % ROOM;
  return { world, index, position: within === 0 ? null : within - 1 };
}

const isoTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Milliseconds. A bare date means its whole day in UTC, so `to` includes that day. A time without offset is UTC. */
function boundary(name: string, text: string, edge: 'start' | 'end'): number {
  // In a query string, an unescaped plus arrives as a space.
  const written = text.replace(' ', '+');
  const dateOnly = !written.includes('T');
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(written) || dateOnly ? written : `${written}Z`;
  const at = isoTime.test(written) ? Date.parse(zoned) : Number.NaN;
  // Refuses a day that does not exist, which would otherwise become one of the next month.
  const [year = 0, month = 0, day = 0] = written.slice(0, 10).split('-').map(Number);
  const isDay = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  if (Number.isNaN(at) || !isDay) throw invalidRequest(`${name} is not an ISO 8601 date.`);
  return dateOnly && edge === 'end' ? at + 86_400_000 : at;
}

/** The first problem of a refused request, with the name of the parameter. */
export function firstProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'The request is not valid.';
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}

/** A page altered by a fault, and the nonce of its cursor. */
interface FaultyPage extends LogPage {
  readonly nonce: number;
}

/**
 * Applies the page faults of a request. An expired cursor throws; a page that comes twice has a cursor that leads to
 * itself; a shift moves the next page, so that rows come twice (below zero) or never (above).
 */
function disturbPage(query: LogQuery, page: LogPage, drawn: Drawn): FaultyPage {
  const expired = drawn.find('expired-cursor');
  if (expired !== null && query.position !== null)
    throw new AnswerError(expired.status, 'cursor_expired', 'The cursor has expired.');
  if (drawn.find('empty-page') !== null) return { ...page, rows: [], next: page.start, nonce: 0 };
  let { rows, next } = page;
  let nonce = 0;
  const looping = drawn.find('looping-cursor');
  if (looping !== null || drawn.find('repeated-page') !== null) {
    next = page.start;
    // Without a disguise, the cursor is the given one; with one, it looks new each time.
    if (looping?.disguised === true) nonce = query.now + drawn.number;
  }
  const shifted = drawn.find('shifted-page');
  if (shifted !== null && next !== null) {
    next = Math.max(0, next + (query.order === 'oldest-first' ? shifted.by : -shifted.by));
  }
  if (drawn.find('reordered-page') !== null) rows = shuffle(rows, page.start);
  return { rows, next, start: page.start, nonce };
}

function shuffle(rows: readonly DecisionHappening[], seed: number): DecisionHappening[] {
  return rows
    .map((row, index) => ({ row, key: mix(seed, index) }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
}
