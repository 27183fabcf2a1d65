import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DatabaseAddress } from '../src/config/read-values.ts';
import { openStore } from '../src/context/engines.ts';
import { deriveKeys } from '../src/crypto/keys.ts';
import { createLedger, type Ledger, type LedgerOptions } from '../src/ledger/ledger.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { createDatabase, databaseOf, engine } from './servers/databases.ts';

/** Whether this is `npm run test:long`. */
export const isLong = process.env.TEST_LONG === 'yes';

/** Whether this run has every test of a suite that PostgreSQL runs only in part in `npm test`, because its other tests do not depend on the database. */
export const runsAll = engine === 'sqlite' || isLong;

/** Number of random runs: `count` in `npm test`, ten times as many in `npm run test:long`. */
export const runs = (count: number): number => (isLong ? 10 * count : count);

/** Options of `vi.waitFor`: long enough for any event on a busy machine; the limit is for events that never come. */
export const PATIENTLY = { timeout: 240_000, interval: 20 } as const;

/** CPU time of this process so far, in milliseconds: a cost that does not depend on how busy the machine is. */
export function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** A folder for the test, removed when it ends, or by `atEnd`. */
export async function temporaryFolder(
  atEnd: (work: () => Promise<unknown>) => void = (work) => onTestFinished(async () => void (await work())),
  parent = tmpdir(),
): Promise<string> {
  const folder = await mkdtemp(join(parent, 'consent-ledger-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The keys of the tests' installation. */
export const testKeys = deriveKeys(Buffer.alloc(32, 7));

/** A fresh store on the engine of this run; the caller closes it. */
export async function openFreshStore(): Promise<{ store: Store; close(): Promise<void> }> {
  if (engine === 'postgres') {
    const store = await openPostgresStore({ url: await createDatabase('migrated') });
    return { store, close: () => store.close() };
  }
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-'));
  const store = await openSqliteStore({ path: join(folder, 'ledger.sqlite') });
  return {
    store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The same, closed when the test ends. */
export async function temporaryStore(): Promise<Store> {
  const { store, close } = await openFreshStore();
  onTestFinished(close);
  return store;
}

/** The address of the database of the installation with this DATA_DIR (test/serving.ts). */
export function databaseIn(dataDir: string): DatabaseAddress {
  return engine === 'postgres'
    ? { engine, url: databaseOf(dataDir) }
    : { engine: 'sqlite', path: `${dataDir}/ledger.sqlite` };
}

/** Opens another store on that database. The caller closes it. */
export function openStoreIn(dataDir: string): Promise<Store> {
  return openStore(databaseIn(dataDir));
}

/** A ledger over a fresh store; both closed when the test ends, or by `close` before. */
export async function temporaryLedger(
  options: Partial<LedgerOptions> = {},
): Promise<{ store: Store; ledger: Ledger; close(): Promise<void> }> {
  const fresh = await openFreshStore();
  const ledger = createLedger({ store: fresh.store, keys: testKeys, ...options });
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= ledger.close().then(() => fresh.close()));
  onTestFinished(close);
  return { store: fresh.store, ledger, close };
}
