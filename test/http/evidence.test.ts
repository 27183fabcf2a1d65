import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { INSTALLATION } from '../../src/core/vocabulary.ts';
import { placeHold } from '../../src/erasure/holds.ts';
import { appendAction } from '../../src/ledger/append-action.ts';
import { appendErasure } from '../../src/ledger/erase.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file: a sealed ledger with a hold, a backup and more erasures than fit on a page. */
let world: OfficeWorld;
let officer: Visitor;
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const work of ending.reverse()) await work();
});
beforeAll(async () => {
  world = await createOfficeWorld({}, { worker: false, atEnd: (work) => ending.push(work) });
  const { context } = world;
  await context.sources.add({ slug: 'bolt', name: 'Bolt Ltd' }, 'test');
  for (let n = 0; n < 27; n += 1) {
    await world.event('consent.recorded', { consent_id: `c-${n}` });
    await context.seal();
  }
  officer = await signedInAs(world, 'officer');
});

const linksTo = (text: string, path: string) => [...text.matchAll(new RegExp(`href="(${path}[^"]*)"`, 'g'))].length;
const nextOf = (text: string) => /href="([^"#]+)[^"]*" rel="next"/.exec(text)?.[1] ?? '';

it('the evidence page shows every checkpoint as signed, page by page, and the key for checking them', async () => {
  const { context } = world;
  const { text } = await officer.get('/evidence');
  expect(text).toContain(context.verifierKey);
  expect(text).toContain('Nobody: no witness is configured.');
  expect(text).toContain('not compared with the ledger yet');
  expect(linksTo(text, '/evidence/checkpoint')).toBe(25);
  const second = await officer.get(nextOf(text));
  expect(linksTo(second.text, '/evidence/checkpoint')).toBe(2);
  const row = await context.store.read.selectFrom('checkpoints').selectAll().orderBy('size').executeTakeFirstOrThrow();
  const note = await officer.get(`/evidence/checkpoint?epoch=${row.epoch}&size=${row.size}`);
  expect(note.text).toBe(row.note);
  expect(note.headers.get('content-disposition')).toContain(`checkpoint_${row.epoch}-${row.size}.txt`);
  for (const path of ['epoch=1&size=999999', 'epoch=x&size=1', ''])
    expect((await officer.get(`/evidence/checkpoint?${path}`)).status).toBe(404);
});

it('the evidence page shows the result of the last comparison of the read models', async () => {
  const { readModels } = world.context;
  await readModels.note('policies (2)');
  expect((await officer.get('/evidence')).text).toContain('differ from the ledger: policies (2)');
  await readModels.note(null);
  const { text } = await officer.get('/evidence');
  expect(text).toMatch(/compared with the ledger .*<span class="badge good">equal/);
  expect(text).not.toContain('differ from the ledger');
});

it('the evidence page shows the last backup', async () => {
  const { ledger, clock } = world.context;
  expect((await officer.get('/evidence')).text).toContain('none was made here');
  const sha256 = 'a'.repeat(64);
  const made = { action: 'backup.made' as const, actor: 'schedule', sha256, bytes: 2_000_000, upTo: 20, sealed: 20 };
  for (const file of ['older.age', 'newer.age'])
    await appendAction(ledger, INSTALLATION, { ...made, file }, ['backup', file], clock().toISOString());
  const { text } = await officer.get('/evidence');
  expect([text.includes('newer.age'), text.includes('older.age')]).toEqual([true, false]);
});

it('the evidence page lists holds and erasures, to limited people only those of their sources', async () => {
  const { context } = world;
  const hold = { officer: 'Ada', caseId: null, subject: null, from: null, to: null };
  for (const [reason, source] of [
    ['Lawsuit <b>of Acme</b>', 'default'],
    ['Lawsuit of the others', 'bolt'],
  ] as const)
    expect(
      (await placeHold({ ...context.erasure, sources: context.sources }, { ...hold, reason, source })).outcome,
    ).toBe('placed');
  for (let n = 0; n < 27; n += 1)
    await appendErasure(
      context.ledger,
      {
        ...{ v: 1, id: n.toString(16).padStart(16, '0'), officer: 'Ada Eraser', confirmedBy: null, reason: 'mistake' },
        ...{ law: 'eu-gdpr', by: 'entries', seqs: [n + 1], documents: [], files: [], suppress: [], firstMadeAt: null },
      },
      context.clock().toISOString(),
    );
  const { text } = await officer.get('/evidence');
  expect(text).toContain('Lawsuit &lt;b>of Acme&lt;/b>');
  expect(text).toContain('Lawsuit of the others');
  expect(text.match(/Ada Eraser/g)?.length).toBe(25);
  expect(text).toContain('it should never have been recorded');
  const erased = /href="(\/evidence\?erasedBefore=\d+)/.exec(text)?.[1] ?? '';
  expect((await officer.get(erased)).text.match(/Ada Eraser/g)?.length).toBe(2);
  const limited = await (await signedInAs(world, 'auditor', { sources: ['default'] })).get('/evidence');
  expect(limited.text).toContain('of Acme');
  for (const words of ['of the others', 'Ada Eraser']) expect(limited.text).not.toContain(words);
});

