import { z } from 'zod';
import type { Query, Store } from '../store/store.ts';
import { groupOf, type NoticeGroup, type NoticeKind, noticeGroups } from './find-notices.ts';

const preferencesSchema = z.object({
  /** Whether new notices are mailed at once. */
  atOnce: z.boolean(),
  /** Whether the daily summary is mailed. */
  digest: z.boolean(),
  /** Groups of notices that the person has turned off. */
  off: z.array(z.enum(noticeGroups)),
});

/** Which notices a person wants by mail. */
export type Preferences = z.infer<typeof preferencesSchema>;

/** The preferences of a person who has not chosen any. */
export const usualPreferences: Preferences = { atOnce: true, digest: true, off: [] };

const PREFIX = 'notify_preferences:';

/** The preferences of people who have chosen some, by person id. */
export async function loadPreferences(read: Query): Promise<ReadonlyMap<string, Preferences>> {
  const rows = await read
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', '>=', PREFIX)
    .where('name', '<', `${PREFIX}~`)
    .execute();
  return new Map(
    rows.flatMap(({ name, value }) => {
      const read = readPreferences(value);
      return read === null ? [] : [[name.slice(PREFIX.length), read] as const];
    }),
  );
}

function readPreferences(value: string): Preferences | null {
  try {
    return preferencesSchema.safeParse(JSON.parse(value)).data ?? null;
  } catch {
    return null;
  }
}

/** Stores a person's preferences. */
export async function savePreferences(store: Store, personId: string, preferences: Preferences): Promise<void> {
  const row = { name: `${PREFIX}${personId}`, value: JSON.stringify(preferences) };
  await store.transaction((tx) => tx.insertMany('settings', [row], 'replace'));
}

/** Whether a person wants mail about a kind. */
export function wants({ off }: Preferences, kind: NoticeKind): boolean {
  return !off.includes(groupOf(kind));
}

/**
 * The groups that are off after a form offered some groups and these were ticked; groups that it did not offer keep
 * their setting.
 */
export function groupsOff(
  before: Preferences,
  offered: readonly NoticeGroup[],
  ticked: readonly string[],
): NoticeGroup[] {
  return noticeGroups.filter((group) =>
    offered.includes(group) ? !ticked.includes(group) : before.off.includes(group),
  );
}
