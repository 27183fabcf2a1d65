// PostgreSQL only: many processes on one server, its outages, and its settings.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { StoreUnavailable, UsageError } from '../../src/core/errors.ts';
import { sealEntry } from '../../src/crypto/entry.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { loadFoldPosition } from '../../src/projections/position.ts';
import { FOLD_LOCK } from '../../src/store/postgres/driver.ts';
import { openPostgresStore, type PostgresOptions } from '../../src/store/postgres/open.ts';
import { columnsOf } from '../../src/store/schema.ts';
import { ConstraintViolation, type Store } from '../../src/store/store.ts';
import { bundled } from '../bundled.ts';
import { createDatabase } from '../servers/databases.ts';
import { type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { isLong, testKeys } from '../temporary.ts';

async function open(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, ...options });
  onTestFinished(() => store.close());
  return store;
}

const names = (store: Store) => store.read.selectFrom('settings').select('name').orderBy('name').execute();
const put = (store: Store, name: string) => store.transaction((tx) => tx.insertMany('settings', [{ name, value: '' }]));
const entry = (seq: number, text = `body ${seq}`) =>
  sealEntry(
    {
      ...{ source: 'default', kind: 'webhook', dedupeKey: Buffer.alloc(32, seq) },
      ...{ receivedAt: '2026-07-01T10:00:00.000Z', meta: Buffer.from('{}'), body: Buffer.from(text) },
    },
    seq,
    seq,
    Buffer.alloc(32, seq),
    testKeys.append,
  );

async function runChildren(count: number, args: readonly string[]): Promise<number[][]> {
  const script = await bundled('store/open-postgres-store');
  const children = Array.from({ length: count }, () =>
    fork(script, args, {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    }),
  );
  onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')));
  const answers = await Promise.all(
    children.map(async (child) => {
      let [text, sent] = ['', [] as number[]];
      child.stderr?.on('data', (chunk) => (text += String(chunk)));
      child.on('message', (message) => (sent = message as number[]));
      const [code] = (await once(child, 'exit')) as [number | null];
      return { fault: code === 0 ? '' : `exit ${code}: ${text}`, sent };
    }),
  );
  expect(answers.map(({ fault }) => fault)).toEqual(answers.map(() => ''));
  return answers.map(({ sent }) => sent);
}

test('many processes start at once on an empty database: one migrates and all can work', async () => {
  const url = await createDatabase();
  const count = isLong ? 20 : 6;
  await runChildren(count, [url]);
  expect(await names(await open(url))).toHaveLength(count);
});

test('many processes append at once: no number twice, no gap, and no reader sees a number before those below it', async () => {
  const url = await createDatabase();
  const store = await open(url, { readers: 2 });
  let done = false;
  const appended = runChildren(3, [url, '300']).finally(() => (done = true));
  const seen: number[] = [];
  while (!done) {
    const { count, highest } = await store.read
      .selectFrom('entries')
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('seq').as('highest')])
      .executeTakeFirstOrThrow();
    // One statement sees one moment: fewer rows than the highest number would be a gap that is filled later.
    expect(count).toBe(highest ?? 0);
    seen.push(count);
  }
  const seqs = (await appended).flat().sort((a, b) => a - b);
  expect(seqs).toEqual(Array.from({ length: 900 }, (_, place) => place + 1));
  expect(new Set(seen).size).toBeGreaterThan(5);
  const rows = await store.read.selectFrom('entries').select(['source', 'source_seq', 'seq']).orderBy('seq').execute();
  for (const source of ['s0', 's1', 's2']) {
    const own = rows.filter((row) => row.source === source).map((row) => row.source_seq);
    expect(own).toEqual(own.map((_, place) => place + 1));
  }
});

test('a transaction that looks up keys never meets a number taken by the fast path of another process', async () => {
  const url = await createDatabase();
  const [one, two] = [await open(url), await open(url)];
  const held = one.transaction(async (tx) => {
    const { seq } = await tx.head([]);
    // The statement of the other process finds the lock taken, writes nothing, and does not wait.
    expect(await two.insertEntriesAt(seq, [entry(seq + 1)])).toBe(false);
    await tx.insertEntries([entry(seq + 1)]);
  });
  await held;
  expect(await two.insertEntriesAt(1, [entry(2)])).toBe(true);
});

