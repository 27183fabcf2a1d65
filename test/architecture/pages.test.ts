import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageRoutes } from '../../src/http/pages/pages.ts';

const root = join(import.meta.dirname, '../../src/http/pages');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
const pageFiles = files.filter((path) => path.includes('.page.'));

/** The only folder that is not named after its address: `/` is Today, which also starts reports and pulls. */
const addressesOfToday = ['/', '/reports', '/sync', '/sync/dismiss'];

describe('the files of the pages', () => {
  it.each(pageFiles)('%s serves addresses that begin with its folder', async (path) => {
    const { routes } = (await import(join(root, path))) as { routes: readonly { path: string }[] };
    const folder = path.slice(0, path.indexOf('/'));
    const astray = routes.filter((route) =>
      folder === 'today' ? !addressesOfToday.includes(route.path) : route.path.split('/')[1] !== folder,
    );
    expect(astray).toEqual([]);
    expect(routes.length).toBeGreaterThan(0);
    expect(routes.filter((route) => !pageRoutes.includes(route as never))).toEqual([]);
  });

  it('define every address once', () => {
    const all = pageRoutes.map(({ method, path }) => `${method} ${path}`);
    expect(all.filter((one, place) => all.indexOf(one) !== place)).toEqual([]);
  });

  it('are defined in one way', () => {
    for (const path of pageFiles) {
      const text = readFileSync(join(root, path), 'utf8');
      expect([path, text.includes('pagesWith<')]).toEqual([path, true]);
      expect([
        path,
        /from 'fastify'|renderPage|pageFrame\(|formOf\(|<Csrf|\bContext\b(?!,)[^<]*\bcontext: Context\b/.test(text),
      ]).toEqual([path, false]);
    }
  });

  it('do not import each other', () => {
    const imports = pageFiles.flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/from '([^']*\.page\.tsx?)'/g)].map(
        ([, from]) => `${path} → ${from ?? ''}`,
      ),
    );
    expect(imports).toEqual([]);
  });
});
