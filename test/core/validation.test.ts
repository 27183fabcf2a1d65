import { expect, it } from 'vitest';
import { z } from 'zod';
import { asOneLine, isOneLine } from '../../src/core/validation.ts';

it('a refusal says in plain words that a value is too long, too short, too large or missing, or that there are too many', () => {
  const schema = z.object({
    name: z.string().max(3),
    code: z.string().min(2),
    blank: z.string().min(1),
    list: z.array(z.string()).max(1),
    page: z.int().min(1),
    size: z.int().max(9),
    gone: z.string(),
    own: z.string().max(1, 'One letter.'),
  });
  const given = { name: 'abcd', code: 'a', blank: '', list: ['a', 'b'], page: 0, size: 10, own: 'ab' };
  const issues = schema.safeParse(given).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  expect(issues).toEqual([
    'name: too long: at most 3 characters',
    'code: too short: at least 2 characters',
    'blank: missing',
    'list: too many: at most 1',
    'page: too small: at least 1',
    'size: too large: at most 9',
    'gone: missing',
    'own: One letter.',
  ]);
});

it('a text from outside becomes one line that says which characters it had', () => {
  const given = 'Ada\r\n\u001b[31mLovelace\u202e\u2066\ufeff\t\ud800 🦊 é';
  const cleaned = asOneLine(given);
  expect(cleaned).toBe('Ada[U+000D][U+000A][U+001B][31mLovelace[U+202E][U+2066][U+FEFF][U+0009][U+D800] 🦊 é');
  expect([isOneLine(given), isOneLine(cleaned), asOneLine(cleaned)]).toEqual([false, true, cleaned]);
});
