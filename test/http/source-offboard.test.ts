import { describe, expect, it } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

const SECRET = 'a-secret-that-must-not-leak';

async function createWorld(options: { worker?: boolean } = {}): Promise<{ world: OfficeWorld; admin: Visitor }> {
  const world = await createOfficeWorld({}, options);
  const source = { slug: 'shop', name: 'Shop & Söhne', apiKey: 'pak_live_hush', webhookSecrets: [SECRET] };
  const added = await world.context.sources.add(source, 'test');
  if (added.outcome !== 'done') throw new Error(JSON.stringify(added));
  return { world, admin: await signedInAs(world, 'admin') };
}

describe('offboarding a source in the browser', () => {
  it('says what happens, requires the short name, and destroys the credentials', async () => {
    const { world, admin } = await createWorld();
    const { sources } = world.context;
    expect((await admin.get('/sources/shop')).text).toContain('href="/sources/shop/offboard"');
    const page = await admin.get('/sources/shop/offboard');
    expect(page.text).toContain('Its API key and signing secrets are destroyed.');
    for (const slug of ['', 'Shop', 'default']) {
      const wrong = await admin.post('/sources/shop/offboard', { slug });
      expect([wrong.status, wrong.text.includes('Enter the short name of the source, shop.')]).toEqual([422, true]);
    }
    expect(sources.find('shop')).not.toBeNull();
    const left = await admin.post('/sources/shop/offboard', { slug: 'shop', reason: 'contract ended' });
    expect([left.status, left.headers.get('location')]).toEqual([303, '/sources/shop/offboard']);
    await expect.poll(async () => (await admin.get('/sources/shop/offboard')).text).toContain('has been offboarded');
    expect(sources.find('shop')).toBeNull();
    expect(sources.findAny('shop')).toMatchObject({ apiKey: null, webhookSecrets: [] });
    expect(await world.actions('source.offboarded')).toMatchObject([{ actor: expect.stringContaining('Pat admin') }]);
    expect((await admin.get('/sources')).text).toContain('Shop &amp; Söhne');
    // A second time changes nothing, and a returned source can be offboarded again.
    expect((await admin.post('/sources/shop/offboard', { slug: 'shop' })).status).toBe(303);
    expect(await world.actions('source.offboarded')).toHaveLength(1);
    await sources.add({ slug: 'shop', name: 'Shop' }, 'test');
    expect((await admin.get('/sources/shop/offboard')).text).toContain('What happens');
    await admin.post('/sources/shop/offboard', { slug: 'shop' });
    await expect.poll(() => world.actions('source.offboarded')).toHaveLength(2);
  });

  it('leaves a page that says when, by whom and why, and leads to the evidence', async () => {
    const { world, admin } = await createWorld();
    const { context } = world;
    const officer = await signedInAs(world, 'officer', { sources: ['shop'] });
    const stranger = await signedInAs(world, 'officer', { sources: ['default'] });
    const receivedAt = new Date().toISOString();
    const request = { kind: 'access', channel: 'e-mail', receivedAt, actor: 'Olga' } as const;
    const opened = await openCase(context.cases, { ...request, source: 'shop', requesterName: 'Ada of the shop' });
    const other = await openCase(context.cases, { ...request, source: 'default', requesterName: 'Grace of default' });
    if (opened.outcome !== 'opened' || other.outcome !== 'opened') throw new Error('not opened');
    await admin.post('/sources/shop/offboard', { slug: 'shop', force: 'yes', reason: 'contract <ended>' });
    await expect.poll(async () => (await officer.get('/sources/shop')).text).toContain('This source was offboarded');
    await context.projector.catchUp();
    for (const visitor of [officer, admin]) {
      const { status, text } = await visitor.get('/sources/shop');
      expect(status).toBe(200);
      expect(text).toContain('Shop &amp; Söhne');
      expect(text).toMatch(/Pat admin \(p-[0-9a-f]{8}\)/);
      expect(text).toContain('contract &lt;ended>');
      const links = [...text.matchAll(/href="(\/(?:cases|documents|deliveries|entries)[^"]+)"/g)].map(
        ([, href = '']) => href,
      );
      expect(links).toHaveLength(visitor === admin ? 4 : 3);
      for (const link of links) expect((await visitor.get(link)).status).toBe(200);
    }
    const { text: requests } = await admin.get('/cases?source=shop');
    expect([requests.includes('Ada of the shop'), requests.includes('Grace of default')]).toEqual([true, false]);
    expect((await officer.get('/sources/shop/fields')).headers.get('location')).toBe('/sources/shop');
    expect((await stranger.get('/sources/shop')).status).toBe(404);
    expect((await admin.get('/sources/none')).status).toBe(404);
  });

  it('lists requests that wait for an answer, and requires a reason and a tick to go on', async () => {
    const { world, admin } = await createWorld();
    const { context } = world;
    const opened = await openCase(context.cases, {
      ...{ source: 'shop', kind: 'access', channel: 'e-mail', requesterName: 'Ada', jurisdiction: 'DE' },
      ...{ receivedAt: new Date().toISOString(), actor: 'Olga' },
    });
    if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
    expect((await admin.get('/sources/shop/offboard')).text).toContain(`href="/cases/${opened.caseId}"`);
    const blocked = await admin.post('/sources/shop/offboard', { slug: 'shop' });
    expect([blocked.status, blocked.text.includes('Requests are still waiting for an answer')]).toEqual([422, true]);
    expect(blocked.text).toContain('Say what happens to the requests');
    expect(await context.jobs.list({ kind: 'offboard' })).toEqual([]);
    await admin.post('/sources/shop/offboard', { slug: 'shop', force: 'yes', reason: 'the client answers it' });
    const page = async () => (await admin.get('/sources/shop/offboard')).text;
    await expect.poll(page).toContain('has been offboarded');
    await expect.poll(page).toMatch(new RegExp(`Still waiting for an answer[\\s\\S]*${opened.caseId}`));
    expect((await admin.get(`/cases/${opened.caseId}`)).status).toBe(200);
    const own = await admin.post('/sources/default/offboard', { slug: 'default' });
    expect([own.status, own.text.includes('It is set by environment variables')]).toEqual([422, true]);
  });

  it('refuses an officer and an unknown source', async () => {
    const { world, admin } = await createWorld({ worker: false });
    for (const role of ['officer', 'auditor'] as const) {
      const visitor = await signedInAs(world, role);
      expect((await visitor.get('/sources/shop/offboard')).status).toBe(403);
      expect((await visitor.post('/sources/shop/offboard', { slug: 'shop' })).status).toBe(403);
      expect((await visitor.get('/sources/shop')).text).not.toContain('/sources/shop/offboard');
    }
    expect((await admin.get('/sources/none/offboard')).status).toBe(404);
    expect((await admin.post('/sources/shop/offboard', { slug: 'shop' }, { csrf: null })).status).toBe(403);
    expect(world.context.sources.find('shop')).not.toBeNull();
  });
});
