// SQLite only: about the page in a browser.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { consentRecordText } from '../../reports/consent-record.ts';
import { letterLanguages } from '../../reports/letters/languages.ts';
import { pageIn, patterns } from '../../reports/verifier/languages.ts';
import { loadConsentRecord } from '../../src/consent/record.ts';
import { lastCheckpoint } from '../../src/documents/begin-document.ts';
import { createProver, receiptOf } from '../../src/ledger/prove-entry.ts';
import { archivesOf } from '../archives/archives.ts';
import type { OfficeWorld } from '../http/office-world.ts';
import { openBrowser, shareBrowser } from '../http/pages/browser.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { alter } from '../tampering.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { filesOf, packOf, sharePack, witnessedPack } from './pack-world.ts';

shareBrowser();
const shared = sharePack();

let files: Map<string, Buffer>;
let zip: Buffer;
let verifierKey: string;
let world: OfficeWorld;
let folder: string;

beforeAll(() => {
  ({ zip, verifierKey, world } = shared());
  files = filesOf(zip);
});
beforeEach(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'verify.html'), files.get('verify.html') ?? '');
});

/** The page as its reader opens it: a local file. */
async function openPage(before = ''): Promise<{ page: Page; requests: string[] }> {
  const window = await (await openBrowser()).newContext({ offline: true });
  onTestFinished(() => window.close());
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENTLY.timeout);
  if (before !== '') await page.addInitScript(before);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(join(folder, 'verify.html')).href);
  return { page, requests };
}

async function verdictOn(page: Page, name: string, content: Buffer): Promise<string> {
  await page.locator('#files').setInputFiles([]);
  await page.locator('#files').setInputFiles({ name, mimeType: 'application/zip', buffer: content });
  const verdict = page.locator('#verdict.ok, #verdict.bad');
  await verdict.waitFor();
  return (await verdict.textContent()) ?? '';
}

const zipOf = (changed: ReadonlyMap<string, Buffer>) =>
  Buffer.from(zipSync(Object.fromEntries([...changed].map(([name, content]) => [name, new Uint8Array(content)]))));

test('the page shows a pack green, record by record, and requests nothing but itself', async () => {
  const { page, requests } = await openPage();
  await page.locator('#key').fill(verifierKey);
  expect(await verdictOn(page, 'pack.zip', zip)).toBe('Nothing was changed.');
  const lines = await page.locator('#checks li').allInnerTexts();
  expect(lines.join('\n')).toContain('Entry 1');
  expect(await page.locator('#checks .bad').count()).toBe(0);
  expect(requests).toEqual([pathToFileURL(join(folder, 'verify.html')).href]);
});

