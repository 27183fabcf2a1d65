import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { LogQuery } from '../consent-log.ts';
import type { Cursors } from '../cursor.ts';
import type { Dialect } from '../dialect.ts';
import type { World } from '../world.ts';
import { invalidRequest, notFound } from './answers.ts';
import { faultsOf } from './fault-hooks.ts';
import { disturbPage } from './page-faults.ts';

/** Rows per page when `limit` is not given: not documented. */
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

export interface ConsentLogRoutes {
  readonly authenticate: (request: FastifyRequest) => World;
  readonly clock: () => Date;
  readonly dialect: Dialect;
  readonly cursors: Cursors;
}

/** GET /consent/logs (docs/service.md §4.5). */
export function addConsentLogRoutes(
  app: FastifyInstance,
  { authenticate, clock, dialect, cursors }: ConsentLogRoutes,
): void {
  app.get('/consent/logs', { config: { target: 'consent-logs' } }, async (request) => {
    const world = authenticate(request);
    const parsed = querySchema.safeParse(request.query);
    if (!parsed.success) throw invalidRequest(firstProblem(parsed.error));
    const { banner_id: bannerId = null, limit = DEFAULT_LIMIT, cursor } = parsed.data;
    if (bannerId !== null && !world.client.banners.some(({ id }) => id === bannerId))
      throw notFound('No such consent banner.');
    const from = parsed.data.from === undefined ? null : boundary('from', parsed.data.from, 'start');
    const to = parsed.data.to === undefined ? null : boundary('to', parsed.data.to, 'end');
    if (from !== null && to !== null && from > to) throw invalidRequest('from lies after to.');

    const query = JSON.stringify([world.client.slug, bannerId, parsed.data.from ?? null, parsed.data.to ?? null]);
    const position = cursor === undefined ? null : cursors.read(query, cursor);
    if (cursor !== undefined && position === null) throw invalidRequest('The cursor does not belong to this query.');
    const asked: LogQuery = { bannerId, from, to, limit, order: dialect.rowOrder, position, now: clock().getTime() };
    const page = disturbPage(asked, world.log.page(asked), faultsOf(request));
    const data = page.rows.map((row) => dialect.row(row));
    if (page.next !== null) return { data, next_cursor: cursors.make(query, page.next, page.nonce) };
    return dialect.lastPage === 'absent' ? { data } : { data, next_cursor: dialect.lastPage === 'empty' ? '' : null };
  });
}

const isoTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Milliseconds. A date alone means its whole day in UTC: `to` then ends with that day. A time without offset is UTC. */
function boundary(name: string, text: string, edge: 'start' | 'end'): number {
  // In a query string an unescaped plus arrives as a blank.
  const written = text.replace(' ', '+');
  const dateOnly = !written.includes('T');
  const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(written) || dateOnly ? written : `${written}Z`;
  const at = isoTime.test(written) ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(at)) throw invalidRequest(`${name} is not an ISO 8601 date.`);
  return dateOnly && edge === 'end' ? at + 86_400_000 : at;
}

/** The first problem of a refused request, with the name of the parameter. */
export function firstProblem(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? 'The request is not valid.' : `${issue.path.join('.')}: ${issue.message}`;
}
