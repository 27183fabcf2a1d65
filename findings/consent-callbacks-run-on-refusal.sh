#!/usr/bin/env bash
# vanilla-cookieconsent 2.9.2 and 3.1.0. Expected: `onAccept` (2.x), `onFirstConsent` and `onConsent` (3.x) run when the visitor consents.
# Seen: they also run when the visitor rejects all, with a record of the same form; only the list of categories is shorter. A log written from them counts every refusal as consent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock playwright-core@1.65.1 vanilla-cookieconsent@3.1.0 vanilla-cookieconsent-2@npm:vanilla-cookieconsent@2.9.2
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
  const three = await visit(`<link rel="stylesheet" href="/node_modules/vanilla-cookieconsent/dist/cookieconsent.css"><script src="/node_modules/vanilla-cookieconsent/dist/cookieconsent.umd.js"></script><script>
    window.ran = [];
    const note = (name) => ({ cookie: { categories } }) => ran.push([name, categories]);
    CookieConsent.run({ categories: { necessary: { readOnly: true }, analytics: {} }, onFirstConsent: note('onFirstConsent'), onConsent: note('onConsent'),
      language: { default: 'en', translations: { en: { consentModal: { title: 'Cookies', description: 'Cookies?', acceptAllBtn: 'Accept all', acceptNecessaryBtn: 'Reject all' }, preferencesModal: { sections: [] } } } } });
  </script>`, ['#cc-main [data-role=necessary]'], 'ran');
  const two = await visit(`<link rel="stylesheet" href="/node_modules/vanilla-cookieconsent-2/dist/cookieconsent.css"><script src="/node_modules/vanilla-cookieconsent-2/dist/cookieconsent.js"></script><script>
    window.ran = [];
    const block = (value, fixed) => ({ title: value, description: '', toggle: { value, enabled: fixed, readonly: fixed } });
    initCookieConsent().run({ current_lang: 'en', onAccept: ({ categories }) => ran.push(['onAccept', categories]),
      languages: { en: { consent_modal: { title: 'Cookies', description: 'Cookies?', primary_btn: { text: 'Accept all', role: 'accept_all' }, secondary_btn: { text: 'Reject all', role: 'accept_necessary' } }, settings_modal: { title: 'Settings', blocks: [block('necessary', true), block('analytics', false)] } } } });
  </script>`, ['#c-s-bn'], 'ran');
  console.log('after "Reject all", 3.1.0 ran', three, 'and 2.9.2 ran', two);
  assert.deepEqual(three, [['onFirstConsent', ['necessary']], ['onConsent', ['necessary']]]);
  assert.deepEqual(two, [['onAccept', ['necessary']]]);
} finally {
  await browser.close();
}
JS
node check.mjs
