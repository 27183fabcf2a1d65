/** Takes the pictures of README.md and docs/ from a fresh demo: `npm run pictures` (needs a build, Chromium and pdftoppm). */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { writeThroughput } from './throughput.ts';

writeThroughput();
const root = join(import.meta.dirname, '..');
const images = join(root, 'docs', 'images');
const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-pictures-'));
const cli = join(root, 'dist/src/cli.js');
const demoFolder = ['--folder', join(folder, 'demo')];
const demo = spawn(process.execPath, [cli, 'demo', ...demoFolder], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const signIn = await findSignIn();
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
  const page = await browser.newPage({ viewport: { width: 1100, height: 1120 }, colorScheme: 'light' });
  await page.goto(signIn.url);
  await page.getByLabel('E-mail').fill(signIn.email);
  await page.getByLabel('Password').fill(signIn.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
  await page.screenshot({ path: join(images, 'today.png') });
  await page.goto(new URL('/cases?state=in-progress', signIn.url).href);
  await page.locator('main table a[href^="/cases/"]').first().click();
  await page.screenshot({ path: join(images, 'case.png') });
  await page.goto(new URL('/deliveries?event=consent.recorded&source=default', signIn.url).href);
  await page.locator('main table a[href^="/entries/"]').first().click();
  const [, visitor = ''] =
    /"visitor\w*": "([^"]+)"/i.exec(await page.locator('section:has(> #body)').innerText()) ?? [];
  await page.goto(new URL('/consent', signIn.url).href);
  await page.getByLabel('Visitor, e-mail or record').fill(visitor);
  await page.getByRole('button', { name: 'Look up', exact: true }).click();
  await page.getByRole('heading', { name: 'Consent at that time' }).waitFor();
  await page.screenshot({ path: join(images, 'look-up.png') });
  await verify(page, 'verified');
  // Changes a record, verifies, and ends with exit code 3.
  spawnSync(process.execPath, [cli, 'demo', 'tamper', ...demoFolder], { stdio: 'inherit' });
  await verify(page, 'tampered');
  await browser.close();
  const audit = join(folder, 'demo', 'consent-audit-default.pdf');
  const onlyPage2 = ['-f', '2', '-l', '2', '-singlefile', '-r', '80', '-png'];
  execFileSync('pdftoppm', [...onlyPage2, audit, join(images, 'audit')]);
} finally {
  demo.kill('SIGTERM');
  await new Promise((resolve) => demo.once('close', resolve));
  rmSync(folder, { recursive: true });
}

/** Verifies the ledger on the Evidence page and takes a picture of the result. */
async function verify(page: Page, name: string): Promise<void> {
  await page.goto(new URL('/evidence', page.url()).href);
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByRole('button', { name: 'Verify now' }).waitFor();
  await page.locator('section:has(> #verification)').screenshot({ path: join(images, `${name}.png`) });
}

/** The address and first account printed by the demo. */
async function findSignIn(): Promise<{ url: string; email: string; password: string }> {
  let url = '';
  for await (const line of createInterface({ input: demo.stdout })) {
    url = /http:\S+sign-in/.exec(line)?.[0] ?? url;
    const [, email, password] = /^ +(\S+@demo\.example) +(\S+)/.exec(line) ?? [];
    if (email !== undefined && password !== undefined) return { url, email, password };
  }
  throw new Error('The demo ended without printing a sign-in address.');
}