test('the page speaks the language of the pack’s letter: verdict, every check, and the faults that people meet', async () => {
  for (const [language, good, bad, names] of [
    ['de', 'Nichts wurde verändert.', 'Nicht wie versiegelt', ['Prüfschlüssel', 'Dateien', 'Eintrag 1', 'Anfrage: ']],
    ['pl', 'Niczego nie zmieniono.', 'Niezgodne', ['Klucz weryfikujący', 'Pliki', 'Wpis 1', 'żądanie: ']],
  ] as const) {
    const pack = await packOf(undefined, 'DE', language);
    const inside = filesOf(pack.zip);
    await writeFile(join(folder, 'verify.html'), inside.get('verify.html') ?? '');
    const { page, requests } = await openPage();
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    expect(await verdictOn(page, 'pack.zip', pack.zip)).toBe(good);
    const shown = (await page.locator('#checks li').allInnerTexts()).join('\n');
    for (const name of names) expect(shown).toContain(name);
    // Nothing is left in English.
    expect(await page.locator('#checks [lang=en]').allInnerTexts()).toEqual([]);
    expect(await page.locator('main').innerText()).not.toMatch(/ (?:the|was|with|of|from|and) /);
    await page.locator('#key').fill(pack.verifierKey);
    expect(await verdictOn(page, 'pack.zip', pack.zip)).toBe(good);
    const picture = process.env['PICTURES'];
    if (picture !== undefined)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: join(picture, `verify-${language}-${width}.png`), fullPage: true });
      }
    const changes: [string, (content: Buffer) => Buffer | null][] = [
      ['letter.pdf', (content) => Buffer.concat([content, Buffer.from('x')])],
      ['decisions.csv', () => null],
      ['proofs/3.body', (content) => Buffer.concat([content, Buffer.from(' ')])],
      ['proofs/1.tlog-proof', () => null],
      ['added.txt', () => Buffer.from('added')],
    ];
    for (const [name, change] of changes) {
      const changed = new Map(inside);
      const content = change(inside.get(name) ?? Buffer.alloc(0));
      if (content === null) changed.delete(name);
      else changed.set(name, content);
      expect(await verdictOn(page, 'pack.zip', zipOf(changed))).toContain(bad);
      expect([name, await page.locator('#checks .bad').count()]).not.toEqual([name, 0]);
      expect([name, await page.locator('#checks [lang=en]').allInnerTexts()]).toEqual([name, []]);
    }
    for (const broken of [pack.zip.subarray(0, pack.zip.length - 40), Buffer.concat([pack.zip, pack.zip])]) {
      expect(await verdictOn(page, 'pack.zip', broken)).toContain(bad);
      expect(await page.locator('#checks [lang=en]').count()).toBe(0);
    }
    expect(requests).toEqual([pathToFileURL(join(folder, 'verify.html')).href]);
  }
});

test('the page says which witnesses signed, in the language of the letter, and judges them by the policy that its reader writes into it', async () => {
  const pack = await witnessedPack('de', ['ml-dsa-44']);
  await writeFile(join(folder, 'verify.html'), filesOf(pack.zip).get('verify.html') ?? '');
  const { page, requests } = await openPage();
  await page.locator('#key').fill(pack.verifierKey);
  expect(await verdictOn(page, 'pack.zip', pack.zip)).toBe('Nichts wurde verändert.');
  const shown = (await page.locator('#checks').innerText()).replaceAll(/\s+/g, ' ');
  for (const words of [
    'Zeugen',
    'auch signiert: first (20',
    'Darunter: Eintrag 1, 3, 4',
    'Zeitstempel',
    'bestand der Prüfpunkt',
  ])
    expect(shown).toContain(words);
  expect(await page.locator('#checks [lang=en]').allInnerTexts()).toEqual([]);
  await page.locator('summary').click();
  const judge = async (policy: string) => {
    await page.locator('#policy').fill(policy);
    await page.locator('#policy').blur();
    await page.locator('#verdict.ok, #verdict.bad').waitFor();
    return (await page.locator('#verdict').textContent()) ?? '';
  };
  expect(await judge(`witness mine ${pack.key}\nquorum mine`)).toBe('Nichts wurde verändert.');
  expect(await page.locator('#checks .ok').allInnerTexts()).toContainEqual(
    expect.stringContaining('wie Ihre Richtlinie verlangt, auch signiert: mine (20'),
  );
  const picture = process.env['PICTURES'];
  if (picture !== undefined)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(picture, `verify-policy-${width}.png`), fullPage: true });
    }
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  const stranger = (await startWitness('witness.example/9', pack.verifierKey)).split(' ')[0] ?? '';
  expect(await judge(`witness other ${stranger}\nquorum other\n`)).toContain('Nicht wie versiegelt');
  expect(await judge('witness other\n')).toContain('Nicht wie versiegelt');
  expect(await judge('  \n')).toBe('Nichts wurde verändert.');
  expect(requests).toEqual([pathToFileURL(join(folder, 'verify.html')).href]);
});

