import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { DatabaseAddress } from '../config/read-values.ts';
import { UsageError } from '../core/errors.ts';
import type { Distribution, DistributionOptions, RedisReport } from '../jobs/bullmq.ts';
import type { Announce } from '../jobs/jobs.ts';
import type { Query, Store } from '../store/store.ts';

/**
 * Opens the database of DATABASE_URL, importing its driver only then. Rejects with StoreUnavailable if it cannot be
 * reached, with UsageError if it is from a newer version.
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
 * Opens a database, or a copy of one, for reading only: creates, migrates and locks nothing. Rejects with
 * StoreUnavailable if it cannot be reached.
 */
export async function openDatabaseToRead(database: DatabaseAddress): Promise<{ read: Query; close(): Promise<void> }> {
  if (database.engine === 'postgres') {
    const { openPostgresToRead } = await import('../store/postgres/open.ts');
    return openPostgresToRead(database.url);
  }
  const { openSqliteToRead } = await import('../store/sqlite/open.ts');
  return openSqliteToRead(database.path);
}

/**
 * Whether the database already contains an installation; {@link openStore} would begin one. Changes nothing. Rejects
 * like openStore if PostgreSQL cannot be asked.
 */
export async function isInstallationBegun(database: DatabaseAddress): Promise<boolean> {
  if (database.engine === 'sqlite') return existsSync(database.path);
  const { isBegunInPostgres } = await import('../store/postgres/migrate.ts');
  return isBegunInPostgres(database.url);
}

/**
 * Throws UsageError if the database contains no installation, and changes nothing: opening it would begin one, so a
 * command started in the wrong folder would report on an empty ledger.
 */
export async function assertInstallationBegun(config: Pick<Config, 'dataDir' | 'database'>): Promise<void> {
  if (!(await isInstallationBegun(config.database))) throw noInstallationIn(config);
}

/** The refusal of a command that was started where there is no installation. */
export function noInstallationIn({ dataDir, database }: Pick<Config, 'dataDir' | 'database'>): UsageError {
  const looked =
    database.engine === 'sqlite'
      ? `There is no installation in ${dataDir}: it has no database ${database.path}.`
      : 'There is no installation in the database of DATABASE_URL.';
  return new UsageError([
    `${looked} Start this in the folder with the installation's .env, or correct DATA_DIR or DATABASE_URL. To begin a new installation here, run \`consent-ledger init\` and then start \`consent-ledger serve\` once.`,
  ]);
}

/** Wake-ups over Redis. Libraries are imported and the connection is opened on first use: most commands need neither. */
export interface LazyDistribution {
  readonly announce: Announce;
  open(): Promise<Distribution>;
  close(): Promise<void>;
}

/** Null without REDIS_URL. */
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

/** Asks the Redis of REDIS_URL for its settings, importing the libraries only then. Never rejects. */
export async function loadRedisReport(url: string): Promise<RedisReport> {
  const { inspectRedis } = await import('../jobs/bullmq.ts');
  return inspectRedis(url);
}
