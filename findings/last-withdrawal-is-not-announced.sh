#!/usr/bin/env bash
# tarteaucitronjs 1.34.0 with `dataLayer: true`. Expected: the last `tac_consent_update` of the data layer lists the vendors that are now allowed.
# Seen: nothing is pushed when none is left. After all vendors are denied one by one, the last entry still lists one as authorised.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock playwright-core@1.65.1 tarteaucitronjs@1.34.0
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
  const seen = await visit(`<script src="/node_modules/tarteaucitronjs/tarteaucitron.js"></script><script>
    window.dataLayer = [];
    tarteaucitron.init({ cookieName: 'tarteaucitron', orientation: 'bottom', highPrivacy: true, AcceptAllCta: true, DenyAllCta: true, showIcon: true, dataLayer: true });
    tarteaucitron.user.gtagUa = 'G-EXAMPLE';
    tarteaucitron.job = ['gtag', 'youtube'];
  </script>`, ['#tarteaucitronPersonalize2', '#tarteaucitronIcon', '#gtagDenied', '#youtubeDenied'],
  '{ cookie: document.cookie, pushed: dataLayer.filter(({ event }) => event === "tac_consent_update").map((one) => one.tacAuthorizedVendors) }');
  console.log(seen);
  assert.equal(seen.cookie, 'tarteaucitron=!gtag=false!youtube=false');
  assert.deepEqual(seen.pushed.at(-1), ['youtube']);
} finally {
  await browser.close();
}
JS
node check.mjs
