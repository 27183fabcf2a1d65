import { z } from 'zod';
import type { Dialect, EmbedForm, ErrorForm } from '../dialect.ts';
import { formA, formB } from './forms.ts';

type Json = Record<string, unknown>;

/** A refusal in each form (docs/service.md §7); the plain text has no schema. */
const errors: Record<Exclude<ErrorForm, 'text'>, z.ZodType> = {
  object: z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
  numbered: z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  string: z.object({ error: z.string() }),
};
const generatedA = z.object({
  id: z.string(),
  policy_type: z.string(),
  jurisdiction: z.string(),
  language: z.string(),
  content: z.string(),
  created_at: z.iso.datetime(),
  policies_remaining: z.int().min(0),
});
const generatedB = z.object({
  id: z.string(),
  type: z.string(),
  version: z.int(),
  hosted_url: z.url(),
  html: z.string(),
  markdown: z.string(),
  created_at: z.iso.datetime(),
});
const listed = z.object({
  id: z.string(),
  policy_type: z.string(),
  title: z.string(),
  jurisdiction: z.string(),
  language: z.string(),
  updated_at: z.iso.datetime(),
  url: z.url(),
});
const published = z.object({
  id: z.string(),
  hosted_url: z.url(),
  published_at: z.iso.datetime(),
  webhook_deliveries_queued: z.int().min(0),
});
const batch = z.object({
  batch_id: z.string(),
  total: z.int(),
  created: z.int(),
  failed: z.int(),
  results: z.array(
    z.object({
      id: z.string().nullable(),
      policy_type: z.string().nullable(),
      status: z.enum(['created', 'skipped', 'failed']),
    }),
  ),
});
// The fields of a row are not documented, so any object is accepted.
const logPage = z.object({ data: z.array(z.looseObject({})), next_cursor: z.string().nullable().optional() });

const embedded = listed.omit({ jurisdiction: true });
const embeddedText = embedded.extend({ version: z.int(), html: z.string(), markdown: z.string() });

/** One policy, and the list of all, as returned by the embed endpoint; anything that is not JSON is text. */
const embeds: Record<EmbedForm, { readonly text: z.ZodType; readonly hub: z.ZodType; readonly type: string }> = {
  fields: { text: embeddedText, hub: z.object({ policies: z.array(embedded) }), type: 'application/json' },
  content: {
    text: embedded.extend({ version: z.int(), content: z.string() }),
    hub: z.object({ policies: z.array(embedded) }),
    type: 'application/json',
  },
  html: { text: z.object({ html: z.string() }), hub: z.array(embedded), type: 'application/json' },
  data: {
    text: z.object({ data: embeddedText.omit({ markdown: true }) }),
    hub: z.object({ data: z.array(embedded) }),
    type: 'application/json',
  },
  'web page': { text: z.string(), hub: z.string(), type: 'text/html' },
  markdown: { text: z.string(), hub: z.string(), type: 'text/markdown' },
};
const rpcId = z.union([z.string(), z.int(), z.null()]).optional();

/** Bodies by their name in the description; those that vary by dialect are added there. */
const componentSchemas = {
  GenerateA: formA,
  GenerateB: formB,
  GeneratedPolicyA: generatedA,
  GeneratedPolicyB: generatedB,
  PolicyList: z.object({ count: z.int(), policies: z.array(listed) }),
  PolicyPage: z.object({ data: z.array(listed), next_cursor: z.string().nullable() }),
  PublishResult: published,
  Bulk: z.object({ items: z.array(formA).min(1).max(20) }),
  BatchResult: batch,
  ConsentLogPage: logPage,
  RpcAnswer: z.union([
    z.looseObject({ jsonrpc: z.literal('2.0'), id: rpcId, result: z.looseObject({}) }),
    z.looseObject({
      jsonrpc: z.literal('2.0'),
      id: rpcId,
      error: z.looseObject({ code: z.int(), message: z.string() }),
    }),
  ]),
} as const;

const ref = (name: keyof typeof componentSchemas | 'Error' | 'EmbeddedPolicy' | 'EmbeddedHub'): Json => ({
  $ref: `#/components/schemas/${name}`,
});
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const answer = (description: string, schema: Json): Json => ({ description, content: json(schema) });
const refusals = (...statuses: readonly number[]): Json =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]));

