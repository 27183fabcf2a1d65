import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { withSandbox } from './sandbox-world.ts';

/** A client's web site: one page, whatever its address. */
async function withSite<T>(html: () => string, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(html()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('the embed script in a browser', () => {
  it('shows the policy that is named, or that the address tells, or the hub; in a container; with a theme', async () => {
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    });
    try {
      await withSandbox({ clients: 1 }, async (sandbox) => {
        let attributes = '';
        const script = (): string =>
          `<div id="here"></div><script src="${sandbox.siteUrl()}/embed.js" data-site-key="${sandbox.clients[0]!.siteKey}" ${attributes}></script>`;
        await withSite(script, async (site) => {
          const page = await browser.newPage();
          const shown = async (
            path: string,
            given: string,
          ): Promise<{ text: string; type: string | null; theme: string | null; id: string }> => {
            attributes = given;
            await page.goto(`${site}${path}`);
            const target = page.locator('[data-service-policy]');
            await target.locator(':is(article, ul)').waitFor();
            return {
              text: await target.innerText(),
              type: await target.getAttribute('data-service-policy'),
              theme: await target.getAttribute('data-theme'),
              id: (await target.getAttribute('id')) ?? '',
            };
          };
          const named = await shown(
            '/anything',
            'data-policy="privacy-policy" data-theme="light" data-container="here"',
          );
          expect(named).toMatchObject({ type: 'privacy-policy', theme: 'light', id: 'here' });
          expect(named.text).toContain('SAMPLE');
          expect(named.text).toContain('Privacy Policy');
          expect(await shown('/legal/cookie-policy', '')).toMatchObject({ type: 'cookie-policy', theme: null, id: '' });
          const hub = await shown('/', '');
          expect(hub.type).toBe('hub');
          expect(hub.text).toContain('Cookie Policy');
        });
      });
    } finally {
      await browser.close();
    }
  });
});
