// SQLite only: PostgreSQL keeps deduplication keys unique by an index.

import { createHash, randomBytes } from 'node:crypto';
import { copyFile, open as openFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { sealEntry } from '../../src/crypto/entry.ts';
import { DedupeKeys, dedupePath, FIND_SEQS } from '../../src/store/sqlite/dedupe.ts';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { ConstraintViolation, type Store } from '../../src/store/store.ts';
import { temporaryFolder, testKeys } from '../temporary.ts';

const keyOf = (name: string) => createHash('sha256').update(name).digest();

function entry(seq: number, dedupeKey: Uint8Array) {
  const [body, fresh] = [Buffer.from('{}'), { source: 'default', kind: 'webhook' as const, receivedAt: '2026-03-01' }];
  return sealEntry({ ...fresh, dedupeKey, meta: body, body }, seq, seq, randomBytes(32), testKeys.append);
}

async function world(keysInMemory = 4) {
  const path = `${await temporaryFolder()}/ledger.db`;
  const open = async () => {
    const store = await openSqliteStore({ path, keysInMemory });
    onTestFinished(() => store.close());
    return store;
  };
  return { path, open };
}

/** Appends if the key is new, as the ledger does; returns the seq of the entry that has the key. */
const append = (store: Store, key: Uint8Array) =>
  store.transaction(async (tx) => {
    const [found] = await tx.findSeqs([{ source: 'default', kind: 'webhook', dedupeKey: key }]);
    if (typeof found === 'number') return found;
    const { seq } = await tx.head([]);
    await tx.insertEntries([entry(seq + 1, key)]);
    return seq + 1;
  });

const headOf = (store: Store) => store.transaction(async (tx) => (await tx.head([])).seq);
/** Whether the fast path of an append refuses the key. */
const refuses = async (store: Store, key: Uint8Array) => {
  const seq = await headOf(store);
  return !(await store.insertEntriesAt(seq, [entry(seq + 1, key)]));
};

async function keysInFile(path: string): Promise<number> {
  const connection = await openConnection(dedupePath(path));
  const [row] = await connection.all('select count(*) as n from keys');
  await connection.close();
  return Number(row?.n);
}

const inMemory = (store: Store) =>
  store.transaction(async ({ query }) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from temp.latest_keys`.execute(query);
    return rows[0]?.n ?? 0;
  });

/** Appends entries with the keys '1', '2', … to a ledger that holds `after` of them. */
async function appendMany(store: Store, after: number, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, n) => entry(after + n + 1, keyOf(`${after + n + 1}`)));
  await store.transaction((tx) => tx.insertEntries(entries));
}

describe('deduplication keys', () => {
  test('a key is found and refused in memory, in the file, and by another process', async () => {
    const { path, open } = await world();
    const store = await open();
    for (let n = 1; n <= 11; n += 1) expect(await append(store, keyOf(`${n}`))).toBe(n);
    await store.close();
    expect(await keysInFile(path)).toBeGreaterThan(0);
    const [one, other] = [await open(), await open()];
    for (const opened of [one, other])
      for (let n = 1; n <= 11; n += 1) {
        expect(await append(opened, keyOf(`${n}`))).toBe(n);
        expect(await refuses(opened, keyOf(`${n}`))).toBe(true);
      }
    expect(await append(one, keyOf('12'))).toBe(12);
    expect(await refuses(other, keyOf('12'))).toBe(true);
    expect(await append(other, keyOf('12'))).toBe(12);
    await expect(
      other.transaction((tx) => tx.insertMany('entries', [{ ...rowOf(entry(13, keyOf('3'))) }])),
    ).rejects.toThrow(ConstraintViolation);
  });

  test('different keys with the same first bytes are both stored', async () => {
    const { open } = await world(2);
    const store = await open();
    const keys = Array.from({ length: 9 }, (_, n) => Buffer.concat([Buffer.alloc(31, 7), Buffer.from([n])]));
    const seqs = keys.map((_, n) => n + 1);
    for (const key of keys) await append(store, key);
    expect(await Promise.all(keys.map((key) => append(store, key)))).toEqual(seqs);
    await store.close();
    const again = await open();
    expect(await Promise.all(keys.map((key) => append(again, key)))).toEqual(seqs);
  });

  test('a key whose entry was rolled back can be stored', async () => {
    const { open } = await world();
    const store = await open();
    await append(store, keyOf('a'));
    await expect(
      store.transaction(async (tx) => {
        await tx.insertEntries([entry(2, keyOf('b'))]);
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    expect(await append(await open(), keyOf('c'))).toBe(2);
    expect(await append(store, keyOf('c'))).toBe(2);
    expect(await append(store, keyOf('b'))).toBe(3);
    expect(await refuses(store, keyOf('b'))).toBe(true);
  });

  test('keys are known on the connection that replaces a failed one', async () => {
    const { open } = await world();
    const store = await open();
    for (const name of ['a', 'b']) await append(store, keyOf(name));
    const failing = store.transaction((tx) => tx.insertMany('fold_positions', [{ name: 'x', seq: 1 }]));
    await expect(failing).rejects.toThrow(StoreUnavailable);
    expect(await refuses(store, keyOf('b'))).toBe(true);
    expect(await append(store, keyOf('a'))).toBe(1);
  });

  test('several processes never store a key twice, whatever is closed, lost or moved between appends', async () => {
    const step = fc.oneof(
      { weight: 9, arbitrary: fc.record({ by: fc.nat(1), key: fc.nat(30), way: fc.constantFrom('found', 'fast') }) },
      fc.record({ by: fc.nat(1), way: fc.constantFrom('reopen', 'lose') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 9 }), async (steps, many) => {
        const path = `${await temporaryFolder()}/ledger.db`;
        const open = () => openSqliteStore({ path, keysInMemory: many });
        const stores = [await open(), await open()];
        const seqOf = new Map<number, number>();
        try {
          for (const { by, way, ...rest } of steps) {
            const store = stores[by] as Store;
            if (way === 'reopen' || way === 'lose') {
              await store.close();
              if (way === 'lose') {
                await stores[1 - by]?.close();
                for (const end of ['', '-wal', '-shm']) await rm(dedupePath(path) + end, { force: true });
                stores[1 - by] = await open();
              }
              stores[by] = await open();
              continue;
            }
            const number = (rest as { key: number }).key;
            const known = seqOf.get(number);
            if (way === 'found' || known !== undefined) {
              if (way === 'fast') expect(await refuses(store, keyOf(`${number}`))).toBe(true);
              const seq = await append(store, keyOf(`${number}`));
              expect(seq).toBe(known ?? seqOf.size + 1);
              seqOf.set(number, seq);
            } else {
              expect(await store.insertEntriesAt(seqOf.size, [entry(seqOf.size + 1, keyOf(`${number}`))])).toBe(true);
              seqOf.set(number, seqOf.size + 1);
            }
          }
        } finally {
          for (const store of stores) await store.close();
        }
      }),
      { numRuns: 25 },
    );
  });

  test('appends while keys are moved lose none', async () => {
    const { path, open } = await world(50);
    const store = await open();
    let seq = 0;
    for (let batch = 0; batch < 60; batch += 1) {
      const entries = Array.from({ length: 17 }, (_, n) => entry(seq + n + 1, keyOf(`${seq + n + 1}`)));
      expect(await store.insertEntriesAt(seq, entries)).toBe(true);
      seq += 17;
    }
    for (let n = 1; n <= seq; n += 37) expect(await refuses(store, keyOf(`${n}`))).toBe(true);
    await store.close();
    expect(await keysInFile(path)).toBe(seq);
  });

  test('keys in memory stay few: under constant load, at a start without the file, and after others appended', async () => {
    const { path, open } = await world(100);
    let store = await open();
    const idle = await open();
    expect(await append(idle, keyOf('1'))).toBe(1);
    let seq = 1;
    let most = 0;
    for (; seq < 3000; seq += 1) {
      await store.insertEntriesAt(seq, [entry(seq + 1, keyOf(`${seq + 1}`))]);
      if (seq % 100 === 0) most = Math.max(most, await inMemory(store));
    }
    expect(most).toBeLessThan(1000);

    await store.close();
    expect(await append(idle, keyOf('2'))).toBe(2);
    expect(await inMemory(idle)).toBeLessThan(500);
    await idle.close();

    await rm(dedupePath(path));
    store = await open();
    expect(await append(store, keyOf('3'))).toBe(3);
    expect(await inMemory(store)).toBeLessThan(100);
    for (let n = 1; n <= seq; n += 97) expect(await refuses(store, keyOf(`${n}`))).toBe(true);
  });

  test('appends go on, and refuse repeats, while another process holds the file', async () => {
    const { path } = await world();
    const open = async () => {
      const store = await openSqliteStore({ path, keysInMemory: 10, busyTimeout: 20 });
      onTestFinished(() => store.close());
      return store;
    };
    const store = await open();
    await appendMany(store, 0, 5);
    const holder = await openConnection(dedupePath(path));
    onTestFinished(() => holder.close());
    await holder.script('begin immediate');
    for (let seq = 5; seq < 60; seq += 5) await appendMany(store, seq, 5);
    const other = await open();
    for (const opened of [store, other])
      for (let n = 1; n <= 60; n += 7) expect(await refuses(opened, keyOf(`${n}`))).toBe(true);
    expect(await keysInFile(path)).toBe(0);
    await holder.script('rollback');
    await appendMany(store, 60, 20);
    await store.close();
    expect(await keysInFile(path)).toBe(80);
  });

  test('a file whose making was interrupted is made', async () => {
    const { path, open } = await world();
    await writeFile(dedupePath(path), '');
    const store = await open();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await append(store, keyOf(name));
    expect(await refuses(store, keyOf('a'))).toBe(true);
  });

  test('a process that finds the keys of another ledger leaves those that a second one has made in the meantime', async () => {
    const { path, open } = await world(1);
    const store = await open();
    for (const name of ['a', 'b', 'c']) await append(store, keyOf(name));
    await store.close();
    const made = await openConnection(dedupePath(path));
    onTestFinished(() => made.close());
    const [moved] = await made.all('select seq, leaf_hash from moved');
    await made.script("update moved set leaf_hash = x'00'; begin immediate");
    await made.run('update moved set leaf_hash = ?', [moved?.leaf_hash ?? null]);
    const opening = open();
    await new Promise((done) => setTimeout(done, 500));
    await made.script('commit');
    await opening;
    expect(await keysInFile(path)).toBe(3);
    const [after] = await made.all('select seq, leaf_hash from moved');
    expect(after).toEqual(moved);
  });

  test('the file of another ledger, or of a later state of this one, is emptied and rebuilt', async () => {
    const { path, open } = await world(2);
    let store = await open();
    for (const name of ['a', 'b', 'c']) await append(store, keyOf(name));
    await store.close();
    await copyFile(path, `${path}-copy`);
    store = await open();
    for (const name of ['d', 'e', 'f', 'g']) await append(store, keyOf(name));
    await store.close();
    for (const end of ['-wal', '-shm']) await rm(path + end, { force: true });
    await copyFile(`${path}-copy`, path);
    store = await open();
    for (const name of ['v', 'w', 'x', 'y', 'z']) await append(store, keyOf(name));
    await store.close();
    store = await open();
    for (const [n, name] of ['a', 'b', 'c', 'v', 'w', 'x', 'y', 'z'].entries())
      expect(await append(store, keyOf(name))).toBe(n + 1);
    expect(await append(store, keyOf('d'))).toBe(9);
  });

  test('compacting does not copy the ledger into memory', async () => {
    const { open } = await world();
    const store = await open();
    const body = Buffer.alloc(1 << 20, 7);
    const size = 150;
    for (let seq = 1; seq <= size; seq += 1)
      await store.transaction((tx) => tx.insertEntries([{ ...entry(seq, keyOf(`${seq}`)), body }]));
    const used = () => process.memoryUsage().rss / (1 << 20);
    const before = used();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, used());
    }, 2);
    await store.compact();
    clearInterval(watch);
    expect(Math.max(most, used()) - before).toBeLessThan(size / 2);
    expect(await refuses(store, keyOf('1'))).toBe(true);
  });

  test('nothing but the file is left when the last process has ended', async () => {
    const { path, open } = await world();
    const [store, other] = [await open(), await open()];
    for (const name of ['a', 'b', 'c', 'd', 'e']) await append(store, keyOf(name));
    await store.close();
    expect(await append(other, keyOf('e'))).toBe(5);
    await other.close();
    const names = await readdir(dirname(path));
    expect(names.toSorted()).toEqual(['ledger.db', 'ledger.db-dedupe', 'ledger.db-read-models']);
  });

  test('only the program’s own user can read the file', async () => {
    const { path, open } = await world();
    await append(await open(), keyOf('a'));
    expect((await stat(dedupePath(path))).mode & 0o777).toBe(0o600);
  });

  test('a damaged file is refused with the remedy, which works', async () => {
    const { path, open } = await world(1);
    let store = await open();
    for (const name of ['a', 'b']) await append(store, keyOf(name));
    await store.close();
    await writeFile(dedupePath(path), 'this is not a database '.repeat(400));
    await expect(openSqliteStore({ path })).rejects.toThrow(
      /ledger\.db-dedupe.*delete it: it is rebuilt from the ledger\.$/,
    );
    await rm(dedupePath(path));
    store = await open();
    expect(await append(store, keyOf('b'))).toBe(2);
  });

  test('damage in the file is reported with the file to delete', async () => {
    const { path, open } = await world(100);
    let store = await open();
    await appendMany(store, 0, 3000);
    await store.close();
    const file = dedupePath(path);
    const connection = await openConnection(file);
    await connection.script('pragma wal_checkpoint(truncate)');
    await connection.close();
    const { size } = await stat(file);
    await (await open()).close();
    const handle = await openFile(file, 'r+');
    for (let at = 4 * 4096; at < size; at += 4096) await handle.write(Buffer.alloc(4096, 'x'), 0, 4096, at);
    await handle.close();
    store = await open();
    const { damage } = await store.inspect({ readThrough: true });
    expect(damage).not.toEqual([]);
    expect(new Set(damage?.map(({ rebuilt }) => rebuilt))).toEqual(new Set([file]));
    await store.close();
    await rm(file);
    store = await open();
    expect((await store.inspect({ readThrough: true })).damage).toEqual([]);
    for (let n = 1; n <= 3000; n += 97) expect(await refuses(store, keyOf(`${n}`))).toBe(true);
  });

  test('keys are looked up by index', async () => {
    const { path, open } = await world();
    await append(await open(), keyOf('a'));
    const connection = await openConnection(path);
    onTestFinished(() => connection.close());
    await new DedupeKeys(path, 100).prepare(connection);
    const plan = await connection.all(`explain query plan ${FIND_SEQS}`, [
      JSON.stringify([['default', 'webhook', '00']]),
    ]);
    const steps = plan.map(({ detail }) => String(detail)).filter((step) => /^(SCAN|SEARCH)/.test(step));
    expect(steps.filter((step) => step.startsWith('SCAN'))).toEqual([
      'SCAN wanted VIRTUAL TABLE INDEX 1:',
      'SCAN wanted VIRTUAL TABLE INDEX 1:',
    ]);
    expect(steps.filter((step) => step.includes('prefix=?'))).toHaveLength(2);
  });
});

function rowOf({
  sourceSeq,
  dedupeKey,
  receivedAt,
  leafHash,
  meta,
  body,
  salt,
  commitment,
  mac,
  ...rest
}: ReturnType<typeof entry>) {
  const bytes = (value: Uint8Array | null) => Buffer.from(value ?? []);
  return {
    ...rest,
    source_seq: sourceSeq,
    dedupe_key: bytes(dedupeKey),
    received_at: receivedAt,
    leaf_hash: bytes(leafHash),
    meta: bytes(meta),
    body: bytes(body),
    salt: bytes(salt),
    commitment: bytes(commitment),
    mac: bytes(mac),
  };
}
