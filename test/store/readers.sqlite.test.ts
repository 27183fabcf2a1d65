// SQLite only: about the read connections to one file.
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { openConnection } from '../../src/store/sqlite/driver.ts';
import { openSqliteStore, readModelsPath } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';

const names = (store: Store) => store.read.selectFrom('settings').select('name').execute();
const slowRead = (store: Store) =>
  sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) select count(*) from n`.execute(
    store.read,
  );

test('readers that cannot be opened fail every read, waiting ones included, and the next reads work', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const store = await openSqliteStore({ path, readers: 2 });
  onTestFinished(() => store.close());
  await rename(path, `${path}.away`);
  await mkdir(path);
  const reads = await Promise.allSettled(Array.from({ length: 6 }, () => names(store)));
  expect(reads.map((read) => read.status === 'rejected' && read.reason instanceof StoreUnavailable)).toEqual(
    reads.map(() => true),
  );
  await rmdir(path);
  await rename(`${path}.away`, path);
  expect(await Promise.all(Array.from({ length: 6 }, () => names(store)))).toHaveLength(6);
});

test('close ends running and waiting reads, with a result or an error', async () => {
  const store = await openSqliteStore({ path: `${await temporaryFolder()}/ledger.db`, readers: 1 });
  await names(store);
  const reads = Array.from({ length: 5 }, () => slowRead(store));
  const settled = Promise.allSettled(reads);
  await new Promise((resolve) => setImmediate(resolve));
  await store.close();
  const outcomes = await settled;
  expect(outcomes[0]?.status).toBe('fulfilled');
  expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) as unknown });
});

test('a check of the file that close interrupts finds no damage', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const store = await openSqliteStore({ path });
  const large = await openConnection(readModelsPath(path));
  await large.script(`create table large as with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000)
    select randomblob(16) as a, randomblob(16) as b, randomblob(16) as c from n;
    create index a on large (a); create index b on large (b); create index c on large (c)`);
  await large.close();
  const checks = [
    store.indexFaults('read-models'),
    store.inspect({ readThrough: true }).then(({ damage }) => damage),
  ].map((check) =>
    check.catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return [];
      throw error;
    }),
  );
  await store.close();
  expect(await Promise.all(checks)).toEqual([[], []]);
});

test('statements keep working after another process has changed the schema', async () => {
  const path = `${await temporaryFolder()}/ledger.db`;
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const write = (name: string) => store.transaction((tx) => tx.insertMany('settings', [{ name, value: '' }]));
  const rows = () => store.read.selectFrom('settings').selectAll().orderBy('name').execute();
  const other = await openConnection(path);
  for (let round = 0; round < 5; round += 1) {
    await write(`round ${round}`);
    expect(await rows()).toHaveLength(round + 1);
    await other.script(
      'begin immediate; create table shadow as select * from settings; alter table settings rename to gone; create table settings (value text not null, name text not null primary key); insert into settings (name, value) select name, value from shadow; drop table gone; drop table shadow; commit',
    );
  }
  expect((await rows())[0]).toEqual({ name: 'round 0', value: '' });
  await other.close();
});