test('the page shows the result for what was written last, even if an earlier check takes longer', async () => {
  const { page } = await openPage(
    'const old = Blob.prototype.arrayBuffer; let count = 0; Blob.prototype.arrayBuffer = async function () { count += 1; if (count === 2) await new Promise((go) => { window.go = go; }); return old.call(this); };',
  );
  expect(await verdictOn(page, 'pack.zip', zip)).toBe('Nothing was changed.');
  const give = async (key: string) => {
    await page.locator('#key').fill(key);
    await page.locator('#key').blur();
  };
  await give('not-a-key');
  await page.locator('#verdict.working').waitFor();
  await give(verifierKey);
  await page.locator('#verdict.ok').waitFor();
  await page.evaluate(() => {
    const seen: string[] = [];
    const verdict = document.getElementById('verdict') as unknown as { className: string };
    new MutationObserver(() => seen.push(verdict.className)).observe(verdict as never, { attributes: true });
    Object.assign(globalThis, { seen });
    (globalThis as unknown as { go: () => void }).go();
  });
  // The earlier check ends before this one.
  expect(await verdictOn(page, 'pack.zip', zip)).toBe('Nothing was changed.');
  expect(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)).toEqual(['working', 'ok']);
  await give(`${verifierKey}x`);
  await page.locator('#verdict.bad').waitFor();
});

test('the page exists in every language of the letters, with a text for each known detail', () => {
  const frame = readFileSync(new URL('../../reports/verifier/verify.html', import.meta.url), 'utf8');
  for (const language of Object.keys(letterLanguages)) {
    const html = pageIn(frame, language);
    expect(html).toContain(`<html lang="${language}">`);
    expect(html).not.toContain('{{');
    const json = /<script id="words" type="application\/json">(.*)<\/script>/.exec(html)?.[1] ?? '{}';
    const { details } = JSON.parse(json) as { details: [string, string][] };
    if (language === 'en') continue;
    expect(details.map(([pattern]) => pattern)).toEqual([...patterns]);
    for (const [pattern, text] of details) {
      // Each group occurs in the translation.
      const groups = new RegExp(`${pattern}|`).exec('')?.slice(1).length ?? 0;
      for (let group = 1; group <= groups; group += 1)
        expect([language, text]).toEqual([language, expect.stringContaining(`$${group}`)]);
    }
  }
  expect(pageIn(frame, 'xx')).toContain('<html lang="en">');
});

test('the page names the changed file or record', async () => {
  const { page } = await openPage();
  for (const [name, place, words] of [
    ['letter.pdf', 700, 'letter.pdf was changed: its content does not match the manifest'],
    ['proofs/3.body', 5, 'Entry 3 its content is not what was sealed'],
    ['proofs/3.tlog-proof', 60, 'Entry 3'],
    ['manifest.json', 20, 'manifest.json'],
    ['verify.html', 300, 'verify.html was changed'],
    ['log.vkey', 5, 'log.vkey'],
  ] as const) {
    const changed = Buffer.from(files.get(name) ?? '');
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(await verdictOn(page, 'pack.zip', zipOf(new Map([...files, [name, changed]])))).toMatch(
      /^Not as it was sealed: \d+ faults?\.$/,
    );
    expect((await page.locator('#checks .bad').allInnerTexts()).join('\n').replaceAll(/\s+/g, ' ')).toContain(words);
  }
  expect(await verdictOn(page, 'pack.zip', zip.subarray(0, zip.length - 40))).toMatch(/^Not as it was sealed/);
  expect(await verdictOn(page, 'picture.png', Buffer.from('PKx'))).toMatch(/^Not as it was sealed/);
});

test('the page judges every archive by what every program would show of it', async () => {
  const archives = archivesOf(files, zip);
  const { page } = await openPage();
  const verdicts: Record<string, boolean> = {};
  for (const { what, bytes } of archives)
    verdicts[what] = (await verdictOn(page, 'pack.zip', bytes)) === 'Nothing was changed.';
  expect(verdicts).toEqual(Object.fromEntries(archives.map(({ what, isGenuine }) => [what, isGenuine])));
  const twice = archives.find(({ what }) => what === 'followed by an altered copy');
  await verdictOn(page, 'pack.zip', twice?.bytes ?? Buffer.of());
  expect(await page.locator('#checks').innerText()).toContain('programs could show different files of it');
  const picture = process.env['PICTURES'];
  if (picture !== undefined) await page.screenshot({ path: join(picture, 'verify-archive.png'), fullPage: true });
});

