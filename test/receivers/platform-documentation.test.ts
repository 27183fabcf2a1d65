import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { platforms } from '../../receivers/platforms.ts';

const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('docs/assumptions.md', root), 'utf8');
const section = document.split(/^### /m).find((part) => part.startsWith('Consent platforms')) ?? '';
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| platform'))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\|\s*|\s*\|$/g, '')));
const shapes = JSON.parse(readFileSync(new URL('test/receivers/shapes/consent.json', root), 'utf8')) as {
  name: string;
}[];
const captures = readdirSync(new URL('test/receivers/captures', root)).filter((name) => name.endsWith('.json'));

it('docs/assumptions.md names for each consent platform a form, a source, and tests that exist', () => {
  const known = new Set([...shapes.map(({ name }) => name), ...captures.map((name) => name.slice(0, -5))]);
  expect(rows.length).toBeGreaterThan(40);
  for (const [platform = '', form = '', read = '', source = '', tests = ''] of rows) {
    for (const cell of [platform, form, read, source]) expect(cell).not.toBe('');
    expect(tests.split(', ').filter((name) => !known.has(name))).toEqual([]);
  }
});

it('the table names every platform with rules of its own, and every package that was captured, with its version', () => {
  const names = rows.map(([platform = '']) => platform.toLowerCase());
  const missing = platforms.filter(({ name }) => !names.some((one) => one.includes(firstWords(name))));
  expect(missing.map(({ name }) => name)).toEqual([]);
  const tested = rows.flatMap((row) => row[4]?.split(', ') ?? []);
  expect(captures.map((name) => name.slice(0, -5)).filter((name) => !tested.includes(name))).toEqual([]);
});

/** `vanilla-cookieconsent 2` is documented with the others of its name. */
function firstWords(name: string): string {
  return name.toLowerCase().replace(/ \d+$| active groups$| groups$/, '');
}