test('a write is refused after the wait while another process holds the write lock, and works once it is released', async () => {
  const url = await createDatabase();
  const [one, two] = [await open(url), await open(url, { lockTimeout: 100 })];
  await one.transaction(async () => {
    await expect(put(two, 'a')).rejects.toThrow(StoreUnavailable);
  });
  await put(two, 'a');
});

test('a writer that pauses inside its transaction is ended by the server, and its writes are rolled back', async () => {
  const url = await createDatabase();
  const [paused, other] = [await open(url, { idleTimeout: 200 }), await open(url)];
  const late = paused.transaction(async (tx) => {
    await tx.insertMany('settings', [{ name: 'late', value: '' }]);
    await put(other, 'other');
    await tx.insertMany('settings', [{ name: 'later', value: '' }]);
  });
  await expect(late).rejects.toThrow(
    new StoreUnavailable('the database answered: terminating connection due to idle-in-transaction timeout'),
  );
  expect(await names(other)).toEqual([{ name: 'other' }]);
  await put(paused, 'again');
});

test('a statement that fails rolls back its transaction, even if the failure is ignored', async () => {
  const store = await open(await createDatabase());
  await put(store, 'a');
  const passedOver = store.transaction(async (tx) => {
    await tx.insertMany('settings', [{ name: 'b', value: '' }]);
    await expect(tx.insertMany('settings', [{ name: 'a', value: '' }])).rejects.toThrow(ConstraintViolation);
  });
  await expect(passedOver).rejects.toThrow('a statement in the transaction failed');
  expect(await names(store)).toEqual([{ name: 'a' }]);
});

test('texts are ordered byte by byte in every column, whatever the database orders by', async () => {
  const url = await createDatabase();
  const store = await open(url);
  const words = ['a', 'B', 'ä', 'Z', '-', 'b', '_', 'é', 'A', '😀', '�'];
  await store.transaction((tx) =>
    tx.insertMany(
      'settings',
      words.map((name) => ({ name, value: '' })),
    ),
  );
  const bytewise = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect((await names(store)).map(({ name }) => name)).toEqual(bytewise);
  const { rows: bySystem } = await sql<{
    name: string;
  }>`select name from settings order by name collate "default"`.execute(store.read);
  expect(bySystem.map(({ name }) => name)).not.toEqual(bytewise);
  const { rows } = await sql<{
    name: string;
  }>`select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`.execute(store.read);
  expect(rows).toEqual([]);
});

test('the positions of version 1 are migrated, and those of other readers stay', async () => {
  const url = await createDatabase('migrated');
  const first = await openPostgresStore({ url });
  await first.transaction(async ({ query }) => {
    await sql`drop table fold_positions`.execute(query);
    await sql`drop table hand_overs`.execute(query);
    await sql`drop table delivery_quarters`.execute(query);
    await sql`drop table decision_quarters`.execute(query);
    await sql`drop table set_aside, settled_findings`.execute(query);
    await sql`drop index jobs_due`.execute(query);
    await sql`create index jobs_due on jobs (state, run_at, priority)`.execute(query);
    await sql`insert into positions values ('projector', 7), ('projector:generation', 2), ('snapshot-triggers', 5)`.execute(
      query,
    );
    await sql`update schema_version set version = 1`.execute(query);
  });
  await first.close();
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  expect(await loadFoldPosition(store.read, 'projector')).toEqual({ seq: 7, generation: 2 });
  const left = await store.read.selectFrom('positions').selectAll().execute();
  expect(left).toEqual([{ name: 'snapshot-triggers', seq: 5 }]);
  expect(await store.schemaDifferences({ quick: false })).toEqual([]);
});

/** A store whose tables are those of schema version 5. */
async function openAsVersion5(url: string) {
  const store = await openPostgresStore({ url });
  await store.transaction(async ({ query }) => {
    await sql`drop table delivery_quarters`.execute(query);
    await sql`drop table decision_quarters`.execute(query);
    await sql`drop table set_aside, settled_findings`.execute(query);
    await sql`update schema_version set version = 5`.execute(query);
  });
  return store;
}