test('the page gives the same results in a browser whose WebCrypto lacks Ed25519, and without WebCrypto', async () => {
  for (const before of [
    'const old = crypto.subtle.importKey; crypto.subtle.importKey = (...a) => a[2]?.name === "Ed25519" ? Promise.reject(new DOMException("", "NotSupportedError")) : old.apply(crypto.subtle, a);',
    'Object.defineProperty(crypto, "subtle", { value: undefined });',
  ]) {
    const { page } = await openPage(before);
    expect(await verdictOn(page, 'pack.zip', zip)).toBe('Nothing was changed.');
    const changed = Buffer.from(files.get('proofs/1.body') ?? '');
    changed[3] = (changed[3] ?? 0) ^ 1;
    expect(await verdictOn(page, 'pack.zip', zipOf(new Map([...files, ['proofs/1.body', changed]])))).toMatch(
      /1 fault\.$/,
    );
  }
});

test('the page checks a letter taken out of the pack, with the manifest and its proof next to it', async () => {
  const { page } = await openPage();
  const some = [
    'letter.pdf',
    'manifest.json',
    'log.vkey',
    'proofs/manifest.tlog-proof',
    'proofs/manifest.meta',
    'proofs/manifest.body',
  ];
  const chosen = some.map((name) => ({
    name: name.split('/').pop() ?? '',
    mimeType: 'text/plain',
    buffer: files.get(name) ?? Buffer.of(),
  }));
  await page.locator('#files').setInputFiles(chosen);
  await page.locator('#verdict.ok').waitFor();
  expect(await page.locator('#checks').innerText()).toMatch(/2 of \d+ files .* letter\.pdf/);
});

test('the page refuses two different files of one name, of which it could check only one', async () => {
  const { page } = await openPage();
  const take = (name: string) => new Uint8Array(files.get(name) ?? Buffer.of());
  const seq = Number(/\nindex (\d+)\n/.exec(String(files.get('proofs/manifest.tlog-proof')))?.[1]) + 1;
  const proof = ['tlog-proof', 'meta', 'body'].map(
    (ending) => [`proofs/${seq}.${ending}`, take(`proofs/manifest.${ending}`)] as const,
  );
  const bundle = { 'log.vkey': take('log.vkey'), 'letter.pdf': take('letter.pdf'), ...Object.fromEntries(proof) };
  for (const [letter, verdict] of [
    [files.get('letter.pdf') ?? Buffer.of(), '.ok'],
    [Buffer.from('forged'), '.bad'],
  ] as const) {
    await page.locator('#files').setInputFiles([]);
    await page.locator('#files').setInputFiles([
      { name: 'letter.pdf', mimeType: 'application/pdf', buffer: letter },
      { name: 'evidence.zip', mimeType: 'application/zip', buffer: Buffer.from(zipSync(bundle)) },
    ]);
    await page.locator(`#verdict${verdict}`).waitFor();
  }
});

/** The page's verdict and lines for files that are chosen together. */
async function saidOf(page: Page, given: Readonly<Record<string, string>>): Promise<{ ok: boolean; lines: string }> {
  const chosen = Object.entries(given).map(([name, text]) => ({
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(text),
  }));
  await page.locator('#files').setInputFiles([]);
  await page.locator('#files').setInputFiles(chosen);
  await page.locator('#verdict.ok, #verdict.bad').waitFor();
  const lines = (await page.locator('#checks').innerText()).replaceAll(/\s+/g, ' ');
  return { ok: (await page.locator('#verdict.ok').count()) === 1, lines };
}

