import fc from 'fast-check';
import { type Node, parseTree } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { findElements, findMembers, mayHoldLongNumbers, parseExactly } from '../../src/service/page-salvage.ts';
import { anyCharacter } from '../any-character.ts';

/** JSON text with white space and escapes wherever they may be. */
function jsonText(): fc.Arbitrary<string> {
  const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  ');
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }).map((value) => JSON.stringify(value)),
    fc.constantFrom('"\\""', '"\\\\"', '"\\\\\\""', '"\\u0022\\u005c"', '"{[]},:"', '"\\ud800"', '"ü😀"', '"\\/"'),
  );
  const scalar = fc.oneof(
    text,
    fc.constantFrom(
      'null',
      'true',
      'false',
      '0',
      '-0',
      '1e400',
      '-1.5E-7',
      '12345678901234567890',
      '0.1234567890123456789',
    ),
    fc.integer().map(String),
  );
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc
        .tuple(space, fc.array(fc.tuple(space, tie('value'), space)))
        .map(([inner, items]) =>
          items.length === 0 ? `[${inner}]` : `[${items.map((item) => item.join('')).join(',')}]`,
        ),
      fc
        .tuple(space, fc.array(fc.tuple(space, text, space, space, tie('value'), space)))
        .map(([inner, members]) =>
          members.length === 0
            ? `{${inner}}`
            : `{${members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}}`,
        ),
    ),
  })).value;
}

const toLatin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const spanOf = (node: Node) => ({ start: node.offset, end: node.offset + node.length });

describe('finding rows by their offsets', () => {
  it('agrees with jsonc-parser about the elements of every array', () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        JSON.parse(text);
        const latin1 = toLatin1(text);
        const tree = parseTree(latin1);
        expect(findElements(latin1)).toEqual(tree?.type === 'array' ? (tree.children ?? []).map(spanOf) : null);
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with jsonc-parser about the members of every object, the last of equal keys winning', () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        const latin1 = toLatin1(text);
        const tree = parseTree(latin1);
        const found = findMembers(latin1);
        if (tree?.type !== 'object') {
          expect(found).toBeNull();
          return;
        }
        const expected = new Map(
          (tree.children ?? []).map(({ children: [key, value] = [] }) => {
            const bytes = Buffer.from(latin1.slice(key?.offset, (key?.offset ?? 0) + (key?.length ?? 0)), 'latin1');
            return [JSON.parse(bytes.toString('utf8')) as string, spanOf(value as Node)];
          }),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('ends for any input, JSON or not', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.array(fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'a', ' ')).map((s) => s.join('')),
        ),
        (text) => {
          for (const start of ['', '[', '{"a":']) {
            findElements(start + text);
            try {
              findMembers(start + text);
            } catch (error) {
              expect(error).toBeInstanceOf(SyntaxError);
            }
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('parsing exactly', () => {
  it('equals JSON.parse if no number is long', () => {
    fc.assert(
      fc.property(jsonText(), (text) => {
        if (!mayHoldLongNumbers(text)) expect(parseExactly(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps numbers that a double would change as text', () => {
    const text =
      '{"id":12345678901234567890,"n":[9007199254740993,1e400,0.1234567890123456789,123456789012345],"__proto__":1}';
    expect(mayHoldLongNumbers(text)).toBe(true);
    const value = parseExactly(text) as Record<string, unknown>;
    expect(value['id']).toBe('12345678901234567890');
    expect(value['n']).toEqual(['9007199254740993', '1e400', '0.1234567890123456789', 123456789012345]);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
  });

  it('finds every number token that a double changes, wherever it is', () => {
    const digits = fc.stringMatching(/^-?[1-9]\d{0,30}(\.\d{1,25})?([eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(
        digits,
        fc.constantFrom(
          (n: string) => n,
          (n: string) => `[0, ${n}]`,
          (n: string) => `{"a" :\n${n} }`,
        ),
        (number, place) => {
          const isSafe = !/[eE]/.test(number) && number.replace(/[-.]/g, '').length <= 15;
          if (!isSafe) expect(mayHoldLongNumbers(place(number))).toBe(true);
        },
      ),
    );
  });
});
