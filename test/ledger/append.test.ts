import { expect, onTestFinished, test } from 'vitest';
import { CodedError, StoreUnavailable } from '../../src/core/errors.ts';
import { findEntryFault, type NewEntry } from '../../src/crypto/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openStoreIn, temporaryFolder, temporaryLedger, testKeys } from '../temporary.ts';

const at = '2026-07-01T10:00:00.000Z';
function delivery(ledger: { keyOf(part: Uint8Array): Buffer }, text: string | Buffer, source = 'default'): NewEntry {
  const body = Buffer.from(text);
  return { source, kind: 'webhook', dedupeKey: ledger.keyOf(body), receivedAt: at, meta: Buffer.from('{}'), body };
}

test('entries are numbered without gaps, overall and within their source, and hold their exact bytes', async () => {
  const { store, ledger } = await temporaryLedger();
  const bodies = [Buffer.from([0, 255, 254, 10]), Buffer.from('{"a":1}'), Buffer.alloc(0), Buffer.from('\u0000x')];
  const appended = await Promise.all(
    bodies.map((body, place) => ledger.append([delivery(ledger, body, place % 2 ? 'b' : 'a')])),
  );
  expect(appended.flat()).toEqual(bodies.map((_, place) => ({ outcome: 'stored', seq: place + 1 })));
  const rows = await store.read.selectFrom('entries').selectAll().orderBy('seq').execute();
  expect(rows.map((row) => [row.seq, row.source, row.source_seq])).toEqual([
    [1, 'a', 1],
    [2, 'b', 1],
    [3, 'a', 2],
    [4, 'b', 2],
  ]);
  expect(rows.map((row) => row.body)).toEqual(bodies);
  for (const row of rows) {
    const entry = {
      ...row,
      sourceSeq: row.source_seq,
      dedupeKey: row.dedupe_key,
      receivedAt: row.received_at,
      leafHash: row.leaf_hash,
    };
    expect(findEntryFault(entry, testKeys.append)).toBeNull();
  }
});

test('a repeat is answered with the first seq and counted, alone or within one batch', async () => {
  const { store, ledger } = await temporaryLedger();
  const first = await Promise.all(['x', 'y', 'x'].map((text) => ledger.append([delivery(ledger, text)])));
  expect(first.flat()).toEqual([
    { outcome: 'stored', seq: 1 },
    { outcome: 'stored', seq: 2 },
    { outcome: 'duplicate', seq: 1 },
  ]);
  for (let i = 0; i < 3; i += 1) await ledger.append([delivery(ledger, 'y')]);
  expect(await ledger.append([delivery(ledger, 'z')])).toEqual([{ outcome: 'stored', seq: 3 }]);
  const arrivals = await store.read.selectFrom('arrivals').select(['seq', 'count', 'times']).orderBy('seq').execute();
  expect(arrivals).toEqual([
    { seq: 1, count: 1, times: JSON.stringify([at]) },
    { seq: 2, count: 3, times: JSON.stringify([at, at, at]) },
  ]);
});

test('the same body from two sources is two entries', async () => {
  const { ledger } = await temporaryLedger();
  const both = await Promise.all(['a', 'b'].map((source) => ledger.append([delivery(ledger, 'same', source)])));
  expect(both.flat().map(({ outcome }) => outcome)).toEqual(['stored', 'stored']);
});

test('side effects of an append commit with it or not at all', async () => {
  const { store, ledger } = await temporaryLedger();
  await ledger.append([delivery(ledger, 'a')], (tx) => tx.insertMany('positions', [{ name: 'p', seq: 1 }]));
  const failing = ledger.append([delivery(ledger, 'b')], async (tx) => {
    await tx.insertMany('positions', [{ name: 'q', seq: 1 }]);
    throw new Error('on purpose');
  });
  const beside = ledger.append([delivery(ledger, 'c')]);
  await expect(failing).rejects.toThrow('on purpose');
  expect(await beside).toEqual([{ outcome: 'stored', seq: 2 }]);
  expect(await store.read.selectFrom('positions').selectAll().execute()).toEqual([{ name: 'p', seq: 1 }]);
});

