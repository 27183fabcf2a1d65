import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createClient, eachItem } from '../../client/client.ts';
import { clientTypes } from '../../scripts/client-types.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld } from './office-world.ts';

async function connect(scope: 'read' | 'work' = 'work') {
  const world = await createOfficeWorld({}, { worker: false });
  const { secret } = await tokenOf(world, 'officer', { scope });
  return { world, client: createClient({ url: world.adminUrl, token: secret }) };
}

it('the API client matches the API description (regenerate it with `npm run client`)', async () => {
  const committed = await readFile(join(import.meta.dirname, '../../client/schema.ts'), 'utf8');
  expect(committed === (await clientTypes()), 'client/schema.ts is out of date: run `npm run client`').toBe(true);
});

it('the API client records a request, moves it, and reads every page of the list', async () => {
  const { client, world } = await connect();
  for (const name of ['Ada', 'Grace', 'Edsger']) {
    const { data, error } = await client.POST('/api/v1/cases', {
      body: {
        source: 'default',
        kind: 'access',
        receivedAt: world.context.clock().toISOString(),
        channel: 'letter',
        requesterName: name,
      },
    });
    expect(error).toBeUndefined();
    expect(data?.caseId).toMatch(/^default-o\d{10}$/);
  }
  const seen: (string | null)[] = [];
  const list = (cursor: string | undefined) =>
    client.GET('/api/v1/cases', { params: { query: { limit: 1, ...(cursor === undefined ? {} : { cursor }) } } });
  let last = '';
  for await (const one of eachItem(list)) {
    seen.push(one.requesterName);
    last = one.caseId;
  }
  expect([...seen].sort()).toEqual(['Ada', 'Edsger', 'Grace']);
  const { data: before } = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: last } } });
  const moved = await client.POST('/api/v1/cases/{caseId}/moves', {
    params: { path: { caseId: last } },
    body: { move: 'start', basedOn: before?.version ?? 0, details: {} },
  });
  expect(moved.error).toBeUndefined();
  const { data: after } = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: last } } });
  expect(after?.state).toBe('in-progress');
});

it('the API client returns refusals as problems with their code, and needs a token', async () => {
  const { client, world } = await connect('read');
  const refused = await client.POST('/api/v1/cases', {
    body: { source: 'default', kind: 'access', receivedAt: '2026-01-01T00:00:00Z', channel: 'letter' },
  });
  expect(refused.response.status).toBe(403);
  expect(refused.error?.code).toBe('not_allowed');
  const unknown = await client.GET('/api/v1/cases/{caseId}', { params: { path: { caseId: 'default-1' } } });
  expect([unknown.response.status, unknown.error?.code]).toEqual([404, 'not_found']);
  const nobody = createClient({ url: world.adminUrl, token: 'clt_wrong' });
  const failing = eachItem(() => nobody.GET('/api/v1/cases'));
  await expect(failing.next()).rejects.toMatchObject({ cause: { code: 'sign_in_required' } });
});

it('the API client sends no token unencrypted across a network', () => {
  expect(() => createClient({ url: 'http://ledger.example', token: 'clt_x' })).toThrow('unencrypted');
});
