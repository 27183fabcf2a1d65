import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkArchitecture } from './architecture/check.ts';
import { libraryHomes, parts } from './architecture/import-table.ts';
import { readSource } from './architecture/read-source.ts';

const root = join(import.meta.dirname, '..');
const files = new Map(
  ['src', 'client', 'receivers', 'reports']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => [path, readSource(path, readFileSync(join(root, path), 'utf8'))] as const),
);

describe('the import rules', () => {
  it('hold in every source file', () => {
    expect(files.size).toBeGreaterThan(30);
    expect(checkArchitecture(files)).toEqual([]);
  });

  it('name only parts that exist', () => {
    const empty = parts
      .filter((part) => ![...files.keys()].some((path) => part.files.test(path)))
      .map((part) => part.name);
    expect(empty).toEqual([]);
  });

  it('give a home only to installed libraries', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
    expect(Object.keys(libraryHomes).filter((library) => !Object.hasOwn(dependencies, library))).toEqual([]);
  });
});

describe('the names of files', () => {
  it('stand alone: no .ts beside a .tsx of the same name', () => {
    const stems = [...files.keys()].map((path) => path.replace(/\.tsx?$/, ''));
    expect(stems.filter((stem, place) => stems.indexOf(stem) !== place)).toEqual([]);
  });

  it('put every file into a room: only cli.ts lies in src itself', () => {
    expect([...files.keys()].filter((path) => /^src\/[^/]+$/.test(path))).toEqual(['src/cli.ts']);
  });
});

describe('the code loaded before a command knows what to do', () => {
  /** Libraries that the file loads, directly or through its imports, except through lazy imports. */
  const librariesOf = (path: string, seen = new Set<string>()): ReadonlySet<string> => {
    const found = new Set<string>();
    seen.add(path);
    for (const { specifier, typeOnly, lazy } of files.get(path)?.imports ?? []) {
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
      if (typeOnly || lazy || seen.has(target)) continue;
      if (!files.has(target)) found.add(target);
      else for (const library of librariesOf(target, seen)) found.add(library);
    }
    return found;
  };
  it('is the command-line parser', () => {
    const libraries = [...librariesOf('src/cli.ts')].filter((name) => !name.startsWith('node:'));
    expect(libraries).toEqual(['@commander-js/extra-typings']);
  });
  it('contains no listener, HTTP client or PDF renderer for a list read from the database', () => {
    const libraries = librariesOf('src/commands/delivery.ts');
    expect(libraries).toContain('zod');
    for (const heavy of ['fastify', 'undici', 'pdfkit', '@modelcontextprotocol/sdk', 'bullmq', 'date-holidays'])
      expect(libraries).not.toContain(heavy);
  });
});

