import { expect, it } from 'vitest';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { countDeliveriesAfter } from '../../src/sources/discovery.ts';
import { temporaryLedger } from '../temporary.ts';

it('discovery counts a source’s new deliveries from where it stopped, without test events', async () => {
  const { store, ledger } = await temporaryLedger();
  const deliver = async (source: string, ...texts: readonly string[]) => {
    for (const text of texts) {
      const body = Buffer.from(text);
      const dedupeKey = ledger.keyOf(body);
      const receivedAt = '2026-07-01T10:00:00.000Z';
      await ledger.append([{ source, kind: 'webhook', dedupeKey, receivedAt, meta: Buffer.from('{}'), body }]);
    }
  };
  await deliver('shop', '{"id":1}');
  await deliver('shop', '{"id":2}', `{"event":"${TEST_EVENT}","id":"t"}`, 'not JSON', '[]');
  await deliver('other', '{"id":3}');
  const first = await countDeliveriesAfter(store.read, 'shop', 1);
  expect(first).toEqual({ count: 3, upTo: 5 });
  await deliver('shop', `{"event":"${TEST_EVENT}","id":"u"}`, '{"id":4}');
  expect(await countDeliveriesAfter(store.read, 'shop', first.upTo)).toEqual({ count: 1, upTo: 8 });
  expect(await countDeliveriesAfter(store.read, 'shop', 8)).toEqual({ count: 0, upTo: 8 });
});
