import { parseJson } from '../core/json.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { createTransport, type TransportOptions } from './api-transport.ts';
import { ServiceError } from './service-error.ts';

/** The service's own API description, unchanged (docs/service.md §4.6). */
export interface Description {
  /** Without query string. */
  readonly url: string;
  readonly bytes: Buffer;
  /** Of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly date: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly contentType: string | null;
  /** What the client relies on but the description lacks, one sentence each. */
  readonly gone: readonly string[];
}

/** `silent`: the service has no readable description, which is not an alarm. `refused`: the request failed. */
type DescriptionFetch =
  | { readonly outcome: 'fetched'; readonly description: Description }
  | { readonly outcome: 'silent'; readonly sentence: string }
  | { readonly outcome: 'refused'; readonly transient: boolean; readonly sentence: string };

const MAX_BYTES = 5 * 1024 * 1024;

/** Fetches the OpenAPI description and compares it with what the client relies on. Rejects with the signal's reason if aborted. */
export async function fetchDescription(
  options: Pick<TransportOptions, 'baseUrl' | 'destinations' | 'apiKey' | 'retries'>,
  signal?: AbortSignal,
): Promise<DescriptionFetch> {
  try {
    return await createTransport({ maxBytes: MAX_BYTES, ...options }).request({
      path: '/openapi',
      signal,
      read: ({ bytes, headers }): DescriptionFetch => {
        const gone = findGoneIn(bytes);
        if (gone === null)
          return {
            outcome: 'silent',
            sentence: 'The service’s OpenAPI description is not JSON with paths.',
          };
        const header = (name: string) => headers.get(name)?.slice(0, 200) ?? null;
        return {
          outcome: 'fetched',
          description: {
            url: `${options.baseUrl.replace(/(?<!\/)\/+$/, '')}/openapi`,
            bytes,
            sha256: sha256Hex(bytes),
            date: header('date'),
            etag: header('etag'),
            lastModified: header('last-modified'),
            contentType: header('content-type'),
            gone,
          },
        };
      },
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind === 'not-found' || error.kind === 'gone')
      return { outcome: 'silent', sentence: 'The service has no OpenAPI description at this address.' };
    const transient = ['rate-limited', 'server-error', 'network', 'timeout'].includes(error.kind);
    return { outcome: 'refused', transient, sentence: error.message };
  }
}

/** What is missing from a description; null if it is not a description: not JSON, or without paths. */
export function findGoneIn(bytes: Buffer): readonly string[] | null {
  try {
    const json = parseJson(bytes.toString('utf8').replace(/^\uFEFF/, ''));
    return describesPaths(json) ? findGone(json) : null;
  } catch {
    return null;
  }
}

/** A field that the client sends or reads. If it is a list of names, one is enough: the service documents both. */
type Field = string | readonly string[];

/** What the client relies on in one endpoint (docs/service.md §4, §8). */
interface Relied {
  readonly method: 'get' | 'post';
  readonly path: string;
  /** The query parameters it sends. */
  readonly parameters?: readonly string[];
  /** The fields it sends and reads. */
  readonly sends?: readonly Field[];
  readonly reads?: readonly Field[];
  /** Limits that it uses fully: the JSON Schema keyword must not be lower. */
  readonly limits?: readonly {
    readonly of: string;
    readonly keyword: 'maximum' | 'maxItems';
    readonly atLeast: number;
  }[];
}

export const reliedOn: readonly Relied[] = [
  {
    method: 'get',
    path: '/consent/logs',
    parameters: ['banner_id', 'from', 'to', 'limit', 'cursor'],
    reads: ['data', 'next_cursor'],
    limits: [{ of: 'limit', keyword: 'maximum', atLeast: 200 }],
  },
  { method: 'get', path: '/policies', reads: [['policies', 'data']] },
  {
    method: 'post',
    path: '/policies/generate',
    sends: [['policy_type', 'type'], 'jurisdiction', 'language', ['business_name', 'type'], ['domain', 'type']],
    reads: ['id', ['content', 'markdown', 'html']],
  },
  {
    method: 'post',
    path: '/policies/bulk',
    sends: ['items'],
    reads: ['batch_id', 'created', 'failed', 'results'],
    limits: [{ of: 'items', keyword: 'maxItems', atLeast: 20 }],
  },
  {
    method: 'post',
    path: '/policies/{id}/publish',
    reads: ['id', 'hosted_url', 'published_at', 'webhook_deliveries_queued'],
  },
];

/** Whether it is an OpenAPI description: something that describes at least one path. */
function describesPaths(json: unknown): json is { readonly paths: object } {
  if (typeof json !== 'object' || json === null || !('paths' in json)) return false;
  return typeof json.paths === 'object' && json.paths !== null && Object.keys(json.paths).length > 0;
}

/**
 * What the client relies on but an OpenAPI description lacks, one sentence each. Only described parts count: a
 * description without paths, an endpoint without parameters and a body without fields say nothing and raise no alarm.
 */
export function findGone(description: object): string[] {
  if (!describesPaths(description)) return [];
  return reliedOn.flatMap((relied) => {
    const name = `${relied.method.toUpperCase()} ${relied.path}`;
    const operation = findOperation(description, relied.method, relied.path);
    if (operation === null) return [`${name} is gone.`];
    return goneOf(description, relied, operation).map((sentence) => `${name} ${sentence}.`);
  });
}

function goneOf(root: object, relied: Relied, operation: Operation): string[] {
  const parameters = listedParameters(root, operation);
  const sent = requestSchema(root, operation);
  return [
    ...(parameters === null ? [] : (relied.parameters ?? []).filter((one) => !parameters.has(one))).map(
      (one) => `no longer accepts the parameter ${one}`,
    ),
    ...missing(fieldsOf(root, sent), relied.sends).map((one) => `no longer accepts the field ${one}`),
    ...missing(fieldsOf(root, responseSchema(root, operation)), relied.reads).map(
      (one) => `no longer returns the field ${one}`,
    ),
    ...(relied.limits ?? []).flatMap(({ of, keyword, atLeast }) => {
      const now = keywordOf(root, parameters?.get(of) ?? fieldsOf(root, sent)?.get(of), keyword);
      return now !== null && now < atLeast ? [`accepts at most ${now} of ${of} instead of ${atLeast}`] : [];
    }),
  ];
}

/** The names of missing fields; empty if no fields are described. */
function missing(fields: ReadonlyMap<string, Schema> | null, wanted: readonly Field[] = []): string[] {
  if (fields === null) return [];
  return wanted.flatMap((field) => {
    const names = typeof field === 'string' ? [field] : field;
    return names.some((name) => fields.has(name)) ? [] : [names.join(' or ')];
  });
}

/** One endpoint of a description, with what its path says for all methods. */
interface Operation {
  readonly operation: Readonly<Record<string, unknown>>;
  readonly shared: readonly unknown[];
}

/** Finds an endpoint by path, whatever its path parameters are called and with or without the version prefix. */
function findOperation(root: object, method: string, path: string): Operation | null {
  const paths = (root as { paths?: Record<string, unknown> }).paths ?? {};
  for (const [written, value] of Object.entries(paths)) {
    if (plainPath(written) !== plainPath(path)) continue;
    const item = resolve(root, value);
    const operation = resolve(root, item?.[method]);
    if (item === null || operation === null) continue;
    return { operation, shared: Array.isArray(item['parameters']) ? (item['parameters'] as unknown[]) : [] };
  }
  return null;
}

function plainPath(path: string): string {
  return path
    .replace(/^https?:\/\/[^/]+/i, '')
    .replace(/^\/?(?:api\/)?v\d+(?=\/)/, '')
    .replace(/\{[^{}]*\}/g, '{}')
    .replace(/(?<!\/)\/+$/, '');
}

/** Query parameters by name; null if none are described. */
function listedParameters(root: object, { operation, shared }: Operation): ReadonlyMap<string, Schema> | null {
  const own = Array.isArray(operation['parameters']) ? (operation['parameters'] as unknown[]) : [];
  const found = new Map<string, Schema>();
  for (const one of [...shared, ...own]) {
    const parameter = resolve(root, one);
    if (parameter === null) continue;
    const { name } = parameter;
    if (typeof name === 'string' && parameter['in'] === 'query') found.set(name, parameter);
  }
  return found.size === 0 ? null : found;
}

/** The schema of the JSON request body; undefined if none is described. */
function requestSchema(root: object, { operation }: Operation): Schema {
  return jsonSchema(root, resolve(root, operation['requestBody'])?.['content']);
}

/** The schema of the first JSON response with a success status; undefined if none is described. */
function responseSchema(root: object, { operation }: Operation): Schema {
  const responses = resolve(root, operation['responses']);
  if (responses === null) return undefined;
  for (const status of ['200', '201', '2XX', '2xx', 'default']) {
    const schema = jsonSchema(root, resolve(root, responses[status])?.['content']);
    if (schema !== undefined) return schema;
  }
  return undefined;
}

function jsonSchema(root: object, content: unknown): Schema {
  const types = resolve(root, content);
  if (types === null) return undefined;
  const type = Object.keys(types).find((name) => /[/+]json\b/i.test(name));
  return type === undefined ? undefined : resolve(root, types[type])?.['schema'];
}

/** A part of a description, untrusted until checked. */
type Schema = unknown;

const MAX_REFERENCES = 12;

/** A part with references inside the description followed; null if they lead nowhere or in a circle. */
function resolve(root: object, part: unknown): Readonly<Record<string, unknown>> | null {
  let at = part;
  for (let step = 0; step < MAX_REFERENCES; step += 1) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return null;
    const object = at as Record<string, unknown>;
    const reference = object['$ref'];
    if (typeof reference !== 'string') return object;
    at = pointedAt(root, reference);
  }
  return null;
}

