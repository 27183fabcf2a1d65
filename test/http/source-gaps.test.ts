import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
