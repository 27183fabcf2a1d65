import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openBrowser } from './http/pages/browser.ts';

const root = join(import.meta.dirname, '..');
const site = join(root, 'site/.vitepress/dist');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

test('the documentation becomes a website whose pages and search need only its own files', async () => {
  await promisify(execFile)('bash', ['scripts/docs'], { cwd: root, timeout: 300_000 });
  const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const made = (await readdir(site)).filter((name) => name.endsWith('.html'));
  expect(made.sort()).toEqual(
    [...pages.map((name) => (name === 'README.md' ? 'index.html' : name.replace('.md', '.html'))), '404.html'].sort(),
  );
  const url = await serve();
  const browser = await openBrowser();
  const page = await browser.newPage();
  const elsewhere: string[] = [];
  const failed: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) elsewhere.push(request.url());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) failed.push(response.url());
  });
  page.on('pageerror', (error) => failed.push(error.message));
  for (const name of made) {
    await page.goto(`${url}/${name}`);
    await page.locator('h1').first().waitFor();
    for (const picture of await page.locator('main img').all())
      expect(
        await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
      ).toBeGreaterThan(0);
  }
  await page.goto(`${url}/index.html`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('hand over pack code');
  await page.getByRole('option').filter({ hasText: 'Handing over a pack' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Handing over a pack' }).waitFor();
  expect({ elsewhere, failed }).toEqual({ elsewhere: [], failed: [] });
});

/** Serves the files like any static web server. */
async function serve(): Promise<string> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    const file = join(site, decodeURIComponent(path));
    stat(file).then(
      (found) => {
        if (!found.isFile()) return response.writeHead(404).end();
        response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
        return createReadStream(file).pipe(response);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
