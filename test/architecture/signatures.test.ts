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
