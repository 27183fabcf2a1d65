import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { consentAudit } from '../../reports/consent-audit.ts';
import type { DsarPackInput } from '../../reports/dsar-pack/gather.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';
import { pdfText, zipFile, zipNames } from './files.ts';
import { produceDsarPack } from './whole-pack.ts';
import { collect, decision, ledgerEntry, openWorld, packInput, policyChange, textLook, type World } from './world.ts';

const own = 'subject-own';
const page = (words: string) =>
  Buffer.from(
    `<!doctype html><html><body><h1>Cookies</h1><p>${words} <a href="/x?token=SECRET">more</a></p></body></html>`,
  );
const visible = (words: string) => `# Cookies\n${words} more </x>`;
const [first, second] = [
  sha256Hex(Buffer.from(visible('We set one.'))),
  sha256Hex(Buffer.from(visible('We set two.'))),
];
let world: World;

beforeEach(async () => {
  world = await openWorld();
  const of = (policyId: string | null) => ({ subject: own, policy_id: policyId });
  await world.insert('decision_history', [
    decision(11, '2026-06-03T10:00:00.000Z', of('pol-1')),
    decision(12, '2026-06-10T10:00:00.000Z', of('pol-1')),
    decision(13, '2026-06-20T10:00:00.000Z', of('pol-1')),
    decision(14, '2026-06-20T11:00:00.000Z', of('pol-2')),
    decision(15, '2026-06-20T12:00:00.000Z', of('pol-3')),
    decision(16, '2026-06-20T13:00:00.000Z', of(null)),
  ]);
  await world.insert('policy_history', [policyChange(1, '2026-01-01T00:00:00.000Z')]);
  await world.insert('snapshot_history', [
    textLook(20, '2026-05-01T00:00:00.000Z', first),
    textLook(21, '2026-06-05T00:00:00.000Z', first, { unchanged: 1, body_seq: 20 }),
    textLook(22, '2026-06-15T00:00:00.000Z', second),
    // Another policy, not yet fetched when the person decided; and the embed endpoint's text for the type.
    textLook(23, '2026-06-30T00:00:00.000Z', first, { target: 'hosted:pol-2', policy_id: 'pol-2' }),
    textLook(24, '2026-05-01T00:00:00.000Z', second, { target: 'embed:cookie-policy', policy_id: null }),
    textLook(25, '2026-05-01T00:00:00.000Z', second, { source: 'another-client' }),
  ]);
  await world.insert('entries', [ledgerEntry(20, page('We set one.')), ledgerEntry(22, page('We set two.'))]);
});
afterEach(() => world.close());

const pack = (changes: Partial<DsarPackInput> = {}) =>
  collect(produceDsarPack(packInput(world, { match: { status: 'from-device', subjects: [own] }, ...changes })));
const cited = (zip: Buffer) =>
  parse<Record<string, string>>(zipFile(zip, 'decisions.csv'), { bom: true, columns: true }).map((row) => [
    row['policy_text'],
    row['policy_text_sha256'],
    row['policy_text_entry'],
  ]);
const citations = [
  ['seen', first, '20'],
  ['changing', `${first} ${second}`, '20 22'],
  ['last-seen', second, '22'],
  ['not-yet-fetched', '', ''],
  ['never-fetched', '', ''],
  ['policy-not-stated', '', ''],
];

test('a pack says for each decision under which text it was made, and how certain that is', async () => {
  const zip = await pack();
  expect(cited(zip)).toEqual(citations);
  const { records } = JSON.parse(zipFile(zip, 'decisions.json').toString('utf8')) as {
    records: Record<string, unknown>[];
  };
  expect(records[0]).toMatchObject({ policy_text: 'seen', policy_text_sha256: first });
  const html = zipFile(zip, 'history.html').toString('utf8');
  for (const words of [
    'pol-1, version 3, text 1<',
    'pol-1, version 3, text 1 or 2<',
    'pol-1, version 3, text 2 (last one seen by then)<',
    'pol-2, version 3, text not fetched yet<',
    'pol-3, version 3, text not fetched<',
    first,
    second,
  ])
    expect(html).toContain(words);
});

