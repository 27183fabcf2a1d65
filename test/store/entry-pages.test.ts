import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { readEntryPage } from '../../src/store/queries/entry-pages.ts';
import type { Query } from '../../src/store/store.ts';
import { engine } from '../servers/databases.ts';
import { alter } from '../tampering.ts';
import { openStoreIn, temporaryFolder, temporaryLedger, testKeys } from '../temporary.ts';

const at = '2026-07-01T10:00:00.000Z';
const everything = { entries: 500, bytes: 1 << 20 };
const rowByRow = (read: Query) => read.selectFrom('entries').selectAll().orderBy('seq').execute();
const append = (
  ledger: Awaited<ReturnType<typeof temporaryLedger>>['ledger'],
  body: Buffer,
  meta = Buffer.from('{}'),
) => ledger.append([{ source: 'default', kind: 'webhook', dedupeKey: ledger.keyOf(body), receivedAt: at, meta, body }]);

test('a page has the bytes, texts and numbers of the rows', async () => {
  const { store, ledger } = await temporaryLedger();
  await append(ledger, Buffer.alloc(0), Buffer.alloc(0));
  await append(ledger, Buffer.from([0, 255, 0, 254, 0x80, 0xc3, 0x28]));
  for (let i = 0; i < 20; i += 1) await append(ledger, randomBytes(1 + i * 37), randomBytes(i));
  await store.transaction(({ query }) =>
    query.updateTable('entries').set({ meta: null, body: null, salt: null }).where('seq', '=', 7).execute(),
  );
  const page = await readEntryPage(store.read, 0, 100, everything);
  expect(page?.to).toBe(22);
  expect(page?.rows).toEqual(await rowByRow(store.read));
  expect(page?.rows[6]).toMatchObject({ seq: 7, meta: null, body: null, salt: null });
});

test('a page ends at its number of entries, at its bytes, and at the requested end', async () => {
  const { store, ledger } = await temporaryLedger();
  for (const size of [10, 10, 100, 10, 5000, 10, 10]) await append(ledger, randomBytes(size));
  const seqs = async (after: number, upTo: number, size: { entries: number; bytes: number }) =>
    (await readEntryPage(store.read, after, upTo, size))?.rows.map(({ seq }) => seq) ?? null;
  expect(await seqs(0, 100, everything)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await seqs(0, 3, everything)).toEqual([1, 2, 3]);
  expect(await seqs(2, 100, { entries: 2, bytes: 1 << 20 })).toEqual([3, 4]);
  // 12 + 12 bytes including meta, and then 102 more.
  expect(await seqs(0, 100, { entries: 500, bytes: 120 })).toEqual([1, 2]);
  expect(await seqs(2, 100, { entries: 500, bytes: 120 })).toEqual([3, 4]);
  // An entry larger than a page is a page by itself.
  expect(await seqs(4, 100, { entries: 500, bytes: 120 })).toEqual([5]);
  expect(await seqs(5, 100, { entries: 500, bytes: 120 })).toEqual([6, 7]);
  expect(await seqs(7, 100, everything)).toBeNull();
});

test('values that this program never wrote are read as they are', async () => {
  const folder = await temporaryFolder();
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const ledger = createLedger({ store, keys: testKeys });
  for (let i = 0; i < 12; i += 1) await append(ledger, Buffer.from(`body ${i}`));
  const altered = {
    sqlite: [
      `update entries set body = cast(body as text) where seq = 2`,
      `update entries set dedupe_key = 'a text of thirty-two characters!' where seq = 3`,
      `update entries set kind = x'00ff' where seq = 4`,
      `update entries set source_seq = 9007199254740993 where seq = 5`,
      `update entries set commitment = x'00' where seq = 6`,
      `update entries set received_at = 17.5 where seq = 7`,
      `update entries set source = 'a' || char(0) || 'b"\\' where seq = 8`,
      `update entries set salt = 3 where seq = 9`,
      `update entries set source_seq = 'x' where seq = 10`,
    ],
    postgres: [
      `update entries set source_seq = 9007199254740993 where seq = 5`,
      `update entries set commitment = '\\x00' where seq = 6`,
      `update entries set source = 'ab"\\' where seq = 8`,
    ],
  }[engine];
  for (const statement of altered) {
    await alter(folder, statement);
    const page = await readEntryPage(store.read, 0, 100, everything);
    expect(page?.rows, statement).toEqual(await rowByRow(store.read));
  }
});
