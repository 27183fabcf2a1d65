import { UsageError } from '../../core/errors.ts';
import type { Store } from '../store.ts';

export interface PostgresOptions {
  readonly url: string;
}

/** Opens (and creates or migrates) a PostgreSQL store. */
export function openPostgresStore(_options: PostgresOptions): Promise<Store> {
  return Promise.reject(new UsageError(['PostgreSQL is not yet in this version.']));
}