const errorNames: Record<number, string> = {
  400: 'Missing or invalid request parameters',
  401: 'Missing, invalid or revoked API key',
  402: 'Subscription expired or inactive, or quota used up',
  403: 'The key lacks the scope, or the plan has no API access',
  404: 'Not found; also every address that is not described here',
  405: 'The MCP endpoint keeps no sessions: only POST',
  429: 'Rate limit exceeded',
  500: 'Internal error',
};

const page = (description: string, type: string): Json => ({
  description,
  content: { [type]: { schema: { type: 'string' } } },
});
const required = (name: string, place: 'query' | 'path', description: string): Json => ({
  name,
  in: place,
  required: true,
  schema: { type: 'string' },
  description,
});
const parameter = (name: string, schema: Json, description: string): Json => ({
  name,
  in: 'query',
  required: false,
  schema,
  description,
});
/** The refusal statuses of every call that needs a key. */
const everywhere = [400, 401, 402, 403, 429, 500] as const;

function refusal(errorForm: ErrorForm, description: string): Json {
  return errorForm === 'text'
    ? { description, content: { 'text/plain': { schema: { type: 'string' } } } }
    : answer(description, ref('Error'));
}

/** The REST API. */
function apiPaths({ list, openapiNeedsKey, publishBody }: Dialect): Json {
  return {
    '/policies/generate': {
      post: {
        operationId: 'generatePolicy',
        summary: 'Generate a policy',
        requestBody: { required: true, content: json({ oneOf: [ref('GenerateA'), ref('GenerateB')] }) },
        responses: {
          '200': answer('Generated', { oneOf: [ref('GeneratedPolicyA'), ref('GeneratedPolicyB')] }),
          '201': answer('Generated', { oneOf: [ref('GeneratedPolicyA'), ref('GeneratedPolicyB')] }),
          ...refusals(...everywhere),
        },
      },
    },
    '/policies/bulk': {
      post: {
        operationId: 'generatePolicies',
        summary: 'Generate up to 20 policies',
        requestBody: { required: true, content: json(ref('Bulk')) },
        responses: { '200': answer('The batch', ref('BatchResult')), ...refusals(...everywhere) },
      },
    },
    '/policies': {
      get: {
        operationId: 'listPolicies',
        summary: 'List published policies',
        ...(list === 'cursor'
          ? { parameters: [parameter('cursor', { type: 'string' }, 'next_cursor of the previous page')] }
          : {}),
        responses: {
          '200': answer('The list', { oneOf: [ref('PolicyList'), ref('PolicyPage')] }),
          ...refusals(...everywhere),
        },
      },
    },
    '/policies/{id}/publish': {
      post: {
        operationId: 'publishPolicy',
        summary: 'Publish a policy',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        ...(publishBody === 'required' ? { requestBody: { required: true, content: json({ type: 'object' }) } } : {}),
        responses: { '200': answer('Published', ref('PublishResult')), ...refusals(...everywhere, 404) },
      },
    },
    '/consent/logs': {
      get: {
        operationId: 'listConsentLogs',
        summary: 'Pull consent decisions',
        parameters: [
          parameter('banner_id', { type: 'string' }, 'Consent banner'),
          parameter('from', { type: 'string' }, 'Start, ISO 8601'),
          parameter('to', { type: 'string' }, 'End, ISO 8601'),
          parameter('limit', { type: 'integer', minimum: 1, maximum: 200 }, 'Rows per page'),
          parameter('cursor', { type: 'string' }, 'next_cursor of the previous page'),
        ],
        responses: { '200': answer('A page', ref('ConsentLogPage')), ...refusals(...everywhere, 404) },
      },
    },
    '/openapi': {
      get: {
        operationId: 'describeApi',
        summary: 'This description',
        ...(openapiNeedsKey ? {} : { security: [] }),
        responses: {
          '200': answer('OpenAPI 3.1', { type: 'object' }),
          ...refusals(...(openapiNeedsKey ? everywhere : [500])),
        },
      },
    },
  };
}

