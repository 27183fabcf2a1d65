import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { deriveKeys } from '../src/core/keys.ts';
import { createLedger, type LedgerOptions } from '../src/ledger/append.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { createDatabase, databaseOf, engine } from './servers/databases.ts';

/** A folder of the test's own, removed when it ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The keys of the tests' installation. */
export const testKeys = deriveKeys(Buffer.alloc(32, 7));

/** A fresh store on the engine of this run, closed when the test ends. */
export async function temporaryStore(): Promise<Store> {
  const store =
    engine === 'postgres'
      ? await openPostgresStore({ url: await createDatabase() })
      : await openSqliteStore({ path: `${await temporaryFolder()}/ledger.db` });
  onTestFinished(() => store.close());
  return store;
}

/**
 * The store of the installation in `folder` (test/serving.ts: `environment`), beside the processes that use it; the same at each
 * call. The caller closes it.
 */
export function openStoreIn(folder: string): Promise<Store> {
  return engine === 'postgres'
    ? openPostgresStore({ url: databaseOf(folder) })
    : openSqliteStore({ path: `${folder}/ledger.sqlite` });
}

/** A ledger over a fresh store; both closed when the test ends. */
export async function temporaryLedger(options: Partial<LedgerOptions> = {}): Promise<{ store: Store; ledger: Ledger }> {
  const store = await temporaryStore();
  const ledger = createLedger({ store, keys: testKeys, ...options });
  onTestFinished(() => ledger.close());
  return { store, ledger };
}