test('the page shows the receipt of an entry green, with the sent bytes next to it, and red after a change of either', async () => {
  const { context } = world;
  await context.seal();
  const proof = await createProver(context)(1, 'last');
  if (proof.outcome === 'unproven' || proof.inclusion === null) throw new Error(JSON.stringify(proof));
  const receipt = receiptOf(context, proof.entry, proof.inclusion, true);
  const sent = String(proof.entry.body);
  const { page } = await openPage();
  await page.locator('#key').fill(verifierKey);
  const given = (changes: object) => ({ 'receipt.json': JSON.stringify({ ...receipt, ...changes }) });
  const green = await saidOf(page, { ...given({}), sent });
  expect(green).toMatchObject({ ok: true });
  expect(green.lines).toContain('is byte for byte what was received as entry 1');
  expect(await saidOf(page, { ...given({}), sent: sent.replace('true', 'false') })).toMatchObject({ ok: false });
  for (const changes of [
    { received: '2020-01-01T00:00:00.000Z' },
    { source: 'other' },
    { kind: 'action' },
    { leaf_hash: '00'.repeat(32) },
    { instance: 'ffffffffff' },
    { epoch: 2 },
    { entry: 2 },
    { commitment: '00'.repeat(32) },
    { tlog_proof: receipt.tlog_proof.replace(/index 0/, 'index 1') },
    { tlog_proof: receipt.tlog_proof.replace(/.(?=\n*$)/, '') },
  ]) {
    expect(await saidOf(page, given(changes)), JSON.stringify(changes)).toMatchObject({ ok: false });
    // A sound receipt of the same entry beside it proves only itself.
    const together = { 'a.json': given({})['receipt.json'], ...given(changes) };
    expect(await saidOf(page, together), JSON.stringify(changes)).toMatchObject({ ok: false });
  }
  expect(await saidOf(page, { 'a.json': given({})['receipt.json'], ...given({}), sent })).toMatchObject({ ok: true });
});

test('the page shows a consent record with its proofs green, and red after any change of its text', async () => {
  const { context } = world;
  const asOf = await context.projector.catchUp();
  await context.seal();
  const found = await loadConsentRecord(context, {
    ...{ source: 'default', id: 'c-1', asOf, actor: 'Olga' },
    profile: await context.loadProfile(context.sources.findAny('default')),
    checkpoint: await lastCheckpoint(context.documents, asOf),
  });
  if (found.outcome !== 'found') throw new Error(JSON.stringify(found));
  const record = consentRecordText(found.record);
  const { page } = await openPage();
  await page.locator('#key').fill(verifierKey);
  const green = await saidOf(page, { 'record.json': record });
  expect(green).toMatchObject({ ok: true });
  expect(green.lines).toContain('Entry 1');
  for (const [what, by] of [
    [/"commitment": "[0-9a-f]{4}/, '"commitment": "0000'],
    [/"received": "20\d\d/, '"received": "1999'],
    [/"tlog_proof": "[^"]{40}/, '"tlog_proof": "'],
    [/"entry": 1\b/, '"entry": 2'],
    [/"title": "analytics"/, '"title": "marketing"'],
    [/dpv:ConsentGiven/g, 'dpv:ConsentRefused'],
    [/"event_time": "20\d\d/, '"event_time": "1999'],
    [/"jurisdiction": /, '"jurisdiction": "EU", "jurisdiction": '],
    [/"record_id": "/, '"record_id": "x'],
    [/"texts": \[/, '"texts": [ '],
    [/"limits": \[/, '"limits": ["All of this is proven.",'],
    [/"seal": \{[\s\S]*?\n {4}\}/, '"seal": null'],
    [/"salt": "../, '"salt": "zz'],
    [/\\"actor\\":/, '\\"actor\\": '],
  ] as const) {
    expect(record).toMatch(what);
    expect(await saidOf(page, { 'record.json': record.replace(what, by) }), String(what)).toMatchObject({ ok: false });
  }
});

test('the page says plainly which entry of a pack was erased, and shows the rest green', async () => {
  const erased = await packOf(async ({ context }) => {
    await alter(context.config.dataDir, 'update entries set meta = null, body = null, salt = null where seq = 1');
  });
  const { page } = await openPage();
  expect(await verdictOn(page, 'pack.zip', erased.zip)).toBe('Nothing was changed.');
  const lines = (await page.locator('#checks').innerText()).replaceAll(/\s+/g, ' ');
  expect(lines).toMatch(/Entry 1 .*its content was erased/);
});
