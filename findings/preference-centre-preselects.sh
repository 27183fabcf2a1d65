#!/usr/bin/env bash
# cookiecraft 1.0.11. Expected: a category with `enabled: false` is off in the preference centre until the visitor turns it on, as its documentation ("opt-in only") says.
# Seen: analytics and marketing are on. A visitor who opens the settings and saves is recorded as having consented to both; the record is the same as that of a deliberate choice.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock playwright-core@1.65.1 cookiecraft@1.0.11
cat >check.mjs <<'JS'
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND'] });
/** A page whose requests are all answered here; clicks one selector after another, then evaluates an expression. */
async function visit(html, clicks, expression) {
  const context = await browser.newContext();
  await context.addInitScript("Object.defineProperty(navigator, 'webdriver', { get: () => false })");
  await context.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = pathname.startsWith('/node_modules/') ? await readFile(`.${pathname}`).catch(() => null) : null;
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: `<!doctype html><meta charset="utf-8"><body>${html}` });
    return file === null ? route.fulfill({ status: 404, body: '' }) : route.fulfill({ contentType: pathname.endsWith('.css') ? 'text/css' : 'text/javascript', body: file });
  });
  const page = await context.newPage();
  await page.goto('https://shop.example.com/');
  for (const selector of clicks) {
    await page.waitForTimeout(1500);
    await page.locator(selector).first().click();
  }
  await page.waitForTimeout(1000);
  const seen = JSON.parse(await page.evaluate(`JSON.stringify(${expression})`));
  await context.close();
  return seen;
}
try {
  const seen = await visit(`<link rel="stylesheet" href="/node_modules/cookiecraft/dist/cookiecraft.css"><script src="/node_modules/cookiecraft/dist/cookiecraft.min.js"></script><script>
    const category = (label, fixed) => ({ enabled: fixed, readOnly: fixed, label, description: '' });
    new CookieCraft.CookieConsent({ categories: { necessary: category('Necessary', true), analytics: category('Analytics', false), marketing: category('Marketing', false), preferences: category('Preferences', false) } }).init();
  </script>`, ['.cc-banner [data-action=customize]', '.cc-modal [data-action=save]'], 'JSON.parse(localStorage.getItem("cookiecraft_consent")).categories');
  console.log('saved without a change:', seen);
  assert.deepEqual(seen, { necessary: true, analytics: true, marketing: true, preferences: false });
} finally {
  await browser.close();
}
JS
node check.mjs
