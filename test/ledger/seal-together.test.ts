import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { NewEntry } from '../../src/crypto/entry.ts';
import { createJournal, type Journal } from '../../src/ledger/journal.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { sealLedger } from '../../src/ledger/seal.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder, temporaryLedger, testKeys } from '../temporary.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const clock = () => new Date('2026-07-01T12:00:00Z');

const entryOf = (ledger: Pick<Ledger, 'keyOf'>, text: string): NewEntry => ({
  source: 'default',
  kind: 'webhook',
  dedupeKey: ledger.keyOf(Buffer.from(text)),
  receivedAt: '2026-07-01T10:00:00.000Z',
  meta: Buffer.from('{}'),
  body: Buffer.from(text),
});
const sealOptions = (store: Store) => ({
  store,
  appendKey: testKeys.append,
  signingKey: privateKey,
  instance: 'test',
  epoch: 1,
  clock,
});

async function begin() {
  const { store, ledger } = await temporaryLedger();
  const folder = await temporaryFolder();
  const append = (text: string) => ledger.append([entryOf(ledger, text)]);
  const seal = (journal: Journal) => sealLedger({ ...sealOptions(store), journal });
  const verify = () =>
    verifyLedger({
      witnessed: null,
      store,
      journal: createJournal(folder),
      keys: testKeys,
      publicKey,
      instance: 'test',
      epoch: 1,
      evidenceFolder: folder,
      documentsFolder: folder,
    });
  return { store, folder, append, seal, verify };
}

test('processes that seal at once sign the same checkpoint for the same size, and the journal stays whole', async () => {
  const { store, folder, append, seal, verify } = await begin();
  const journals = Array.from({ length: 4 }, () => createJournal(folder));
  const notes = new Map<number, Set<string>>();
  for (let round = 0; round < 15; round++) {
    const [, ...sealings] = await Promise.all([append(`entry ${round}`), ...journals.map((journal) => seal(journal))]);
    for (const sealing of sealings) {
      if (sealing.outcome === 'empty') continue;
      if (sealing.outcome === 'refused') throw new Error(sealing.reason);
      const { size, note } = sealing.checkpoint;
      notes.set(size, (notes.get(size) ?? new Set()).add(note));
    }
  }
  expect(notes.size).toBeGreaterThan(3);
  for (const same of notes.values()) expect(same.size).toBe(1);
  expect((await verify()).faults).toEqual([]);
  const rows = await store.read.selectFrom('checkpoints').select(['size', 'note']).execute();
  for (const { size, note } of rows) expect([...(notes.get(size) ?? [note])]).toEqual([note]);
});

test('a sealer that was paused before it wrote its checkpoint may continue after a later one', async () => {
  const { folder, append, seal, verify } = await begin();
  await append('first');
  const journal = createJournal(folder);
  let goOn = () => {};
  const paused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let atThePause = () => {};
  const reached = new Promise<void>((resolve) => {
    atThePause = resolve;
  });
  const slow = seal({
    ...journal,
    async write(note, at) {
      atThePause();
      await paused;
      await journal.write(note, at);
    },
  });
  await reached;
  await append('second');
  expect(await seal(journal)).toMatchObject({ outcome: 'sealed', checkpoint: { size: 2 } });
  goOn();
  expect(await slow).toMatchObject({ outcome: 'sealed', checkpoint: { size: 1 } });
  expect((await verify()).faults).toEqual([]);
  expect(await seal(journal)).toMatchObject({ outcome: 'unchanged', checkpoint: { size: 2 } });
});

test('sealing ends even if entries are appended faster than it reads them', async () => {
  const { store, ledger } = await temporaryLedger();
  const append = async (from: number, count: number) => {
    for (let at = from; at < from + count; at += 250)
      await ledger.append(Array.from({ length: 250 }, (_, place) => entryOf(ledger, String(at + place))));
  };
  await append(0, 3000);
  let queries = 0;
  const read = store.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      queries += 1;
      if (queries < 40) await append(3000 * queries, 3000);
      return result;
    },
  });
  const sealing = await sealLedger({
    ...sealOptions({ ...store, read }),
    journal: createJournal(await temporaryFolder()),
  });
  expect(sealing).toMatchObject({ outcome: 'sealed' });
  const { size } = (sealing as Extract<typeof sealing, { checkpoint: unknown }>).checkpoint;
  expect(size).toBeGreaterThanOrEqual(3000);
  // What was appended until it had read where the ledger ended.
  expect(size).toBeLessThan(15_000);
});
