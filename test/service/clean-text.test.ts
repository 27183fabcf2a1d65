import { expect, test } from 'vitest';
import { cleanText } from '../../src/service/answer-json.ts';

test('a text of any length becomes one short line without the key, even if the key is at the end of the part that is read', () => {
  expect(cleanText('a\n\tb\u0000c key1 d', 'key1', 40)).toBe('a b c [API key] d');
  expect(cleanText('"a":{},# a\n'.repeat(400_000), 'key1', 20)).toBe('"a":{},# a "a":{},#…');
  for (let spaces = 65_520; spaces <= 65_540; spaces += 1)
    expect(cleanText(`${' '.repeat(spaces)}pak_secret_of_somebody`, 'pak_secret_of_somebody', 200)).not.toMatch(
      /pak|secr/,
    );
  expect(cleanText(' '.repeat(70_000), null, 20)).toBe('');
});