describe('the import check, given a planted violation,', () => {
  it.each([
    [
      'value of the store in core',
      'src/core/planted.ts',
      `import { x } from '../store/store.ts';`,
      'may not import values of',
    ],
    [
      'type of the store in core',
      'src/core/planted.ts',
      `import type { Store } from '../store/store.ts';`,
      'may not import types of',
    ],
    ['file system in core', 'src/core/planted.ts', `import { readFileSync } from 'node:fs';`, 'may not import node:fs'],
    [
      'value of a use-case in a receiver',
      'receivers/planted.ts',
      `import '../src/ledger/append-action.ts';`,
      'may not import values',
    ],
    [
      'value by an inline type import',
      'receivers/planted.ts',
      `import { type Store } from '../src/store/store.ts';`,
      'values of',
    ],
    [
      'value of an engine in a use-case',
      'src/ledger/planted.ts',
      `import { openSqlite } from '../store/sqlite/open.ts';`,
      'values of',
    ],
    [
      'inner type of an engine in a use-case',
      'src/sync/planted.ts',
      `import type { X } from '../store/sqlite/open.ts';`,
      'types of',
    ],
    [
      'lazy import of a layer above',
      'src/cases/planted.ts',
      `export const x = () => import('../sync/pull.ts');`,
      'values of',
    ],
    [
      'value of the query builder',
      'src/projections/planted.ts',
      `import { sql } from 'kysely';`,
      'may not import kysely',
    ],
    [
      'second user of sqlite3',
      'src/store/sqlite/planted.ts',
      `import sqlite3 from 'sqlite3';`,
      'may not import sqlite3',
    ],
    ['hidden user of sqlite3', 'src/store/planted.ts', `const s = require('sqlite3');`, 'may not import sqlite3'],
    ['ledger in the jobs', 'src/jobs/planted.ts', `import { x } from '../ledger/ledger.ts';`, 'values of'],
    [
      'domain in the renderer',
      'reports/render/planted.ts',
      `import type { X } from '../../src/ledger/ledger.ts';`,
      'types of',
    ],
    [
      'product in the sandbox',
      'src/sandbox/planted.ts',
      `import { x } from '../crypto/entry.ts';`,
      'may not import values',
    ],
    [
      'store in a page',
      'src/http/pages/planted.tsx',
      `import { openSqlite } from '../../store/sqlite/open.ts';`,
      'values of',
    ],
    [
      'store in a command',
      'src/commands/planted.ts',
      `export { openSqlite as x } from '../store/sqlite/open.ts'; export const y = 1;`,
      'values of',
    ],
    ['unknown library', 'src/http/planted.ts', `import leftPad from 'left-pad';`, 'has no home'],
    ['look at the environment', 'src/http/planted.ts', `export const port = process.env['PORT'];`, 'reads process.env'],
    ['look at the environment by its parts', 'src/http/planted.ts', `const { env } = process;`, 'reads process.env'],
    [
      'look at the environment by import',
      'src/http/planted.ts',
      `import { env } from 'node:process';`,
      'reads process.env',
    ],
    ['exit', 'src/commands/planted.ts', `process.exit(1);`, 'calls process.exit'],
    ['barrel', 'src/core/planted.ts', `export * from './errors.ts';`, 'is a barrel'],
    ['index', 'src/cases/index.ts', `export const list = [];`, 'is a barrel'],
    ['import of nothing', 'src/cases/planted.ts', `import { x } from './gone.ts';`, 'which is not there'],
    ['file outside every part', 'src/helpers/planted.ts', `export const x = 1;`, 'belongs to no part'],
  ])('reports %s', (_, path, text, expected) => {
    expect(violationsOf([path, text])).toEqual([expect.stringContaining(expected)]);
  });

  it('reports a cycle', () => {
    const violations = violationsOf(
      ['src/cases/planted-a.ts', `import { b } from './planted-b.ts'; export const a = b;`],
      ['src/cases/planted-b.ts', `import { c } from './planted-c.ts'; export const b = c;`],
      ['src/cases/planted-c.ts', `import { a } from './planted-a.ts'; export const c = () => a;`],
    );
    expect(violations).toEqual([
      expect.stringContaining('is in a cycle: src/cases/planted-a.ts → src/cases/planted-b.ts'),
    ]);
  });

  it('reports a cycle of types', () => {
    const violations = violationsOf(
      ['src/cases/planted-a.ts', `import { b } from './planted-b.ts'; export type A = string; export const a = b;`],
      ['src/cases/planted-b.ts', `import type { A } from './planted-a.ts'; export const b: A = '';`],
    );
    expect(violations).toEqual([
      expect.stringContaining('is in a cycle: src/cases/planted-a.ts → src/cases/planted-b.ts'),
    ]);
  });

  it.each([
    ['text in a comment or a string', 'src/cases/planted.ts', `// process.env\nexport const x = 'process.exit(1)';`],
    [
      'type of an interface',
      'src/cases/planted.ts',
      `import type { Store } from '../store/store.ts'; export type X = Store;`,
    ],
    ['exit code', 'src/commands/planted.ts', `process.exitCode = 1;`],
  ])('accepts a %s', (_, path, text) => {
    expect(violationsOf([path, text])).toEqual([]);
  });
});

/** The violations that the check finds only with these files added. */
function violationsOf(...planted: readonly (readonly [string, string])[]): readonly string[] {
  const before = new Set(checkArchitecture(files));
  const added = planted.map(([path, text]) => [path, readSource(path, text)] as const);
  return checkArchitecture(new Map([...files, ...added])).filter((violation) => !before.has(violation));
}
