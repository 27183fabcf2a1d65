import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { signBody } from '../../receivers/signature-node.ts';
import { countUnread, loadUnread } from '../../src/attention/unread.ts';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { deliver, SECRET } from '../serving.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs } from './office-world.ts';

/** Two unknown events, one of them twice, a body that is not JSON, a known event without what it needs, and a test. */
async function createWorld(): Promise<OfficeWorld> {
  const world = await createOfficeWorld({}, { worker: false });
  await world.event('moon.risen', { phase: 1 });
  await world.event('moon.risen', { phase: 2 });
  await world.event('sun.risen', {});
  await world.event('policy.deleted', { title: 'x' });
  await world.event(TEST_EVENT, { sent: 'now' });
  await world.event('policy.published', { policy_id: 'p1' });
  await deliver(world.url, 'pong');
  await world.context.projector.catchUp();
  return world;
}

it('what was not understood is a task on Today with its number, and its button leads to the list by event', async () => {
  const world = await createWorld();
  const officer = await signedInAs(world, 'officer');
  const today = await officer.get('/');
  expect(today.text).toContain('Look at 5 deliveries that could not be understood: a request may be among them');
  expect(today.text).toContain('5 deliveries not understood');
  expect(today.text.match(/href="\/deliveries\/unread"/g)?.length).toBeGreaterThan(1);
  const list = await officer.get('/deliveries/unread');
  expect(list.status).toBe(200);
  for (const words of ['moon.risen', 'sun.risen', 'policy.deleted', 'event not named', 'known event, in quarantine'])
    expect(list.text).toContain(words);
  expect(list.text).not.toContain(TEST_EVENT);
  expect(list.text).toContain('/sources/default/fields');
  const groups = await loadUnread(world.context.store.read);
  expect(groups.map(({ event, entries, quarantined }) => [event, entries, quarantined])).toEqual([
    [null, 1, 0],
    ['policy.deleted', 1, 1],
    ['sun.risen', 1, 0],
    ['moon.risen', 2, 0],
  ]);
});

it('an officer sets an event aside; that is recorded, and later deliveries of it are shown again', async () => {
  const world = await createWorld();
  const officer = await signedInAs(world, 'officer', { name: 'Olga Officer' });
  const moon = { source: 'default', named: 'yes', event: 'moon.risen', upTo: '2' };
  const pressed = await officer.post('/deliveries/unread/set-aside', moon);
  expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/deliveries/unread?done=aside']);
  const after = await officer.get('/deliveries/unread?done=aside');
  expect(after.text).toContain('Set aside.');
  expect(after.text).not.toContain('moon.risen');
  expect((await officer.get('/')).text).toContain('Look at 3 deliveries');
  expect((await officer.post('/deliveries/unread/set-aside', moon)).headers.get('location')).toContain('done=nothing');
  expect(await world.actions('unread.set-aside')).toMatchObject([
    { actor: expect.stringContaining('Olga Officer'), object: 'moon.risen' },
  ]);
  await world.event('moon.risen', { phase: 3 });
  expect((await loadUnread(world.context.store.read))[0]).toMatchObject({ event: 'moon.risen', entries: 1, after: 2 });
  // Those that name no event are a group of their own.
  const nameless = { source: 'default', named: 'no', event: '', upTo: '7' };
  expect((await officer.post('/deliveries/unread/set-aside', nameless)).headers.get('location')).toContain(
    'done=aside',
  );
  expect(await countUnread(world.context.store.read)).toEqual(new Map([['default', 3]]));
  expect((await world.context.readModels.check()).differences).toEqual([]);
});

it('deliveries that arrive while an officer looks stay', async () => {
  const world = await createWorld();
  const officer = await signedInAs(world, 'officer');
  await world.event('sun.risen', { n: 2 });
  await officer.post('/deliveries/unread/set-aside', {
    source: 'default',
    named: 'yes',
    event: 'sun.risen',
    upTo: '3',
  });
  expect((await loadUnread(world.context.store.read))[0]).toMatchObject({ event: 'sun.risen', entries: 1 });
});

it('people see and set aside only what their sources sent, and auditors set nothing aside', async () => {
  const world = await createWorld();
  await world.context.sources.add({ slug: 'bolt', name: 'Bolt' }, 'test');
  const [bolt, auditor] = [
    await signedInAs(world, 'officer', { sources: ['bolt'] }),
    await signedInAs(world, 'auditor'),
  ];
  expect((await bolt.get('/deliveries/unread')).text).not.toContain('moon.risen');
  expect((await bolt.get('/')).text).not.toContain('could not be understood');
  const form = { source: 'default', named: 'yes', event: 'moon.risen', upTo: '2' };
  expect((await bolt.post('/deliveries/unread/set-aside', form)).status).toBe(404);
  expect((await auditor.post('/deliveries/unread/set-aside', form)).status).toBe(403);
  expect((await auditor.get('/deliveries/unread')).text).not.toContain('Nothing to do');
  expect(await world.actions('unread.set-aside')).toEqual([]);
});

it('a compressed delivery with several events shows each of them, and its content', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  const events = ['ann', 'ben'].map((name) => ({ event: 'dsar.submitted', data: { email: `${name}@example.org` } }));
  const body = gzipSync(JSON.stringify({ events }));
  const answer = await fetch(`${world.url}/webhooks/default`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', ...signBody(body, SECRET) },
    body,
  });
  const { seq } = (await answer.json()) as { seq: number };
  const officer = await signedInAs(world, 'officer');
  const { text } = await officer.get(`/entries/${seq}`);
  for (const words of [
    'Event 1 of 2: dsar.submitted',
    'Event 2 of 2',
    'ann@example.org',
    'ben@example.org',
    'Compressed',
  ])
    expect(text).toContain(words);
  const cases = await officer.get('/cases');
  for (const id of [`default-${seq}`, `default-${seq}.2`]) {
    expect(cases.text).toContain(`/cases/${id}`);
    expect((await officer.get(`/cases/${id}`)).status).toBe(200);
  }
});

it('choices that were not understood are a task for each source, and listed', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await world.event('consent.recorded', {
    visitor_hash: 'v1',
    banner_id: 'b',
    note: 'hm',
    timestamp: new Date().toISOString(),
  });
  await world.event('consent.recorded', { visitor_hash: 'v2', banner_id: 'b', status: 'accepted' });
  const officer = await signedInAs(world, 'officer');
  const today = await officer.get('/');
  expect(today.text).toMatch(/Find out what 1 choice of .* means: until then they do not count as consent/);
  const list = await officer.get('/consent/decisions?source=default&choice=unknown');
  expect([1, 2].map((seq) => list.text.includes(`/entries/${seq}"`))).toEqual([true, false]);
});
