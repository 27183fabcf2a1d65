import { readSetting, removeSetting, writeSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';

/*
 * The source that a person works on at the moment, out of many: lists show only this one, and forms propose it. It is
 * kept for the account, so that it is the same in every browser, or for the name given at a sign-in by link. It changes
 * nothing that the person may see.
 */

/** An account, or the name given at a sign-in by link (`personId` null). */
interface Who {
  readonly personId: string | null;
  readonly officer: string;
}

const settingOf = ({ personId, officer }: Who) => `current_source ${personId ?? officer}`;

/** The slug; null: every source. */
export function readCurrentSource(store: Pick<Store, 'read'>, who: Who): Promise<string | null> {
  return readSetting(store, settingOf(who));
}

/** Changes it; null: every source. */
export function chooseCurrentSource(store: Store, who: Who, slug: string | null): Promise<void> {
  return slug === null ? removeSetting(store, settingOf(who)) : writeSetting(store, settingOf(who), slug);
}
