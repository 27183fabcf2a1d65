import { readSetting, removeSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';

/*
 * The source that a person works on at the moment, out of many: lists show only this one, and forms propose it. It is
 * kept with the account, so that it is the same in every browser, and changes nothing that the person may see.
 */

const settingOf = (personId: string) => `current_source ${personId}`;

/** The slug; null: every source. */
export function readCurrentSource(store: Pick<Store, 'read'>, personId: string): Promise<string | null> {
  return readSetting(store, settingOf(personId));
}

/** Changes it; null: every source. */
export function chooseCurrentSource(store: Store, personId: string, slug: string | null): Promise<void> {
  return slug === null ? removeSetting(store, settingOf(personId)) : writeSetting(store, settingOf(personId), slug);
}
