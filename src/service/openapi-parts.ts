import { resolve, type Schema } from './openapi-schema.ts';

/** One endpoint of a description, with what its path says for all methods. */
export interface Operation {
  readonly operation: Readonly<Record<string, unknown>>;
  readonly shared: readonly unknown[];
}

/** Finds an endpoint by its path, whatever its path parameters are called and whether or not the version prefix stands before it. */
export function findOperation(root: object, method: string, path: string): Operation | null {
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

/** Query parameters by name; null where none are described. */
export function listedParameters(root: object, { operation, shared }: Operation): ReadonlyMap<string, Schema> | null {
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

/** The schema of the JSON body that is sent; undefined where none is described. */
export function requestSchema(root: object, { operation }: Operation): Schema {
  return jsonSchema(root, resolve(root, operation['requestBody'])?.['content']);
}

/** The schema of the first JSON answer with a success status; undefined where none is described. */
export function responseSchema(root: object, { operation }: Operation): Schema {
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
