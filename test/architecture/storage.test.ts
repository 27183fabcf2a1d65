import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSource } from './read-source.ts';

const root = join(import.meta.dirname, '../..');
const files = ['src/http', 'src/commands']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => /\.tsx?$/.test(path))
  .sort();

/** Files that may, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'src/commands/demo/alter-entry.ts': 'alters an entry as a forger would, which no room may be able to do',
};

describe('queries, transactions and appends', () => {
  it('are written in no page, route or command, but in the room that owns the table', () => {
    expect(files.length).toBeGreaterThan(150);
    const found = files.filter((path) => readSource(path, readFileSync(join(root, path), 'utf8')).storage.length > 0);
    expect(found).toEqual(Object.keys(exceptions));
  });

  it.each([
    [`store.read.selectFrom('cases').select('source')`, 'selectFrom'],
    [`read.with('a', (a) => a.selectFrom('cases'))`, 'selectFrom'],
    [`const { selectFrom } = read; selectFrom('cases')`, 'selectFrom'],
    [`tx.query.updateTable('settings').set({})`, 'updateTable'],
    [`context.store.transaction(async () => {})`, 'transaction'],
    [`tx.insertMany('settings', [])`, 'insertMany'],
    [`await appendAction(ledger, source, action, [], now)`, 'appendAction'],
    [`await context.ledger.append([entry])`, 'append'],
  ])('are found: %s', (text, call) => {
    expect(readSource('src/http/planted.tsx', text).storage).toEqual([call]);
  });

  it.each([
    `// store.read.selectFrom('cases')`,
    `const x = "selectFrom('cases')"`,
    `form.append('a', 'b')`,
    `await findDocument(store.read, id)`,
  ])('are not: %s', (text) => {
    expect(readSource('src/http/planted.ts', text).storage).toEqual([]);
  });
});
