import { findOperation, listedParameters, type Operation, responseSchema, requestSchema } from './openapi-parts.ts';
import { fieldsOf, keywordOf, type Schema } from './openapi-schema.ts';

/** Something the client sends or reads. Of a list of names one is enough: the service documents both. */
type Field = string | readonly string[];

/** What the client relies on of one endpoint (docs/service.md §4, §8). */
interface Relied {
  readonly method: 'get' | 'post';
  readonly path: string;
  /** Query parameters that it sends. */
  readonly parameters?: readonly string[];
  /** Fields that it sends, and that it reads. */
  readonly sends?: readonly Field[];
  readonly reads?: readonly Field[];
  /** Limits that it goes up to: the keyword of JSON Schema must not be lower. */
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

/** Whether it is an OpenAPI description at all: something that describes at least one path. */
export function describesPaths(json: unknown): json is { readonly paths: object } {
  if (typeof json !== 'object' || json === null || !('paths' in json)) return false;
  return typeof json.paths === 'object' && json.paths !== null && Object.keys(json.paths).length > 0;
}

/**
 * What the client relies on and an OpenAPI description does not have, a sentence each. Only what is described and lacks something counts: a
 * description without paths, an endpoint without parameters and a body without fields say nothing, and are no alarm.
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
      (one) => `no longer takes the parameter ${one}`,
    ),
    ...missing(fieldsOf(root, sent), relied.sends).map((one) => `no longer takes the field ${one}`),
    ...missing(fieldsOf(root, responseSchema(root, operation)), relied.reads).map(
      (one) => `no longer answers with the field ${one}`,
    ),
    ...(relied.limits ?? []).flatMap(({ of, keyword, atLeast }) => {
      const now = keywordOf(root, parameters?.get(of) ?? fieldsOf(root, sent)?.get(of), keyword);
      return now !== null && now < atLeast ? [`takes at most ${now} of ${of} instead of ${atLeast}`] : [];
    }),
  ];
}

/** Names of what is not among the fields; none where no fields are described. */
function missing(fields: ReadonlyMap<string, Schema> | null, wanted: readonly Field[] = []): string[] {
  if (fields === null) return [];
  return wanted.flatMap((field) => {
    const names = typeof field === 'string' ? [field] : field;
    return names.some((name) => fields.has(name)) ? [] : [names.join(' or ')];
  });
}
