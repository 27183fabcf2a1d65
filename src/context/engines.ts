import { existsSync } from 'node:fs';
import type { DatabaseAddress } from '../config/variables.ts';
import type { Distribution, DistributionOptions, RedisReport } from '../jobs/bullmq.ts';
import type { Announce } from '../jobs/jobs.ts';
import type { Query, Store } from '../store/store.ts';

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

/** Opens a database, or a copy of one, only to read it: nothing is made, migrated or locked. Rejects with StoreUnavailable when it cannot be reached. */
export async function openToRead(database: DatabaseAddress): Promise<{ read: Query; close(): Promise<void> }> {
  if (database.engine === 'postgres') {
    const { openPostgresToRead } = await import('../store/postgres/open.ts');
    return openPostgresToRead(database.url);
  }
  const { openSqliteToRead } = await import('../store/sqlite/open.ts');
  return openSqliteToRead(database.path);
}

/**
 * Whether there is an installation in that database already: {@link openStore} would begin one. Changes nothing.
 * Rejects as openStore when PostgreSQL cannot be asked.
 */
export async function isInstallationBegun(database: DatabaseAddress): Promise<boolean> {
  if (database.engine === 'sqlite') return existsSync(database.path);
  const { isBegunInPostgres } = await import('../store/postgres/migrate.ts');
  return isBegunInPostgres(database.url);
}

/** Wake-ups over Redis, with the libraries loaded and the connection opened at the first need: most commands have none. */
export interface LazyDistribution {
  readonly announce: Announce;
  open(): Promise<Distribution>;
  close(): Promise<void>;
}

/** Null without a REDIS_URL. */
export function createDistribution(
  options: Omit<DistributionOptions, 'url'> & { readonly url: string | null },
): LazyDistribution | null {
  const { url } = options;
  if (url === null) return null;
  let opening: Promise<Distribution> | null = null;
  const open = () => {
    opening ??= import('../jobs/bullmq.ts').then(({ openDistribution }) => openDistribution({ ...options, url }));
    return opening;
  };
  return {
    open,
    announce: async (wakeUps) => (await open()).announce(wakeUps),
    async close() {
      if (opening !== null) await (await opening).close();
    },
  };
}

/** Asks the Redis of REDIS_URL how it is set, with the libraries loaded only then. Never rejects. */
export async function loadRedisReport(url: string): Promise<RedisReport> {
  const { inspectRedis } = await import('../jobs/bullmq.ts');
  return inspectRedis(url);
}
