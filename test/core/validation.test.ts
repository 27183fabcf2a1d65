import { expect, it } from 'vitest';
import { z } from 'zod';
import '../../src/core/validation.ts';

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
