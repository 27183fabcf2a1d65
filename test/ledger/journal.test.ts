import { generateKeyPairSync } from 'node:crypto';
import { appendFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { parseTreeHead, readCheckpoint, signCheckpoint } from '../../src/crypto/checkpoint.ts';
import { createJournal } from '../../src/ledger/journal.ts';
import { temporaryFolder } from '../temporary.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const day = '2026-07-01T12:00:00.000Z';
const file = '2026-07-01.notes';

const noteOf = (size: number) =>
  signCheckpoint({ origin: 'consent-ledger/test/1', size, root: Buffer.alloc(32, size) }, privateKey);
const newestSize = async (journal: ReturnType<typeof createJournal>) => {
  const note = await journal.newest();
  return note === null ? null : parseTreeHead(note)?.size;
};

test('notes come back as they were written, in files by day', async () => {
  const journal = createJournal(`${await temporaryFolder()}/journal`);
  expect(await journal.newest()).toBeNull();
  await journal.write(noteOf(1), day);
  await journal.write(noteOf(2), day);
  await journal.write(noteOf(3), '2026-07-02T00:00:00.000Z');
  const found = [];
  for await (const part of journal.read()) found.push(part);
  expect(found).toEqual([
    { file, note: noteOf(1), unfinished: false },
    { file, note: noteOf(2), unfinished: false },
    { file: '2026-07-02.notes', note: noteOf(3), unfinished: false },
  ]);
});

test('a folder in the place of a file does not stop reading: the notes of that file are missing', async () => {
  const folder = await temporaryFolder();
  const journal = createJournal(folder);
  await journal.write(noteOf(1), day);
  await mkdir(`${folder}/2026-07-02.notes`);
  expect(await newestSize(journal)).toBe(1);
});

test('a note cut off at any byte spoils no other note, before or after it', async () => {
  const folder = await temporaryFolder();
  const whole = Buffer.byteLength(`${noteOf(2)}\n`);
  for (let kept = 1; kept < whole; kept += 1) {
    const journal = createJournal(`${folder}/${kept}`);
    const path = `${folder}/${kept}/${file}`;
    await journal.write(noteOf(1), day);
    await journal.write(noteOf(2), day);
    await truncate(path, Buffer.byteLength(`${noteOf(1)}\n`) + kept);
    expect([1, 2]).toContain(await newestSize(journal));
    await journal.write(noteOf(3), day);
    await journal.write(noteOf(4), day);
    const sizes: number[] = [];
    for await (const { note, unfinished } of journal.read()) {
      if (unfinished) continue;
      const reading = readCheckpoint(note, publicKey);
      expect([kept, reading.outcome]).toEqual([kept, 'valid']);
      if (reading.outcome === 'valid') sizes.push(reading.head.size);
    }
    expect(sizes.filter((size) => size !== 2)).toEqual([1, 3, 4]);
    expect(await newestSize(journal)).toBe(4);
  }
});

test('the newest note is the one over the most entries, wherever a wrong clock or a slower process put it', async () => {
  const journal = createJournal(`${await temporaryFolder()}/journal`);
  await journal.write(noteOf(5), '2026-07-01T12:00:00.000Z');
  await journal.write(noteOf(9), '2026-06-30T12:00:00.000Z');
  await journal.write(noteOf(8), '2026-06-30T12:00:01.000Z');
  expect(await newestSize(journal)).toBe(9);
});

test('text that is not a note does not hide the notes next to it, and is shown', async () => {
  const folder = `${await temporaryFolder()}/journal`;
  await mkdir(folder);
  const journal = createJournal(folder);
  await journal.write(noteOf(7), day);
  await appendFile(`${folder}/${file}`, 'somebody was here\n\nand here\n\n');
  expect(await newestSize(journal)).toBe(7);
  await journal.write(noteOf(8), day);
  expect(await newestSize(journal)).toBe(8);
  const outcomes: string[] = [];
  for await (const { note, unfinished } of journal.read()) {
    outcomes.push(unfinished ? 'unfinished' : readCheckpoint(note, publicKey).outcome);
  }
  expect(outcomes).toEqual(['valid', 'malformed', 'valid']);
});

test('the file of a whole day is read from its end', async () => {
  const folder = `${await temporaryFolder()}/journal`;
  await mkdir(folder);
  const notes = Array.from({ length: 288 }, (_, place) => `${noteOf(place + 1)}\n`).join('');
  await writeFile(`${folder}/${file}`, notes);
  const journal = createJournal(folder);
  expect(await newestSize(journal)).toBe(288);
  await appendFile(`${folder}/${file}`, 'x'.repeat(20_000));
  expect(await newestSize(journal)).toBe(288);
  expect((await readFile(`${folder}/${file}`)).length).toBeGreaterThan(20_000);
});

test('a journal that cannot be written is an outage with a message that says what to do', async () => {
  const folder = `${await temporaryFolder()}/journal`;
  await writeFile(folder, 'a file where the folder should be');
  await expect(createJournal(folder).write(noteOf(1), day)).rejects.toThrow(StoreUnavailable);
  await expect(createJournal(folder).write(noteOf(1), day)).rejects.toThrow(
    /Cannot write the journal .* Nothing was sealed/,
  );
});
