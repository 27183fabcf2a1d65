import { expect, it } from 'vitest';
import {
  createOfficeWorld,
  type OfficeWorld,
  PASSWORD,
  type Page,
  setPassword,
  signedInAs,
  type Visitor,
} from './office-world.ts';

const SECRET = 'hush-hush-hush-hush';
const KEY = 'pak_live_hush_of_the_shop';

function upload(visitor: Visitor, csv: string, fields: Record<string, string> = {}, csrf?: null): Promise<Page> {
  const form = new FormData();
  const present = fields['do'] === 'import' ? { present: PASSWORD } : {};
  for (const [name, value] of Object.entries({ ...present, ...fields })) form.set(name, value);
  form.set('file', new Blob([csv], { type: 'text/csv' }), 'sources.csv');
  return visitor.post('/sources/import', {}, { multipart: form, ...(csrf === null ? { csrf } : {}) });
}

const slugs = ({ context }: OfficeWorld) => context.sources.list().map(({ slug }) => slug);
const csv = `slug;name;base_url;api_key;webhook_secrets
shop;"Shop; Berlin";https://service.example/api/v1;${KEY};${SECRET}
bistro;Bistro;;;
`;

it('an admin checks a file of sources, imports it, and imports it again without a change', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const admin = await signedInAs(world, 'admin');
  await setPassword(world, admin.personId);
  expect((await admin.get('/sources')).text).toContain('href="/sources/import"');
  const checked = await upload(admin, csv, { do: 'check' });
  expect([checked.status, checked.text.match(/would be added/g)?.length]).toEqual([200, 2]);
  expect(slugs(world)).toEqual(['default']);

  const done = await upload(admin, csv, { do: 'import' });
  expect([done.status, done.text.includes('2 sources were added or changed.')]).toEqual([200, true]);
  expect(slugs(world)).toEqual(['bistro', 'default', 'shop']);
  expect(world.context.sources.find('shop')).toMatchObject({ name: 'Shop; Berlin', apiKey: KEY });
  for (const { text } of [checked, done]) for (const hush of [SECRET, KEY]) expect(text).not.toContain(hush);
  expect((await admin.get('/sources/shop')).status).toBe(200);
  expect((await upload(admin, csv, { do: 'import' })).text).toContain('0 sources were added or changed.');

  const other = csv.replace('Bistro;', 'Bistro & Bar;');
  const differs = await upload(admin, other, { do: 'import' });
  expect([differs.status, world.context.sources.find('bistro')?.name]).toEqual([422, 'Bistro']);
  await upload(admin, other, { do: 'import', update: 'yes' });
  expect(world.context.sources.find('bistro')?.name).toBe('Bistro & Bar');
  expect((await world.actions('source.added')).every(({ actor }) => actor.startsWith('Pat admin'))).toBe(true);
});

it('the import page names each problem with its line, and never reads a file or a variable of the server for an upload', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const admin = await signedInAs(world, 'admin');
  await setPassword(world, admin.personId);
  const lines = [
    'slug,api_key_file,api_key_env,controller_file,webhook_secrets',
    'one,/etc/passwd,,,',
    'two,,INSTANCE_KEY,,',
    'three,,,/etc/passwd,',
    'import,,,,',
    'Bad Slug,,,,',
    `four,,,,${SECRET}`,
  ];
  const refused = await upload(admin, lines.join('\n'), { do: 'import' });
  expect(refused.status).toBe(422);
  for (const text of ['5 problems', 'use api_key.', 'cannot refer to a file on the server', 'reserved', '1 valid line'])
    expect(refused.text).toContain(text);
  expect(refused.text).not.toContain('root:');
  expect(slugs(world)).toEqual(['default']);
  const some = await upload(admin, lines.join('\n'), { do: 'import', skipInvalid: 'yes' });
  expect([some.status, slugs(world)]).toEqual([200, ['default', 'four']]);

  const many = ['slug', ...Array.from({ length: 1001 }, (_, n) => `s${n}`)].join('\n');
  const long = await upload(admin, many, { do: 'import' });
  expect([long.status, long.text.includes('1000 lines')]).toEqual([422, true]);
  expect((await upload(admin, '', { do: 'check' })).status).toBe(422);
  const image = await upload(admin, '\u0089PNG\r\n<b>"', { do: 'check' });
  expect([image.status, image.text.includes('<b>')]).toEqual([422, false]);
  expect((await upload(admin, `slug\n${'x'.repeat(6 << 20)}`)).status).toBe(413);
  expect((await admin.post('/sources/import', { do: 'import' })).status).toBeGreaterThanOrEqual(400);
  const template = await admin.get('/sources/import/template');
  expect(template.text.split('\n')[0]).toContain('slug,name,base_url,site_url,api_key,site_key,webhook_secrets,');
  expect(template.text).not.toMatch(/_file|_env/);
});

it('the import page requires an admin and the token of the form', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  for (const role of ['officer', 'auditor'] as const) {
    const visitor = await signedInAs(world, role);
    expect((await visitor.get('/sources/import')).status).toBe(403);
    expect((await upload(visitor, csv, { do: 'import' })).status).toBe(403);
    expect((await visitor.get('/sources')).text).not.toContain('/sources/import');
  }
  const admin = await signedInAs(world, 'admin');
  await setPassword(world, admin.personId);
  expect((await upload(admin, csv, { do: 'import' }, null)).status).toBe(403);
  expect(slugs(world)).toEqual(['default']);
});

it('the import page asks for the password before it imports, since a file may change an address', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const admin = await signedInAs(world, 'admin');
  await setPassword(world, admin.personId);
  const refused = await upload(admin, csv, { do: 'import', present: '' });
  expect([refused.status, refused.text.includes('The current password is wrong')]).toEqual([422, true]);
  expect(slugs(world)).toEqual(['default']);
});
