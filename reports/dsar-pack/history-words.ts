import { ALL_PURPOSES, parsePurposes, purposeKey } from '../../src/core/consent-judgement.ts';
import { plainForm } from '../../src/core/plain-words.ts';
import { profileIn } from '../../src/law/profile.ts';
import { tagOf } from '../letters/letter.ts';
import { countIn, fill, joined, timeInWords } from '../letters/wording.ts';
import type { PolicyTextInterval } from '../policy-texts.ts';
import type { GatheredPack } from './gather.ts';
import { commonPurposes, type HistoryTexts } from './history-catalogue.ts';
import { historyTextsIn } from './history-texts.ts';
import { letterOfPack } from './letter.ts';

/** How a pack speaks in the language of its letter. */
export interface HistoryWords {
  /** BCP 47. */
  readonly tag: string;
  readonly texts: HistoryTexts;
  /** Fills in a text. Throws if a value is missing. */
  say(template: string, values?: Readonly<Record<string, string>>): string;
  /** A time (ISO 8601) in the controller's time zone, with its offset. */
  time(iso: string): string;
  count(n: number): string;
  /** `1 or 2`. */
  oneOf(items: readonly string[]): string;
  /** Names of purposes as the records have them, in words. */
  purposes(names: readonly string[]): string;
  /** The choices of a record by purpose, from the column of a read model. */
  choices(purposes: string): string;
  /** Whose text it is. */
  textOf(text: PolicyTextInterval): string;
}

/** The words of a pack, in the language of its letter. */
export function historyWords(context: GatheredPack): HistoryWords {
  const { input } = context;
  const letter = letterOfPack(context);
  const { locale } = letter;
  const tag = tagOf(letter);
  const texts = historyTextsIn(tag);
  const { cells, heads } = texts;
  const say: HistoryWords['say'] = (template, values = {}) => joined(fill(template, values), locale);
  const named = purposeNames(context, letter.language, texts);
  const purposes = (names: readonly string[]) => names.map(named).join(', ');
  return {
    ...{ tag, texts, say, purposes },
    time: (iso) => timeInWords(iso, input.timeZone, locale),
    count: (n) => countIn(n, locale),
    oneOf: (items) => new Intl.ListFormat(locale, { type: 'disjunction' }).format(items),
    choices: (column) => {
      const chosen = Object.entries(parsePurposes(column));
      const of = (answer: string) => chosen.filter(([, given]) => given === answer).map(([purpose]) => purpose);
      const [granted, denied] = [of('granted'), of('denied')];
      const parts = [
        ...(granted.length === 0 ? [] : [say(cells.granted, { purposes: purposes(granted) })]),
        ...(denied.length === 0 ? [] : [say(cells.denied, { purposes: purposes(denied) })]),
      ];
      return parts.length === 0 ? cells.noneNamed : parts.join('; ');
    },
    textOf: ({ target, policyId, policyType }) =>
      target.startsWith('hosted:')
        ? say(heads.publicPage, {
            policy: `${policyId ?? target.slice('hosted:'.length)}${policyType === null ? '' : ` (${policyType})`}`,
          })
        : say(heads.embed, { policy: policyType ?? target }),
  };
}

/**
 * A purpose as the letter writes it (in the controller's words, if its profile names this purpose), else the common word
 * for it, with the recorded name beside it where that differs.
 */
function purposeNames(
  { input: { profile } }: GatheredPack,
  language: string,
  { cells, purposes }: HistoryTexts,
): (name: string) => string {
  const quoted = profile === null ? [] : profileIn(profile, language).purposes;
  const own = new Map(profile?.purposes.map(({ purpose }, at) => [purposeKey(purpose), quoted[at]?.purpose]) ?? []);
  const common = (name: string) => {
    const known = commonPurposes.find((one) => one === plainForm(name));
    return known === undefined ? undefined : purposes[known];
  };
  return (name) => {
    if (name === ALL_PURPOSES) return cells.everyPurpose;
    const word = own.get(purposeKey(name)) ?? common(name);
    return word === undefined || purposeKey(word) === purposeKey(name) ? name : `${word} (${name})`;
  };
}
