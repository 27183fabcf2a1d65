import { expect, onTestFinished, test, vi } from 'vitest';
import { signBody, verifySignature } from '../../receivers/signature-node.ts';
import type { Source } from '../../src/core/source.ts';
import { readmitRejected } from '../../src/rejected/readmit.ts';
import { createRejectedRing, type Rejected, type RejectedRing, type RingOptions } from '../../src/rejected/ring.ts';
import type { Store } from '../../src/store/store.ts';
import { PATIENTLY, temporaryLedger, temporaryStore, testKeys } from '../temporary.ts';

const START = new Date('2026-03-01T10:00:30.000Z');

function open(store: Store, options: Partial<RingOptions> = {}): RejectedRing {
  const ring = createRejectedRing({ store, keys: testKeys, clock: () => START, flushEvery: 3_600_000, ...options });
  onTestFinished(() => ring.close());
  return ring;
}
function rejected(text: string, more: Partial<Rejected> = {}): Rejected {
  const rawBody = Buffer.from(text);
  return {
    source: 'acme',
    reason: 'mismatch',
    rawBody,
    headers: signBody(rawBody, 'new-secret'),
    address: '192.0.2.1',
    ...more,
  };
}

test('a rejected delivery can be listed and read, and is stored encrypted', async () => {
  const store = await temporaryStore();
  const ring = open(store);
  ring.note(
    rejected('{"a":"hush"}', { headers: { 'content-type': 'text/plain', cookie: 'hush', authorization: 'hush' } }),
  );
  expect(await ring.list()).toEqual([]);
  await ring.flush();
  const [item] = await ring.list();
  expect(item).toEqual({
    id: 1,
    source: 'acme',
    receivedAt: START.toISOString(),
    address: '192.0.2.1',
    reason: 'mismatch',
    bytes: 12,
  });
  expect(await ring.read(1)).toMatchObject({
    rawBody: Buffer.from('{"a":"hush"}'),
    headers: { 'content-type': 'text/plain' },
  });
  expect(Object.keys((await ring.read(1))?.headers ?? {})).toEqual(['content-type']);
  const row = await store.read.selectFrom('rejected_deliveries').selectAll().executeTakeFirstOrThrow();
  expect(Object.values(row).map(String).join()).not.toContain('hush');
});

test('counts add up per source, minute and reason over several writes', async () => {
  const ring = open(await temporaryStore());
  for (let n = 0; n < 3; n++) ring.note(rejected(`${n}`));
  ring.count('acme', 'too-large');
  await ring.flush();
  for (let n = 3; n < 5; n++) ring.note(rejected(`${n}`));
  await ring.flush();
  expect(await ring.counts('2026-03-01T10:00:00.000Z')).toEqual([
    { source: 'acme', minute: '2026-03-01T10:00', reason: 'mismatch', count: 5 },
    { source: 'acme', minute: '2026-03-01T10:00', reason: 'too-large', count: 1 },
  ]);
  expect(await ring.counts('2026-03-01T10:01:00.000Z')).toEqual([]);
});

test('repeats of a refused delivery take one place, and each is counted', async () => {
  const ring = open(await temporaryStore());
  for (let n = 0; n < 20; n++) {
    ring.note(rejected('the same', { headers: { ...signBody(Buffer.from('the same'), 'x'), 'x-attempt': String(n) } }));
  }
  await ring.flush();
  expect(await ring.list()).toHaveLength(1);
  expect((await ring.counts('2026'))[0]?.count).toBe(20);
});

test('the same body under another signature is another delivery', async () => {
  const ring = open(await temporaryStore());
  for (const secret of ['one', 'two']) ring.note(rejected('x', { headers: signBody(Buffer.from('x'), secret) }));
  await ring.flush();
  expect(await ring.list()).toHaveLength(2);
});

