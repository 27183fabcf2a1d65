import { letterLanguages } from '../letters/languages.ts';
import type { LetterTexts } from '../letters/texts.ts';
import { letterVariants } from '../letters/variants.ts';
import { fill } from '../letters/wording.ts';

type Named = keyof LetterTexts['packFiles'];

/** A file that has this name in any language: the reader's may differ from that of the pack. */
function named(which: Named, extension: string): RegExp {
  const all = [...Object.values(letterLanguages), ...Object.values(letterVariants)];
  const names = new Set(all.map(({ packFiles }) => packFiles[which]));
  return new RegExp(`^(?:${[...names].join('|')})\\.${extension}$`);
}

const letter = named('letter', '(?:pdf|html)');

/** The files of a pack to which each description applies. */
const described: readonly (readonly [RegExp, keyof LetterTexts['answer']['files']])[] = [
  [named('history', 'html'), 'history'],
  [/^decisions\./, 'decisions'],
  [/^records-27560\.json$/, 'records27560'],
  [/^records\.jsonl$/, 'records'],
  [/^policies\.json$/, 'policies'],
  [named('policyTexts', 'txt'), 'policyTexts'],
  [/^banner-evidence/, 'evidence'],
  [/^case\.json$/, 'about'],
];

/** What is in a pack with files of these names, in words of a language; the names may be those of another language. */
export function contentsOfPack({ handOver, answer }: LetterTexts, names: readonly string[]): readonly string[] {
  const texts: readonly (readonly [RegExp, string])[] = [
    [letter, handOver.letter],
    ...described.map(([pattern, key]) => [pattern, answer.files[key]] as const),
  ];
  const found = texts.flatMap(([pattern, text]) => {
    const file = names.find((name) => pattern.test(name));
    return file === undefined ? [] : fill(text, { file });
  });
  return [...found, handOver.proofs];
}
