import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { openFreshStore, temporaryStore } from '../temporary.ts';

test('a read that fails gives its connection back', async () => {
  const store = await temporaryStore();
  const wrong = Array.from({ length: 20 }, () =>
    sql`select nothing from nowhere`.execute(store.read).catch(() => 'failed'),
  );
  expect(new Set(await Promise.all(wrong))).toEqual(new Set(['failed']));
  expect(await store.read.selectFrom('settings').select('name').execute()).toEqual([]);
});

test('close ends statements that would run for very long', async () => {
  const { store, close } = await openFreshStore();
  const endless = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000) select count(*) from n`;
  const statements = [
    endless.execute(store.read),
    // On PostgreSQL the process does not wait for it.
    ...(store.engine === 'sqlite' ? [store.snapshot((read) => endless.execute(read))] : []),
    store.foldTransaction((tx) => endless.execute(tx.query)),
  ].map((statement) => expect(statement).rejects.toThrow(StoreUnavailable));
  // The next one waits for the lock that the last one holds.
  const waiting = store.foldTransaction((tx) => tx.query.selectFrom('cases').selectAll().execute()).catch(() => []);
  await store.read.selectFrom('settings').select('name').execute();
  await close();
  await Promise.all(statements);
  expect(await waiting).toEqual([]);
});

test('insertMany refuses values that no column can hold, and keeps values that only look odd', async () => {
  const store = await temporaryStore();
  const insert = (rows: { name: string; seq: number }[]) =>
    store.transaction((tx) => tx.insertMany('positions', rows, 'replace'));
  for (const seq of [Number.NaN, Infinity, undefined, 5n, Symbol('s')]) {
    await expect(insert([{ name: 'p', seq: seq as number }])).rejects.toThrow(TypeError);
  }
  await expect(insert([{ name: 'p', seq: 1 }, { name: 'q', other: 2 } as never])).rejects.toThrow(TypeError);
  await insert([
    { name: 'zero', seq: -0 },
    { name: 'large', seq: Number.MAX_SAFE_INTEGER },
    { name: 'x'.repeat(1 << 11), seq: 1 },
  ]);
  const rows = await store.read.selectFrom('positions').select('seq').orderBy('seq', 'desc').execute();
  expect(rows.map(({ seq }) => seq)).toEqual([Number.MAX_SAFE_INTEGER, 1, 0]);
  const long = { name: 'long', value: 'x'.repeat(1 << 20) };
  await store.transaction((tx) => tx.insertMany('settings', [long]));
  expect(await store.read.selectFrom('settings').selectAll().execute()).toEqual([long]);
});

test('insertMany distinguishes empty bytes from null', async () => {
  const store = await temporaryStore();
  const row = {
    slug: 's',
    name: '',
    base_url: null,
    site_url: null,
    sealed: Buffer.alloc(0),
    options: '{}',
    created_at: '',
    updated_at: '',
  };
  await store.transaction((tx) => tx.insertMany('sources', [row]));
  expect(await store.read.selectFrom('sources').selectAll().execute()).toMatchObject([row]);
});
