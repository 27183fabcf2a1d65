import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rules } from '../../src/http/rules.ts';
import { cliPath } from '../serving.ts';
import { openBrowser, violations } from './pages/browser.ts';

/** Addresses that are not pages: a file, a stream, a response for machines, or a sign-in step that redirects. */
const noPages = [
  /^\/(api|assets|metrics|healthz|readyz|mcp|openapi\.json|calendar|jobs)\b/,
  /\/(download|file|template|proof|tlog-proof)$/,
  /^\/evidence\/checkpoint$/,
  /^\/sign-in\/sso/,
];
const patterns = Object.keys(rules)
  .flatMap((route) => (route.startsWith('GET ') ? [route.slice(4)] : []))
  .filter((path) => !noPages.some((one) => one.test(path)))
  // Fixed addresses before those with a parameter, as the router matches them.
  .sort((a, b) => a.split(':').length - b.split(':').length);

function patternOf(path: string): string | null {
  return (
    patterns.find((pattern) =>
      new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path.split('?')[0] ?? ''),
    ) ?? null
  );
}

/** Number of pages to check for each address with a parameter, since cases differ. */
const EACH = 4;

/** The folder for screenshots of all pages: PICTURES, or one that is removed. */
const pictures = () => process.env['PICTURES'] ?? folder;

let folder: string;
let demo: ReturnType<typeof spawn>;
let signIn: { url: string; email: string; password: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-pages-'));
  demo = spawn(process.execPath, [cliPath, 'demo', '--folder', join(folder, 'demo')], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let url = '';
  for await (const line of createInterface({ input: demo.stdout ?? process.stdin })) {
    url = /http:\S+sign-in/.exec(line)?.[0] ?? url;
    const [, email, password] = /^ +(\S+@demo\.example) +(\S+)/.exec(line) ?? [];
    if (email === undefined || password === undefined) continue;
    signIn = { url, email, password };
    break;
  }
}, 120_000);
afterAll(async () => {
  demo.kill('SIGTERM');
  await once(demo, 'close');
  await rm(folder, { recursive: true, force: true });
});

/** The faults of the open page, for people and for machines. */
async function faultsOn(page: Page, name: string): Promise<readonly string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const found = await violations(page, { tags });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const headings = await page.locator('h1').count();
  return [
    ...found.map((fault) => `${name}: ${fault}`),
    ...(wide > 0 ? [`${name}: ${wide} px wider than the window`] : []),
    ...(headings === 1 ? [] : [`${name}: ${headings} headings of level 1`]),
  ];
}

