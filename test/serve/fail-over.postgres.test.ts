// PostgreSQL only: SQLite has no replicas.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { runCli, untilThere } from '../cli/command-line.ts';
import { serverVariables } from '../servers/databases.ts';
import { type PostgresServer, replicated, startPostgres, startStandby } from '../servers/postgres.ts';
import { deliver, startServing } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

async function ask(server: PostgresServer, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** An address that leads to one server and then to another, as operators fail over. */
async function address(first: PostgresServer) {
  const sockets = new Set<Socket>();
  let target = first;
  const proxy = createServer((client) => {
    const upstream = connect(target.port, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    end();
    proxy.close();
  });
  const url = new URL(first.url());
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    leadTo(server: PostgresServer) {
      target = server;
      end();
    },
  };
}

/** A primary with a standby that has everything so far, and two receivers of one installation. */
async function world() {
  const primary = await startPostgres(replicated);
  onTestFinished(() => primary.close());
  const standby = await startStandby(primary, 'standby1');
  onTestFinished(() => standby.close());
  const database = await address(primary);
  const folder = await temporaryFolder();
  const env = { ...serverVariables(folder), DATABASE_URL: database.url, SYNC_SCHEDULE: 'off' };
  const receivers = [await startServing(folder, env), await startServing(folder, env)];
  const caughtUp = async () => {
    const [{ lsn } = {}] = await ask(primary, 'select pg_current_wal_lsn()::text as lsn');
    await untilThere(async () => {
      const [found] = await ask(standby, `select pg_last_wal_replay_lsn() >= '${String(lsn)}' as is_there`);
      return found?.['is_there'] === true ? true : null;
    });
  };
  const promote = async () => {
    await ask(standby, 'select pg_promote()');
    database.leadTo(standby);
  };
  let sent = 0;
  /** The statuses of deliveries that no one sent before, to both receivers in turn. */
  const send = async (count: number): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      const to = receivers[nth % 2]?.url ?? '';
      statuses.push((await deliver(to, JSON.stringify({ event: 'scan.completed', nth: (sent += 1) }))).status);
    }
    return statuses;
  };
  const ledger = async (...args: string[]) => runCli(folder, args, env);
  return { primary, standby, receivers, caughtUp, promote, send, ledger, folder, env };
}

test('after a fail-over to an asynchronous standby that lacks the tail, both receivers refuse until the loss is accepted', async () => {
  const { primary, standby, receivers, caughtUp, promote, send, ledger, folder, env } = await world();
  expect(await send(4)).toEqual([200, 200, 200, 200]);
  await caughtUp();
  expect((await ledger('doctor')).stdout).toContain('a fail-over to it can lose acknowledged deliveries');
  await standby.stop();
  expect(new Set(await send(39))).toEqual(new Set([200]));
  expect((await ledger('ledger', 'checkpoint')).code).toBe(0);
  await primary.stop('immediate');
  await standby.start();
  await promote();

  const after = await untilThere(async () => {
    const statuses = await send(6);
    return statuses.includes(0) ? null : statuses;
  });
  expect(new Set(after)).toEqual(new Set([503]));
  const [{ end } = {}] = await ask(standby, 'select max(seq)::int as end from entries');
  for (const { adminUrl } of receivers) {
    const ready = await fetch(`${adminUrl}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('refuses new entries')]);
  }
  const [{ notes } = {}] = await ask(standby, 'select count(*)::int as notes from checkpoints');
  expect((await ledger('ledger', 'checkpoint')).code).not.toBe(0);
  expect(await ask(standby, 'select count(*)::int as notes from checkpoints')).toEqual([{ notes }]);
  expect((await ledger('doctor')).stdout).toMatch(/\d+ to \d+ are missing|appending would assign/);
  expect(await ask(standby, 'select max(seq)::int as end from entries')).toEqual([{ end }]);

  await Promise.all(receivers.map(({ stop }) => stop()));
  const accepted = await ledger('restore', '--database-as-it-is');
  expect(accepted.code, accepted.stderr).toBe(0);
  expect(accepted.stdout).toContain('39 entries');
  const server = await startServing(folder, env);
  expect((await deliver(server.url, '{"event":"scan.completed","nth":"after"}')).status).toBe(200);
  const verified = await ledger('ledger', 'verify');
  expect(verified.code, verified.stdout).toBe(0);
});

test('after a fail-over to a synchronous standby nothing is missing, and the same processes go on', async () => {
  const { primary, receivers, promote, send, ledger } = await world();
  await ask(primary, "alter system set synchronous_standby_names = 'FIRST 1 (standby1)'");
  await ask(primary, 'select pg_reload_conf()');
  await untilThere(async () => {
    const [found] = await ask(primary, 'select sync_state from pg_stat_replication');
    return found?.['sync_state'] === 'sync' ? true : null;
  });
  expect((await ledger('doctor')).stdout).not.toContain('can lose acknowledged deliveries');
  expect(new Set(await send(39))).toEqual(new Set([200]));
  await primary.stop('immediate');
  await promote();
  await untilThere(async () => ((await send(2)).every((status) => status === 200) ? true : null));
  for (const { adminUrl } of receivers) expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200);
  const verified = await ledger('ledger', 'verify', '--json');
  expect(verified.code, verified.stdout).toBe(0);
});
