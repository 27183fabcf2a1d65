import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentPath, removeOldDrafts } from '../../src/documents/register.ts';
import { temporaryFolder } from '../temporary.ts';

test('the document folder removes a killed process’s unfinished drafts after a day, and keeps documents and fresh drafts', async () => {
  const folder = join(await temporaryFolder(), 'documents');
  const now = new Date('2026-07-02T12:00:00.000Z');
  expect(await removeOldDrafts(folder, now)).toBe(0);
  await mkdir(folder);
  const old = new Date('2026-07-01T11:00:00.000Z');
  const fresh = new Date('2026-07-02T11:00:00.000Z');
  for (const [name, at] of [
    ['a.pdf', old],
    ['a.pdf.1.draft', old],
    ['b.pdf.2.draft', fresh],
  ] as const) {
    await writeFile(join(folder, name), name);
    await utimes(join(folder, name), at, at);
  }
  expect(await removeOldDrafts(folder, now)).toBe(1);
  expect((await readdir(folder)).sort()).toEqual(['a.pdf', 'b.pdf.2.draft']);
});

test('no document is read, sent or erased under a name that leads out of the folder', () => {
  expect(documentPath('/data/documents', { documentId: 'a1-b2', format: 'pdf' })).toBe('/data/documents/a1-b2.pdf');
  for (const document of [
    { documentId: '../keys/instance', format: 'key' },
    { documentId: 'a', format: 'pdf/../../keys' },
    { documentId: '', format: 'pdf' },
  ])
    expect(() => documentPath('/data/documents', document)).toThrow('is not the name of a document');
});
