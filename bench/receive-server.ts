/** The server half of the receive benchmark, in a process of its own: `verify` only checks signatures, `durable` keeps each delivery. */
import { deriveKeys } from '../src/core/keys.ts';
import { createPublicApp } from '../src/http/public.ts';
import { createLedger } from '../src/ledger/append.ts';
import { appendDelivery } from '../src/ledger/append-delivery.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';

const [mode, path, secret] = process.argv.slice(2) as [string, string, string];
const secrets = [{ id: 'bench', value: secret }];
const findSource = (slug: string) => (slug === 'default' ? { secrets } : null);
const store = await openSqliteStore({ path });
const ledger = createLedger({ store, keys: deriveKeys(Buffer.alloc(32, 1)) });
const kept = Promise.resolve({ outcome: 'stored' as const, seq: 1 });

const app = createPublicApp({
  config: { bodyLimit: 1 << 20, trustProxy: false },
  webhooks: {
    findSource,
    accept:
      mode === 'verify'
        ? () => kept
        : (delivery) => appendDelivery(ledger, delivery, new Date().toISOString()),
  },
  health: { notReady: () => Promise.resolve(null) },
});
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
process.on('message', () => {
  void (async () => {
    await app.close();
    await ledger.close();
    await store.close();
    process.disconnect();
  })();
});