test('a pack encloses the texts of that time to read, with the bytes that their hashes cover, and without tokens', async () => {
  const zip = await pack();
  const text = zipFile(zip, 'policy-texts.txt').toString('utf8').replaceAll('\r\n', '\n');
  expect(text).toContain('Text 1: public page of pol-1 (cookie-policy)');
  expect(text).toContain(visible('We set one.'));
  expect(text).toContain(visible('We set two.'));
  expect(text).toContain('Came between 5 June 2026');
  expect(text).toContain(first);
  expect(text).not.toContain('SECRET');
  const { texts } = JSON.parse(zipFile(zip, 'policies.json').toString('utf8')) as { texts: Record<string, unknown>[] };
  expect(texts.map(({ text: number, textSha256, target }) => [number, textSha256, target])).toEqual([
    [1, first, 'hosted:pol-1'],
    [2, second, 'hosted:pol-1'],
  ]);
  expect(pdfText(zipFile(zip, 'letter.pdf')).replaceAll(/\s+/g, ' ')).toContain(
    'policy-texts.txt: the texts of these policies as we fetched them',
  );
});

test('an erased text is named as erased, and keeps its hash', async () => {
  await world.store.transaction((tx) =>
    tx.query.updateTable('entries').set({ body: null, meta: null, salt: null }).where('seq', '=', 20).execute(),
  );
  const zip = await pack();
  const text = zipFile(zip, 'policy-texts.txt').toString('utf8');
  expect(text).toContain('The text was erased');
  expect(text).toContain(first);
  expect(text).not.toContain('We set one.');
  expect(cited(zip)).toEqual(citations);
});

test('fetches after asOf change nothing: the same pack has the same bytes', async () => {
  const before = await pack();
  await world.insert('snapshot_history', [
    textLook(1020, '2026-06-25T00:00:00.000Z', second),
    textLook(1021, '2026-06-12T00:00:00.000Z', first),
  ]);
  expect((await pack()).equals(before)).toBe(true);
  expect(cited(await pack({ asOf: 2000 }))[2]).toEqual(['seen', second, '22']);
});

test('no text is enclosed if nothing about a person is disclosed, or if none was fetched', async () => {
  expect(zipNames(await pack({ identity: { status: 'failed', how: null } }))).not.toContain('policy-texts.txt');
  const zip = await pack({ asOf: 19 });
  expect(zipNames(zip)).not.toContain('policy-texts.txt');
  expect(cited(zip).map(([known]) => known)).toEqual([
    ...Array.from({ length: 5 }, () => 'never-fetched'),
    'policy-not-stated',
  ]);
});

test('all texts of that time are enclosed if the decisions name no policy', async () => {
  await world.insert('decision_history', [
    decision(31, '2026-06-03T10:00:00.000Z', { subject: 'nameless', policy_id: null }),
  ]);
  const zip = await pack({ match: { status: 'from-device', subjects: ['nameless'] } });
  expect(cited(zip)).toEqual([['policy-not-stated', '', '']]);
  const text = zipFile(zip, 'policy-texts.txt').toString('utf8');
  expect(text).toContain('Text 1: embed endpoint, cookie-policy');
  expect(text).toContain('Text 2: public page of pol-1');
  expect(text).not.toContain('Text 3');
});

test('the rows of the consent audit cite the same texts', async () => {
  const csv = await collect(consentAudit.produce(world.input({ format: 'csv' })));
  const rows = parse<Record<string, string>>(csv, { bom: true, columns: true });
  expect(rows.map((row) => [row['policy_text'], row['policy_text_sha256'], row['policy_text_entry']])).toEqual(
    citations,
  );
});