function pointedAt(root: object, reference: string): unknown {
  if (!reference.startsWith('#/')) return null;
  let at: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = decodeStep(step);
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return null;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function decodeStep(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/**
 * The fields of an object, including those of all its alternatives and parts; null if none are described. An
 * alternative without description could have any field, so the whole then says nothing.
 */
function fieldsOf(root: object, schema: Schema): ReadonlyMap<string, Schema> | null {
  const fields = new Map<string, Schema>();
  return collect(root, schema, fields, new Map()) && fields.size > 0 ? fields : null;
}

/** `said`: parts already visited, since they may refer to each other in circles, and any number of times. */
function collect(root: object, schema: Schema, fields: Map<string, Schema>, said: Map<object, boolean>): boolean {
  const object = resolve(root, schema);
  if (object === null) return false;
  const known = said.get(object);
  if (known !== undefined) return known;
  said.set(object, false);
  const speaks = collectFrom(root, object, fields, said);
  said.set(object, speaks);
  return speaks;
}

function collectFrom(
  root: object,
  object: Readonly<Record<string, unknown>>,
  fields: Map<string, Schema>,
  said: Map<object, boolean>,
): boolean {
  let speaks = false;
  const { properties, allOf } = object;
  if (typeof properties === 'object' && properties !== null) {
    for (const [name, property] of Object.entries(properties)) if (!fields.has(name)) fields.set(name, property);
    speaks = Object.keys(properties).length > 0;
  }
  if (Array.isArray(allOf)) {
    const spoke = allOf.map((part) => collect(root, part, fields, said));
    speaks ||= spoke.some(Boolean);
  }
  for (const name of ['anyOf', 'oneOf']) {
    const alternatives = object[name];
    if (!Array.isArray(alternatives) || alternatives.length === 0) continue;
    const all = alternatives.map((part) => collect(root, part, fields, said)).every(Boolean);
    if (!all) return false;
    speaks = true;
  }
  return speaks;
}

/** A numeric keyword of a schema or its alternatives: the highest that any of them allows; null if none gives it. */
function keywordOf(
  root: object,
  schema: Schema,
  keyword: 'maximum' | 'maxItems',
  seen = new Set<object>(),
): number | null {
  const object = resolve(root, schema);
  if (object === null || seen.has(object)) return null;
  seen.add(object);
  const own = object[keyword];
  if (typeof own === 'number') return own;
  const inner = [object['schema'], ...listOf(object['anyOf']), ...listOf(object['oneOf']), ...listOf(object['allOf'])];
  const found = inner
    .map((part) => keywordOf(root, part, keyword, seen))
    .filter((value): value is number => value !== null);
  return found.length === 0 ? null : Math.max(...found);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
