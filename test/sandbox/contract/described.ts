import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { type Json, NOON } from '../sandbox-world.ts';

/**
 * A sandbox that a section talks to over HTTP; every response of its REST API is checked against its OpenAPI
 * description.
 */
export interface Service {
  readonly sandbox: () => Sandbox;
  readonly ask: (method: 'GET' | 'POST', path: string, given?: Asked) => Promise<Answer>;
  readonly generate: (body: unknown, given?: Asked) => Promise<Answer>;
}

export interface Asked {
  /** null: no Authorization header. Default: the first client's key with all scopes. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export const item = { policy_type: 'imprint', jurisdiction: 'DE' };

const routes = [
  '/policies/generate',
  '/policies/bulk',
  '/policies',
  '/policies/{id}/publish',
  '/consent/logs',
  '/openapi',
];

function routeOf(path: string): string {
  const plain = path.split('?')[0]!;
  return routes.find((route) => new RegExp(`^${route.replace('{id}', '[^/]+')}$`).test(plain)) ?? plain;
}

/** Starts a sandbox before the tests of the calling section and ends it after them. */
export function playService(options: Partial<SandboxOptions> = {}): Service {
  let sandbox: Sandbox;
  let description: Json;
  const compiled = new Map<string, ValidateFunction>();
  beforeAll(async () => {
    sandbox = createSandbox({
      seed: 7,
      clock: () => NOON,
      clients: 2,
      backoffMs: [5, 10],
      limits: { generatePerMinute: 100_000, bulkPerMinute: 100_000, bulkPerDay: 100_000 },
      ...options,
    });
    await sandbox.listen();
    description = await (await fetch(`${sandbox.siteUrl()}/openapi`)).json();
  });
  afterAll(async () => sandbox.close());

  const schemaFor = (method: string, route: string, status: number): ValidateFunction => {
    const name = `${method} ${route} ${status}`;
    const found = compiled.get(name);
    if (found !== undefined) return found;
    const described = description.paths[route]?.[method.toLowerCase()]?.responses[String(status)];
    expect(described, `${name} is described`).toBeDefined();
    const response =
      described.$ref === undefined ? described : description.components.responses[described.$ref.split('/').at(-1)];
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({
      components: description.components,
      ...response.content['application/json'].schema,
    });
    compiled.set(name, validate);
    return validate;
  };
  const ask: Service['ask'] = async (method, path, { key = sandbox.clients[0]!.apiKey, body, headers = {} } = {}) => {
    const answer = await fetch(`${sandbox.baseUrl()}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const found: Json = await answer.json();
    const validate = schemaFor(method, routeOf(path), answer.status);
    expect(validate(found), `${method} ${path}: ${JSON.stringify(validate.errors)}`).toBe(true);
    return { status: answer.status, body: found, headers: answer.headers };
  };
  return {
    sandbox: () => sandbox,
    ask,
    generate: (body, given = {}) => ask('POST', '/policies/generate', { ...given, body }),
  };
}

export const isoUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
