// PostgreSQL only: with SQLite the database itself is in the data directory.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { assertSharedDirectory, markerPath } from '../../src/context/data-directory.ts';
import { UsageError } from '../../src/core/errors.ts';
import { temporaryFolder, temporaryStore } from '../temporary.ts';

const markOf = async (folder: string) =>
  (JSON.parse(await readFile(markerPath(folder), 'utf8')) as { directory: string }).directory;
const problemOf = (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      return error.message;
    },
  );

test('the first start marks the data directory, and later processes with the same one are accepted', async () => {
  const [store, folder] = [await temporaryStore(), await temporaryFolder()];
  await Promise.all(Array.from({ length: 8 }, () => assertSharedDirectory(store, folder, 'inst')));
  const mark = await markOf(folder);
  await assertSharedDirectory(store, folder, 'inst');
  expect(await markOf(folder)).toBe(mark);
});

test('a start refuses a different data directory, names both and says what to do', async () => {
  const [store, shared, other, foreign] = [
    await temporaryStore(),
    await temporaryFolder(),
    await temporaryFolder(),
    await temporaryFolder(),
  ];
  await assertSharedDirectory(store, shared, 'inst');
  await assertSharedDirectory(await temporaryStore(), foreign, 'else');
  const mark = await markOf(shared);
  const unmarked = await problemOf(assertSharedDirectory(store, other, 'inst'));
  expect(unmarked).toContain(mark);
  expect(unmarked).toContain(other);
  const marked = await problemOf(assertSharedDirectory(store, foreign, 'inst'));
  expect(marked).toContain(mark);
  expect(marked).toContain(await markOf(foreign));
  // A refused directory stays unchanged.
  await expect(markOf(other)).rejects.toThrow('ENOENT');
  // The remedies that the refusal names.
  await cp(shared, other, { recursive: true });
  expect(await problemOf(assertSharedDirectory(store, other, 'inst'))).toBe('accepted');
  await rm(markerPath(foreign));
  await writeFile(markerPath(foreign), /\{"instance".*?\}/.exec(marked)?.[0] ?? '');
  expect(await problemOf(assertSharedDirectory(store, foreign, 'inst'))).toBe('accepted');
});

test('of two first starts with different data directories, one is refused', async () => {
  const [store, one, other] = [await temporaryStore(), await temporaryFolder(), await temporaryFolder()];
  const outcomes = await Promise.all(
    [one, other].map((folder) => problemOf(assertSharedDirectory(store, folder, 'inst'))),
  );
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
});

test('a start does not overwrite a marker that it cannot read', async () => {
  const [store, folder] = [await temporaryStore(), await temporaryFolder()];
  await writeFile(markerPath(folder), '{"instance":');
  expect(await problemOf(assertSharedDirectory(store, folder, 'inst'))).toContain('damaged');
  expect(await readFile(markerPath(folder), 'utf8')).toBe('{"instance":');
});
