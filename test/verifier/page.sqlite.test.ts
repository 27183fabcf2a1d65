// On SQLite alone: it is about the page in a browser.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zipSync } from 'fflate';
import type { Browser, Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { openBrowser } from '../http/pages/browser.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesOf, packOf } from './pack-world.ts';

let files: Map<string, Buffer>;
let zip: Buffer;
let verifierKey: string;
let folder: string;
let browser: Browser;

beforeEach(async () => {
  ({ zip, verifierKey } = await packOf());
  files = filesOf(zip);
  folder = await temporaryFolder();
  await writeFile(join(folder, 'verify.html'), files.get('verify.html') ?? '');
  browser = await openBrowser();
});

/** The page as its reader opens it: a file, offline. */
async function openPage(before = ''): Promise<{ page: Page; requests: string[] }> {
  const window = await browser.newContext({ offline: true });
  const page = await window.newPage();
  page.setDefaultTimeout(60_000);
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

test('the page shows a pack green, record by record, without any request but itself', async () => {
  const { page, requests } = await openPage();
  await page.locator('#key').fill(verifierKey);
  expect(await verdictOn(page, 'pack.zip', zip)).toBe('Nothing was changed.');
  const lines = await page.locator('#checks li').allInnerTexts();
  expect(lines.join('\n')).toContain('Entry 1');
  expect(await page.locator('#checks .bad').count()).toBe(0);
  expect(requests).toEqual([pathToFileURL(join(folder, 'verify.html')).href]);
});

test('the page names the file or the record that was changed', async () => {
  const { page } = await openPage();
  for (const [name, place, words] of [
    ['letter.pdf', 700, 'letter.pdf was changed: its content is not the one in the manifest'],
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

test('the page comes to the same results in a browser whose WebCrypto lacks Ed25519, and without WebCrypto', async () => {
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

test('the page checks a letter that was taken out, with the manifest and its proof beside it', async () => {
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
