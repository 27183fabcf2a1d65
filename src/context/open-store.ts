import { existsSync } from 'node:fs';
import type { DatabaseAddress } from '../config/variables.ts';
import type { Store } from '../store/store.ts';

/**
 * Opens the database that DATABASE_URL names, with the driver loaded only then.
 * Rejects with StoreUnavailable when it cannot be reached, with UsageError when it is from a newer version.
 */
export async function openStore(database: DatabaseAddress): Promise<Store> {
  if (database.engine === 'postgres') {
    const { openPostgresStore } = await import('../store/postgres/open.ts');
    return openPostgresStore({ url: database.url });
  }
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({ path: database.path });
}

/**
 * Whether there is an installation in that database already: {@link openStore} would begin one. Changes nothing.
 * Rejects as openStore when PostgreSQL cannot be asked.
 */
export async function isInstallationBegun(database: DatabaseAddress): Promise<boolean> {
  if (database.engine === 'sqlite') return existsSync(database.path);
  const { isBegunInPostgres } = await import('../store/postgres/is-begun.ts');
  return isBegunInPostgres(database.url);
}
