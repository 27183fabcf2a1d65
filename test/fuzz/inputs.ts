import fc from 'fast-check';
import { anyCharacter } from '../any-character.ts';
import type { Reader } from './readers.ts';

const nested = (open: string, inside: string, close: string, depth: number) =>
  open.repeat(depth) + inside + close.repeat(depth);

/**
 * Values that typically cause trouble for readers. They replace tokens of a text that the reader understands, or are
 * inserted between them.
 */
export const hostile: readonly string[] = [
  ...['null', 'true', '[]', '{}', '""', 'NaN', 'undefined', '-0', '0', '-1', '1e999', '1E-400', '9'.repeat(400), '1.5'],
  ...['12345678901234567890', '18446744073709551616', '-9007199254740993', '0x10', '1_000', 'Infinity'],
  ...[
    '"__proto__"',
    '"constructor"',
    '"toString"',
    '"hasOwnProperty"',
    '__proto__',
    '{"__proto__":{"x":1}}',
    '{"length":-1}',
  ],
  ...[
    '"\\ud800"',
    '"\\udc00x"',
    '"\\u0000"',
    '"\\uFEFF"',
    '"é\\u0301"',
    '"\\"',
    '"\\u"',
    '\0',
    '\u0007',
    '\u{1f600}',
    '\u202e',
    '\ufeff',
  ],
  ...[
    '\r',
    '\n',
    '\r\n',
    '\t',
    ' ',
    '\u2028',
    '\u00a0',
    ',',
    ';',
    ':',
    '=',
    '"',
    "'",
    '`',
    '\\',
    '/',
    '//',
    '#',
    '&',
    '%',
    '%00',
    '%zz',
    '%ud800',
  ],
  ...['<', '>', '<!--', '-->', '<!---->', '<a href="', '<td>', '<script', '&#0;', '&#x110000;', '<![CDATA[', '<?xml'],
  ...[
    '2026-02-30',
    '0000-01-01',
    '9999-12-31T23:59:60Z',
    '+275760-09-13T00:00:00Z',
    '-271821-04-20',
    '2026-07-01T24:00',
    '2026-03-29T02:30',
    '20260701',
  ],
  ...[
    '../',
    '..\\',
    'C:',
    'CON',
    'http://[::1',
    'https://u:p@h/',
    'javascript:x',
    'a@b',
    '*a',
    '&a ',
    '!!js/function x',
    '<<: *a',
    '? ',
    '- ',
    '|\n',
  ],
  ...['$ref', '{"$ref":"#"}', '{"$ref":"#/paths"}', '{"$ref":"#/%00/~2"}', '${x}', '$(x)', '=cmd()'],
  nested('[', '', ']', 6000),
  nested('{"a":', '1', '}', 6000),
  nested('[{"data":', '"x"', '}]', 3000),
  nested('{a: ', '1', '}', 2000),
  nested('- ', '1', '', 2000),
  '['.repeat(6000),
  '"'.repeat(999),
  '\\"'.repeat(3000),
  'k'.repeat(20_000),
  `"${'x'.repeat(70_000)}"`,
  `{${Array.from({ length: 2000 }, (_, n) => `"k${n % 900}":${n}`).join(',')}}`,
  `[${'{},'.repeat(3000)}1]`,
  'a,'.repeat(3000),
  'a\n'.repeat(3000),
];

/** Strings, words, blanks, and every other character by itself. */
const tokensOf = (text: string): string[] => text.match(/"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_.+-]+|\s+|[^]/gu) ?? [];

const change = fc.record({
  how: fc.constantFrom('replace', 'insert', 'remove', 'double', 'repeat', 'swap', 'cut', 'byte'),
  at: fc.nat(10_000),
  to: fc.nat(10_000),
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...hostile) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  ),
});

function mutated(text: string, changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[]): Buffer {
  const tokens = tokensOf(text);
  const bytes: [at: number, value: number][] = [];
  for (const { how, at: place, to, what } of changes) {
    const at = place % (tokens.length + 1);
    if (how === 'replace') tokens.splice(at, 1, what);
    else if (how === 'insert') tokens.splice(at, 0, what);
    else if (how === 'remove') tokens.splice(at, 1 + (to % 3));
    else if (how === 'double') tokens.splice(at, 0, ...tokens.slice(at, at + (to % 20)));
    else if (how === 'repeat') tokens.splice(at, 1, (tokens[at] ?? 'x').slice(0, 1000).repeat(to % 300));
    else if (how === 'swap') tokens.splice(at, 1, tokens[to % (tokens.length + 1)] ?? what);
    else if (how === 'cut') tokens.length = Math.max(1, at);
    else bytes.push([place, to % 256]);
  }
  const out = Buffer.from(tokens.join(''), 'utf8');
  for (const [at, value] of bytes) if (out.length > 0) out[at % out.length] = value;
  return out;
}