/** A separate world with a worker, and a few sealed entries. */
async function workingWorld() {
  const own = await createOfficeWorld();
  for (let n = 0; n < 3; n += 1) await own.event('consent.recorded', { consent_id: `c-${n}` });
  return own;
}

it('the evidence page verifies the whole ledger on request, and keeps the result', async () => {
  const own = await workingWorld();
  const olga = await signedInAs(own, 'officer', { name: 'Olga' });
  const before = await olga.get('/evidence');
  expect(before.text).toContain('The whole ledger has not been verified yet.');
  const asked = await olga.post('/evidence/verify', {});
  expect([asked.status, asked.headers.get('location')]).toEqual([303, '/evidence#verification']);
  await expect.poll(async () => (await olga.get('/evidence')).text).toMatch(/Sound\.<\/strong>[\s\S]*nothing altered/);
  const [job] = await own.context.jobs.list({ kind: 'verify' });
  expect(job).toMatchObject({ state: 'done', payload: { actor: expect.stringContaining('Olga') } });
});

it('the evidence page shows a fault in red, with its entry for people who see every source', async () => {
  const own = await workingWorld();
  await own.context.seal();
  const { store } = own.context;
  await store.transaction((tx) =>
    sql`update entries set body = ${Buffer.from('{"forged":true}')} where seq = 2`.execute(tx.query),
  );
  const olga = await signedInAs(own, 'officer');
  const limited = await signedInAs(own, 'officer', { sources: ['default'] });
  await olga.post('/evidence/verify', {});
  await expect
    .poll(async () => (await olga.get('/evidence')).text)
    .toMatch(/notice bad[\s\S]*1 fault<\/strong> found[\s\S]*Entry 2: /);
  const { text } = await limited.get('/evidence');
  expect(text).toContain('1 fault</strong> found');
  expect(text).not.toContain('Entry 2: ');
});

it('the evidence page makes a checkpoint on request', async () => {
  const own = await workingWorld();
  const olga = await signedInAs(own, 'officer');
  const made = await olga.post('/evidence/checkpoints', {});
  expect(made.headers.get('location')).toBe('/evidence?done=sealed#checkpoints');
  expect((await own.context.store.read.selectFrom('checkpoints').selectAll().execute()).length).toBe(1);
});

it('the evidence page sends a job’s progress as events until it ends, to people who may see it', async () => {
  const own = await createOfficeWorld({}, { worker: false });
  const { jobs, sources } = own.context;
  await sources.add({ slug: 'bolt' }, 'test');
  const { id } = await jobs.enqueue({ kind: 'sync', key: 'default', payload: { source: 'default', actor: 'test' } });
  const claim = await jobs.claim('test', ['sync'], 60_000);
  if (claim === null) throw new Error('no job');
  await jobs.progress(claim, { done: 1, total: 4, message: 'banner b-1' });
  const olga = await signedInAs(own, 'officer', { sources: ['default'] });
  const stranger = await signedInAs(own, 'officer', { sources: ['bolt'] });
  expect((await stranger.get(`/jobs/${id}/events`)).status).toBe(404);
  expect((await olga.get('/jobs/no-such-job/events')).status).toBe(404);

  const cookie = [...olga.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(`${own.adminUrl}/jobs/${id}/events`, { headers: { cookie } });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('1 of 4')) await jobs.complete(claim, null);
  }
  expect(text).toContain('{"done":1,"total":4,"text":"1 of 4: banner b-1"}');
  expect(text).toContain('event: end\ndata: {"state":"done"}');
  // Pages without such a job run no script.
  const page = await olga.get('/evidence');
  expect(page.headers.get('content-security-policy')).not.toContain('script-src');
});
