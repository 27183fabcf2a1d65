import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { spread } from './sequencer.ts';
import { onBoth, waiting } from './suites.ts';

const root = join(import.meta.dirname, '../..');
const suites = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => /\.test\.tsx?$/.test(path))
  .sort();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The paths of the value imports of a file within this repository. */
function importsOf(path: string): string[] {
  const found = read(path).matchAll(
    /^(?:import|export)\s+(?!type\s)[^'";]*?\s*from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return [...found]
    .map(([, from, dynamic]) => relative(root, join(root, dirname(path), from ?? dynamic ?? '')))
    .filter((from) => existsSync(join(root, from)));
}

// These choose by the engine of the run.
const bothEngines = ['test/temporary.ts', 'test/tampering.ts'];

/** Modules of one engine that a suite uses, itself or through test helpers. */
function engineModulesOf(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  return importsOf(path).flatMap((from) => {
    if (/^src\/store\/(?:sqlite|postgres)\//.test(from)) return [from];
    return from.startsWith('test/') && !bothEngines.includes(from) ? engineModulesOf(from, seen) : [];
  });
}

test('every suite listed for both engines, or as one that waits, exists', () => {
  const missing = [...onBoth, ...waiting].filter(
    (one) => !suites.some((path) => path === one || path.startsWith(`${one}/`)),
  );
  expect(missing).toEqual([]);
});

test('suites that wait start in the first half, spread out, and the others keep their order', () => {
  const others = Array.from({ length: 20 }, (_, n) => `other ${n}`);
  const order = spread([...others, 'second', 'first', 'third'], (name) => ['first', 'second', 'third'].indexOf(name));
  expect(['first', 'second', 'third'].map((name) => order.indexOf(name))).toEqual([0, 4, 8]);
  expect(order.filter((name) => name.startsWith('other'))).toEqual(others);
  expect(spread(others, () => -1)).toEqual(others);
});

test('a suite that uses modules of one engine names the engine in its file name', () => {
  const either = suites.filter((path) => !/\.(?:sqlite|postgres|long)\.test\.ts$/.test(path));
  expect(either.length).toBeGreaterThan(100);
  const about = either.filter((path) => {
    const engines = new Set(engineModulesOf(path).map((module) => module.includes('/sqlite/')));
    return engines.size === 1;
  });
  expect(about).toEqual([]);
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
