import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { loadKeys } from '../config/load-keys.ts';
import { loadVersion } from '../config/version.ts';
import type { Clock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { originOf, verifierKeyOf } from '../crypto/checkpoint.ts';
import { closeWithin } from '../jobs/time-limits.ts';
import type { Log } from '../log/log.ts';
import { readSetting, UNFINISHED_COPY, UNFINISHED_RESTORE } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { assertSharedDirectory, publishVerifierKey } from './data-directory.ts';
import { assertInstallationBegun, noInstallationIn, openStore } from './engines.ts';

/**
 * Milliseconds that a part may take to close; the store may take longer, because SQLite then writes its log into the
 * database file.
 */
const CLOSE_MS = 10_000;
const STORE_CLOSE_MS = 30_000;

/** Passed to every step of opening. */
export interface Base {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly opened: Closers;
  readonly foldsInThread: boolean;
}

export type Identity = Awaited<ReturnType<typeof openIdentity>>;

/** If a part does not close in time, the others are closed anyway. */
export function createClosers(log: Log) {
  const opened: { readonly part: string; readonly close: () => Promise<unknown> }[] = [];
  return {
    add(part: string, close: () => Promise<unknown>): void {
      opened.push({ part, close });
    },
    async close(): Promise<void> {
      for (const { part, close } of opened.splice(0).reverse())
        await closeWithin(part === 'store' ? STORE_CLOSE_MS : CLOSE_MS, part, close, log);
    },
  };
}

type Closers = ReturnType<typeof createClosers>;

/** Opens the database, the matching keys and the identity of this installation. */
export async function openIdentity(
  { config, opened }: Base,
  { restoring, creates }: { readonly restoring: boolean; readonly creates: boolean },
) {
  if (!creates) await assertInstallationBegun(config);
  const store = await openStore(config.database);
  opened.add('store', async () => store.close());
  if (!restoring) await assertWhole(store);
  if (!creates && (await readSetting(store, 'instance_id')) === null) throw noInstallationIn(config);
  const keys = await loadKeys(config, store);
  /** `instance`: random name of this installation, part of every checkpoint's origin. */
  const { instance, epoch } = await loadIdentity(store);
  if (store.engine === 'postgres') await assertSharedDirectory(store, config.dataDir, instance);
  const verifierKey = verifierKeyOf(originOf(instance, epoch), keys.verifying);
  await publishVerifierKey(config.dataDir, verifierKey);
  return {
    store,
    keys,
    instance,
    epoch,
    /** The key for checking its checkpoints, in the form used by C2SP tools. */
    verifierKey,
    /** Version of this program. */
    version: loadVersion(),
    /** DATA_DIR/evidence: files that entries commit to by their SHA-256. */
    evidenceFolder: join(config.dataDir, 'evidence'),
    documentsFolder: join(config.dataDir, 'documents'),
  };
}

/** The installation's name and epoch; the name is generated at the first start. */
async function loadIdentity(store: Store): Promise<{ instance: string; epoch: number }> {
  if ((await readSetting(store, 'instance_id')) === null) {
    const rows = [
      { name: 'instance_id', value: randomBytes(5).toString('hex') },
      { name: 'epoch', value: '1' },
    ];
    await store.transaction((tx) => tx.insertMany('settings', rows, 'keep'));
  }
  const instance = await readSetting(store, 'instance_id');
  const epoch = await readSetting(store, 'epoch');
  if (instance === null || epoch === null) throw new Error('the installation has no name');
  return { instance, epoch: Number(epoch) };
}

/** Refuses a database that `store copy` or `restore` has not finished: it looks like the installation but is incomplete. */
async function assertWhole(store: Store): Promise<void> {
  if ((await readSetting(store, UNFINISHED_RESTORE)) !== null)
    throw new UsageError(['A restore into this database did not finish: run `consent-ledger restore` again.']);
  if ((await readSetting(store, UNFINISHED_COPY)) === null) return;
  throw new UsageError([
    'The database is an unfinished copy: run `consent-ledger store copy` again from the original installation.',
  ]);
}
