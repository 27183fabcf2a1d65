import { beforeAll, describe, expect, it } from 'vitest';
import { fetchDescription, findGone, findGoneIn, reliedOn } from '../../src/service/openapi.ts';
import { get, type Json, withSandbox } from '../sandbox/sandbox-world.ts';
import { answeringServer, ON_LOOPBACK, sendJson } from './answering-server.ts';

/** The findings for an altered description of the sandbox. */
function altered(change: (description: Json) => void): string[] {
  const copy = structuredClone(description);
  change(copy);
  return findGone(copy);
}

let description: Json;
beforeAll(async () => {
  description = await withSandbox(
    {},
    async (sandbox) => (await get(sandbox, '/openapi', sandbox.clients[0]!.readKey)).body,
  );
});

describe('the parts of the description that the client relies on', () => {
  it('are all present in the description of the sandbox, and none is skipped', () => {
    expect(findGone(description)).toEqual([]);
    expect(reliedOn.map(({ path }) => path).sort()).toEqual(
      Object.keys(description.paths)
        .filter((path) => /^\/(consent|policies)\b/.test(path))
        .sort(),
    );
  });

  it.each(['/consent/logs', '/policies', '/policies/generate', '/policies/bulk', '/policies/{id}/publish'])(
    'are reported missing without %s or its method',
    (path) => {
      expect(altered(({ paths }) => delete paths[path])).toEqual([expect.stringMatching(/ is gone\.$/)]);
      const other = altered(({ paths }) => (paths[path] = { put: {} }));
      expect(other).toEqual([expect.stringContaining(path)]);
    },
  );

  it.each(['banner_id', 'from', 'to', 'limit', 'cursor'])('are reported missing without the parameter %s', (name) => {
    const gone = altered(({ paths }) => {
      const { get } = paths['/consent/logs'];
      get.parameters = get.parameters.filter((one: Json) => one.name !== name);
    });
    expect(gone).toEqual([`GET /consent/logs no longer accepts the parameter ${name}.`]);
  });

  it.each([
    ['ConsentLogPage', 'next_cursor', 'GET /consent/logs no longer returns the field next_cursor.'],
    ['ConsentLogPage', 'data', 'GET /consent/logs no longer returns the field data.'],
    ['PublishResult', 'hosted_url', 'POST /policies/{id}/publish no longer returns the field hosted_url.'],
    ['BatchResult', 'results', 'POST /policies/bulk no longer returns the field results.'],
    ['Bulk', 'items', 'POST /policies/bulk no longer accepts the field items.'],
  ])('are reported missing without the field %s.%s', (schema, field, sentence) => {
    const gone = altered(({ components }) => {
      delete components.schemas[schema].properties[field];
      components.schemas[schema].properties.other = { type: 'string' };
    });
    expect(gone).toEqual([sentence]);
  });

  it('are reported missing if a limit is lower, not if it is higher or absent', () => {
    const limit = (value: number | undefined) =>
      altered(({ paths, components }) => {
        paths['/consent/logs'].get.parameters.find((one: Json) => one.name === 'limit').schema.maximum = value;
        components.schemas.Bulk.properties.items.maxItems = value === undefined ? undefined : value / 10;
      });
    expect(limit(100)).toEqual([
      'GET /consent/logs accepts at most 100 of limit instead of 200.',
      'POST /policies/bulk accepts at most 10 of items instead of 20.',
    ]);
    expect(limit(200)).toEqual([]);
    expect(limit(500)).toEqual([]);
    expect(limit(undefined)).toEqual([]);
  });

  it('are present if one of the two documented forms is', () => {
    const without = (...names: string[]) =>
      altered(({ components }) => {
        for (const name of names) components.schemas[name] = { properties: { other: {} }, type: 'object' };
      });
    expect(without('GenerateB', 'GeneratedPolicyB', 'PolicyPage')).toEqual([]);
    expect(without('PolicyList')).toEqual([]);
    expect(without('PolicyList', 'PolicyPage')).toEqual([
      'GET /policies no longer returns the field policies or data.',
    ]);
    expect(without('GenerateA', 'GenerateB')).toContain(
      'POST /policies/generate no longer accepts the field policy_type or type.',
    );
  });

  it('raise no alarm if the description is silent, written differently or nonsensical', () => {
    expect(findGone({})).toEqual([]);
    expect(findGone({ paths: {} })).toEqual([]);
    expect(findGone({ paths: [] })).toEqual([]);
    expect(
      altered(({ paths, components }) => {
        for (const item of Object.values<Json>(paths))
          for (const operation of Object.values<Json>(item)) {
            delete operation.parameters;
            delete operation.requestBody;
            operation.responses = { 200: { description: 'OK' } };
          }
        delete components.schemas;
      }),
    ).toEqual([]);
    expect(
      altered((copy) => {
        copy.paths = Object.fromEntries(
          Object.entries(copy.paths).map(([path, item]) => [`/api/v1${path.replace('{id}', '{policyId}')}/`, item]),
        );
      }),
    ).toEqual([]);
    expect(
      altered(
        ({ components }) => (components.schemas.ConsentLogPage = { $ref: '#/components/schemas/ConsentLogPage' }),
      ),
    ).toEqual([]);
    expect(altered(({ components }) => (components.schemas.PublishResult = { type: 'object' }))).toEqual([]);
    expect(findGoneIn(Buffer.from('openapi: 3.1.0'))).toBeNull();
    expect(findGoneIn(Buffer.from('[]'))).toBeNull();
    expect(findGoneIn(Buffer.from('{"error":{"code":"maintenance"}}'))).toBeNull();
    expect(findGoneIn(Buffer.from('{"openapi":"3.1.0","paths":{}}'))).toBeNull();
  });

  it('are checked quickly even if schemas refer to each other in all directions', () => {
    const parts = Array.from({ length: 40 }, (_, place) => `Part${place}`);
    const all = parts.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const began = performance.now();
    const gone = altered(({ paths, components }) => {
      for (const name of parts) components.schemas[name] = { anyOf: all, allOf: all, oneOf: all };
      components.schemas.ConsentLogPage = { allOf: [...all, { properties: { data: {} } }] };
      paths['/consent/logs'].get.parameters.find((one: Json) => one.name === 'limit').schema = { anyOf: all };
    });
    expect(gone).toEqual(['GET /consent/logs no longer returns the field next_cursor.']);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});

describe('the description', () => {
  it('is fetched in its exact bytes from the sandbox', async () => {
    await withSandbox({}, async (sandbox) => {
      const fetched = await fetchDescription({
        destinations: ON_LOOPBACK,
        baseUrl: sandbox.baseUrl(),
        apiKey: sandbox.clients[0]?.apiKey ?? '',
      });
      if (fetched.outcome !== 'fetched') throw new Error(fetched.sentence);
      expect(fetched.description.gone).toEqual([]);
      expect(JSON.parse(fetched.description.bytes.toString('utf8'))).toMatchObject({ openapi: '3.1.0' });
    });
  });

  it('that does not exist raises no alarm; a refusal says whether it is temporary', async () => {
    const { baseUrl } = await answeringServer((request, response) =>
      request.headers.authorization === 'Bearer web'
        ? response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')
        : sendJson(response, Number(request.headers.authorization?.slice(7)), { error: { code: 'x', message: 'y' } }),
    );
    const ask = async (apiKey: string) => fetchDescription({ destinations: ON_LOOPBACK, baseUrl, apiKey, retries: 0 });
    expect((await ask('404')).outcome).toBe('silent');
    expect((await ask('web')).outcome).toBe('silent');
    expect(await ask('401')).toMatchObject({ outcome: 'refused', transient: false });
    expect(await ask('503')).toMatchObject({ outcome: 'refused', transient: true });
  });
});
