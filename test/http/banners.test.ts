import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOfficeWorld, type OfficeWorld, type Page, signedIn, type Visitor } from './office-world.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('the banner of spring')]);
const page = Buffer.from('<!doctype html><script>alert(1)</script><button>Accept all</button>');

interface Given {
  readonly file?: { readonly name: string; readonly bytes: Buffer; readonly type?: string };
  readonly csrf?: string;
  readonly fields?: Record<string, string>;
}

/** Sends the form of the Banners page, as a browser does. */
async function upload(world: OfficeWorld, visitor: Visitor, given: Given = {}): Promise<Page> {
  const shown = await visitor.get('/banners');
  const form = new FormData();
  form.set('_csrf', given.csrf ?? /name="_csrf" value="([^"]+)"/.exec(shown.text)?.[1] ?? '');
  const fields = { source: 'default', bannerId: 'bnr_1', from: '2026-03-01', to: '', note: '', ...given.fields };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const { name, bytes, type } = given.file ?? { name: 'spring.png', bytes: png };
  form.set('file', new File([new Uint8Array(bytes)], name, { type: type ?? 'image/png' }));
  const cookie = [...visitor.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
  const response = await fetch(`${world.adminUrl}/banners`, {
    method: 'POST',
    body: form,
    headers: { cookie },
    redirect: 'manual',
  });
  const sent = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: sent.toString('utf8'), bytes: sent, headers: response.headers };
}

async function fileOf(world: OfficeWorld, visitor: Visitor): Promise<{ seq: number; download: Page }> {
  const row = await world.context.store.read
    .selectFrom('banner_evidence')
    .select('seq')
    .orderBy('seq', 'desc')
    .executeTakeFirstOrThrow();
  return { seq: row.seq, download: await visitor.get(`/banners/evidence/${row.seq}/file`) };
}

describe('the Banners page', () => {
  it('accepts a screenshot through its form, lists it and returns it byte for byte', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world, 'Olga');
    expect((await olga.get('/banners')).text).toContain('banner as shown: not evidenced');
    const sent = await upload(world, olga, { fields: { note: 'first layer', to: '2026-06-30' } });
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/banners?source=default&done=added']);
    const shown = await olga.get('/banners?done=added');
    for (const text of ['recorded in the ledger', 'spring.png', 'first layer', 'by Olga'])
      expect(shown.text).toContain(text);
    const { seq, download } = await fileOf(world, olga);
    expect(download.bytes).toEqual(png);
    expect(download.headers.get('content-type')).toBe('image/png');
    expect(download.headers.get('content-disposition')).toContain(`attachment; filename="evidence-${seq}.png"`);
    expect(await world.actions('banner.evidence-added')).toEqual([{ actor: 'Olga', object: 'bnr_1' }]);

    const retracted = await olga.post(`/banners/evidence/${seq}/retract`, { reason: 'Another site’s <banner>' });
    expect(retracted.headers.get('location')).toBe('/banners?source=default&done=retracted');
    expect((await olga.get('/banners')).text).toContain('Another site’s &lt;banner>');
  });

  it('accepts a name for a banner and shows it next to the id', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world, 'Olga');
    await upload(world, olga);
    const named = await olga.post('/banners/names', { source: 'default', bannerId: 'bnr_1', name: 'Main <site>' });
    expect(named.headers.get('location')).toBe('/banners?source=default&done=named');
    const shown = await olga.get('/banners?source=default&done=named');
    expect(shown.text).toContain('<bdi>Main &lt;site></bdi> <span class="soft small">bnr_1</span>');
    expect(await world.actions('banner.named')).toEqual([{ actor: 'Olga', object: 'bnr_1' }]);
    const refused = await olga.post('/banners/names', { source: 'default', bannerId: '', name: 'x' });
    expect([refused.status, refused.text.includes('Enter the banner id.')]).toEqual([422, true]);
  });

  it('never serves an uploaded page as a page', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    // The file name and content type that the browser sends do not matter.
    const file = { name: '../../spring.png', bytes: page, type: 'image/png' };
    expect((await upload(world, olga, { file })).status).toBe(303);
    const { seq, download } = await fileOf(world, olga);
    expect(download.bytes).toEqual(page);
    expect(download.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(download.headers.get('content-disposition')).toContain(`filename="evidence-${seq}.html.txt"`);
    expect(download.headers.get('x-content-type-options')).toBe('nosniff');
    expect(download.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  });

  it('accepts nothing without a session or the form’s token, over the size limit, or of another type', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    const nobody: Visitor = { ...olga, cookies: new Map() };
    expect((await upload(world, nobody)).status).toBe(401);
    expect((await upload(world, olga, { csrf: 'made-up' })).status).toBe(403);
    const large = { name: 'large.txt', bytes: Buffer.alloc(10 * 1024 * 1024 + 1, 'a') };
    const tooLarge = await upload(world, olga, { file: large });
    expect([tooLarge.status, tooLarge.text.includes('The file is larger than 10 MiB.')]).toEqual([413, true]);
    const zip = await upload(world, olga, { file: { name: 'spring.png', bytes: Buffer.from('PK\u0003\u0004') } });
    expect([zip.status, zip.text.includes('use PNG, JPEG')]).toEqual([422, true]);
    const none = await upload(world, olga, { file: { name: '', bytes: Buffer.alloc(0) } });
    expect([none.status, none.text.includes('Choose a file.')]).toEqual([422, true]);
    const noDay = await upload(world, olga, { fields: { from: '2026-02-30', bannerId: '<b>' } });
    expect([noDay.status, noDay.text.includes('Enter the first day')]).toEqual([422, true]);
    expect(noDay.text).toContain('value="&lt;b>"');
    expect(await world.actions('banner.evidence-added')).toEqual([]);
  });

  it('does not serve an altered file', async () => {
    const world = await createOfficeWorld({}, { worker: false });
    const olga = await signedIn(world);
    await upload(world, olga);
    const { sha256 } = await world.context.store.read
      .selectFrom('banner_evidence')
      .select('sha256')
      .executeTakeFirstOrThrow();
    await writeFile(join(world.context.evidenceFolder, sha256 ?? ''), 'another banner');
    const { download } = await fileOf(world, olga);
    expect([download.status, download.text.includes('another banner')]).toEqual([409, false]);
    expect((await olga.get('/banners/evidence/999/file')).status).toBe(404);
  });
});
