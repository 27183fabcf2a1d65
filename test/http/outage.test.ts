import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createOfficeWorld, createVisitor, signedIn } from './office-world.ts';

describe('while the ledger accepts no entries', () => {
  it('no document is sent, no move counts, no session opens, and the pages can still be read', async () => {
    const world = await createOfficeWorld();
    const seq = await world.event('dsar.submitted', { request_id: 'r-1', type: 'access', jurisdiction: 'DE' });
    const olga = await signedIn(world);
    const waiting = createVisitor(world.adminUrl);
    const token = await world.link();
    await waiting.get(`/sign-in?token=${token}`);
    await olga.post('/reports', {
      name: 'delivery-log',
      source: 'default',
      from: '2026-09-01',
      to: '2026-09-30',
      format: 'json',
    });
    const { store, ledger } = world.context;
    await expect.poll(() => store.read.selectFrom('documents').select('document_id').executeTakeFirst()).toBeDefined();
    const made = await store.read.selectFrom('documents').selectAll().executeTakeFirstOrThrow();
    await ledger.close();

    const file = await olga.get(`/documents/${made.document_id}/download`);
    expect([file.status, file.headers.get('content-disposition'), file.headers.get('retry-after')]).toEqual([
      503,
      null,
      '5',
    ]);
    await olga.get('/');
    const move = await olga.post(`/cases/default-${seq}/moves`, { move: 'note', basedOn: '0', text: 'x' });
    expect(move.status).toBe(503);
    expect((await waiting.post('/sign-in', { token })).status).toBe(503);
    expect((await waiting.get('/')).status).toBe(401);
    expect((await olga.get('/')).status).toBe(200);
    const links = await store.read.selectFrom('sign_in_links').select('used_at').where('used_at', 'is', null).execute();
    expect(links.length).toBe(1);
  });
});

describe('a controller profile that cannot be read', () => {
  it('is named on the page with its error', async () => {
    const world = await createOfficeWorld();
    await world.event('dsar.submitted', { request_id: 'r-1', type: 'access', jurisdiction: 'DE' });
    const olga = await signedIn(world);
    await writeFile(world.context.config.controllerFile ?? '', 'name: 7\nunheard: of\n');
    const page = await olga.get('/');
    expect(page.status).toBe(500);
    expect(page.text).toContain('The controller profile has problems');
    expect(page.text).toContain('<p>Controller profile controller.yaml: ');
    expect(page.text).toContain('unheard');
    // Today needs the profile too, so the way leads elsewhere.
    const way = /<p><a href="([^"]+)">See the controller profile/.exec(page.text)?.[1] ?? '';
    expect((await olga.get(way)).status).toBe(200);
  });
});
