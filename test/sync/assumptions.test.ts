import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { volatileFields } from '../../src/sync/row.ts';

it('docs/assumptions.md names exactly the fields that are left out when rows are compared', () => {
  const text = readFileSync(new URL('../../docs/assumptions.md', import.meta.url), 'utf8');
  const [, list] =
    /Fields that describe the response rather than the decision: ([\s\S]+?), and the same in camelCase/.exec(text) ??
    [];
  const named = [...(list ?? '').matchAll(/`([a-z_]+)`/g)].map(([, name]) => name ?? '');
  const camelCased = named.map((name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()));
  expect(named.length).toBeGreaterThan(5);
  expect([...named, ...camelCased].sort()).toEqual([...volatileFields].sort());
});
