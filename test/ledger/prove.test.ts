import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { leafData } from '../../src/crypto/entry.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { provesConsistency, provesInclusion } from '../../src/crypto/tlog-proof.ts';
import { createJournal } from '../../src/ledger/journal.ts';
import { createLedger, type Ledger } from '../../src/ledger/ledger.ts';
import { createProver, proofFiles } from '../../src/ledger/prove-entry.ts';
import { sealLedger } from '../../src/ledger/seal.ts';
import { openTree } from '../../src/ledger/tree.ts';
import type { Store } from '../../src/store/store.ts';
import { alter, bytes } from '../tampering.ts';
import { openStoreIn, temporaryFolder, testKeys } from '../temporary.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

let folder: string;
let store: Store;
let ledger: Ledger;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStoreIn(folder);
  ledger = createLedger({ store, keys: testKeys });
  onTestFinished(async () => {
    await ledger.close();
    await store.close();
  });
});

async function append(count: number, name: string): Promise<void> {
  const entries = Array.from({ length: count }, (_, n) => {
    const body = Buffer.from(`${name} ${n}`);
    const meta = Buffer.from('{"verdict":"verified"}');
    return { source: 'default', kind: 'webhook' as const, dedupeKey: ledger.keyOf(body), receivedAt: at, meta, body };
  });
  for (let done = 0; done < count; done += 256) await ledger.append(entries.slice(done, done + 256));
}
const at = '2026-07-01T10:00:00.000Z';

async function seal() {
  const sealing = await sealLedger({
    store,
    journal: createJournal(`${folder}/journal`),
    appendKey: testKeys.append,
    signingKey: privateKey,
    instance: 'test',
    epoch: 1,
    clock: () => new Date('2026-07-01T12:00:00Z'),
  });
  if (sealing.outcome !== 'sealed') throw new Error(sealing.outcome);
  return sealing.checkpoint;
}
const prover = () => createProver({ store, keys: { instance: testKeys, verifying: publicKey }, instance: 'test' });

describe('in a ledger that was sealed at many sizes', () => {
  test('each entry is proven under the first, the last and a named checkpoint, and each checkpoint extends every earlier one', async () => {
    // Leaf blocks have 256 leaves: full subtrees are read from checkpoints, others are computed from leaves.
    const heads = [];
    for (const [nth, count] of [1, 255, 767, 1, 1, 1400, 2000, 39].entries()) {
      await append(count, `batch ${nth}`);
      heads.push(await seal());
    }
    const prove = prover();
    const size = heads.at(-1)?.size ?? 0;
    for (const seq of [1, 2, 256, 257, 1023, 1024, 1025, 1026, 2048, 2049, 2425, 3000, 4096, 4097, size]) {
      for (const under of ['first', 'last', 2425] as const) {
        const proof = await prove(seq, under);
        if (proof.outcome !== 'proven' || proof.inclusion === null) throw new Error('not proven');
        const { head, hashes } = proof.inclusion;
        expect(provesInclusion(proof.entry.leafHash, seq - 1, head.size, hashes, head.root)).toBe(true);
        const covering = heads.map((one) => one.size).filter((one) => one >= seq);
        expect(head.size).toBe(under === 'last' ? size : under === 2425 && seq <= 2425 ? 2425 : covering[0]);
      }
    }
    const tree = openTree(store.read);
    for (const earlier of heads) {
      expect(await tree.root(earlier.size)).toEqual(earlier.root);
      for (const later of heads.filter((one) => one.size >= earlier.size)) {
        const proof = (await tree.consistency(earlier.size, later.size)) ?? [];
        expect(provesConsistency(earlier, later, proof)).toBe(true);
      }
    }
  });
});

test('the extra data of a proof is the leaf data and the salt, from which leaf hash and commitment are recomputed', async () => {
  await append(3, 'entry');
  await seal();
  const proof = await prover()(2);
  if (proof.outcome !== 'proven' || proof.inclusion === null) throw new Error('not proven');
  const { tlogProof, meta, body } = proofFiles(proof.entry, proof.inclusion, true);
  const [header, extra = '', index, first, second, blank, ...note] = tlogProof.split('\n');
  expect([header, index, blank]).toEqual(['c2sp.org/tlog-proof@v1', 'index 1', '']);
  expect([first, second].map((line) => Buffer.from(line ?? '', 'base64').length)).toEqual([32, 32]);
  expect(note.join('\n')).toBe(proof.inclusion.note);
  const [leaf = '', salt = ''] = Buffer.from(extra.slice('extra '.length), 'base64').toString('utf8').split('\n');
  expect(Buffer.from(leaf)).toEqual(leafData(proof.entry));
  const tag = Buffer.from('consent-ledger/commitment/v1\n');
  const parts = [tag, Buffer.from(salt, 'hex'), sha256(meta ?? Buffer.of()), sha256(body ?? Buffer.of())];
  expect((JSON.parse(leaf) as { commitment: string }).commitment).toBe(sha256(Buffer.concat(parts)).toString('hex'));
  const withheld = proofFiles(proof.entry, proof.inclusion, false);
  expect([withheld.meta, withheld.body]).toEqual([null, null]);
  expect(Buffer.from(withheld.tlogProof.split('\n')[1]?.slice(6) ?? '', 'base64').toString('utf8')).toBe(`${leaf}\n`);
});

test('an erased entry is still proven in its place', async () => {
  await append(5, 'entry');
  await seal();
  await alter(folder, 'update entries set meta = null, body = null, salt = null where seq = 4');
  const proof = await prover()(4);
  if (proof.outcome !== 'proven' || proof.inclusion === null) throw new Error('not proven');
  expect(proofFiles(proof.entry, proof.inclusion, true)).toMatchObject({ meta: null, body: null });
});

test.each([
  ['its body', `update entries set body = ${bytes('x')} where seq = 4`, 'its body is not what was appended'],
  ['a neighbour’s leaf hash', `update entries set leaf_hash = ${bytes(Buffer.alloc(32))} where seq = 3`, 'do not give'],
  ['a neighbour, by deletion', 'delete from entries where seq = 3', 'do not give'],
  ['the note', `update checkpoints set note = 'x'`, 'is not the one that was signed'],
  ['itself, by deletion', 'delete from entries where seq = 4', 'the entry is missing'],
])('an entry is not proven after %s was altered', async (_, statement, sentence) => {
  await append(5, 'entry');
  await seal();
  await alter(folder, statement);
  expect(await prover()(4)).toEqual({ outcome: 'unproven', sentence: expect.stringContaining(sentence) as string });
});

test('an entry after the last checkpoint is sound, but cannot be proven to others yet', async () => {
  await append(5, 'entry');
  expect(await prover()(4)).toMatchObject({ outcome: 'proven', sealedUnder: null, inclusion: null });
});
