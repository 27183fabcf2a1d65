import { expect, it, onTestFinished } from 'vitest';
import { signBody } from '../../receivers/signature-node.ts';
import { openContext } from '../../src/context/context.ts';
import { startServer } from '../../src/http/server.ts';
import { createLog } from '../../src/log/log.ts';
import { createCaller, tokenOf } from './api-caller.ts';
import { createOfficeWorld } from './office-world.ts';

it('a source added through one process answers at once in another for deliveries and programs', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const other = await openContext(world.context.config, createLog('fatal'));
  onTestFinished(() => other.close());
  const server = await startServer(other);
  onTestFinished(() => server.close());
  const { secret: token } = await tokenOf(world, 'officer', { scope: 'work' });
  const caller = createCaller(server.adminUrl, token);
  const secret = 'a-secret-of-the-new-source';
  const body = JSON.stringify({ event: 'consent.recorded', data: {} });
  const deliver = async (slug: string) =>
    (
      await fetch(`${server.publicListener}/webhooks/${slug}`, {
        method: 'POST',
        body,
        headers: signBody(Buffer.from(body), secret),
      })
    ).status;
  const ways: [string, (slug: string) => Promise<number>][] = [
    ['delivery', deliver],
    [
      'program',
      async (source) =>
        (await caller.post('/api/v1/cases', { source, kind: 'access', channel: 'letter', receivedAt: '2026-01-27' }))
          .status,
    ],
  ];
  for (const [way, use] of ways) {
    expect(other.sources.find(way)).toBeNull();
    expect(await world.context.sources.add({ slug: way, name: way, webhookSecrets: [secret] }, 'test')).toMatchObject({
      outcome: 'done',
    });
    const status = await use(way);
    expect([way, status]).toEqual([way, way === 'program' ? 201 : 200]);
  }
});

it('monitoring may ask the admin listener with HEAD', async () => {
  const { adminUrl, url } = await createOfficeWorld({}, { worker: false });
  for (const base of [adminUrl, url])
    for (const path of ['/healthz', '/readyz']) {
      const head = await fetch(base + path, { method: 'HEAD' });
      const get = await fetch(base + path);
      expect([base, path, head.status, await head.text()]).toEqual([base, path, 200, '']);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
  // A download must never be counted for a HEAD request.
  expect((await fetch(`${adminUrl}/cases`, { method: 'HEAD' })).status).toBe(404);
});
