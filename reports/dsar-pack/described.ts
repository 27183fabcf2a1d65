import type { LetterTexts } from '../letters/texts.ts';

/** The files of a pack to which each description applies. */
const described: readonly (readonly [RegExp, keyof LetterTexts['answer']['files']])[] = [
  [/^history\.html$/, 'history'],
  [/^decisions\./, 'decisions'],
  [/^records-27560\.json$/, 'records27560'],
  [/^records\.jsonl$/, 'records'],
  [/^policies\.json$/, 'policies'],
  [/^policy-texts\.txt$/, 'policyTexts'],
  [/^banner-evidence/, 'evidence'],
  [/^case\.json$/, 'about'],
];

/** What is in a pack with files of these names, in words of a language. */
export function contentsOfPack({ handOver, answer }: LetterTexts, names: readonly string[]): readonly string[] {
  const found = described.filter(([pattern]) => names.some((name) => pattern.test(name)));
  return [handOver.letter, ...found.map(([, key]) => answer.files[key]), handOver.proofs];
}
