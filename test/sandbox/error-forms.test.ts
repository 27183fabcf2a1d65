import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { errorForms } from '../../src/sandbox/dialect.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { type Json, withSandbox } from './sandbox-world.ts';

interface Asked {
  readonly method?: string;
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/**
 * Requests the public site, and checks the response against the description of that route and status; text stays text.
 */
async function askSite(sandbox: Sandbox, description: Json, route: string | null, path: string, given: Asked = {}) {
  const { method = 'GET', key = null, body, headers = {} } = given;
  const answer = await fetch(`${sandbox.siteUrl()}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const hint = `${method} ${path} ${answer.status}: ${text.slice(0, 300)}`;
  // A route that is not described answers 404 like any other.
  const named = route === null ? null : description.paths[route][method.toLowerCase()].responses[String(answer.status)];
  if (route !== null) expect(named, `${hint} is described`).toBeDefined();
  const response =
    named === null || named.$ref !== undefined
      ? description.components.responses[named === null ? `Error${answer.status}` : named.$ref.split('/').at(-1)]
      : named;
  const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
  if (response.content === undefined) {
    expect(text, hint).toBe('');
    return { status: answer.status, body: null as Json, type };
  }
  const described = response.content[type];
  expect(described, `${hint}: ${type} is described`).toBeDefined();
  const value: Json = type === 'application/json' ? JSON.parse(text) : text;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile({ components: description.components, ...described.schema });
  expect(validate(value), `${hint} ${JSON.stringify(validate.errors)}`).toBe(true);
  return { status: answer.status, body: value, type };
}

const rpc = (method: string, params: object = {}): object => ({ jsonrpc: '2.0', id: 1, method, params });
const initialize = rpc('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

describe.each(errorForms)('with errors as %s', (errors) => {
  it('the description is valid, and fits the answers of the public site and unknown addresses', async () => {
    await withSandbox({ overrides: { errors }, quota: 1 }, async (sandbox) => {
      const description: Json = await (await fetch(`${sandbox.siteUrl()}/openapi`)).json();
      expect((await new Validator().validate(structuredClone(description))).errors ?? []).toEqual([]);
      const { siteKey, apiKey, readKey } = sandbox.clients[0]!;
      const statuses: number[] = [];
      const note = async (route: string | null, path: string, given: Asked = {}): Promise<Json> => {
        const { status, body } = await askSite(sandbox, description, route, path, given);
        statuses.push(status);
        return body;
      };
      const embed = '/api/embed/policy';
      const hub = await note(embed, `${embed}?siteKey=${siteKey}&type=hub`);
      await note(embed, `${embed}?siteKey=${siteKey}&type=privacy-policy`);
      await note(embed, `${embed}?type=hub`);
      await note(embed, `${embed}?siteKey=pk_nobody&type=hub`);
      expect(statuses.splice(0)).toEqual([200, 200, 400, 404]);

      await note('/embed.js', '/embed.js');
      const hosted = new URL(hub.policies[0].url as string);
      await note('/policy/{type}/{id}', `${hosted.pathname}${hosted.search}`);
      await note('/policy/{type}/{id}', hosted.pathname);
      expect(statuses.splice(0)).toEqual([200, 200, 404]);

      const mcp = '/api/mcp';
      const post = (body: unknown, key: string | null, accept = 'application/json, text/event-stream'): Promise<Json> =>
        note(mcp, mcp, { method: 'POST', key, body, headers: { accept } });
      await post(initialize, apiKey);
      await post(rpc('tools/list'), apiKey);
      const call = rpc('tools/call', {
        name: 'generate_policy',
        arguments: { policy_type: 'eula', jurisdiction: 'DE' },
      });
      await post(call, apiKey);
      const refused = await post(call, apiKey);
      expect(refused.result.isError).toBe(true);
      await post(rpc('no/such'), apiKey);
      await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, apiKey);
      await post({ nonsense: true }, apiKey);
      await post(initialize, apiKey, 'text/plain');
      await post(initialize, null);
      await post(initialize, readKey);
      await note(mcp, mcp, { method: 'GET', key: apiKey });
      await note(mcp, mcp, { method: 'DELETE', key: apiKey });
      sandbox.faults.set([{ name: 'server-error' }]);
      await post(initialize, apiKey);
      await note(embed, `${embed}?siteKey=${siteKey}&type=hub`);
      await note('/openapi', '/api/v1/openapi', { key: readKey });
      sandbox.faults.set([{ name: 'too-many-requests' }]);
      await post(initialize, apiKey);
      sandbox.faults.set([]);
      expect(statuses.splice(0)).toEqual([
        200, 200, 200, 200, 200, 202, 400, 406, 401, 403, 405, 405, 500, 500, 500, 429,
      ]);

      const words = await (await fetch(`${sandbox.baseUrl()}/nothing`)).text();
      if (errors === 'text') expect(words).toBe('No such resource.\n');
      else expect(JSON.parse(words)).toHaveProperty('error');
      for (const path of ['/', '/api/v1/nothing', '/api/v2/policies', '/favicon.ico']) await note(null, path);
      expect(statuses).toEqual([404, 404, 404, 404]);
    });
  });

  it('the client of the product recognises every refusal by its status, and reads the message if there is one', async () => {
    await withSandbox({ overrides: { errors } }, async (sandbox) => {
      const { apiKey, revokedKey, webhooksKey } = sandbox.clients[0]!;
      const baseUrl = sandbox.baseUrl();
      const ask = async (key: string, bannerId: string | null = null): Promise<ServiceError> => {
        const service = createServiceClient({
          destinations: ON_LOOPBACK,
          baseUrl,
          apiKey: key,
          backOffMs: 1,
          retries: 0,
          timeoutMs: 2_000,
        });
        const query = { bannerId, from: null, to: null, cursor: null };
        const error: unknown = await service.fetchConsentLogPage(query).catch((reason: unknown) => reason);
        if (!(error instanceof ServiceError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
        return error;
      };
      const refusals: ServiceError[] = [];
      refusals.push(await ask(revokedKey), await ask(webhooksKey), await ask(apiKey, 'nobody'));
      for (const name of ['payment-required', 'too-many-requests', 'server-error'] as const) {
        sandbox.faults.set([{ name }]);
        refusals.push(await ask(apiKey));
      }
      expect(refusals.map(({ kind, status }) => [kind, status])).toEqual([
        ['unauthorized', 401],
        ['forbidden', 403],
        ['not-found', 404],
        ['payment-required', 402],
        ['rate-limited', 429],
        ['server-error', 500],
      ]);
      const [first] = refusals;
      const codes = { object: 'unauthorized', numbered: '401', string: null, text: null };
      expect(first!.code).toBe(codes[errors]);
      if (errors !== 'text') expect(first!.detail).toBe('This API key was revoked.');
      expect(first!.message).not.toContain(revokedKey);
    });
  });

  it('the controls keep the error envelope', async () => {
    await withSandbox({ overrides: { errors } }, async (sandbox) => {
      const answer = await fetch(`${sandbox.siteUrl()}/_sandbox/nothing`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual({ error: { code: 'not_found', message: 'No such resource.' } });
    });
  });
});