test('the deliveries of version 5 are counted by quarter of an hour', async () => {
  const url = await createDatabase('migrated');
  const first = await openAsVersion5(url);
  await first.transaction((tx) =>
    tx.insertMany(
      'delivery_history',
      ['10:00:00.000', '10:14:59.999', '10:59:59.999', '23:30:00.000'].map((time, place) => ({
        seq: place + 1,
        source: 'shop',
        received_at: `2026-03-01T${time}Z`,
        event: place === 3 ? null : 'ping',
        verdict: 'verified',
        outcome: 'read' as const,
        reason: null,
        content_type: null,
        bytes: 2,
        commitment: '',
      })),
    ),
  );
  await first.close();
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  const counts = await store.read.selectFrom('delivery_quarters').selectAll().orderBy('quarter').execute();
  expect(counts.map(({ quarter, deliveries }) => [quarter, Number(deliveries)])).toEqual([
    ['2026-03-01T10:00', 2],
    ['2026-03-01T10:45', 1],
    ['2026-03-01T23:30', 1],
  ]);
  expect(await store.schemaDifferences({ quick: false })).toEqual([]);
});

test('the rows of version 8 are the first events of their entries', async () => {
  const url = await createDatabase('migrated');
  const first = await openPostgresStore({ url });
  await first.transaction(async ({ query }) => {
    for (const table of ['policy_history', 'decision_history', 'case_history', 'scan_history', 'integration_history']) {
      // The key goes with the column.
      await sql`alter table ${sql.table(table)} drop column part`.execute(query);
      await sql`alter table ${sql.table(table)} add constraint ${sql.ref(`${table}_pkey`)} primary key (seq)`.execute(
        query,
      );
    }
    await sql`alter table delivery_history drop column events`.execute(query);
    await sql`drop table set_aside, settled_findings`.execute(query);
    await sql`drop index delivery_history_unread, decision_history_unknown`.execute(query);
    await sql`insert into integration_history (seq, source, received_at, occurred_at, occurred_basis, occurred_counts, at, change)
      values (7, 'shop', 'x', 'x', 'payload', 1, 'x', 'lost')`.execute(query);
    await sql`update schema_version set version = 8`.execute(query);
  });
  await first.close();
  const store = await openPostgresStore({ url });
  onTestFinished(() => store.close());
  expect(await store.read.selectFrom('integration_history').select(['seq', 'part']).execute()).toEqual([
    { seq: 7, part: 0 },
  ]);
  expect(await store.schemaDifferences({ quick: false })).toEqual([]);
});

test('a process that is still running after another has migrated does not fold, and still receives', async () => {
  const url = await createDatabase('migrated');
  const store = await open(url);
  const fold = () => store.foldTransaction((tx) => tx.insertMany('fold_positions', [{ name: 'projector', seq: 1 }]));
  await store.transaction((tx) => sql`update schema_version set version = 99`.execute(tx.query));
  await expect(fold()).rejects.toThrow(/Another version of consent-ledger .*restart this process/);
  expect(await store.read.selectFrom('fold_positions').selectAll().execute()).toEqual([]);
  await put(store, 'received');
});

