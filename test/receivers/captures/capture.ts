import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page, type Route } from 'playwright-core';
import type { Capture } from './fixtures.ts';
import { expectationOf, FIRST, folderOf, LATER, type Platform, SITE } from './platforms.ts';

const run = promisify(execFile);

/** Every request is answered in this process: none leaves the browser, not even for loopback. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND',
];
const mediaTypes: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css' };

/**
 * Installs the packages in a temporary folder, opens a browser, and lets `use` capture one platform after another. Both
 * are gone when it ends.
 */
export async function withCapturing<Result>(
  platforms: readonly Platform[],
  use: (capture: (platform: Platform) => Promise<readonly Capture[]>) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'captures-'));
  let browser: Browser | undefined;
  try {
    await install(folder, platforms);
    const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
    const opened = await chromium.launch({ executablePath, args: quiet });
    browser = opened;
    return await use((platform) => capturesOf(opened, folder, platform));
  } finally {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Two versions of a package fit beside each other, since each is installed under its own name. Their scripts are not run. */
async function install(folder: string, platforms: readonly Platform[]): Promise<void> {
  const dependencies = Object.fromEntries(
    platforms.flatMap((platform) => [
      [folderOf(platform), `npm:${platform.package}@${platform.version}`],
      ...Object.entries(platform.beside ?? {}),
    ]),
  );
  const overrides = Object.fromEntries(platforms.flatMap((platform) => Object.entries(platform.overrides ?? {})));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  await run('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd: folder });
}

async function capturesOf(browser: Browser, folder: string, platform: Platform): Promise<readonly Capture[]> {
  const html = await pageOf(folder, platform);
  // Visitors mostly wait; each has a profile of its own.
  const visits = Object.entries(platform.scenarios).map(async ([name, scenario]) => {
    const { means, steps, query } = scenario;
    const payloads = await visit(browser, folder, platform, html, steps, query ?? '');
    return payloads.map(([form, payload]): Capture => {
      return { scenario: name, form, means, payload, expect: expectationOf(platform, scenario, form) };
    });
  });
  return (await Promise.all(visits)).flat();
}

/** One visitor with a fresh browser profile, and what each form then says. */
async function visit(
  browser: Browser,
  folder: string,
  platform: Platform,
  html: string,
  steps: readonly string[],
  query: string,
): Promise<readonly (readonly [form: string, payload: unknown])[]> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', userAgent: 'Mozilla/5.0 (example)' });
  try {
    context.setDefaultTimeout(30_000);
    await context.clock.setFixedTime(FIRST);
    await context.addInitScript({ content: visitorScript });
    const sent: string[] = [];
    await context.route('**/*', (route) => answer(route, folder, platform, html, sent));
    const page = await context.newPage();
    await page.goto(SITE + query);
    for (const step of steps) {
      await take(context, page, step).catch((error: unknown) => {
        throw new Error(`${folderOf(platform)}: ${step} of ${steps.join(', ')}`, { cause: error });
      });
    }
    await pause(page);
    const payloads: [string, unknown][] = [];
    for (const [form, { take: expression }] of Object.entries(platform.forms)) {
      const payload = await settled(page, expression, sent);
      if (payload !== null) payloads.push([form, payload]);
    }
    return payloads;
  } finally {
    await context.close();
  }
}

async function take(context: BrowserContext, page: Page, step: string): Promise<void> {
  await pause(page);
  if (step === 'later') {
    await context.clock.setFixedTime(LATER);
    await page.evaluate('sessionStorage.clear()');
    await page.reload();
  } else {
    await page.locator(step).first().click();
  }
}

/** Some banners listen, or send, only some time after they are drawn, and nothing tells when. */
async function pause(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.waitForTimeout(2000);
}

/** What an expression says, once it says the same twice in a row; null if it says nothing. */
async function settled(page: Page, expression: string, sent: readonly string[]): Promise<unknown> {
  let before: string | undefined;
  for (;;) {
    await page.waitForTimeout(300);
    const bodies = `[${sent.join(',')}]`;
    const now: string = await page.evaluate(`((sent) => JSON.stringify((${expression}) ?? null))(${bodies})`);
    if (now === before) return JSON.parse(now);
    before = now;
  }
}

async function pageOf(folder: string, platform: Platform): Promise<string> {
  const { page, module } = platform;
  let script = '';
  if (module !== undefined) {
    const { outputFiles } = await build({
      stdin: { contents: module.replaceAll('PACKAGE', folderOf(platform)), resolveDir: folder, loader: 'jsx' },
      bundle: true,
      write: false,
      format: 'iife',
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'error',
    });
    script = `<script>${(outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script')}</script>`;
  }
  const content = page.replaceAll('PACKAGE', `/node_modules/${folderOf(platform)}`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><body><h1>Shop</h1>${content}${script}`;
}

async function answer(route: Route, folder: string, platform: Platform, html: string, sent: string[]): Promise<void> {
  const request = route.request();
  const { pathname, origin } = new URL(request.url());
  const body = request.postData();
  if (body !== null && platform.sends !== undefined && request.url().includes(platform.sends)) sent.push(body);
  const reply = Object.entries(platform.replies ?? {}).find(([path]) => pathname.startsWith(path));
  if (reply !== undefined || body !== null) return route.fulfill({ json: reply?.[1] ?? {} });
  if (origin === new URL(SITE).origin && pathname.startsWith('/node_modules/')) {
    const bytes = await readFile(join(folder, pathname)).catch(() => null);
    if (bytes !== null) return route.fulfill({ body: bytes, contentType: mediaTypes[extname(pathname)] ?? '' });
  }
  if (request.resourceType() === 'document') return route.fulfill({ contentType: 'text/html', body: html });
  return route.fulfill({ status: 404, body: '' });
}

/**
 * Runs before the scripts of a page. What is random is the same in every run; a cookie lasts as long as the visit,
 * since the page's clock stands still and the browser's does not; `note` and `last` keep what a package reports, also
 * if it then reloads the page. Some packages do nothing for a browser that says it is controlled.
 */
const visitorScript = `
  Object.defineProperty(navigator, 'webdriver', { get: () => false });
  let seed = 1;
  Math.random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(Math.random() * 256);
    return array;
  };
  crypto.randomUUID = () => 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16));
  const jar = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
  Object.defineProperty(document, 'cookie', {
    configurable: true,
    get: () => jar.get.call(document),
    set: (text) => {
      const expires = /;\\s*expires=([^;]+)/i.exec(text);
      const lasting = expires === null || new Date(expires[1]) > new Date();
      jar.set.call(document, lasting ? text.replace(/;\\s*(expires|max-age)=[^;]+/gi, '') : text);
    },
  });
  window.note = (name, value) => sessionStorage.setItem('noted ' + name, JSON.stringify(value));
  window.last = (name) => JSON.parse(sessionStorage.getItem('noted ' + name));
  window.cookie = (name) => document.cookie.split('; ').find((one) => one.startsWith(name + '='))?.slice(name.length + 1);
`;
