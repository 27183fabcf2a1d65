import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCase } from '../../src/cases/move-case.ts';
import { tokenOf } from './api-caller.ts';
import { createOfficeWorld, signedInAs } from './office-world.ts';

const whole = {
  ...{ name: 'First Ltd', address: ['1 High Street', 'London'], country: 'GB', email: 'privacy@first.example' },
  ...{ purposes: [{ purpose: 'Shop', lawfulBasis: 'contract', retention: '6 years' }], dataCategories: ['orders'] },
  ...{
    dataSources: ['you'],
    recipients: [{ name: 'Our host', purpose: 'hosting', country: 'GB' }],
    noTransfers: true,
    automatedDecisions: 'none',
  },
  ...{ supervisoryAuthority: { name: 'ICO' }, withdrawalMethod: 'write to us' },
};

/** A first client with its profile, and two that were imported without anything of their own. */
async function createAgency() {
  const world = await createOfficeWorld({}, { worker: false });
  await writeFile(join(world.context.config.dataDir, 'controller.yaml'), JSON.stringify(whole));
  for (const slug of ['beta', 'gamma']) {
    const webhookSecrets = [`a-signing-secret-of-${slug}`];
    await world.context.sources.add({ slug, name: slug.toUpperCase(), webhookSecrets }, 'test');
  }
  return world;
}

const row = (page: string, slug: string) =>
  new RegExp(`<tr[^>]*>(?:(?!</tr>)[\\s\\S])*/sources/${slug}"[\\s\\S]*?</tr>`).exec(page)?.[0] ?? 'no such row';

it('says of each client in the list what is missing, and never “complete” under another’s profile', async () => {
  const world = await createAgency();
  const owner = await signedInAs(world, 'owner');
  const { text } = await owner.get('/sources');
  expect(row(text, 'beta')).toContain('profile of First Ltd');
  expect(row(text, 'beta')).toContain('no API key');
  expect(row(text, 'beta')).not.toContain('complete');
  expect(row(text, 'default')).not.toContain('profile');
  const { text: filtered } = await owner.get('/sources?missing=yes');
  expect(row(filtered, 'default')).toBe('no such row');
  expect(row(filtered, 'gamma')).toContain('profile of First Ltd');
});

it('asks on Today for what clients lack in one task, until an admin says whose profile it is', async () => {
  const world = await createAgency();
  const owner = await signedInAs(world, 'owner');
  expect((await owner.get('/')).text).toMatch(
    /Complete 2 sources: <bdi>BETA<\/bdi>, <bdi>GAMMA<\/bdi>[\s\S]*href="\/sources\?missing=yes"/,
  );
  // Whoever may not change settings can ask somebody who may.
  const officer = await signedInAs(world, 'officer');
  expect((await officer.get('/')).text).toMatch(/Complete 2 sources[\s\S]*href="mailto:/);
  // A person who works on one client is asked for this one only.
  await owner.post('/account/source', { current: 'beta', back: '/' });
  expect((await owner.get('/')).text).toMatch(/Complete 1 source: <bdi>BETA<\/bdi>/);
  await owner.post('/account/source', { current: '', back: '/' });

  const page = await owner.get('/sources/beta');
  expect(page.text).toContain('<bdi>First Ltd</bdi> is the controller of <bdi>BETA</bdi>');
  const confirmed = await owner.post('/sources/beta/controller', { controller: 'First Ltd' });
  expect(confirmed.status).toBe(303);
  expect((await owner.get('/')).text).toMatch(/Complete 1 source: <bdi>GAMMA<\/bdi>/);
  expect(row((await owner.get('/sources')).text, 'beta')).not.toContain('profile of');
  expect(await world.actions('profile.changed')).toHaveLength(1);
  expect((await owner.get('/sources/beta')).text).not.toContain('is the controller of');
  // What was confirmed is what was shown.
  const other = await owner.post('/sources/gamma/controller', { controller: 'Second Ltd' });
  expect([other.status, await world.actions('profile.changed')]).toEqual([409, expect.objectContaining({ length: 1 })]);
});

it('makes no letter under a profile that may be another client’s, until somebody confirms both names', async () => {
  const world = await createAgency();
  const officer = await signedInAs(world, 'officer');
  const owner = await signedInAs(world, 'owner');
  const opened = await openCase(world.context.cases, {
    ...{ source: 'beta', kind: 'access', channel: 'letter', language: 'en', actor: 'test' },
    receivedAt: world.context.clock().toISOString(),
  });
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened));
  await world.context.projector.projected(opened.seq);
  const address = `/cases/${opened.caseId}/letter`;
  const page = await officer.get(`${address}?step=acknowledgement`);
  expect(page.text).toMatch(
    /name="controller" value="First Ltd"[\s\S]*<bdi>First Ltd<\/bdi> is the controller of <bdi>BETA<\/bdi>/,
  );
  const letter = {
    step: 'acknowledgement',
    shownStep: 'acknowledgement',
    language: 'en',
    text: '',
    unedited: '',
    format: 'txt',
    do: 'make',
  };
  const refused = await officer.post(address, letter);
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringMatching(/would name First Ltd as the controller of BETA/),
  ]);
  expect((await officer.post(address, { ...letter, controller: 'Second Ltd' })).status).toBe(422);
  expect(await world.actions('document.produced')).toEqual([]);

  // The draft in a pack would name it, too.
  const pack = await officer.post(`/cases/${opened.caseId}/pack`, { language: '' });
  expect([pack.status, pack.text]).toEqual([422, expect.stringContaining('may not be the controller of BETA')]);
  const api = await tokenOf(world, 'officer', { scope: 'work' });
  const called = await api.post(`/api/v1/cases/${opened.caseId}/letters`, { step: 'acknowledgement' });
  expect([called.status, called.text]).toEqual([422, expect.stringContaining('as the controller of BETA')]);

  expect((await officer.post(address, { ...letter, controller: 'First Ltd' })).status).toBe(303);
  const rows = world.context.store.read.selectFrom('documents').select('parameters');
  expect((await rows.execute()).map(({ parameters }) => JSON.parse(parameters))).toMatchObject([
    { confirmedController: 'First Ltd' },
  ]);
  // Once an admin has said whose profile it is, nobody is asked again.
  await owner.post('/sources/beta/controller', { controller: 'First Ltd' });
  expect((await officer.get(`${address}?step=acknowledgement`)).text).not.toContain('name="controller"');
  expect((await officer.post(`/cases/${opened.caseId}/pack`, { language: '' })).status).toBe(303);
});
