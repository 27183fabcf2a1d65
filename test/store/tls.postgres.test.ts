// PostgreSQL only: there is no network between a program and its SQLite file.
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { selfSigned } from '../cli/self-signed.ts';
import { findAccount } from '../servers/own-process.ts';
import { type PostgresServer, startPostgres } from '../servers/postgres.ts';

let folder = '';
let server: PostgresServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-tls-'));
  const files = { ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') };
  await writeFile(files.ssl_cert_file, selfSigned.cert, { mode: 0o644 });
  await writeFile(files.ssl_key_file, selfSigned.key, { mode: 0o600 });
  const account = findAccount();
  for (const path of account === null ? [] : [folder, ...Object.values(files)]) {
    await chown(path, account?.uid ?? 0, account?.gid ?? 0);
  }
  server = await startPostgres({ ssl: 'on', ...files });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Whether the read session is encrypted, according to the server. */
async function isEncrypted(parameters: string): Promise<boolean> {
  const store = await openPostgresStore({ url: `${server.url()}${parameters}` });
  try {
    const { rows } = await sql<{
      ssl: number;
    }>`select case when ssl then 1 else 0 end as ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.read);
    return rows[0]?.ssl === 1;
  } finally {
    await store.close();
  }
}

test('sslmode requests TLS, and without it there is none', async () => {
  const root = `&sslrootcert=${join(folder, 'server.crt')}`;
  expect(await isEncrypted(`?sslmode=verify-full${root}`)).toBe(true);
  expect(await isEncrypted(`?sslmode=require${root}`)).toBe(true);
  expect(await isEncrypted('?sslmode=no-verify')).toBe(true);
  expect(await isEncrypted('')).toBe(false);
  expect(await isEncrypted('?sslmode=disable')).toBe(false);
});

test.each(['verify-full', 'require'])(
  'an untrusted certificate is refused with sslmode=%s and the remedy',
  async (mode) => {
    const opening = openPostgresStore({ url: `${server.url()}?sslmode=${mode}` });
    await expect(opening).rejects.toThrow(StoreUnavailable);
    await expect(opening).rejects.toThrow(/sslrootcert in DATABASE_URL/);
    await expect(opening).rejects.not.toThrow(server.password);
  },
);

test('a server without TLS is refused if TLS is required', async () => {
  const plain = await startPostgres();
  try {
    await expect(openPostgresStore({ url: `${plain.url()}?sslmode=no-verify` })).rejects.toThrow(/SSL/);
  } finally {
    await plain.close();
  }
});
