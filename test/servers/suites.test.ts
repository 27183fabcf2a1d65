import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { projectsOf, withoutEngine } from './suites.ts';

const root = join(import.meta.dirname, '../..');
const suites = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => /\.test\.tsx?$/.test(path))
  .sort();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What opens a store or an installation, by the module that it is imported from. */
const openers: Readonly<Record<string, RegExp>> = {
  'test/temporary.ts': /^(?!temporaryFolder$|testKeys$)/,
  'test/serving.ts': /^(?:environment|startServing|runCli)$/,
  'test/cli/command-line.ts': /^(?:runIn|runHere)$/,
  'src/context.ts': /^openContext$/,
};

interface Imported {
  readonly from: string;
  readonly names: readonly string[];
}

function importsOf(path: string): Imported[] {
  const found = read(path).matchAll(
    /^(?:import|export)\s+(?!type\s)([^'";]*?)\s*from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return [...found].flatMap(([, clause = '', from, dynamic]) => {
    const target = relative(root, join(root, dirname(path), from ?? dynamic ?? ''));
    const names = (/\{([^}]*)\}/.exec(clause)?.[1] ?? '')
      .split(',')
      .map((name) => name.trim().split(' as ')[0] ?? '')
      .filter((name) => name !== '' && !name.startsWith('type '));
    return existsSync(join(root, target)) ? [{ from: target, names }] : [];
  });
}

/** Modules of one engine that a suite uses, itself or through the helpers of the tests. */
function engineModulesOf(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return importsOf(path).flatMap(({ from }) => {
    if (/^src\/store\/(?:sqlite|postgres)\//.test(from)) return [`${path}: ${from}`];
    return from.startsWith('test/') && !bothEngines.has(from) ? engineModulesOf(from, seen) : [];
  });
}

// They choose by the engine of the run.
const bothEngines = new Set(['test/temporary.ts', 'test/tampering.ts']);

function opens(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  return importsOf(path).some(({ from, names }) => {
    const opener = openers[from];
    if (opener !== undefined) return names.some((name) => opener.test(name));
    if (/^src\/store\/(?:sqlite|postgres)\//.test(from)) return true;
    return from.startsWith('test/') && opens(from, seen);
  });
}

test('every suite that opens a store or an installation runs on both engines, or says in its name that it is about one', () => {
  const opening = suites.filter((path) => opens(path));
  expect(opening.length).toBeGreaterThan(40);
  const onOne = opening.filter(
    (path) => projectsOf(path).length === 1 && !/\.(?:sqlite|postgres)\.test\.ts$/.test(path),
  );
  expect(onOne.filter((path) => !((path.split('/')[1] ?? '') in withoutEngine))).toEqual([]);
});

test('a suite that runs on both engines uses no module of one of them alone', () => {
  const both = suites.filter((path) => projectsOf(path).length === 2);
  expect(both.length).toBeGreaterThan(40);
  for (const path of both) {
    const used = engineModulesOf(path);
    const engines = new Set(used.map((one) => (one.includes('src/store/sqlite/') ? 'sqlite' : 'postgres')));
    expect([path, engines.size === 1 ? used : []]).toEqual([path, []]);
  }
});

test('a suite about one engine says why in its first line', () => {
  const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
  for (const [engine, name] of Object.entries(names)) {
    const ofOne = suites.filter((path) => path.endsWith(`.${engine}.test.ts`));
    expect(ofOne.length).toBeGreaterThan(0);
    const reason = new RegExp(`^/[/*]+ [^\\n]*\\b${name}\\b[^\\n]{20,}\\n`);
    expect(ofOne.filter((path) => !reason.test(read(path)))).toEqual([]);
  }
});