test('a flood writes in one transaction at a time, keeps a bounded number and counts the rest', async () => {
  const store = await temporaryStore();
  const transaction = vi.fn((work: Parameters<Store['transaction']>[0]) => store.transaction(work));
  const ring = open({ ...store, transaction: transaction as Store['transaction'] });
  for (let n = 0; n < 20_000; n++) ring.note(rejected(`flood ${n}`));
  ring.note(rejected('of the service', { address: '198.51.100.9' }));
  await ring.flush();
  // One for the counts, one for the bodies.
  expect(transaction).toHaveBeenCalledTimes(2);
  const kept = await ring.list();
  expect(kept).toHaveLength(251);
  expect(kept[0]?.address).toBe('198.51.100.9');
  expect((await ring.counts('2026'))[0]?.count).toBe(20_001);
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 300; n++) ring.note(rejected(`flood ${round} ${n}`));
    await ring.flush();
  }
  expect(await ring.list()).toHaveLength(501);
});

test('waiting bodies are bounded in bytes', async () => {
  const ring = open(await temporaryStore());
  for (let n = 0; n < 64; n++) ring.note(rejected(`${n} ${'x'.repeat(1024 * 1024)}`, { address: `192.0.2.${n}` }));
  await ring.flush();
  expect(await ring.list()).toHaveLength(7);
});

test('gathered deliveries are written by the timer, and survive an outage of the store', async () => {
  const store = await temporaryStore();
  let broken = true;
  const onError = vi.fn();
  const flaky: Store = {
    ...store,
    transaction: (work) => (broken ? Promise.reject(new Error('the disk is full')) : store.transaction(work)),
  };
  const ring = open(flaky, { flushEvery: 20, onError });
  ring.note(rejected('kept'));
  await vi.waitFor(() => expect(onError).toHaveBeenCalled(), PATIENTLY);
  broken = false;
  await vi.waitFor(async () => expect(await ring.list()).toHaveLength(1), PATIENTLY);
  expect((await ring.counts('2026'))[0]?.count).toBe(1);
});

test('after 72 hours a body is neither shown nor kept', async () => {
  const store = await temporaryStore();
  let now = START;
  const ring = open(store, { clock: () => now });
  ring.note(rejected('old'));
  await ring.flush();
  now = new Date(START.getTime() + 72 * 3_600_000 + 1);
  expect(await ring.list()).toEqual([]);
  expect(await ring.read(1)).toBeNull();
  await ring.flush();
  expect(await store.read.selectFrom('rejected_deliveries').select('id').execute()).toEqual([]);
});

test('a row whose time or source was swapped in the database cannot be decrypted', async () => {
  const store = await temporaryStore();
  const ring = open(store);
  ring.note(rejected('x'));
  await ring.flush();
  await store.transaction(({ query }) => query.updateTable('rejected_deliveries').set({ source: 'other' }).execute());
  expect(await ring.read(1)).toBeNull();
});

test('readmitting appends deliveries that the current secrets verify, with their time of arrival, and leaves the rest', async () => {
  const { store, ledger } = await temporaryLedger();
  const ring = open(store);
  const secrets = [{ id: 'old', value: 'old-secret' }];
  const source: Source = {
    slug: 'acme',
    name: 'Acme',
    baseUrl: null,
    siteUrl: null,
    apiKey: null,
    siteKey: null,
    webhookSecrets: secrets,
    options: { banners: [], fieldNames: {}, assumedOffset: '+00:00', controllerFile: null, subjectRecipe: null },
  };
  const options = {
    ring,
    ledger,
    verify: verifySignature,
    sources: { find: (slug: string) => (slug === 'acme' ? source : null) },
  };
  ring.note(
    rejected('first', {
      headers: { ...signBody(Buffer.from('first'), 'new-secret'), 'content-type': 'application/json' },
    }),
  );
  ring.note(rejected('second'));
  ring.note(rejected('forged', { headers: signBody(Buffer.from('forged'), 'attacker') }));
  ring.note(rejected('unsigned', { headers: {}, reason: 'missing' }));
  ring.note(rejected('foreign', { source: 'gone' }));

  expect((await readmitRejected(options)).map(({ outcome }) => outcome)).toEqual([
    'mismatch',
    'mismatch',
    'mismatch',
    'missing',
    'unknown-source',
  ]);
  secrets.push({ id: 'new', value: 'new-secret' });
  expect(await readmitRejected(options, { source: 'acme' })).toEqual([
    { id: 1, source: 'acme', outcome: 'stored', seq: 1 },
    { id: 2, source: 'acme', outcome: 'stored', seq: 2 },
    { id: 3, source: 'acme', outcome: 'mismatch' },
    { id: 4, source: 'acme', outcome: 'missing' },
  ]);
  expect((await ring.list()).map(({ id }) => id)).toEqual([5, 4, 3]);
  const entry = await store.read.selectFrom('entries').selectAll().where('seq', '=', 1).executeTakeFirstOrThrow();
  expect([String(entry.body), entry.received_at]).toEqual(['first', START.toISOString()]);
  expect(JSON.parse(String(entry.meta))).toMatchObject({
    verdict: 'verified-late',
    secretId: 'new',
    contentType: 'application/json',
  });
});

