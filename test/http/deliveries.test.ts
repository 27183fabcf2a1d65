import { afterAll, beforeAll, expect, it } from 'vitest';
import { signBody } from '../../receivers/signature-node.ts';
import { deliver, SECRET } from '../serving.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file, whose tests build on each other's deliveries. */
let world: OfficeWorld;
let admin: Visitor;
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  const { sources } = world.context;
  await sources.add({ slug: 'bolt', name: 'Bolt Ltd', webhookSecrets: [OLD] }, 'test');
  admin = await signedInAs(world, 'admin', { name: 'Ada Admin' });
});

const OLD = 'the-old-secret-of-bolt';
const NEW = 'the-new-secret-of-bolt';

const consent = (id: string) => ({
  consent_id: id,
  banner_id: 'bnr_1',
  visitor_hash: `visitor-${id}`,
  consent: { analytics: true },
  recorded_at: new Date().toISOString(),
});

/** A delivery to Bolt, signed with a secret. */
async function toBolt(body: string, secret: string): Promise<number> {
  const response = await fetch(`${world.url}/webhooks/bolt`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signBody(Buffer.from(body), secret) },
    body,
  });
  return response.status;
}

it('the deliveries page lists stored deliveries, newest first, by source, event and outcome, page by page', async () => {
  for (let n = 0; n < 55; n += 1)
    await deliver(world.url, JSON.stringify({ event: 'consent.recorded', data: consent(`c-${n}`) }));
  await deliver(world.url, JSON.stringify({ event: 'moon.risen', data: {} }));
  await deliver(world.url, 'no JSON at all');
  await world.context.projector.catchUp();
  const first = await admin.get('/deliveries');
  expect(first.status).toBe(200);
  expect(seqsIn(first.text)).toHaveLength(50);
  expect(seqsIn(first.text)).toEqual([...seqsIn(first.text)].sort((a, b) => b - a));
  expect(first.text).toContain('57 stored');
  const second = await admin.get(nextIn(first.text) ?? '');
  expect(seqsIn(second.text)).toHaveLength(7);
  expect(nextIn(second.text)).toBe(null);
  const unknown = await admin.get('/deliveries?outcome=unknown-event&event=moon.risen');
  expect([seqsIn(unknown.text).length, unknown.text.includes('moon.risen')]).toEqual([1, true]);
  expect(seqsIn((await admin.get('/deliveries?source=bolt')).text)).toEqual([]);
  expect((await admin.get('/deliveries?source=bolt')).text).toContain('No delivery matches.');
});

it('the deliveries page leads from a number to its entry, and says if there is none', async () => {
  const [seq = 0] = seqsIn((await admin.get('/deliveries')).text);
  expect((await admin.get(`/deliveries?entry=${seq}`)).headers.get('location')).toBe(`/entries/${seq}`);
  const none = await admin.get('/deliveries?entry=twelve');
  expect([none.status, none.text.includes('Enter the number of an entry.')]).toEqual([422, true]);
  expect((await admin.get('/entries/999999')).status).toBe(404);
});

it('the deliveries page reloads the page only if that was requested', async () => {
  expect((await admin.get('/deliveries')).headers.get('refresh')).toBe(null);
  expect((await admin.get('/deliveries?live=yes')).headers.get('refresh')).toBe('10');
});

it('the deliveries page shows an entry with its content, the secret, what was read, and its hashes', async () => {
  const seq = await world.event('consent.recorded', {
    ...consent('shown'),
    note: '<script>alert(1)</script> \u202egnp',
  });
  const { status, text } = await admin.get(`/entries/${seq}`);
  expect(status).toBe(200);
  for (const words of ['visitor-shown', 'Purpose: analytics', 'granted', 'Signing secret', 'Commitment', 'valid'])
    expect(text).toContain(words);
  expect(text).toContain('&lt;script>alert(1)&lt;/script> [U+202E]gnp');
  expect(text).not.toContain('<script>alert');
  const looks = await world.actions('record.viewed');
  expect(looks.filter(({ object }) => object === `entry ${seq}`)).toHaveLength(1);
});

