/**
 * The server half of the receive benchmarks, in a process of its own. `verify` only checks signatures, `durable` keeps each delivery,
 * `projected` folds them into the read models at the same time.
 */
import { deriveKeys } from '../src/crypto/keys.ts';
import { sourceOptionsSchema } from '../src/core/source.ts';
import { createPublicApp } from '../src/http/public.ts';
import { createLedger } from '../src/ledger/ledger.ts';
import { appendDelivery } from '../src/ledger/append-delivery.ts';
import { createProjector } from '../src/projections/run.ts';
import { openStore } from '../src/context/engines.ts';

const [mode, database, secret] = process.argv.slice(2) as ['verify' | 'durable' | 'projected', string, string];
const source = { secrets: [{ id: 'bench', value: secret }] };
const store = await openStore(
  database.startsWith('postgres:') ? { engine: 'postgres', url: database } : { engine: 'sqlite', path: database },
);
const ledger = createLedger({ store, keys: deriveKeys(Buffer.alloc(32, 1)) });
const options = sourceOptionsSchema.parse({});
const projector = createProjector({
  store,
  optionsUpTo: async () => () => options,
});
const kept = Promise.resolve({ outcome: 'stored' as const, seq: 1 });

const app = createPublicApp({
  verifierKey: '',
  config: { bodyLimit: 1 << 20, trustProxy: false, inFlightLimit: 32 << 20, inFlightLimitPerAddress: 8 << 20 },
  webhooks: {
    findSource: (slug) => (slug === 'default' ? source : null),
    accept: mode === 'verify' ? () => kept : (delivery) => appendDelivery(ledger, delivery, new Date().toISOString()),
  },
  health: { notReady: () => Promise.resolve(null) },
});
await app.listen({ port: 0, host: '127.0.0.1' });
if (mode === 'projected') projector.start((listener) => ledger.onAppended(listener));
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });

process.on('message', (message) => {
  void (async () => {
    if (message === 'catch-up') {
      const behindAt = projector.position();
      const started = performance.now();
      const position = await projector.catchUp();
      process.send?.({ behind: position - behindAt, position, seconds: (performance.now() - started) / 1000 });
      return;
    }
    await app.close();
    await projector.close();
    await ledger.close();
    await store.close();
    process.disconnect();
  })();
});
