import { letterLanguages } from '../../reports/letters/languages.ts';
import type { LetterFacts } from '../../reports/letters/letter.ts';
import { placeholders } from '../../reports/letters/own-text.ts';
import { isLetterStep, type LetterStep } from '../../reports/letters/texts.ts';
import type { Clock } from '../core/clock.ts';
import { isoNow } from '../core/clock.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { addDays } from '../core/zoned-days.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, Store } from '../store/store.ts';

/*
 * The controller's own wording: for a kind of letter in a language, a text that its letters start from instead of the
 * standard proposal. Legally required statements are not part of it: every letter adds them, whatever its text. Each
 * change is an entry; the latest one applies.
 */

/** The most characters of a custom text. */
export const OWN_TEXT_LENGTH = 6000;

/** A change to a custom text. */
export interface OwnTextChange {
  readonly seq: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: string;
  /** Null: back to the standard text. */
  readonly text: string | null;
}

interface Place {
  /** Null: all sources. */
  readonly source: string | null;
  readonly step: LetterStep;
  /** A key of letterLanguages. */
  readonly language: string;
}

/** Every change of one custom text, latest first. */
export async function listOwnTexts(read: Query, { source, step, language }: Place): Promise<readonly OwnTextChange[]> {
  const rows = await read
    .selectFrom('action_history')
    .select(['seq', 'received_at', 'actor', 'details'])
    .where('action', '=', 'letter-text.changed')
    .where('object', '=', objectOf(step, language))
    .where('source', '=', source ?? INSTALLATION)
    .orderBy('seq', 'desc')
    .limit(50)
    .execute();
  return rows.map(({ seq, received_at: at, actor, details }) => {
    const { text } = JSON.parse(details) as { readonly text: string | null };
    return { seq, at, actor, text };
  });
}

/** The custom text for a source, or else the one for all sources; null if there is none. `asOf`: as of that entry of the ledger. */
export async function loadOwnText(
  read: Query,
  { source, step, language }: Place & { readonly source: string },
  asOf = Number.MAX_SAFE_INTEGER,
): Promise<string | null> {
  for (const scope of [source, INSTALLATION]) {
    const row = await read
      .selectFrom('action_history')
      .select(['seq', 'details'])
      .where('action', '=', 'letter-text.changed')
      .where('object', '=', objectOf(step, language))
      .where('source', '=', scope)
      .where('seq', '<=', asOf)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const text = row === undefined ? null : (JSON.parse(row.details) as { readonly text: string | null }).text;
    if (text !== null) return text;
  }
  return null;
}

/** Problems with a custom text, in words; empty: none. */
export function problemsOfOwnText(text: string): readonly string[] {
  const problems: string[] = [];
  if (text.length > OWN_TEXT_LENGTH)
    problems.push(`The text has ${text.length} characters: use at most ${OWN_TEXT_LENGTH}.`);
  const known = Object.keys(placeholders);
  for (const [whole, name = ''] of text.matchAll(/\{([^{}]*)\}/g))
    if (!known.includes(name))
      problems.push(`Unknown placeholder ${whole}: use ${known.map((one) => `{${one}}`).join(', ')}.`);
  const rest = text.replaceAll(/\{[^{}]*\}/g, '');
  if (/[{}]/.test(rest)) problems.push('A brace is not closed: placeholders are written like {reference}.');
  return problems;
}

type Saved =
  | { readonly outcome: 'saved'; readonly seq: number }
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/**
 * Records a custom text, or null to return to the standard one. `basedOn`: the entry of the text that was shown, 0 if
 * there was none.
 */
export async function saveOwnText(
  deps: { readonly store: Pick<Store, 'read'>; readonly ledger: Ledger; readonly clock: Clock },
  place: Place,
  change: { readonly text: string | null; readonly basedOn: number; readonly actor: string },
): Promise<Saved> {
  const { source, step, language } = place;
  const text = change.text === null ? null : change.text.replaceAll('\r\n', '\n').trim() || null;
  const problems = text === null ? [] : problemsOfOwnText(text);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const [latest] = await listOwnTexts(deps.store.read, place);
  if ((latest?.seq ?? 0) !== change.basedOn) return { outcome: 'conflict' };
  if ((latest?.text ?? null) === text) return { outcome: 'unchanged' };
  const { actor } = change;
  const { outcome, seq } = await appendAction(
    deps.ledger,
    source ?? INSTALLATION,
    { action: 'letter-text.changed', actor, step, language, text },
    ['letter-text.changed', source ?? '', step, language, String(change.basedOn)],
    isoNow(deps.clock),
  );
  return outcome === 'stored' ? { outcome: 'saved', seq } : { outcome: 'conflict' };
}

/** The letter and language (BCP 47, of which the country is ignored) of a custom text; null: no such letter or language. */
export function readLetterPlace(step: string, language: string): Omit<Place, 'source'> | null {
  const code = language.trim().toLowerCase().split(/[-_]/)[0] ?? '';
  return isLetterStep(step) && Object.hasOwn(letterLanguages, code) ? { step, language: code } : null;
}

function objectOf(step: LetterStep, language: string): string {
  return `${step} ${language}`;
}

/** A fictitious case for previewing a letter. */
export function sampleFacts(kind: 'access' | 'erasure', today: string, controller: string): LetterFacts {
  return {
    caseId: 'default-1',
    requestId: null,
    kind,
    laws: ['eu-gdpr'],
    place: null,
    receivedOn: today,
    madeOn: today,
    limit: addDays(today, 30),
    firstLimit: null,
    irrefusable: null,
    requester: { name: 'Ada Lovelace', email: null, role: 'person', represented: null },
    identity: { met: true, confirmed: true, unchecked: false },
    disclosure: 'categories-only',
    match: 'none',
    found: { decisions: 0, first: null, last: null },
    enclosed: [],
    systems: [],
    parts: [],
    profile: null,
    controller,
  };
}

/** The name of a language in that language. */
export function languageName(language: string): string {
  return letterLanguages[language]?.name ?? language;
}