it('the deliveries page says why a delivery was refused; with the new secret an admin readmits it', async () => {
  const body = JSON.stringify({ event: 'consent.recorded', data: consent('late') });
  expect(await toBolt(body, NEW)).toBe(401);
  expect(await toBolt('{"event":"forged"}', 'nobody knows this one')).toBe(401);
  expect((await fetch(`${world.url}/webhooks/nowhere`, { method: 'POST', body })).status).toBe(404);
  const list = await admin.get('/deliveries/refused');
  for (const words of ['wrong signature', 'sent to an address without a source', 'Bolt Ltd'])
    expect(list.text).toContain(words);
  const [id] = [...list.text.matchAll(/\/deliveries\/refused\/(\d+)/g)].map(([, number]) => number).reverse();
  const refused = await admin.get(`/deliveries/refused/${id}`);
  expect(refused.text).toContain('visitor-late');
  expect(refused.text).toContain('To Bolt Ltd');
  const wanted = { source: 'bolt', encoding: 'text', retire: '24' };
  const empty = await admin.post('/deliveries/refused/secret', { ...wanted, secret: '' });
  expect(empty.status).toBe(422);
  const added = await admin.post('/deliveries/refused/secret', { ...wanted, secret: NEW });
  expect([added.status, added.headers.get('location')]).toEqual([303, '/deliveries/refused?done=secret']);
  expect(world.context.sources.retirements('bolt').size).toBe(1);
  expect((await admin.post('/deliveries/refused/secret', { ...wanted, secret: NEW })).status).toBe(409);
  const readmitted = await admin.post('/deliveries/refused/readmit', { source: 'bolt' });
  const after = await admin.get(readmitted.headers.get('location') ?? '');
  expect(after.text).toContain('1 delivery was readmitted, 1 still refused.');
  const stored = await admin.get('/deliveries?source=bolt');
  expect(stored.text).toContain('valid, verified later');
  const rotations = await world.actions('source.changed');
  expect(rotations).toHaveLength(1);
  expect(rotations.every(({ actor }) => actor.startsWith('Ada Admin (p-'))).toBe(true);
});

it('the deliveries page adds a signing secret to the source from the environment as to any other', async () => {
  const form = { source: 'default', encoding: 'text', retire: '', secret: NEW };
  expect((await admin.post('/deliveries/refused/secret', form)).status).toBe(303);
  expect(world.context.sources.find('default')?.webhookSecrets.map(({ value }) => value)).toEqual([NEW, SECRET]);
  expect((await admin.post('/deliveries/refused/secret', { ...form, secret: SECRET })).status).toBe(409);
});

it('the deliveries page lets an officer tell an admin about the refused deliveries, without names of settings', async () => {
  const officer = await signedInAs(world, 'officer');
  const { text } = await officer.get('/deliveries/refused');
  expect(text).toMatch(/href="mailto:[^"?]+%40acme\.example\?subject=Refused%20deliveries[^"]+"[^>]*>\s*Tell an admin/);
  expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/[A-Z]+_[A-Z]+/);
});

it('the deliveries page hides events and secrets of a source from people who may not see it', async () => {
  const { sources } = world.context;
  await sources.add({ slug: 'comet', name: 'Comet Ltd', webhookSecrets: ['the-secret-of-comet'] }, 'test');
  expect(await toBolt('{"event":"comet.only"}', 'the-secret-of-comet')).toBe(401);
  const told = async (visitor: Visitor) => {
    const list = await visitor.get('/deliveries/refused');
    const [, id] = /\/deliveries\/refused\/(\d+)/.exec(list.text) ?? [];
    return list.text + (await visitor.get(`/deliveries/refused/${id}`)).text;
  };
  expect(await told(admin)).toContain('of comet');
  const limited = await signedInAs(world, 'officer', { sources: ['bolt'] });
  expect(await told(limited)).not.toMatch(/comet(?!\.only)/);
  expect((await admin.get('/deliveries')).text).toContain('moon.risen');
  expect((await limited.get('/deliveries')).text).not.toContain('moon.risen');
});

it('the deliveries page lets only admins readmit deliveries and change secrets', async () => {
  const officer = await signedInAs(world, 'officer');
  const { text } = await officer.get('/deliveries/refused');
  expect(text).not.toContain('action="/deliveries/refused/secret"');
  expect(text).toContain('An owner or admin can add a signing secret');
  expect((await officer.post('/deliveries/refused/readmit', { source: 'bolt' })).status).toBe(403);
});

function seqsIn(text: string): readonly number[] {
  return [...text.matchAll(/href="\/entries\/(\d+)"/g)].map(([, seq]) => Number(seq));
}

function nextIn(text: string): string | null {
  return /<a href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
}

it('the deliveries page counts stored and refused deliveries by days of the controller’s zone, even if these begin between two hours', async () => {
  const own = await createOfficeWorld({ TIME_ZONE: 'Asia/Kathmandu' }, { worker: false });
  const body = (n: number) => JSON.stringify({ event: 'consent.recorded', data: consent(`zoned-${n}`) });
  own.setNow('2026-03-01T18:14:30.000Z');
  await deliver(own.url, body(1));
  const headers = { 'content-type': 'application/json', ...signBody(Buffer.from(body(2)), 'a-wrong-secret') };
  await fetch(`${own.url}/webhooks/default`, { method: 'POST', headers, body: body(2) });
  own.setNow('2026-03-01T18:15:30.000Z');
  await deliver(own.url, body(3));
  await deliver(own.url, body(4));
  await own.context.rejected.flush();
  await own.context.projector.catchUp();
  const { text } = await (await signedInAs(own, 'admin', { name: 'Zoe' })).get('/deliveries');
  const bars = [...text.matchAll(/<title>([^<]* (?:stored|refused))<\/title>/g)].map(([, title]) => title);
  expect(bars).toEqual(['1 Mar 2026: 1 stored', '1 Mar 2026: 1 refused', '2 Mar 2026: 2 stored']);
  expect(text).toContain('Deliveries by day:');
});
