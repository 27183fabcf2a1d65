import { expect, test } from 'vitest';
import { withoutMarks } from '../../src/policies/before-publishing.ts';
import { htmlLines } from '../../src/policy-texts/policy-text.ts';

test.each([
  ['> **SAMPLE — not a legal text.** Made for trying.', '<p>SAMPLE — not a legal text. Made for trying.</p>'],
  ['## 1. Who we are', '<h2>1. Who we are</h2>'],
  ['* a list with *emphasis*', '<ul><li>a list with <em>emphasis</em></li></ul>'],
  [
    'Read [the law](https://law.example/a?token=1) first',
    '<p>Read <a href="https://law.example/a">the law</a> first</p>',
  ],
  ['2 * 3 * 4, snake_case_name and a * alone', '<p>2 * 3 * 4, snake_case_name and a * alone</p>'],
])('a line of Markdown is compared as the page shows it: %s', (line, html) => {
  expect([withoutMarks(line)]).toEqual(htmlLines(html));
});

test('a long line of marks takes no long time', () => {
  const began = performance.now();
  for (const mark of ['*', '_', '[', '> ', '[a](', '*a ', '_a ']) withoutMarks(mark.repeat(100_000));
  expect(performance.now() - began).toBeLessThan(2000);
});
