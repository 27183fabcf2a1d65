import { z } from 'zod';
import { formA, formB } from './policies.ts';

type Json = Record<string, unknown>;

const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
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
// The fields of a row are not documented: any object is one.
const logPage = z.object({ data: z.array(z.looseObject({})), next_cursor: z.string().nullable().optional() });

/** Bodies by the name that they have in the description. */
export const componentSchemas = {
  Error: error,
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
} as const;

const ref = (name: keyof typeof componentSchemas): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const answer = (description: string, schema: Json): Json => ({ description, content: json(schema) });
const errors = (...statuses: readonly number[]): Json =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]));

const errorNames: Record<number, string> = {
  400: 'Missing or invalid request parameters',
  401: 'Missing, invalid or revoked API key',
  402: 'Subscription expired or inactive, or quota used up',
  403: 'The key lacks the scope, or the plan has no API access',
  404: 'Not found',
  429: 'Rate limit exceeded',
  500: 'Internal error',
};

/** Describes the sandbox's REST API in OpenAPI 3.1 (docs/service.md §4.6). */
export function describeApi(baseUrl: string): Json {
  const parameter = (name: string, schema: Json, description: string): Json => ({
    name,
    in: 'query',
    required: false,
    schema,
    description,
  });
  const everywhere = [400, 401, 402, 403, 429, 500];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Compliance Policy Generation Service (sandbox)',
      version: '1',
      description: 'A stand-in for trying software. Its policies are samples.',
    },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }],
    paths: {
      '/policies/generate': {
        post: {
          operationId: 'generatePolicy',
          summary: 'Generate a policy',
          requestBody: { required: true, content: json({ oneOf: [ref('GenerateA'), ref('GenerateB')] }) },
          responses: {
            '200': answer('Generated', { oneOf: [ref('GeneratedPolicyA'), ref('GeneratedPolicyB')] }),
            '201': answer('Generated', { oneOf: [ref('GeneratedPolicyA'), ref('GeneratedPolicyB')] }),
            ...errors(...everywhere),
          },
        },
      },
      '/policies/bulk': {
        post: {
          operationId: 'generatePolicies',
          summary: 'Generate up to 20 policies',
          requestBody: { required: true, content: json(ref('Bulk')) },
          responses: { '200': answer('The batch', ref('BatchResult')), ...errors(...everywhere) },
        },
      },
      '/policies': {
        get: {
          operationId: 'listPolicies',
          summary: 'List published policies',
          responses: {
            '200': answer('The list', { oneOf: [ref('PolicyList'), ref('PolicyPage')] }),
            ...errors(...everywhere),
          },
        },
      },
      '/policies/{id}/publish': {
        post: {
          operationId: 'publishPolicy',
          summary: 'Publish a policy',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { '200': answer('Published', ref('PublishResult')), ...errors(...everywhere, 404) },
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
            parameter('cursor', { type: 'string' }, 'next_cursor of the page before'),
          ],
          responses: { '200': answer('A page', ref('ConsentLogPage')), ...errors(...everywhere, 404) },
        },
      },
      '/openapi': {
        get: {
          operationId: 'describeApi',
          summary: 'This description',
          security: [],
          responses: { '200': answer('OpenAPI 3.1', { type: 'object' }) },
        },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(componentSchemas).map(([name, schema]) => [name, withoutDialect(schema, name)]),
      ),
      responses: Object.fromEntries(
        Object.entries(errorNames).map(([status, description]) => [
          `Error${status}`,
          answer(description, ref('Error')),
        ]),
      ),
    },
  };
}

/** Requests are described as they are sent (defaults are optional), answers as they come. */
function withoutDialect(schema: z.ZodType, name: string): Json {
  const io =
    name.startsWith('Generate') && !name.startsWith('Generated') ? 'input' : name === 'Bulk' ? 'input' : 'output';
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io });
  // Answers may grow; a reader of this description should not refuse them for it.
  if (io === 'output') delete rest.additionalProperties;
  return rest;
}
