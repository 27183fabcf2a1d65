import { z } from 'zod';
import { lineOf } from '../core/validation.ts';
import { readSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';

const viewsSchema = z.array(z.object({ name: z.string(), filter: z.record(z.string(), z.string()) }));
/** A named filter of the list of requests. */
export type SavedView = z.infer<typeof viewsSchema>[number];

/** The most views per person, and characters of a name. */
export const SAVED_VIEWS = 20;
export const VIEW_NAME_LENGTH = 60;

/** A new name of a view; white space is one space. */
export const viewNameSchema = z
  .string()
  .transform((written) => written.replaceAll(/\s+/g, ' '))
  .pipe(lineOf(VIEW_NAME_LENGTH));

/** The setting that stores a person's views. */
export const viewsSetting = (personId: string) => `saved_views:${personId}`;

/** A person's views by name. */
export async function loadSavedViews(store: Pick<Store, 'read'>, personId: string): Promise<readonly SavedView[]> {
  return parse(await readSetting(store, viewsSetting(personId)));
}

/**
 * Saves a filter under a name, replacing one with the same name. `full`: the person has the maximum number; `unnamed`:
 * the name is empty or too long.
 */
export async function saveView(
  store: Store,
  personId: string,
  { name: given, filter }: SavedView,
): Promise<{ readonly outcome: 'saved' | 'full' | 'unnamed' }> {
  const read = viewNameSchema.safeParse(given);
  if (!read.success) return { outcome: 'unnamed' };
  return change(store, personId, (views) => {
    const others = views.filter(({ name }) => name !== read.data);
    return others.length >= SAVED_VIEWS ? null : [...others, { name: read.data, filter }];
  });
}

/** Removes the view with this name, if any. */
export async function removeView(store: Store, personId: string, name: string): Promise<void> {
  await change(store, personId, (views) => views.filter((view) => view.name !== name));
}

/**
 * Renames a view. `taken`: another view has the name; `unknown`: there is no such view; `unnamed`: the new name is empty
 * or too long.
 */
export async function renameView(
  store: Store,
  personId: string,
  name: string,
  given: string,
): Promise<{ readonly outcome: 'renamed' | 'taken' | 'unknown' | 'unnamed' }> {
  const read = viewNameSchema.safeParse(given);
  if (!read.success) return { outcome: 'unnamed' };
  const to = read.data;
  let refused: 'taken' | 'unknown' | null = null;
  await change(store, personId, (views) => {
    refused = !views.some((view) => view.name === name)
      ? 'unknown'
      : name !== to && views.some((view) => view.name === to)
        ? 'taken'
        : null;
    return refused === null ? views.map((view) => (view.name === name ? { ...view, name: to } : view)) : null;
  });
  return { outcome: refused ?? 'renamed' };
}

async function change(
  store: Store,
  personId: string,
  to: (views: readonly SavedView[]) => readonly SavedView[] | null,
): Promise<{ readonly outcome: 'saved' | 'full' }> {
  return store.transaction(async (tx) => {
    const views = to(parse(await readSetting({ read: tx.query }, viewsSetting(personId))));
    if (views === null) return { outcome: 'full' };
    const byName = [...views].sort((a, b) => a.name.localeCompare(b.name, 'en'));
    await tx.insertMany('settings', [{ name: viewsSetting(personId), value: JSON.stringify(byName) }], 'replace');
    return { outcome: 'saved' };
  });
}

function parse(text: string | null): readonly SavedView[] {
  try {
    return text === null ? [] : viewsSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
