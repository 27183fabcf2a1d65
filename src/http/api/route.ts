import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from '../../context/context.ts';
import { CodedError, type ErrorCode } from '../../core/errors.ts';
import type { Session } from '../../people/sessions.ts';
import { officerOf } from '../auth/sessions.ts';

/** A use case refused the request, or the request does not match its schema; each problem is one sentence. */
export class RefusedRequest extends CodedError {
  readonly problems: readonly string[];
  constructor(code: Extract<ErrorCode, 'refused' | 'invalid_request' | 'conflict'>, problems: readonly string[]) {
    super(code, problems[0]);
    this.problems = problems;
  }
}

type Fields = z.ZodObject;

/** What a handler receives: the checked request. */
export interface ApiRequest<P extends Fields, Q extends Fields, B extends Fields> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  readonly by: Session;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The subject of a route. */
export type ApiTag = 'Cases' | 'Consent' | 'Policies' | 'Documents' | 'Ledger' | 'Sources and syncs' | 'Jobs';

/** A route of the API: what the server checks, and the source of the reference and /openapi.json. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST';
  /** In OpenAPI notation: `/api/v1/cases/{caseId}`. */
  readonly path: string;
  readonly name: string;
  readonly tag: ApiTag;
  readonly summary: string;
  readonly description: string | undefined;
  readonly params: Fields;
  readonly query: Fields;
  /** Null: no body is accepted. */
  readonly body: Fields | null;
  readonly status: 200 | 201 | 202;
  /** Null: the response is a file. */
  readonly answer: z.ZodType | null;
  handle(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

const none = z.strictObject({});

/**
 * The way to define the routes of a file, which begins with `const defineRoute = routesWith<'store' | 'clock'>()`: what it
 * names is all that they may touch of the installation. A request that does not match a route's schemas is answered with
 * all problems at once; the response is checked against its schema too.
 */
export function routesWith<N extends keyof Context>() {
  return function defineRoute<
    A extends z.ZodType | null,
    P extends Fields = typeof none,
    Q extends Fields = typeof none,
    B extends Fields = typeof none,
  >(route: {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly name: string;
    readonly tag: ApiTag;
    readonly summary: string;
    readonly description?: string;
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    readonly status?: 200 | 201 | 202;
    readonly answer: A;
    handle(
      context: Pick<Context, N>,
      asked: ApiRequest<P, Q, B>,
    ): Promise<A extends z.ZodType ? z.input<A> : FastifyReply>;
  }): ApiRoute {
    const { params = none, query = none, body, status = 200, answer, description } = route;
    return {
      method: route.method,
      path: route.path,
      name: route.name,
      tag: route.tag,
      summary: route.summary,
      description,
      params,
      query,
      body: body ?? null,
      status,
      answer,
      async handle(context, request, reply) {
        const asked = {
          params: read(params, request.params, ''),
          query: read(query, request.query, 'query'),
          body: read(body ?? none, request.body ?? {}, 'body'),
          by: officerOf(request),
          request,
          reply,
        } as unknown as ApiRequest<P, Q, B>;
        const answered = await route.handle(context, asked);
        if (answer === null) return answered;
        void reply.code(status);
        return answer.parse(answered);
      },
    };
  };
}

/** The most problems listed for one request. */
const PROBLEMS = 20;

function read(schema: Fields, given: unknown, where: string): unknown {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, PROBLEMS).map(({ path, message }) => {
    const place = [...(where === '' ? [] : [where]), ...path.map(String)].join('.');
    return `${place}: ${message}`;
  });
  throw new RefusedRequest('invalid_request', problems);
}

/** Maximum rows per page of a list. */
const PAGE_MAX = 200;

/** The query parameters of every list: which page. */
export const pageQuery = z.strictObject({
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'The nextCursor of the previous page. Default: the first page.' }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(50)
    .meta({ description: 'Maximum number of rows per page.' }),
});
export const sourceQuery = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Only this source (its slug). Default: everything that you can see.' }),
});

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().meta({ description: 'For the next page; null: this is the last one.' }),
  });
}

/** A position in a list ordered by a descending whole number; opaque to callers. */
function cursorAfter(value: number): string {
  return Buffer.from(`after ${value}`).toString('base64url');
}

/** Reads a cursor; null without one. Throws if it is not one of ours. */
export function readCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const value = /^after (\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (value === undefined) throw new RefusedRequest('invalid_request', ['query.cursor: not a cursor of this list']);
  return Number(value);
}

/** The rows of a page and where the next page begins; `rows` must include one extra row. */
export function pageFrom<T, R>(
  rows: readonly T[],
  limit: number,
  placeOf: (row: T) => number,
  shown: (row: T) => R,
): { items: R[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(shown),
    nextCursor: rows.length > limit && last !== undefined ? cursorAfter(placeOf(last)) : null,
  };
}
