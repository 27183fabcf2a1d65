import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedForms } from '../../src/sandbox/dialect.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { NOON } from './sandbox-world.ts';

let browser: Browser;
let page: Page;
let sandbox: Sandbox;
/** A client's website: one page for every address. */
let html = '';
let site = '';
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
});

beforeAll(async () => {
  sandbox = createSandbox({ seed: 7, clock: () => NOON, clients: 1 });
  await sandbox.listen();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  page = await browser.newPage();
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await sandbox.close();
});

interface Shown {
  readonly text: string;
  readonly type: string | null;
  readonly theme: string | null;
  readonly id: string | null;
  /** Whether the content is directly after the script. */
  readonly behindScript: boolean;
}

const key = (): string => `data-site-key="${sandbox.clients[0]!.siteKey}"`;

/** Opens a page at `path` with these attributes on the script tag, and waits for the drawn content. */
async function show(path: string, attributes: string, settled = ':is(article, ul)'): Promise<Shown> {
  html = `<!doctype html><div id="here"></div><script src="${sandbox.siteUrl()}/embed.js" ${attributes}></script><p>after</p>`;
  await page.goto(`${site}${path}`);
  const target = page.locator('[data-service-policy]');
  await target.locator(settled).waitFor();
  return {
    text: await target.innerText(),
    type: await target.getAttribute('data-service-policy'),
    theme: await target.getAttribute('data-theme'),
    id: await target.getAttribute('id'),
    behindScript: await target.evaluate((element) => element.previousElementSibling?.tagName === 'SCRIPT'),
  };
}

describe('the embed script in a browser', () => {
  it('data-site-key alone: draws the hub of that client after the script, without a theme', async () => {
    const shown = await show('/', key());
    expect(shown).toMatchObject({ type: 'hub', theme: null, id: null, behindScript: true });
    expect(shown.text).toContain('Privacy Policy');
    expect(shown.text).toContain('Cookie Policy');
    const links = await page
      .locator('[data-service-policy] a')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    expect(links).toHaveLength(2);
    for (const link of links) expect((await fetch(link)).status).toBe(200);
  });

  it('no data-site-key: draws and requests nothing', async () => {
    html = `<!doctype html><script src="${sandbox.siteUrl()}/embed.js" data-policy="privacy-policy"></script><p>after</p>`;
    const asked: string[] = [];
    const note = (request: { url(): string }): unknown => asked.push(request.url());
    page.on('request', note);
    await page.goto(`${site}/`, { waitUntil: 'networkidle' });
    page.off('request', note);
    expect(await page.locator('[data-service-policy]').count()).toBe(0);
    expect(asked.filter((url) => url.includes('/api/embed/'))).toEqual([]);
    expect(asked.some((url) => url.endsWith('/embed.js'))).toBe(true);
  });

  it('an unknown data-site-key: says that nothing could be loaded', async () => {
    html = `<!doctype html><script src="${sandbox.siteUrl()}/embed.js" data-site-key="pk_nobody"></script>`;
    await page.goto(`${site}/`);
    await page.getByText('could not be loaded').waitFor();
    expect(await page.locator('[data-service-policy]').innerText()).toContain('404');
  });

  it('data-policy: sets the type, whatever the address says', async () => {
    const shown = await show('/legal/cookie-policy', `${key()} data-policy="privacy-policy"`);
    expect(shown).toMatchObject({ type: 'privacy-policy', theme: null, id: null, behindScript: true });
    expect(shown.text).toContain('SAMPLE');
    expect(shown.text).toContain('Privacy Policy');
  });

  it.each([
    ['/legal/cookie-policy', 'cookie-policy', 'Cookie Policy'],
    ['/privacy-policy.html', 'privacy-policy', 'Privacy Policy'],
    ['/Privacy', 'privacy-policy', 'Privacy Policy'],
    ['/cookies', 'cookie-policy', 'Cookie Policy'],
    ['/about-us', 'hub', 'Privacy Policy'],
  ])('no data-policy: the address %s gives the type %s', async (path, type, title) => {
    const shown = await show(path, key());
    expect(shown.type).toBe(type);
    expect(shown.text).toContain(title);
  });

  it.each(['light', 'dark'])('data-theme="%s" becomes the theme of the element', async (theme) => {
    expect(await show('/', `${key()} data-theme="${theme}"`)).toMatchObject({ theme, id: null, type: 'hub' });
  });

  it('data-container: draws into the element with that id, or after the script if there is none', async () => {
    const within = await show('/', `${key()} data-container="here"`);
    expect(within).toMatchObject({ id: 'here', behindScript: false, type: 'hub', theme: null });
    expect(await show('/', `${key()} data-container="nowhere"`)).toMatchObject({ id: null, behindScript: true });
  });

  it('all four together', async () => {
    const all = `${key()} data-policy="cookie-policy" data-theme="light" data-container="here"`;
    expect(await show('/privacy', all)).toMatchObject({ type: 'cookie-policy', theme: 'light', id: 'here' });
  });

  it.each(embedForms)('draws text and hub that come as %s', async (embed) => {
    const other = createSandbox({ seed: 7, clock: () => NOON, clients: 1, overrides: { embed } });
    await other.listen();
    const usual = sandbox;
    sandbox = other;
    try {
      const shown = await show('/', `${key()} data-policy="privacy-policy"`);
      expect(shown.text).toContain('SAMPLE');
      expect(shown.text).toContain('Privacy Policy');
      const hub = await show('/', key());
      expect(hub.text).toMatch(/^Privacy Policy\s+Cookie Policy$/);
      const links = await page
        .locator('[data-service-policy] a')
        .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
      expect(links).toHaveLength(2);
      for (const link of links) expect((await fetch(link)).status).toBe(200);
    } finally {
      sandbox = usual;
      await other.close();
    }
  });

  it('shows what a caller put into a policy as text, not as markup', async () => {
    const headers = { authorization: `Bearer ${sandbox.clients[0]!.apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({
      policy_type: 'imprint',
      jurisdiction: 'DE',
      business_name: '<img src=x onerror=alert(1)>',
    });
    const made = await (
      await fetch(`${sandbox.baseUrl()}/policies/generate`, { method: 'POST', headers, body })
    ).json();
    const { id } = made as { id: string };
    expect(
      (await fetch(`${sandbox.baseUrl()}/policies/${id}/publish`, { method: 'POST', headers, body: '{}' })).status,
    ).toBe(200);
    const shown = await show('/imprint', key());
    expect(shown.text).toContain('<img src=x onerror=alert(1)>');
    expect(await page.locator('[data-service-policy] img').count()).toBe(0);
  });
});
