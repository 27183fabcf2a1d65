// SQLite only: behaviour beyond the contract of every store (store.test.ts).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable, UsageError } from '../../src/core/errors.ts';
import { sealEntry } from '../../src/crypto/entry.ts';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { openSqliteStore, readModelsPath } from '../../src/store/sqlite/open.ts';
import { bundled } from '../bundled.ts';
import { temporaryFolder, testKeys } from '../temporary.ts';

test('10 processes start at once without a database: one migrates and all can work', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const script = await bundled('store/open-store');
  const children = Array.from({ length: 10 }, () =>
    fork(script, [path], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    }),
  );
  onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')));
  const codes = await Promise.all(
    children.map(async (child) => {
      let text = '';
      child.stderr?.on('data', (chunk) => (text += String(chunk)));
      const [code] = (await once(child, 'exit')) as [number | null];
      return code === 0 ? 'done' : text;
    }),
  );
  expect(codes).toEqual(Array.from({ length: 10 }, () => 'done'));
  const store = await openSqliteStore({ path });
  expect(await store.read.selectFrom('settings').selectAll().execute()).toHaveLength(10);
  await store.close();
});

test('a database of a newer version is refused with the remedy', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const connection = await openConnection(path);
  await connection.script('pragma user_version = 99');
  await connection.close();
  await expect(openSqliteStore({ path })).rejects.toThrow(UsageError);
});

test('a process that is still running does not fold into the tables of another version, and still receives', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const note = { name: 'projector', seq: 1 };
  await store.foldTransaction((tx) => tx.insertMany('fold_positions', [note]));
  const other = await openConnection(readModelsPath(path));
  await other.script('pragma user_version = 1');
  await other.close();
  await expect(
    store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ ...note, name: 'rebuild' }])),
  ).rejects.toThrow(/Another version of consent-ledger .*restart this process/);
  expect(await store.read.selectFrom('fold_positions').selectAll().execute()).toEqual([note]);
  await store.transaction((tx) => tx.insertMany('settings', [{ name: 'a', value: '1' }]));
});

test('a file that is not a database is refused and left unchanged', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  await writeFile(path, 'this is somebody’s text file, and longer than a header of a database would be '.repeat(20));
  const before = await readFile(path);
  await expect(openSqliteStore({ path })).rejects.toThrow(StoreUnavailable);
  expect(await readFile(path)).toEqual(before);
});

test('a write is refused after the wait while another process holds the write lock, and works once it is released', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const store = await openSqliteStore({ path, busyTimeout: 100 });
  onTestFinished(() => store.close());
  const other = await openConnection(path);
  await other.script('begin immediate');
  const write = () => store.transaction((tx) => tx.insertMany('settings', [{ name: 'a', value: '1' }]));
  await expect(write()).rejects.toThrow(StoreUnavailable);
  await other.script('rollback');
  await other.close();
  await write();
});

test('erased text is gone from the file after compact', async () => {
  const folder = await temporaryFolder();
  const path = `${folder}/ledger.db`;
  const store = await openSqliteStore({ path });
  const text = 'a-secret-that-must-vanish';
  const entry = sealEntry(
    {
      source: 's',
      kind: 'webhook',
      dedupeKey: Buffer.alloc(32),
      receivedAt: 't',
      meta: Buffer.from('{}'),
      body: Buffer.from(text),
    },
    1,
    1,
    Buffer.alloc(32, 1),
    testKeys.append,
  );
  await store.insertEntriesAt(0, [entry]);
  await store.transaction((tx) =>
    tx.query.updateTable('entries').set({ body: null, meta: null, salt: null }).where('seq', '=', 1).execute(),
  );
  await store.compact();
  for (const suffix of ['', '-wal']) {
    expect((await readFile(path + suffix)).includes(text)).toBe(false);
  }
  await store.close();
});
