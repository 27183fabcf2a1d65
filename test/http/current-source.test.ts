import { expect, it } from 'vitest';
import { createOfficeWorld, signedIn, signedInAs } from './office-world.ts';

const chosenIn = (page: string, id: string) => {
  const select = new RegExp(`<select id="${id}"[^>]*>([\\s\\S]*?)</select>`).exec(page)?.[1] ?? 'no such choice';
  return [...select.matchAll(/<option value(?:="([^"]*)")?( selected)?>/g)]
    .filter(([, , selected]) => selected !== undefined)
    .map(([, value = '']) => value);
};

/** Two clients; the first by alphabet is not the one that the installation began with. */
async function createAgency() {
  const world = await createOfficeWorld({}, { worker: false });
  await world.context.sources.add({ slug: 'acme', name: 'Acme Ltd' }, 'test');
  return world;
}

/** Forms that decide about a client's data, each with the field that says whose. */
const forms = [
  ['/', 'report-source'],
  ['/cases/new', 'source'],
  ['/banners', 'source'],
  ['/consent', 'source'],
  ['/documents/schedules', 'source'],
  ['/settings/erasures', 'subject-source'],
  ['/settings/erasures', 'period-source'],
  ['/settings/retention', 'source'],
  ['/deliveries/refused', 'secret-source'],
] as const;

it('chooses no source for a person where several may be meant, until they say on which they work', async () => {
  const world = await createAgency();
  const owner = await signedInAs(world, 'owner');
  for (const [path, id] of forms) {
    const { text } = await owner.get(path);
    expect([path, chosenIn(text, id)]).toEqual([path, ['']]);
  }
  // Nothing is said to be missing of a source that nobody chose.
  for (const [path, words, absent] of [
    ['/scans', 'Choose the source whose sites', 'No scans yet'],
    ['/banners', 'Choose the source whose banners', 'No evidence'],
  ] as const) {
    const { text } = await owner.get(path);
    expect([path, text.includes(words), text.includes(absent)]).toEqual([path, true, false]);
    expect((await owner.get(`${path}?source=acme`)).text).not.toContain(words);
  }
  // Without a choice, nothing is done for the wrong one.
  const report = {
    name: 'consent-audit',
    source: '',
    format: 'pdf',
    from: '2026-01-01',
    to: '2026-01-31',
    subject: '',
  };
  expect((await owner.post('/reports', report)).status).toBe(422);
  const request = { reference: 'r', source: '', kind: 'access', receivedAt: '2026-01-05T10:00', channel: 'letter' };
  const refused = await owner.post('/cases', { ...request, requesterName: 'Ada' });
  expect(refused.status).toBe(422);
  expect(await world.actions('case.opened')).toEqual([]);

  const chosen = await owner.post('/account/source', { current: 'default', back: '/cases/new' });
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/cases/new']);
  for (const [path, id] of forms) {
    const { text } = await owner.get(path);
    expect([path, chosenIn(text, 'current-source'), chosenIn(text, id)]).toEqual([path, ['default'], ['default']]);
  }
});

it('shows in every list only the source that a person works on, in each of their browsers', async () => {
  const world = await createAgency();
  const owner = await signedInAs(world, 'owner', { name: 'Olivia' });
  const other = await signedInAs(world, 'officer', { name: 'Otto' });
  await owner.post('/account/source', { current: 'acme', back: '/' });
  for (const path of ['/cases', '/deliveries', '/documents', '/policies', '/consent/decisions']) {
    // An empty field of a filter cannot undo the choice: the links of such a page would forget it.
    for (const address of [path, `${path}?source=`]) {
      const { text } = await owner.get(address);
      expect([address, chosenIn(text, 'source'), text.includes('All sources</option>')]).toEqual([
        address,
        ['acme'],
        true,
      ]);
      expect([address, /<select id="source"[^>]*>[\s\S]*?<\/select>/.exec(text)?.[0].includes('All sources')]).toEqual([
        address,
        false,
      ]);
    }
    // An address that names another source shows that one.
    expect([path, chosenIn((await owner.get(`${path}?source=default`)).text, 'source')]).toEqual([path, ['default']]);
    expect([path, chosenIn((await other.get(path)).text, 'source')]).toEqual([path, ['']]);
  }
  await owner.post('/account/source', { current: '', back: '/' });
  expect(chosenIn((await owner.get('/cases')).text, 'source')).toEqual(['']);
  // Somebody who signed in by a link has no account, but works on a source just as well.
  const guest = await signedIn(world, 'Gail Guest');
  await guest.post('/account/source', { current: 'acme', back: '/' });
  expect(chosenIn((await guest.get('/cases')).text, 'source')).toEqual(['acme']);
  expect(chosenIn((await (await signedIn(world, 'Hugo Other')).get('/cases')).text, 'source')).toEqual(['']);
});

it('shows all sources again once the one that a person worked on has left', async () => {
  const world = await createAgency();
  const owner = await signedInAs(world, 'owner');
  await owner.post('/account/source', { current: 'acme', back: '/' });
  await world.context.sources.add({ slug: 'third', name: 'Third Ltd' }, 'test');
  await world.context.sources.offboard('acme', { reason: null, openCases: 0 }, 'test');
  expect(chosenIn((await owner.get('/cases')).text, 'source')).toEqual(['']);
  expect(chosenIn((await owner.get('/cases')).text, 'current-source')).toEqual(['']);
});

it('never widens what a person may see, and leads to no other site', async () => {
  const world = await createAgency();
  const limited = await signedInAs(world, 'officer', { sources: ['default'], name: 'Lena' });
  const away = await limited.post('/account/source', { current: 'acme', back: '//elsewhere.example/' });
  expect(away.headers.get('location')).toBe('/');
  expect((await limited.get('/cases')).status).toBe(200);
  // With one source there is nothing to choose.
  expect((await limited.get('/')).text).not.toContain('id="current-source"');
  const { text } = await limited.get('/cases/new');
  expect(text).not.toContain('Acme');
});
