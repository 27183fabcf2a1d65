import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../servers/postgres.ts';
import { compareMoved, type Filled, fillIn } from './compare.ts';
import { features } from './features.ts';
import {
  backupAndRestore,
  copyToPostgres,
  copyToSqlite,
  exported,
  type MakeDatabase,
  type Movement,
  upgraded,
} from './movements.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

let made = 0;
const makeDatabase: MakeDatabase = async (from) => {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  const name = `matrix_${(made += 1)}`;
  const template = from === undefined ? 'template0' : new URL(from).pathname.slice(1);
  await client.query(`create database ${name} template ${template}`);
  await client.end();
  return server.url(name);
};

/** Where an installation begins, and what then happens to it. */
const rows: readonly (readonly [string, MakeDatabase | null | 'postgres', readonly Movement[]])[] = [
  ['SQLite', null, [backupAndRestore, exported, upgraded, copyToPostgres]],
  ['PostgreSQL', 'postgres', [backupAndRestore, exported, upgraded, copyToSqlite]],
];

async function move(filled: Filled, movement: Movement) {
  const isThere = movement === copyToPostgres || filled.makeDatabase !== null;
  return compareMoved(filled, movement, isThere ? makeDatabase : null);
}

describe.each(rows)('an installation on %s', (_, on, movements) => {
  const database = on === 'postgres' ? makeDatabase : null;

  // Each alone only on SQLite, from where one movement leads to PostgreSQL.
  const each = on === 'postgres' ? [] : features.map((feature) => [feature.name, [feature]] as const);
  test.each([['every feature', features] as const, ...each])(
    'with %s is the same after each movement',
    async (name, some) => {
      const filled = await fillIn(some, database);
      expect.soft(filled.unfulfilled).toEqual([]);
      if (name === 'every feature') expect.soft(filled.unclaimed).toEqual([]);
      for (const movement of movements)
        expect.soft({ movement: movement.name, found: (await move(filled, movement)).found }).toEqual({
          movement: movement.name,
          found: [],
        });
    },
  );
});

test('an installation with every feature is the same after `store copy` to PostgreSQL and back', async () => {
  const filled = await fillIn(features);
  const there = await compareMoved(filled, copyToPostgres, makeDatabase);
  expect.soft(there.found).toEqual([]);
  const back = await compareMoved({ ...filled, place: there.place, makeDatabase }, copyToSqlite, makeDatabase);
  expect.soft(back.found).toEqual([]);
});