test('an entry that cannot be stored fails alone', async () => {
  const { ledger } = await temporaryLedger();
  const bad = { ...delivery(ledger, 'bad'), receivedAt: '\ud800' };
  const results = await Promise.allSettled(
    [delivery(ledger, '1'), bad, delivery(ledger, '2'), delivery(ledger, '3')].map((entry) => ledger.append([entry])),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

test('two ledgers on one database never give a number twice or leave a gap', async () => {
  const folder = await temporaryFolder();
  const stores = await Promise.all([openStoreIn(folder), openStoreIn(folder)]);
  const ledgers = stores.map((store) => createLedger({ store, keys: testKeys }));
  const texts = Array.from({ length: 400 }, (_, i) => String(i % 300));
  const answers = await Promise.all(
    texts.map((text, i) => {
      const ledger = ledgers[i % 2] as (typeof ledgers)[0];
      return ledger.append([delivery(ledger, text)]);
    }),
  );
  const bySeq = new Map<number, string>();
  answers.flat().forEach(({ seq }, i) => {
    expect(bySeq.get(seq) ?? texts[i]).toBe(texts[i]);
    bySeq.set(seq, texts[i] as string);
  });
  expect([...bySeq.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
  expect(answers.flat().filter(({ outcome }) => outcome === 'stored')).toHaveLength(300);
  for (const ledger of ledgers) await ledger.close();
  for (const store of stores) await store.close();
});

test('a full queue refuses, and waiting entries are still stored', async () => {
  const { ledger } = await temporaryLedger({ limits: { waitingBytes: 3000 } });
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) => ledger.append([delivery(ledger, `${i}${'x'.repeat(900)}`)])),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(10);
  for (const result of refused) expect(result.reason).toBeInstanceOf(CodedError);
});

test('while commits pause, entries that arrive one by one share a commit, and a whole batch does not wait', async () => {
  const { ledger } = await temporaryLedger();
  const told: number[] = [];
  ledger.onAppended((seq) => told.push(seq));
  ledger.pauseBy(() => 1000);
  const appends = [];
  for (let i = 0; i < 5; i += 1) {
    appends.push(ledger.append([delivery(ledger, `n${i}`)]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(appends);
  expect(told).toEqual([5]);

  const HOUR = 3_600_000;
  ledger.pauseBy(() => HOUR);
  await Promise.all(Array.from({ length: 256 }, (_, i) => ledger.append([delivery(ledger, `m${i}`)])));
  expect(told.at(-1)).toBe(261);
});

test('after close nothing more is accepted, but queued entries are committed', async () => {
  const { ledger } = await temporaryLedger();
  const last = ledger.append([delivery(ledger, 'last')]);
  await ledger.close();
  expect(await last).toEqual([{ outcome: 'stored', seq: 1 }]);
  await expect(ledger.append([delivery(ledger, 'late')])).rejects.toThrow(CodedError);
});

test('a listener that throws neither loses an acknowledgement nor causes a repeat', async () => {
  const { store, ledger } = await temporaryLedger();
  const warned: Error[] = [];
  const onWarning = (warning: Error) => warned.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const told: number[] = [];
  ledger.onAppended(() => {
    throw new Error('a listener of someone’s own');
  });
  ledger.onAppended((seq) => told.push(seq));
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((text) => ledger.append([delivery(ledger, text)])));
  expect(answers.flat()).toEqual([1, 2, 3, 4].map((seq) => ({ outcome: 'stored', seq })));
  expect(await ledger.append([delivery(ledger, 'e')])).toEqual([{ outcome: 'stored', seq: 5 }]);
  expect(told.at(-1)).toBe(5);
  expect(await store.read.selectFrom('arrivals').selectAll().execute()).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned.map(({ message }) => message)).toContain('a listener of someone’s own');
});

test('a batch beyond the limits is refused before it waits; a single entry never is', async () => {
  const { ledger } = await temporaryLedger();
  const many = (count: number) => Array.from({ length: count }, (_, i) => delivery(ledger, `n${i}`));
  await expect(ledger.append(many(257))).rejects.toThrow('A batch is at most 256 entries and 4 MiB');
  expect(await ledger.append(many(256))).toHaveLength(256);
  const large = Array.from({ length: 5 }, (_, i) => delivery(ledger, Buffer.alloc(1 << 20, i)));
  await expect(ledger.append(large)).rejects.toThrow('A batch is at most 256 entries and 4 MiB');
  expect(await ledger.append([delivery(ledger, Buffer.alloc(5 << 20))])).toEqual([{ outcome: 'stored', seq: 257 }]);
});

test('refused, failed and repeated entries leave nothing in the queue', async () => {
  const { ledger } = await temporaryLedger({ limits: { waitingBytes: 20_000, batchBytes: 1 << 20 } });
  for (let round = 0; round < 50; round += 1) {
    const bad = { ...delivery(ledger, `bad ${round}`), receivedAt: '\ud800' };
    const also = () => Promise.reject(new StoreUnavailable('on purpose'));
    const results = await Promise.allSettled([
      ...Array.from({ length: 8 }, (_, i) => ledger.append([delivery(ledger, `${i}${'x'.repeat(3000)}`)])),
      ledger.append([bad]),
      ledger.append([delivery(ledger, `also ${round}`)], also),
    ]);
    expect(results.some(({ status }) => status === 'rejected')).toBe(true);
  }
  // If anything were left in the queue, the second entry would exceed the limit.
  const both = [delivery(ledger, 'y'.repeat(9000)), delivery(ledger, 'z'.repeat(9000))].map((entry) =>
    ledger.append([entry]),
  );
  expect((await Promise.all(both)).flat().map(({ outcome }) => outcome)).toEqual(['stored', 'stored']);
});

test('the second of two entries with the same key is stored if the first cannot be', async () => {
  const { ledger } = await temporaryLedger();
  await ledger.append([delivery(ledger, 'before')]);
  const bad = { ...delivery(ledger, 'same'), receivedAt: '\ud800' };
  const [first, second, third] = await Promise.allSettled(
    [bad, delivery(ledger, 'same'), delivery(ledger, 'same')].map((entry) => ledger.append([entry])),
  );
  expect(first?.status).toBe('rejected');
  expect([second, third].map((each) => (each?.status === 'fulfilled' ? each.value : null))).toEqual([
    [{ outcome: 'stored', seq: 2 }],
    [{ outcome: 'duplicate', seq: 2 }],
  ]);
});

test('numbers of entries that vanished from the end of a ledger in use are not given out again', async () => {
  const { store, ledger } = await temporaryLedger();
  for (const text of ['a', 'b', 'c']) await ledger.append([delivery(ledger, text)]);
  await store.transaction((tx) => tx.query.deleteFrom('entries').where('seq', '>', 1).execute());
  await expect(ledger.append([delivery(ledger, 'd')])).rejects.toThrow('ends at 1, but ended at 3');
  await expect(ledger.append([delivery(ledger, 'e')])).rejects.toThrow('ends at 1, but ended at 3');
});

test('appends with side effects commit together; one that fails does not affect the others', async () => {
  const { store, ledger } = await temporaryLedger();
  await ledger.append([delivery(ledger, 'first')], async () => undefined);
  const transactions: unknown[] = [];
  const note = (name: string) =>
    ledger.append([delivery(ledger, name)], async (tx) => {
      transactions.push(tx);
      await tx.insertMany('settings', [{ name, value: '' }]);
      if (name === 'bad') throw new Error('on purpose');
    });
  const good = ['a', 'b', 'c', 'd'];
  const outcomes = await Promise.allSettled(good.map(note));
  expect(outcomes.map(({ status }) => status)).toEqual(good.map(() => 'fulfilled'));
  expect(new Set(transactions).size).toBe(1);
  const mixed = await Promise.allSettled(['e', 'bad', 'f'].map(note));
  expect(mixed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const settings = await store.read.selectFrom('settings').select('name').orderBy('name').execute();
  expect(settings.map(({ name }) => name)).toEqual(expect.arrayContaining([...good, 'e', 'f']));
  expect(settings.map(({ name }) => name)).not.toContain('bad');
  expect((await store.read.selectFrom('entries').select('seq').execute()).length).toBe(7);
});

test('appends with side effects find what another process has added since, and what was removed', async () => {
  const folder = await temporaryFolder();
  const stores = await Promise.all([openStoreIn(folder), openStoreIn(folder)]);
  const [ours, theirs] = stores.map((store) => createLedger({ store, keys: testKeys })) as [
    ReturnType<typeof createLedger>,
    ReturnType<typeof createLedger>,
  ];
  const noted: string[] = [];
  const page = (text: string) =>
    ours.append([delivery(ours, text)], async (_, [appended]) => {
      noted.push(`${text} ${appended?.outcome} ${appended?.seq}`);
    });
  for (const text of ['a', 'b', 'c']) await page(text);
  await theirs.append([delivery(theirs, 'd')]);
  await page('d');
  await page('e');
  await theirs.append([delivery(theirs, 'f')]);
  await page('g');
  // An attempt that assumed another end may have run before and was undone.
  expect([...new Set(noted)]).toEqual([
    'a stored 1',
    'b stored 2',
    'c stored 3',
    'd duplicate 4',
    'e stored 5',
    'g stored 7',
  ]);
  await stores[1].transaction((tx) => tx.query.deleteFrom('entries').where('seq', '>', 5).execute());
  await expect(page('h')).rejects.toThrow('ends at 5, but ended at 7');
});

test('numbers continue within each source when many sources take turns with another process', async () => {
  const folder = await temporaryFolder();
  const stores = await Promise.all([openStoreIn(folder), openStoreIn(folder)]);
  const ledgers = stores.map((store) => createLedger({ store, keys: testKeys }));
  const sources = Array.from({ length: 70 }, (_, n) => `source-${n}`);
  for (let round = 0; round < 3; round += 1)
    for (const [place, source] of sources.entries()) {
      const ledger = ledgers[(place + round) % 7 === 0 ? 1 : 0]!;
      await ledger.append([delivery(ledger, `${round}`, source)], place % 3 === 0 ? async () => undefined : undefined);
    }
  const rows = await stores[0].read
    .selectFrom('entries')
    .select(['seq', 'source', 'source_seq'])
    .orderBy('seq')
    .execute();
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, place) => place + 1));
  for (const source of sources)
    expect(rows.filter((row) => row.source === source).map((row) => row.source_seq)).toEqual([1, 2, 3]);
});