async function openSignedIn(browser: Browser, options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(signIn.url);
  await page.getByLabel('E-mail').fill(signIn.email);
  await page.getByLabel('Password').fill(signIn.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  return page;
}

/** Checks the open page in five window sizes. */
async function look(page: Page, name: string): Promise<readonly string[]> {
  const file = name.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '') || 'today';
  const faults: string[] = [];
  for (const [width, colorScheme] of [
    [1280, 'dark'],
    [640, 'light'],
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    faults.push(...(await faultsOn(page, `${name} ${width} ${colorScheme}`)));
    await page.screenshot({ path: join(pictures(), `${file}-${width}-${colorScheme}.png`), fullPage: true });
  }
  return faults;
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** The steps to pages without a link. Each ends on the page. */
const actions: Readonly<Record<string, (page: Page, origin: string) => Promise<void>>> = {
  'a source being set up': async (page, origin) => {
    await page.goto(`${origin}/sources/new`);
    await page.locator('#name').fill('Third client');
    await press(page, 'Add the source');
    await page.waitForURL('**/set-up');
  },
  'a letter': async (page, origin) => {
    await page.goto(`${origin}/cases`);
    await page.locator('main table a[href^="/cases/"]').first().click();
    await press(page, 'Write letter');
    await page.waitForURL('**/letter?**');
  },
  'a list of policies that was sent': async (page, origin) => {
    await page.goto(`${origin}/policies/bulk`);
    const list = 'policy_type,jurisdiction\nprivacy-policy,GB\ncookie-policy,DE\n';
    await page.locator('#file').setInputFiles({ name: 'clients.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
    await press(page, 'Send the file');
    await page.waitForURL('**/policies/bulk/plan?**');
    await page.getByText('2 created').waitFor();
  },
  'what an erasure takes': async (page, origin) => {
    await page.goto(`${origin}/settings/erasures`);
    await page.locator('summary', { hasText: 'Single entries' }).click();
    await page.getByLabel('Numbers').fill('20-24');
    await page.locator('details[open] button').click();
    await page.getByRole('heading', { level: 1, name: 'What would be erased' }).waitFor();
  },
  'an erasure': async (page) => {
    await page.getByLabel('Why').selectOption('mistake');
    await page.getByLabel('Law that applies').selectOption('eu-gdpr');
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await press(page, 'Erase for good');
    await page.getByRole('link', { name: 'PDF for the requester' }).waitFor();
  },
  'the answer to a look-up': async (page, origin) => {
    await page.goto(`${origin}/consent/contradictions`);
    await press(page, 'Look up');
    await page.getByRole('heading', { level: 1, name: 'Consent look-up' }).waitFor();
  },
  'what a list of sources would do': async (page, origin) => {
    await page.goto(`${origin}/sources/import`);
    const list = 'slug,name\nfourth,Fourth client\nBad slug,\n';
    await page.locator('#file').setInputFiles({ name: 'sources.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
    await press(page, 'Check the file');
    await page.getByRole('heading', { level: 2, name: '1 problem' }).waitFor();
  },
  'a source that was offboarded': async (page, origin) => {
    await page.goto(`${origin}/sources/third-client/offboard`);
    await page.getByLabel('Short name of the source').fill('third-client');
    await press(page, 'Offboard');
    await page.getByText('has been offboarded').waitFor();
  },
  'a verification': async (page, origin) => {
    await page.goto(`${origin}/evidence`);
    await press(page, 'Verify now');
    await page.getByText('Sound.').waitFor();
  },
  'a file that was checked': async (page, origin) => {
    await page.goto(`${origin}/documents/check`);
    await page
      .locator('#file')
      .setInputFiles({ name: 'a.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF') });
    await press(page, 'Check');
    await page.getByText('a.pdf').first().waitFor();
  },
  'a late form that is no longer kept': async (page, origin) => {
    await page.goto(`${origin}/unsent-form?page=%2Fcases`);
    await page.getByRole('link', { name: 'Continue to its page' }).waitFor();
  },
  'an invalid link to confirm an address': async (page, origin) => {
    await page.goto(`${origin}/account/address?token=unknown`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
  // Today leads there while a reading waits for somebody's agreement.
  'records that would be read differently': async (page, origin) => {
    await page.goto(`${origin}/readings`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
  'a deadline': async (page, origin) => {
    await page.goto(`${origin}/deadline`);
    await press(page, 'Compute');
    await page.getByText('Legal limit').first().waitFor();
  },
};

it('every page can be reached from Today, says where it is, fits a phone, and is accessible', async () => {
  const browser = await openBrowser();
  const page = await openSignedIn(browser, { viewport: { width: 1280, height: 900 } });
  const origin = new URL(signIn.url).origin;
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    // A form returned with its problems marked is expected, as is an invalid link.
    const expected = message.text().includes('status of 422') || page.url().endsWith('?token=unknown');
    if (message.type() === 'error' && !expected) faults.push(`${page.url()}: ${message.text()}`);
  });
  const seen = new Map<string, string[]>();
  const titles = new Map<string, string>();
  const note = async (pattern: string, path: string) => {
    seen.set(pattern, [...(seen.get(pattern) ?? []), path]);
    const title = await page.title();
    const before = titles.get(title) ?? pattern;
    if (before !== pattern) faults.push(`${path}: has the title of ${before}: ${title}`);
    titles.set(title, pattern);
  };
  for (const [name, act] of Object.entries(actions)) {
    await act(page, origin);
    const { pathname } = new URL(page.url());
    const pattern = patternOf(pathname);
    if (pattern !== null && !seen.has(pattern)) await note(pattern, pathname);
    faults.push(...(await look(page, name)));
  }
  const waiting = ['/'];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const pattern = patternOf(path);
    const visited = seen.get(pattern ?? '') ?? [];
    if (pattern === null || visited.includes(path) || visited.length >= (pattern.includes(':') ? EACH : 1)) continue;
    const answer = await page.goto(origin + path);
    if (!(answer?.ok() ?? false)) faults.push(`${path}: status ${answer?.status()}`);
    await note(pattern, path);
    faults.push(...(await look(page, path)));
    const links = await page
      .locator('a[href^="/"]:not([download])')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    waiting.push(...links.flatMap((link) => (link === null ? [] : [link.split('#')[0] ?? ''])));
  }
  const outside = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  for (const path of ['/sign-in', '/join?token=unknown', '/signed-out']) {
    await outside.goto(origin + path);
    seen.set(patternOf(path) ?? '', [path]);
    faults.push(...(await look(outside, path)));
  }
  const missed = patterns.filter((pattern) => !seen.has(pattern));
  expect({ faults, missed }).toEqual({ faults: [], missed: [] });
}, 900_000);

it('essential functions work without scripts', async () => {
  const browser = await openBrowser();
  const page = await openSignedIn(browser, { javaScriptEnabled: false });
  const origin = new URL(signIn.url).origin;
  await page.goto(`${origin}/cases`);
  await page.locator('main a[href^="/cases/"]').first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.goto(`${origin}/consent`);
  await page.locator('#identifier').fill('visitor-1');
  await page.getByRole('button', { name: /look/i }).first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.locator('main').innerText()).toMatch(/No consent record matches|State/);
}, 60_000);
