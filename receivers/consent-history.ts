import { type ChoiceMeant, choiceMeant } from './choice-words.ts';
import { isStatementName, type NamedField, roleOf } from './consent-names.ts';
import { isConsentWord, shortly } from './consent-purposes.ts';
import type { Occurred } from './occurred.ts';
import { isBlank, isJsonObject, type JsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/** The latest entry of a history: what was chosen, where it says so, and when. */
export interface LatestChoice {
  readonly choice: ChoiceMeant;
  /** Its field and value: `storico.esito=revocato`. */
  readonly at: string;
  /** As received. */
  readonly time: unknown;
}

/** Names of lists of what was chosen over time, in plain form. */
const histories: ReadonlySet<string> = new Set(
  'history consenthistory historia storico verlauf historique historial historico geschiedenis historik historie historiikki'.split(
    ' ',
  ),
);
/** Longer histories are not read. */
const MAX_ENTRIES = 200;
const MAX_MEMBERS = 50;

/**
 * The latest choice in a list of what was chosen over time. Null unless every entry has one time and one clear statement, all are about the same
 * purpose, and no other entry has the latest time.
 */
export function latestInHistory(payload: Payload, fields: readonly NamedField[]): LatestChoice | null {
  let history: NamedField | null = null;
  for (const field of fields) {
    if (!Array.isArray(field.value) || !histories.has(field.role.plain)) continue;
    if (history !== null) return null;
    history = field;
  }
  if (history === null) return null;
  const items = history.value as readonly unknown[];
  if (items.length === 0 || items.length > MAX_ENTRIES) return null;
  const entries: (LatestChoice & { readonly occurred: Occurred })[] = [];
  const purposes = new Set<string>();
  for (const item of items) {
    const entry = isJsonObject(item) ? entryOf(payload, item, history.path) : null;
    if (entry === null) return null;
    entries.push(entry);
    purposes.add(entry.purpose);
  }
  entries.sort((a, b) => (a.occurred.at < b.occurred.at ? -1 : 1));
  const [before, latest] = [entries.at(-2), entries.at(-1)];
  return latest === undefined || purposes.size > 1 || before?.occurred.at === latest.occurred.at ? null : latest;
}

function entryOf(
  payload: Payload,
  entry: JsonObject,
  path: string,
): (LatestChoice & { readonly occurred: Occurred; readonly purpose: string }) | null {
  const times = new Map<string, { readonly occurred: Occurred; readonly value: unknown }>();
  let told: { readonly choice: ChoiceMeant; readonly at: string } | null = null;
  let purpose = '';
  const keys = Object.keys(entry);
  if (keys.length > MAX_MEMBERS) return null;
  for (const key of keys) {
    const value = entry[key];
    if (isBlank(value)) continue;
    if (typeof value === 'object') return null;
    const role = roleOf(key);
    const occurred = role.mayBeTime && typeof value !== 'boolean' ? payload.timeOf(value) : null;
    if (occurred?.counts === true) times.set(occurred.at, { occurred, value });
    else if (PURPOSE.test(role.plain)) purpose += `${key}=${shortly(value)};`;
    else if (!role.isCircumstance && !role.isTerms) {
      const choice = choiceMeant(value);
      if (choice === null) continue;
      // A word that is said of consent, or an answer under a name that asks for one. Any other flag may mean anything.
      const isTold = isConsentWord(value) || role.polarity === 'granting' || isStatementName(role.plain);
      if (!isTold && role.flag === 'any') continue;
      if (!isTold) return null;
      if (role.polarity === 'refusing' || (told !== null && told.choice !== choice)) return null;
      told = { choice, at: `${path}.${key}=${shortly(value)}` };
    }
  }
  const [only] = times.values();
  if (told === null || only === undefined || times.size !== 1 || !clear.has(told.choice)) return null;
  return { ...told, time: only.value, occurred: only.occurred, purpose };
}

const clear: ReadonlySet<ChoiceMeant> = new Set(['given', 'renewed-given', 'refused', 'withdrawn']);

/** Names of fields that say what an entry is about. */
const PURPOSE =
  /purpose|category|categorie|kategorie|kategoria|categoria|topic|scope|service|vendor|channel|zweck|finalit|finalidad|doel|cel$|formal|andamal|list[ae]?$|name$/;
