import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { dialectNames } from '../../src/sandbox/dialects.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { isLong } from '../temporary.ts';
import { type Json, withSandbox } from './sandbox-world.ts';

async function loadDescription(sandbox: Sandbox): Promise<Json> {
  const headers = { authorization: `Bearer ${sandbox.clients[0]!.readKey}` };
  return (await fetch(`${sandbox.baseUrl()}/openapi`, { headers })).json();
}

/**
 * Sends a request and checks the response against the description: the status must be described and the body must
 * match.
 */
async function ask(
  sandbox: Sandbox,
  description: Json,
  method: 'GET' | 'POST',
  route: string,
  path: string,
  body?: unknown,
  key = sandbox.clients[0]!.apiKey,
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${sandbox.baseUrl()}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const found: Json = await answer.json();
  const described = description.paths[route][method.toLowerCase()].responses[String(answer.status)];
  expect(described, `${method} ${route} ${answer.status} is described`).toBeDefined();
  const response =
    described.$ref === undefined ? described : description.components.responses[described.$ref.split('/').at(-1)];
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile({ components: description.components, ...response.content['application/json'].schema });
  expect(validate(found), JSON.stringify(validate.errors)).toBe(true);
  return { status: answer.status, body: found };
}

describe('the OpenAPI description', () => {
  it('is valid OpenAPI 3.1, at both addresses', async () => {
    await withSandbox({}, async (sandbox) => {
      const description = await loadDescription(sandbox);
      expect(description.openapi).toBe('3.1.0');
      expect(await (await fetch(`${sandbox.siteUrl()}/openapi`)).json()).toEqual(description);
      const result = await new Validator().validate(description);
      expect(result.errors ?? []).toEqual([]);
      expect(result.valid).toBe(true);
    });
  });

  it.each([
    ...dialectNames.map((dialect) => ({ dialect, seed: 7 })),
    // Other error forms have a separate suite.
    ...(isLong ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2, 5]).map((seed) => ({ dialect: 'mixed' as const, seed })),
  ])('fits the actual answers in the dialect $dialect of seed $seed', async ({ dialect, seed }) => {
    await withSandbox({ dialect, seed, quota: 3, overrides: { errors: 'object' } }, async (sandbox) => {
      const description = await loadDescription(sandbox);
      const a = { policy_type: 'imprint', jurisdiction: 'DE' };
      const statuses: number[] = [];
      const note = async (request: ReturnType<typeof ask>): Promise<Json> => {
        const { status, body } = await request;
        statuses.push(status < 300 ? 200 : status);
        return body;
      };
      const generated = await note(ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', a));
      await note(
        ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', {
          type: 'cookie_policy',
          jurisdiction: ['GB'],
        }),
      );
      await note(ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', {}));
      await note(
        ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', a, sandbox.clients[0]!.readKey),
      );
      await note(ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', a, 'pak_live_nobody'));
      await note(ask(sandbox, description, 'POST', '/policies/bulk', '/policies/bulk', { items: [a, a, {}] }));
      await note(ask(sandbox, description, 'POST', '/policies/generate', '/policies/generate', a));
      await note(ask(sandbox, description, 'POST', '/policies/{id}/publish', `/policies/${generated.id}/publish`, {}));
      await note(ask(sandbox, description, 'POST', '/policies/{id}/publish', '/policies/pol_nobody/publish', {}));
      await note(ask(sandbox, description, 'GET', '/policies', '/policies'));
      const page = await note(ask(sandbox, description, 'GET', '/consent/logs', '/consent/logs?limit=200'));
      await note(
        ask(sandbox, description, 'GET', '/consent/logs', `/consent/logs?limit=200&cursor=${page.next_cursor}`),
      );
      await note(ask(sandbox, description, 'GET', '/consent/logs', '/consent/logs?limit=0'));
      await note(ask(sandbox, description, 'GET', '/consent/logs', '/consent/logs?banner_id=nobody'));
      sandbox.faults.set([{ name: 'server-error' }]);
      await note(ask(sandbox, description, 'GET', '/policies', '/policies'));
      sandbox.faults.set([{ name: 'too-many-requests' }]);
      await note(ask(sandbox, description, 'GET', '/policies', '/policies'));
      expect(statuses).toEqual([200, 200, 400, 403, 401, 200, 402, 200, 404, 200, 200, 200, 400, 404, 500, 429]);
    });
  });
});