test('a migration counts what another process is still folding', async () => {
  const url = await createDatabase('migrated');
  const first = await openAsVersion5(url);
  await first.close();
  const older = new pg.Client({ connectionString: url });
  await older.connect();
  onTestFinished(() => older.end());
  await older.query(`begin; select pg_advisory_xact_lock(${FOLD_LOCK})`);
  await older.query(`insert into delivery_history (seq, source, received_at, verdict, outcome, bytes, commitment)
    values (1, 'shop', '2026-03-01T10:00:00.000Z', 'verified', 'read', 2, '')`);
  const opened = open(url);
  await vi.waitFor(async () => {
    const { rows } = await older.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`);
    expect(rows).toHaveLength(1);
  }, 10_000);
  await older.query('commit');
  const store = await opened;
  expect(await store.read.selectFrom('delivery_quarters').selectAll().execute()).toHaveLength(1);
});

test('a database of a newer version is refused with the remedy', async () => {
  const url = await createDatabase();
  const store = await openPostgresStore({ url });
  await store.transaction((tx) => sql`update schema_version set version = 99`.execute(tx.query));
  await store.close();
  await expect(openPostgresStore({ url })).rejects.toThrow(UsageError);
  await expect(openPostgresStore({ url })).rejects.toThrow(/schema version 99.*install the newer version/);
});

test('readers cannot write, and writers use durable commits', async () => {
  const store = await open(await createDatabase());
  const written = store.read.insertInto('settings').values({ name: 'a', value: '' }).execute();
  await expect(written).rejects.toThrow('read-only');
  expect(await store.inspect({ readThrough: true })).toMatchObject({ deviations: [], damage: null });
  expect(await store.sizeOnDisk()).toBeGreaterThan(1 << 20);
});

test('a store names the setting of a server that would lose commits', async () => {
  const server = await startPostgres({ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' });
  onTestFinished(() => server.close());
  const store = await open(server.url());
  const { deviations } = await store.inspect({ readThrough: false });
  // synchronous_commit is set by the session itself.
  expect(deviations).toEqual(['fsync is off, not on', 'full_page_writes is off, not on']);
});

test('erased text is gone from the table’s file after compact, even if a transaction can still see it at first', async () => {
  const store = await open(await createDatabase());
  await store.insertEntriesAt(0, [entry(1, 'a-secret-that-must-vanish')]);
  await store.transaction((tx) =>
    tx.query.updateTable('entries').set({ body: null, meta: null, salt: null }).where('seq', '=', 1).execute(),
  );
  const fileHolds = async () => {
    // The page as on disk, after a checkpoint wrote it.
    const bytes = sql<{
      found: string;
    }>`select position('a-secret-that'::bytea in pg_read_binary_file(pg_relation_filepath('entries'))) > 0 as found`;
    return store.transaction(async (tx) => (await bytes.execute(tx.query)).rows[0]?.found);
  };
  const checkpoint = () => sql`checkpoint`.execute(store.read);
  await checkpoint();
  expect(await fileHolds()).toBe('t');
  // A report that began before the erasure still sees the old row, so compact waits for it.
  const report = sql`select count(*), pg_sleep(1) from entries`.execute(store.read);
  await store.compact();
  await report;
  await checkpoint();
  expect(await fileHolds()).toBe('f');
  expect(await store.insertEntriesAt(1, [entry(2)])).toBe(true);
});

test('an unreachable server, a wrong user and a missing database get different messages, without the password', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, 'close');
  const refused = await openPostgresStore({ url: `postgres://ada:s3cret@127.0.0.1:${port}/db` }).catch(
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(StoreUnavailable);
  expect(String(refused)).toContain(`PostgreSQL at 127.0.0.1:${port} (database db, user ada)`);
  expect(String(refused)).toContain('Start the server, or correct host and port in DATABASE_URL');
  const address = new URL(await createDatabase());
  const url = (change: Partial<Pick<URL, 'username' | 'password' | 'pathname'>>) =>
    Object.assign(new URL(address), change).toString();
  for (const [changed, remedy] of [
    [url({ password: 's3cret' }), /Correct the user and password/],
    [url({ pathname: '/no_such_database' }), /Create the database/],
    [`${url({})}?sslmode=verify-full&sslrootcert=/no/such/file`, /DATABASE_URL cannot be used: .*no such file/],
  ] as const) {
    const error = await openPostgresStore({ url: changed }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(remedy);
    expect(String(error)).not.toContain('s3cret');
    expect(String(error)).not.toContain(address.password);
  }
});

test('a role that owns nothing is refused with the remedy, and a role with its own schema can work', async () => {
  const url = await createDatabase();
  const owner = await open(url);
  const role = `app_${Math.random().toString(36).slice(2, 10)}`;
  await owner.transaction(async (tx) => {
    await sql.raw(`create role ${role} login password 's3cret' nosuperuser`).execute(tx.query);
    await sql.raw(`create schema ledger`).execute(tx.query);
    await sql.raw(`grant usage, create on schema ledger to ${role}`).execute(tx.query);
  });
  onTestFinished(() =>
    owner.transaction(async (tx) => {
      await sql.raw(`drop owned by ${role}`).execute(tx.query);
      await sql.raw(`drop role ${role}`).execute(tx.query);
    }),
  );
  const theirs = Object.assign(new URL(url), { username: role, password: 's3cret' }).toString();
  for (const nowhere of [theirs, `${theirs}?options=-c%20search_path%3Dno_such_schema`]) {
    const refused = await openPostgresStore({ url: nowhere }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain('docs/configuration.md');
  }
  const store = await open(`${theirs}?options=-c%20search_path%3Dledger`);
  expect(await store.insertEntriesAt(0, [entry(1)])).toBe(true);
  await store.compact();
  expect(await owner.read.selectFrom('entries').select('seq').execute()).toEqual([]);
});

test('queries use the built-in functions and operators, whatever search path the owner of the database sets', async () => {
  const url = await createDatabase();
  const store = await open(url);
  expect(await store.insertEntriesAt(0, [entry(1)])).toBe(true);
  const { pathname } = new URL(url);
  await store.transaction(async ({ query }) => {
    for (const statement of [
      'create schema evil',
      `create function evil.ge(text, text) returns boolean language sql immutable as 'select false'`,
      'create operator evil.>= (leftarg = text, rightarg = text, function = evil.ge)',
      `alter database ${pathname.slice(1)} set search_path = evil, public, pg_catalog`,
    ])
      await sql.raw(statement).execute(query);
  });
  const later = await open(url);
  const found = await later.read.selectFrom('entries').select('seq').where('received_at', '>=', '2026').execute();
  expect(found).toEqual([{ seq: 1 }]);
  // A function of the same name whose argument types fit better counts even after the built-in ones.
  await later.transaction(({ query }) =>
    sql.raw('create aggregate count (bigint) (sfunc = int8pl, stype = bigint, initcond = 0)').execute(query),
  );
  expect(await later.schemaDifferences({ quick: false })).toEqual([
    expect.stringMatching(/^function (?:public\.)?count\(bigint\) has the name of a built-in one/),
  ]);
});

let own: PostgresServer;
beforeAll(async () => {
  own = await startPostgres();
  return () => own.close();
});

test('a server that goes down and comes back causes an outage in between, and nothing more', async () => {
  const store = await open(own.url(), { connectTimeout: 2000 });
  const ledger = createLedger({ store, keys: testKeys });
  onTestFinished(() => ledger.close());
  const append = (n: number) =>
    ledger.append([
      {
        ...{ source: 'default', kind: 'webhook', dedupeKey: Buffer.alloc(32, n) },
        ...{ receivedAt: '2026-07-01T10:00:00.000Z', meta: Buffer.from('{}'), body: Buffer.from(`${n}`) },
      },
    ]);
  await append(1);
  await Promise.all(Array.from({ length: 4 }, () => names(store)));
  const slow = sql`select pg_sleep(30)`.execute(store.read);
  const broken = expect(slow).rejects.toThrow(StoreUnavailable);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await own.stop();
  await broken;
  await expect(append(2)).rejects.toThrow(StoreUnavailable);
  await expect(names(store)).rejects.toThrow(StoreUnavailable);
  await own.start();
  expect(await append(2)).toEqual([{ outcome: 'stored', seq: 2 }]);
  await names(store);
  await own.stop('immediate');
  await own.start();
  // Sessions that died unnoticed may cost one answer each, and no more.
  await append(3).catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailable));
  expect((await append(3))[0]?.seq).toBe(3);
});

test('reads that wait too long for a connection are refused, and the next ones work', async () => {
  const store = await open(own.url(), { connectTimeout: 1_500, readers: 2 });
  const hold = Array.from({ length: 2 }, () => sql`select pg_sleep(4)`.execute(store.read));
  await expect(names(store)).rejects.toThrow(StoreUnavailable);
  await Promise.all(hold);
  await names(store);
});

test('a server without a free connection is an outage with the remedy', async () => {
  const server = await startPostgres({ max_connections: '5', superuser_reserved_connections: '0' });
  onTestFinished(() => server.close());
  const store = await open(server.url(), { readers: 4 });
  await put(store, 'a');
  const hold = Array.from({ length: 4 }, () => sql`select pg_sleep(1.5)`.execute(store.read));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const refused = await openPostgresStore({ url: server.url() }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreUnavailable);
  expect(String(refused)).toContain('Raise max_connections');
  await Promise.all(hold);
  await put(store, 'b');
});

test('repeated statements keep working after a newer version has added a column', async () => {
  const store = await open(await createDatabase());
  const ask = async () => {
    await store.read.selectFrom('settings').selectAll().execute();
    await store.read.selectFrom('settings').select(columnsOf('settings')).execute();
    await store.transaction(({ query }) => query.selectFrom('settings').select('name').execute());
    await store.transaction(({ query }) =>
      query.updateTable('settings').set({ value: '' }).where('name', '=', 'none').returningAll().execute(),
    );
  };
  for (let round = 0; round < 10; round += 1) await ask();
  const kept = () =>
    sql<{ statement: string }>`select statement from pg_prepared_statements where name like 'built %'`.execute(
      store.read,
    );
  expect((await kept()).rows.length).toBeGreaterThan(0);
  await store.transaction(({ query }) => sql`alter table settings add column added text`.execute(query));
  for (let round = 0; round < 10; round += 1) await ask();
});
