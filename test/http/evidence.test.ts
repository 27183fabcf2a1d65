import { afterAll, beforeAll, expect, it } from 'vitest';
import { INSTALLATION } from '../../src/core/vocabulary.ts';
import { placeHold } from '../../src/erasure/holds.ts';
import { appendAction } from '../../src/ledger/append-action.ts';
import { appendErasure } from '../../src/ledger/erase.ts';
import { createOfficeWorld, type OfficeWorld, signedInAs, type Visitor } from './office-world.ts';

/** One world for the file: a sealed ledger with a hold, a backup and more erasures than stand on a page. */
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

it('gives every checkpoint as it was signed, page by page, and the key that checks them', async () => {
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

it('says what the last comparison of the read models found', async () => {
  const { readModels } = world.context;
  await readModels.note('policies (2)');
  expect((await officer.get('/evidence')).text).toContain('differ from the ledger: policies (2)');
  await readModels.note(null);
  const { text } = await officer.get('/evidence');
  expect(text).toMatch(/compared with the ledger .*<span class="badge good">equal/);
  expect(text).not.toContain('differ from the ledger');
});

it('names the last backup', async () => {
  const { ledger, clock } = world.context;
  expect((await officer.get('/evidence')).text).toContain('none was made from here');
  const sha256 = 'a'.repeat(64);
  const made = { action: 'backup.made' as const, actor: 'schedule', sha256, bytes: 2_000_000, upTo: 20, sealed: 20 };
  for (const file of ['older.age', 'newer.age'])
    await appendAction(ledger, INSTALLATION, { ...made, file }, ['backup', file], clock().toISOString());
  const { text } = await officer.get('/evidence');
  expect([text.includes('newer.age'), text.includes('older.age')]).toEqual([true, false]);
});

it('lists holds and erasures, and to who is limited only what is of their sources', async () => {
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
