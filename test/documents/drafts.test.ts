import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import type { DocumentDeps } from '../../src/documents/begin-document.ts';
import { findDocument } from '../../src/documents/check.ts';
import { produceReport } from '../../src/documents/produce-report.ts';
import { documentPath, removeOldDrafts } from '../../src/documents/register.ts';
import { createLog } from '../../src/log/log.ts';
import { environment } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';

test('the document folder removes a killed process’s unfinished drafts after a day, and keeps documents and fresh drafts', async () => {
  const folder = join(await temporaryFolder(), 'documents');
  const now = new Date('2026-07-02T12:00:00.000Z');
  expect(await removeOldDrafts({ folder, now, isRegistered: () => Promise.reject(new Error('not asked')) })).toBe(0);
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
  expect(await removeOldDrafts({ folder, now, isRegistered: () => Promise.reject(new Error('not asked')) })).toBe(1);
  expect((await readdir(folder)).sort()).toEqual(['a.pdf', 'b.pdf.2.draft']);
});

test('a document whose process was killed before it was registered is removed after a day, with its content; one that was registered stays', async () => {
  const dataDir = await temporaryFolder();
  const context = await openContext(loadConfig(environment(dataDir, {}), dataDir), createLog('fatal'));
  onTestFinished(() => context.close());
  const deps = context.documents;
  const { folder } = deps;
  const produce = async (from: string, to: string, other: DocumentDeps = deps) => {
    const asked = { name: 'dsar-register', format: 'json', source: 'default', actor: 'Olga', from, to } as const;
    const made = await produceReport(other, asked);
    if (made.outcome !== 'produced') throw new Error(JSON.stringify(made));
    return made;
  };
  const whole = await produce('2026-01-01', '2026-02-01');
  expect(await readdir(folder)).toEqual([basename(whole.path)]);
  // Killed between placing and registering: nothing comes after.
  const killed = { ...deps, ledger: { ...deps.ledger, append: () => new Promise<never>(() => undefined) } };
  void produce('2026-02-01', '2026-03-01', killed);
  const left = await vi.waitFor(async () => {
    const names = await readdir(folder);
    expect(names).toHaveLength(3);
    return names.filter((name) => name !== basename(whole.path));
  }, PATIENTLY);
  // Killed right after registering: the second name is still there.
  await link(whole.path, `${whole.path}.${randomUUID()}.draft`);
  const isRegistered = async (documentId: string) => (await findDocument(deps.read, documentId)) !== null;
  const now = new Date();
  expect(await removeOldDrafts({ folder, now, isRegistered })).toBe(0);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(left));
  const tomorrow = new Date(now.getTime() + 25 * 3_600_000);
  expect(await removeOldDrafts({ folder, now: tomorrow, isRegistered })).toBe(2);
  expect(await readdir(folder)).toEqual([basename(whole.path)]);
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