/** The embed endpoint, the hosted pages and the MCP endpoint, which are on another server. */
function sitePaths(siteUrl: string, { embed, errors: errorForm }: Dialect): Json {
  const site = [{ url: siteUrl }];
  return {
    '/api/embed/policy': {
      servers: site,
      get: {
        operationId: 'embedPolicy',
        summary: 'The text of a policy for web pages, kept for five minutes',
        security: [],
        parameters: [
          required('siteKey', 'query', 'Legacy site key'),
          required('type', 'query', 'Policy type, or hub for the list of all'),
        ],
        responses: {
          '200': {
            description: 'The policy, or the list',
            // In some forms, a text and a list look the same.
            content: { [embeds[embed].type]: { schema: { anyOf: [ref('EmbeddedPolicy'), ref('EmbeddedHub')] } } },
          },
          '304': { description: 'The same as the If-None-Match that was sent' },
          ...refusals(400, 404, 429, 500),
        },
      },
    },
    '/embed.js': {
      servers: site,
      get: {
        operationId: 'embedScript',
        summary: 'The embed script',
        security: [],
        responses: { '200': page('JavaScript', 'text/javascript') },
      },
    },
    '/policy/{type}/{id}': {
      servers: site,
      get: {
        operationId: 'showPolicy',
        summary: 'The hosted page of a published policy',
        security: [],
        parameters: [
          required('type', 'path', 'Policy type'),
          required('id', 'path', 'Policy id'),
          required('token', 'query', 'Token of the hosted address'),
        ],
        responses: { '200': page('The page', 'text/html'), ...refusals(404) },
      },
    },
    '/api/mcp': {
      servers: site,
      post: {
        operationId: 'callMcp',
        summary: 'The MCP endpoint, streamable HTTP without sessions: one tool, generate_policy',
        requestBody: { required: true, content: json({ type: ['object', 'array'] }) },
        responses: {
          '200': answer('JSON-RPC response', ref('RpcAnswer')),
          '202': { description: 'A notification was taken' },
          ...Object.fromEntries(
            everywhere.map((status) => [
              String(status),
              // The first comes from the endpoint itself, the others from what is in front of it.
              anyOfAnswers(refusal(errorForm, errorNames[status] ?? ''), answer('JSON-RPC error', ref('RpcAnswer'))),
            ]),
          ),
          '406': answer('Accept lacks application/json or text/event-stream', ref('RpcAnswer')),
          '415': answer('The body is not JSON', { oneOf: [ref('RpcAnswer')] }),
        },
      },
      get: {
        operationId: 'listenMcp',
        summary: 'Does not exist: the endpoint keeps no sessions',
        responses: { ...refusals(405, 500) },
      },
      delete: {
        operationId: 'endMcp',
        summary: 'Does not exist: the endpoint keeps no sessions',
        responses: { ...refusals(405, 500) },
      },
    },
  };
}

/**
 * Describes the sandbox in OpenAPI 3.1 (docs/service.md §4.6): the REST API, and on another server the embed endpoint,
 * the MCP endpoint and the hosted pages.
 */
export function describeApi(siteUrl: string, dialect: Dialect): Json {
  const { errors: errorForm, embed, tellsRemaining } = dialect;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Compliance Policy Generation Service (sandbox)',
      version: '1',
      description: 'A stand-in for trying software. Its policies are samples.',
    },
    servers: [{ url: `${siteUrl}/api/v1` }],
    security: [{ bearer: [] }],
    paths: { ...apiPaths(dialect), ...sitePaths(siteUrl, dialect) },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries({
          ...componentSchemas,
          ...(tellsRemaining ? {} : { GeneratedPolicyA: generatedA.omit({ policies_remaining: true }) }),
          EmbeddedPolicy: embeds[embed].text,
          EmbeddedHub: embeds[embed].hub,
          ...(errorForm === 'text' ? {} : { Error: errors[errorForm] }),
        }).map(([name, schema]) => [name, withoutDialect(schema, name)]),
      ),
      responses: Object.fromEntries(
        Object.entries(errorNames).map(([status, description]) => [`Error${status}`, refusal(errorForm, description)]),
      ),
    },
  };
}

/** One response that may be either of two. */
function anyOfAnswers(one: Json, other: Json): Json {
  const [first, second] = [one['content'], other['content']] as Record<string, { schema: Json }>[];
  const content: Json = { ...first, ...second };
  const [left, right] = [first?.['application/json'], second?.['application/json']];
  if (left !== undefined && right !== undefined)
    content['application/json'] = { schema: { anyOf: [left.schema, right.schema] } };
  return { description: one['description'], content };
}

/** Requests are described as sent (defaults are optional), responses as received. */
function withoutDialect(schema: z.ZodType, name: string): Json {
  const io =
    name.startsWith('Generate') && !name.startsWith('Generated') ? 'input' : name === 'Bulk' ? 'input' : 'output';
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  // Responses may gain fields; readers of this description should not refuse them for that.
  if (io === 'output') delete rest.additionalProperties;
  return rest;
}
