import pg from 'pg';
import { type PostgresServer, startPostgres } from '../test/servers/postgres.ts';

/**
 * Runs `work` with a separate PostgreSQL server on a disk, with the configuration of its packages except for a test
 * server's memory settings.
 */
export async function withPostgres<T>(work: (server: PostgresServer) => Promise<T>): Promise<T> {
  const server = await startPostgres({ shared_buffers: '256MB', max_wal_size: '2GB', wal_level: 'replica' }, 'disk');
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** Creates a database; returns its address. */
export async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  return server.url(name);
}
