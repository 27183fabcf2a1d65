import type { Query, Store } from '../store/store.ts';

/** Set in a database while it is being copied into: it holds less than the installation it will be. */
export const UNFINISHED_COPY = 'unfinished_copy';
/** Set in a database whose installation goes on elsewhere: its ledger takes no more entries. */
export const MOVED_TO = 'moved_to';

/** One of the installation's settings; null when it is not set. */
export function readSetting(store: Pick<Store, 'read'>, name: string): Promise<string | null> {
  return readSettingIn(store.read, name);
}

/** The same in a transaction. */
export async function readSettingIn(query: Query, name: string): Promise<string | null> {
  const row = await query.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
  return row?.value ?? null;
}

export async function writeSetting(store: Store, name: string, value: string): Promise<void> {
  await store.transaction((tx) => tx.insertMany('settings', [{ name, value }], 'replace'));
}

export async function removeSetting(store: Store, name: string): Promise<void> {
  await store.transaction((tx) => tx.query.deleteFrom('settings').where('name', '=', name).execute());
}
