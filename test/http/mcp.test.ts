import { expect, test } from 'vitest';
import { tokenOf } from './api-caller.ts';
import { connectAssistant } from './assistant.ts';
import { createOfficeWorld } from './office-world.ts';

test('an assistant elsewhere asks with an API token, sees the sources of its account only, and its look-ups are recorded under that name', async () => {
  const world = await createOfficeWorld();
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  const seq = await world.event('consent.recorded', {
    consent_id: 'rec-1',
    banner_id: 'bnr_1',
    visitor_hash: 'visitor-of-the-assistant',
    consent: { analytics: true },
    recorded_at: '2026-05-01T10:00:00.000Z',
  });
  const { secret } = await tokenOf(world, 'auditor', { scope: 'read', sources: ['default'], name: 'Ada Auditor' });
  const ask = await connectAssistant(`${world.adminUrl}/mcp`, { authorization: `Bearer ${secret}` });
  expect(JSON.parse((await ask('list_sources')).text)).toEqual({
    sources: [{ slug: 'default', name: expect.any(String) as string }],
  });
  const at = new Date().toISOString();
  const found = await ask('consent_at', { source: 'default', identifier: 'rec-1', at });
  expect(JSON.parse(found.text)).toMatchObject({
    outcome: 'found',
    standing: [{ purposes: [{ purpose: 'analytics', state: 'granted' }] }],
    decisions: [{ entries: [{ seq }] }],
  });
  expect(await ask('consent_at', { source: 'bolt', identifier: 'rec-1', at })).toEqual({
    text: 'Unknown source: see list_sources.',
    isError: true,
  });
  expect((await ask('consent_at', { source: 'default', identifier: 'rec-1', at: 'yesterday' })).isError).toBe(true);
  await world.context.projector.catchUp();
  const looks = await world.actions('consent.looked-up');
  expect(looks.map(({ actor }) => actor)).toEqual([expect.stringMatching(/Ada Auditor.*\(MCP\)/)]);
});

test('MCP over HTTP reveals nothing without a valid token, with another method or for a broken message', async () => {
  const world = await createOfficeWorld();
  const url = new URL('/mcp', world.adminUrl);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  for (const authorization of ['', 'Bearer clt_nonsense', 'Basic YTpi']) {
    const refused = await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body: list });
    expect([refused.status, await refused.text()]).toEqual([401, expect.not.stringContaining('consent_at') as string]);
  }
  const { secret } = await tokenOf(world, 'officer');
  const own = { ...headers, authorization: `Bearer ${secret}` };
  for (const method of ['GET', 'DELETE']) {
    const refused = await fetch(url, { method, headers: { authorization: own.authorization } });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
  }
  const post = async (body: string, more: Record<string, string> = {}) =>
    (await fetch(url, { method: 'POST', headers: { ...own, ...more }, body })).status;
  expect(await post('{"jsonrpc":"2.0"')).toBe(400);
  expect(await post('{"hello":1}')).toBe(400);
  // The limit of requests would count a hundred as one.
  expect(await post(`[${Array<string>(100).fill(list).join()}]`)).toBe(400);
  expect(await post(`"${'x'.repeat(70_000)}"`)).toBe(413);
  expect(await post(list, { accept: 'text/html' })).toBe(406);
  expect(await post(list)).toBe(200);
});
