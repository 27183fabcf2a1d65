import { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import { errorCodes } from '../../core/errors.ts';
import type { ApiRoute, ApiTag } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/** Errors that any route may return, and those of some. */
const commonErrors = [
  'invalid_request',
  'sign_in_required',
  'not_allowed',
  'too_many_requests',
] as const satisfies readonly ErrorCode[];

export function errorsOf(route: ApiRoute): readonly ErrorCode[] {
  const hasObject = Object.keys(route.params.shape).length > 0;
  return [
    ...commonErrors,
    ...(hasObject || route.body !== null ? (['not_found'] as const) : []),
    ...(route.method === 'POST' ? (['conflict', 'unsupported_media_type', 'refused'] as const) : []),
    'store_unavailable',
  ];
}

/** What the routes of each tag are about. */
const tags = {
  Cases: 'Data subject requests from receipt to closing.',
  Consent: 'A person’s consent at a given time.',
  Policies: 'Policies, and their texts as fetched.',
  Documents: 'Packs, letters and reports as registered files.',
  Ledger: 'Deliveries and entries as stored.',
  'Sources and syncs':
    'The accounts of the service that are followed, how their logs are pulled, and whose token this is.',
  Jobs: 'Work that takes a while.',
} as const satisfies Record<ApiTag, string>;

/**
 * The OpenAPI 3.1 description of the routes, generated from the schemas that the server uses to check requests and
 * responses.
 */
export function openApiDocument(routes: readonly ApiRoute[], version: string): Json {
  const schemas: Record<string, unknown> = { Problem: problemSchema };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'consent-ledger',
      version,
      summary: 'Evidence of consent, policies and data subject requests',
      description:
        'Cases, consent look-ups, policies, documents and jobs of one installation. Each view of personal data and each download is an entry of the ledger; responses cite the entries (`seq`) that they are based on.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The admin listener of the installation.' }],
    security: [{ token: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API token of an account: create one under “Your account”, or with `consent-ledger token api`.',
        },
      },
      headers: rateHeaders,
      responses: Object.fromEntries(
        [...new Set(routes.flatMap(errorsOf))].map((code) => [
          code,
          {
            description: errorCodes[code].text,
            content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
          },
        ]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operationOf(route: ApiRoute, schemas: Record<string, unknown>): Json {
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...(route.method === 'POST' ? [idempotencyKey] : []),
  ];
  const responses: Record<string, unknown> = { [route.status]: successOf(route, schemas) };
  for (const code of errorsOf(route)) responses[errorCodes[code].status] ??= { $ref: `#/components/responses/${code}` };
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(route.body, 'input', schemas) } },
          },
        }),
    responses,
  };
}

function successOf({ answer, path }: ApiRoute, schemas: Record<string, unknown>): Json {
  return {
    description: answer !== null ? 'Done.' : isStream(path) ? 'A stream of events.' : 'The file.',
    headers: Object.fromEntries(
      Object.keys(rateHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content:
      answer === null && isStream(path)
        ? { 'text/event-stream': { schema: { type: 'string' } } }
        : answer === null
          ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
          : { 'application/json': { schema: schemaOf(answer, 'output', schemas) } },
  };
}

const isStream = (path: string) => path.endsWith('/events');

function parametersOf(fields: z.ZodObject, place: 'path' | 'query', schemas: Record<string, unknown>): readonly Json[] {
  const { properties = {}, required = [] } = schemaOf(fields, 'input', schemas) as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

/** The JSON Schema of a zod schema; those with an id become components. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, unknown>): Json {
  const made = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' })).replaceAll(
      '"#/$defs/',
      '"#/components/schemas/',
    ),
  ) as Record<string, unknown>;
  const { $schema: _, $defs = {}, ...own } = made;
  for (const [name, definition] of Object.entries($defs as Record<string, Record<string, unknown>>)) {
    const { id: _id, ...rest } = definition;
    schemas[name] = rest;
  }
  if (typeof own['id'] !== 'string') return own;
  const { id, ...rest } = own as { id: string };
  schemas[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key sent again within a day gets the response to the first request; nothing is done twice.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};

const rateHeaders = Object.fromEntries(
  [
    ['RateLimit-Limit', 'Requests per minute for this token.'],
    ['RateLimit-Remaining', 'How many of them are left.'],
    ['RateLimit-Reset', 'Seconds until the limit resets.'],
  ].map(([name = '', description]) => [name, { description, schema: { type: 'integer' } }]),
);

const problemSchema = {
  type: 'object',
  description: 'An error (RFC 9457).',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string', description: 'Link to its explanation in the reference.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(errorCodes), description: 'For programs.' },
    detail: { type: 'string', description: 'What is wrong with this request, and what to do.' },
    problems: { type: 'array', items: { type: 'string' }, description: 'Each problem, where there can be several.' },
  },
};
