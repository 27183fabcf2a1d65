import { generateKeyPairSync } from 'node:crypto';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { pinIdentity } from '../../src/ledger/identity.ts';
import { createJournal } from '../../src/ledger/journal.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { openStoreIn, temporaryFolder, testKeys } from '../temporary.ts';

const { publicKey } = generateKeyPairSync('ed25519');
const identity = { instance: 'test', epoch: 1, publicKey };

/** The store as seen by a process that is interrupted after its `after`th read. */
function interrupted(
  store: Store,
  after: number,
  interrupt: () => Promise<unknown>,
): { store: Store; reads(): number } {
  let reads = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1;
      if (reads === after) await interrupt();
      return result;
    },
  };
  return { store: { ...store, read: store.read.withPlugin(plugin) }, reads: () => reads };
}

test('a receiver whose first start is overtaken by another after any of its reads accepts the identity pinned by the other', async () => {
  for (let after = 1; ; after++) {
    const folder = await temporaryFolder();
    const store = await openStoreIn(folder);
    const ledger = createLedger({ store, keys: testKeys });
    const journal = createJournal(`${folder}/journal`);
    const names = [
      { name: 'instance_id', value: 'test' },
      { name: 'epoch', value: '1' },
    ];
    await store.transaction((tx) => tx.insertMany('settings', names, 'keep'));
    const otherStart = async () => {
      expect(await pinIdentity(store, journal, testKeys, identity)).toBe(true);
      const [body, meta] = [Buffer.from('{"event":"ping"}'), Buffer.from('{"verdict":"verified"}')];
      const receivedAt = '2026-07-01T10:00:00.000Z';
      await ledger.append([
        { source: 'default', kind: 'webhook', dedupeKey: ledger.keyOf(body), receivedAt, meta, body },
      ]);
    };
    const process = interrupted(store, after, otherStart);
    expect(await pinIdentity(process.store, journal, testKeys, identity), `interrupted after read ${after}`).toBe(true);
    await ledger.close();
    await store.close();
    if (process.reads() < after) break;
  }
});
