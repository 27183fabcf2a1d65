import { describe, expect, test } from 'vitest';
import { hasBlanks, letterBlocks, letterFrame } from '../../reports/letters/letter.ts';
import { fitLetter } from '../../reports/render/pdf.ts';
import { openPaper } from '../../reports/render/sheet.ts';
import { allTags, englishIn, foreignLaws, lettersOf, wordsOf, writtenAt } from './letter-world.ts';

/**
 * Letters that describe data, and those that state the exceptions to a restriction together with the remedies of two
 * laws, may take a second page.
 */
const LONG =
  /_(?:(?:answer|no-match)_(?:access|portability|unknown)|access-no-match|unverified|late)$|\+.*_partial_restriction$/;

describe.each(allTags)('every letter in %s', (language) => {
  test('says only what the laws that apply require, in its language, on as many pages as needed', async () => {
    let count = 0;
    const found: string[] = [];
    const written = letterFrame(...writtenAt([...lettersOf([language], ['eu-gdpr'])][0]));
    // One paper measures all letters: opening its fonts takes longer than setting a letter.
    const paper = await openPaper(written);
    for (const one of lettersOf([language], undefined, true)) {
      count += 1;
      const refuse = (what: string) => found.push(`${one.name}: ${what}`);
      const blocks = letterBlocks(one.letter, one.facts);
      const text = blocks.flatMap(wordsOf).join('\n');
      const title = letterFrame(...writtenAt(one)).title;
      if (/[{}]|undefined|\bnull\b/.test(`${title}\n${text}`)) refuse('a placeholder is left');
      if (hasBlanks(text)) refuse('a blank is left');
      for (const law of foreignLaws(one)) refuse(`speaks of ${law}`);
      if (language !== 'en') {
        const [sentence] = englishIn.exec(text) ?? [];
        if (sentence !== undefined) refuse(`English: ${sentence}`);
      }
      const { pages, filled } = await fitLetter(paper, blocks);
      if (pages > (LONG.test(one.name) ? 2 : 1)) refuse(`${pages} pages`);
      if (pages > 1 && filled < 0.2) refuse(`its last page is filled by ${filled.toFixed(2)} only`);
    }
    expect(found).toEqual([]);
    expect(count).toBeGreaterThan(4000);
  });
});