/** Bytes for a reader: usually its corpus with up to six changes, sometimes arbitrary bytes. */
export function inputsOf({ corpus, most = 1024 * 1024 }: Reader): fc.Arbitrary<Buffer> {
  const changed = fc
    .tuple(fc.constantFrom(...corpus), fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([text, changes]) => mutated(text, changes));
  const anything = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const json = fc.json({ noUnicodeString: false, maxDepth: 3 }).map((text) => Buffer.from(text, 'utf8'));
  return fc
    .oneof({ weight: 20, arbitrary: changed }, { weight: 1, arbitrary: anything }, { weight: 1, arbitrary: json })
    .map((bytes) => bytes.subarray(0, most));
}

/** A text of about `size` bytes that repeats one piece at one place of a text that the reader understands. */
export interface Pumped {
  readonly before: string;
  readonly piece: string;
  readonly after: string;
}

export const pump = ({ before, piece, after }: Pumped, size: number): Buffer =>
  Buffer.from(
    before + piece.repeat(Math.max(1, Math.ceil((size - before.length - after.length) / piece.length))) + after,
    'utf8',
  );

/** Pieces that make a reader backtrack, look ahead, nest or copy. */
const pieces: readonly string[] = [
  ...[
    'a',
    'A',
    '0',
    '9',
    ' ',
    '\n',
    '\r\n',
    '\t',
    '\0',
    '.',
    ',',
    ';',
    ':',
    '/',
    '\\',
    '-',
    '_',
    '=',
    '@',
    '#',
    '%',
    '&',
    '?',
    '|',
    '~',
    '"',
    "'",
    '`',
    '(',
    '*',
    '<',
    '>',
    '[',
    ']',
    '{',
    '}',
  ],
  ...[
    '\\"',
    '""',
    '\\\\',
    '{}',
    '[]',
    '{},',
    '[],',
    '0,',
    '"a",',
    '{"a":1},',
    '{"a":',
    '[{"a":',
    '"a":1,',
    '"a":{},',
    '{"event":"x"},',
    'a.',
    'a,',
    'a;',
    'a=',
    'a=b&',
    'a: ',
    '- a\n',
    'a: b\n',
    '&a *a ',
    '[*a,',
  ],
  ...[
    '<p',
    '<p>',
    '</p',
    '<!',
    '<!--',
    '<!---->',
    '<!-- x --> ',
    '-->',
    '<td>x',
    '<td>',
    '<a ',
    '<a href="',
    "<a href='x'>",
    '</a>',
    '<script>',
    '</',
    '&amp;',
    '&#',
    '&',
    'x<',
    '<li>x',
  ],
  ...[
    'https://',
    'https://a',
    'a:/',
    'http://a/?',
    '?token=x',
    '{a}',
    '/a',
    '~1',
    '%41',
    'é',
    '\u{1f600}',
    '\u00a0',
    '\ufeff',
    '\u202e',
    'a@',
    '@a.',
    'A B',
    '1.',
    '1e',
    '2026-',
    '— x\n',
    '\n\n',
    '\n1\n',
    '=\n',
    '# a\n',
    'A=1\n',
    'export ',
  ],
];

/** Texts that repeat a piece at a token border of the corpus. */
export function pumpedOf({ corpus }: Reader): fc.Arbitrary<Pumped> {
  return fc.constantFrom('', ...corpus).chain((text) => {
    const tokens = tokensOf(text);
    const own = tokens.filter((token) => token.trim() !== '').slice(0, 200);
    return fc
      .tuple(
        fc.nat(tokens.length),
        fc.boolean(),
        fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...pieces) },
          {
            weight: 1,
            arbitrary: fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(...pieces)).map(([a, b]) => a + b),
          },
          { weight: 1, arbitrary: fc.constantFrom('x', ...own) },
        ),
        fc.constantFrom(true, false),
      )
      .map(([at, inside, piece, closed]) => {
        const token = tokens[at] ?? '';
        // Within a string, rather than before it.
        const quote = inside && token.length > 2 && token.startsWith('"') ? 1 : 0;
        const before = tokens.slice(0, at).join('') + token.slice(0, quote);
        return { before, piece, after: closed ? token.slice(quote) + tokens.slice(at + 1).join('') : '' };
      });
  });
}
