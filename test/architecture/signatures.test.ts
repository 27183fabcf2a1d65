import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSource } from './read-source.ts';

const root = join(import.meta.dirname, '../..');
const files = ['src', 'receivers', 'reports']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
  .map((path) => ({ path, ...readSource(path, readFileSync(join(root, path), 'utf8')) }));

/** What opens the installation, or hands its parts out: to listeners, routes, jobs and commands. */
const wiring = [
  'src/commands/demo/run-demo.ts',
  'src/commands/run-context.ts',
  'src/http/admin.ts',
  'src/http/api/api.ts',
  'src/http/api/route.ts',
  'src/http/pages/parts/define-page.ts',
  'src/http/server.ts',
  'src/worker/worker.ts',
];

/** Where five values in a row are natural: coordinates, bytes in the order of a format, the columns of a table of rows. */
const LONG_SIGNATURES = 18;

describe('functions with five or more parameters', () => {
  it('are few: others take one named object, or the type of their room', () => {
    const long = files.flatMap(({ path, longSignatures }) => longSignatures.map((name) => `${path} ${name}`));
    expect(long.slice(LONG_SIGNATURES), long.join('\n')).toEqual([]);
  });

  it('are counted whatever their kind, if they have a body', () => {
    const text = `
      export function a(b: 1, c: 1, d: 1, e: 1, f = 1) {}
      const g = (b: 1, c: 1, d: 1, e: 1, f: 1) => {};
      class H { #i(b: 1, c: 1, d: 1, e: 1, f: 1) {} }
      interface J { k(b: 1, c: 1, d: 1, e: 1, f: 1): void }
      function l(b: 1, c: 1, d: 1, e: 1) {}`;
    expect(readSource('src/planted.ts', text).longSignatures).toEqual(['a', '(no name)', '#i']);
  });
});

describe('the whole context', () => {
  it('is named by the files that wire the program; everything else names the parts that it uses', () => {
    const naming = files.filter(({ wholeContexts }) => wholeContexts.length > 0).map(({ path }) => path);
    expect(naming).toEqual(wiring);
  });

  it.each([
    ['export const f = (context: Context) => context;', [1]],
    ['import { x } from "x";\ninterface Given extends Context {}\ntype Of = Check<Context>;', [2, 3]],
    ["export const f = (log: Context['log'], parts: Pick<Context, 'store'>, key: keyof Context) => log;", []],
    ['// Context\nexport const f = (context: Api.Context) => context;', []],
  ])('is found in %j', (text, lines) => {
    expect(readSource('src/planted.ts', text).wholeContexts).toEqual(lines);
  });
});