test('a readmitted delivery that has arrived again since is a duplicate, and only the chosen ones are tried', async () => {
  const { store, ledger } = await temporaryLedger();
  const ring = open(store);
  const source = { slug: 'acme', webhookSecrets: [{ id: 'new', value: 'new-secret' }] } as unknown as Source;
  const options = { ring, ledger, verify: verifySignature, sources: { find: () => source } };
  ring.note(rejected('a'));
  ring.note(rejected('b'));
  await ring.flush();
  const nothing = Buffer.from('{}');
  await ledger.append([
    {
      source: 'acme',
      kind: 'webhook',
      dedupeKey: ledger.keyOf(Buffer.from('b')),
      receivedAt: START.toISOString(),
      meta: nothing,
      body: Buffer.from('b'),
    },
  ]);
  expect(await readmitRejected(options, { ids: [2] })).toEqual([
    { id: 2, source: 'acme', outcome: 'duplicate', seq: 1 },
  ]);
  expect((await ring.list()).map(({ id }) => id)).toEqual([1]);
});

test('the ring writes hundreds of refused deliveries in a few statements, since appends wait for them', async () => {
  const store = await temporaryStore();
  let statements = 0;
  const counted: Store = {
    ...store,
    transaction: (work) =>
      store.transaction((tx) => {
        const query = tx.query.withPlugin({
          transformQuery({ node }) {
            statements += 1;
            return node;
          },
          transformResult: ({ result }) => Promise.resolve(result),
        });
        return work({ ...tx, query });
      }),
  };
  const ring = open(counted);
  for (let n = 0; n < 400; n++) ring.note(rejected(`${n}`, { source: `s${n}`, address: `192.0.2.${n % 8}` }));
  await ring.flush();
  expect([(await ring.list()).length > 200, statements < 6]).toEqual([true, true]);
  expect(await ring.counts(START.toISOString())).toHaveLength(400);
});

test('the ring keeps no more than allowed, though twenty processes write to it at once', async () => {
  const store = await temporaryStore();
  const limits = { items: 30, bytes: 30 * 2048, itemsPerAddress: 20, bytesPerAddress: 20 * 2048 };
  const rings = Array.from({ length: 20 }, () => open(store, { limits }));
  for (const [nth, ring] of rings.entries())
    for (let n = 0; n < 10; n += 1) ring.note(rejected(`${nth} ${n}`, { address: `192.0.2.${nth % 4}` }));
  await Promise.all(rings.map((ring) => ring.flush()));
  const kept = await store.read.selectFrom('rejected_deliveries').select(['address', 'bytes']).execute();
  expect(kept).toHaveLength(limits.items);
  for (const address of new Set(kept.map((item) => item.address)))
    expect(kept.filter((item) => item.address === address).length).toBeLessThanOrEqual(limits.itemsPerAddress);
  // Each is counted, whether or not it is kept.
  expect((await rings[0]?.counts('2026'))?.reduce((sum, { count }) => sum + count, 0)).toBe(200);
});
