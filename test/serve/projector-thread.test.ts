import { expect, onTestFinished, test, vi } from 'vitest';
import { deliver, startServing } from '../serving.ts';
import { openStoreIn, PATIENTLY, temporaryFolder } from '../temporary.ts';

const request = (id: number) =>
  JSON.stringify({
    id: `evt-${id}`,
    event: 'dsar.created',
    data: { request_id: `req-${id}`, type: 'access', email: `p${id}@example.org` },
  });

test('serve folds the entries it receives, and continues after correcting a position that something else changed', async () => {
  const folder = await temporaryFolder();
  const server = await startServing(folder, { LOG_LEVEL: 'info' });
  const store = await openStoreIn(folder);
  onTestFinished(() => store.close());
  const folded = async () => {
    const rows = await store.read.selectFrom('delivery_history').select('seq').execute();
    return rows.length;
  };
  for (const id of [1, 2, 3]) expect((await deliver(server.url, request(id))).status).toBe(200);
  await vi.waitFor(async () => expect(await folded()).toBe(3), PATIENTLY);

  await store.foldTransaction((tx) => tx.query.updateTable('fold_positions').set({ seq: 1000 }).execute());
  expect((await deliver(server.url, request(4))).status).toBe(200);
  await vi.waitFor(async () => expect(await folded()).toBe(4), PATIENTLY);
  expect(server.errors()).toContain('are at entry 1000, but the ledger ends at');
  expect((await deliver(server.url, request(5))).status).toBe(200);
  await vi.waitFor(async () => expect(await folded()).toBe(5), PATIENTLY);
  expect(await server.stop()).toBe(0);
});
