import type { Store } from './store.ts';

/** Setting of a database whose installation has moved: its ledger accepts no more entries. */
export const MOVED_TO = 'moved_to';
/** The seq of the first erasure whose files may not have been removed yet. */
export const UNFINISHED_ERASURE = 'erasure_unfinished';

/** Set in a database while it is being copied into, and therefore incomplete. */
export const UNFINISHED_COPY = 'unfinished_copy';

/** Overwritten to see whether the database can be written; empty otherwise. */
export const WRITE_PROBE = 'write_probe';

/** Set in a database while a backup is being restored into it: nothing in it has been verified. */
export const UNFINISHED_RESTORE = 'unfinished_restore';

/** The version of reading (receivers/reading-version.ts) with which the read models were folded; not set: the first. */
export const READING = 'reading';

/** One of the installation's settings; null if it is not set. */
export async function readSetting(store: Pick<Store, 'read'>, name: string): Promise<string | null> {
  const row = await store.read.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeSetting(store: Store, name: string, value: string): Promise<void> {
  await store.transaction((tx) => tx.insertMany('settings', [{ name, value }], 'replace'));
}

export async function removeSetting(store: Store, name: string): Promise<void> {
  await store.transaction((tx) => tx.query.deleteFrom('settings').where('name', '=', name).execute());
}
