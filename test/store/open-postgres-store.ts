/**
 * One of many processes that open the same store at once (test/store/postgres.postgres.test.ts), and append the
 * requested number of entries.
 */
import { createHash } from 'node:crypto';
import process from 'node:process';
import { deriveKeys } from '../../src/crypto/keys.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';

const [url = '', count = '0'] = process.argv.slice(2);
const store = await openPostgresStore({ url });
await store.transaction((tx) => tx.insertMany('settings', [{ name: `process ${process.pid}`, value: '' }]));
const ledger = createLedger({ store, keys: deriveKeys(Buffer.alloc(32, 7)) });
const receivedAt = '2026-07-01T10:00:00.000Z';
const waiting = [];
for (let n = 0; n < Number(count); n += 1) {
  const body = Buffer.from(`${process.pid} ${n}`);
  const dedupeKey = createHash('sha256').update(body).digest();
  waiting.push(
    ledger.append([{ source: `s${n % 3}`, kind: 'webhook', dedupeKey, receivedAt, meta: Buffer.from('{}'), body }]),
  );
  // In waves, so batches have all sizes with pauses between them.
  if (n % 40 === 39) await Promise.all(waiting);
  if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
const seqs = (await Promise.all(waiting)).map(([one]) => one?.seq);
process.send?.(seqs);
await ledger.close();
await store.close();
process.disconnect?.();
