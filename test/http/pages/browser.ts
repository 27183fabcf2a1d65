import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { OfficeWorld } from '../../http/office-world.ts';
import { PATIENTLY } from '../../temporary.ts';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

const launch = () =>
  chromium.launch({ executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium', args: quiet });

let shared: Promise<Browser> | null = null;

/** The tests of the calling suite share one browser, each in a separate window. */
export function shareBrowser(): void {
  beforeAll(() => void (shared = launch()));
  afterAll(async () => {
    await (await shared)?.close();
    shared = null;
  });
}

/** Chromium as found by `npm test` (CHROMIUM_PATH, otherwise the distribution's): the shared one, otherwise ended with the test. */
export async function openBrowser(): Promise<Browser> {
  if (shared !== null) return shared;
  const browser = await launch();
  onTestFinished(() => browser.close());
  return browser;
}

const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let axeSource: string | null = null;

/** What `violations` looks for. */
interface Looked {
  /** Only rules with one of these tags, if any are given. */
  readonly tags?: readonly string[];
  /** Contrast takes axe two thirds of its time. */
  readonly contrast?: boolean;
}

/** The faults that axe finds on a page without frames. Loads axe once per page. */
export async function violations(page: Page, { tags = [], contrast = true }: Looked = {}): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("typeof axe === 'object'"))) {
    axeSource ??= readFileSync(axeScript, 'utf8');
    await page.evaluate(axeSource);
  }
  // Only what is read crosses to this process.
  const options = {
    resultTypes: ['violations'],
    ...(tags.length === 0 ? {} : { runOnly: tags }),
    ...(contrast ? {} : { rules: { 'color-contrast': { enabled: false } } }),
  };
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`);
}

/** A browser window in which an officer has signed in through a one-time link. */
export async function openOffice(
  world: OfficeWorld,
  options: { width?: number; height?: number; scripts?: boolean; officer?: string } = {},
): Promise<{ window: BrowserContext; page: Page }> {
  const { width = 1280, height = 900, scripts = true, officer = 'Olga Officer' } = options;
  const browser = await openBrowser();
  const window = await browser.newContext({
    viewport: { width, height },
    javaScriptEnabled: scripts,
    acceptDownloads: true,
  });
  onTestFinished(() => window.close());
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENTLY.timeout);
  await page.goto(`${world.adminUrl}/sign-in?token=${await world.link({ officer })}`);
  await page.getByRole('button', { name: /Sign in as/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  return { window, page };
}

/** Gives a window an authenticator that always confirms: passkeys are made and used without a prompt. */
export async function addAuthenticator(window: BrowserContext, page: Page): Promise<void> {
  const devtools = await window.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
