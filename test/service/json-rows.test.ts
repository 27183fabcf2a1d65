import fc from 'fast-check';
import { type Node, parseTree } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/core/json.ts';
import { findElements, findMembers, mayHoldLongNumbers, readExactly } from '../../src/service/page-salvage.ts';
import { anyCharacter } from '../any-character.ts';
import { jsonText } from '../json-text.ts';
import { runs } from '../temporary.ts';

const toLatin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
const spanOf = (node: Node) => ({ start: node.offset, end: node.offset + node.length });

describe('finding rows by their offsets', () => {
  it('agrees with jsonc-parser about the elements of every array', () => {
    fc.assert(
      fc.property(jsonText(), ({ text }) => {
        const latin1 = toLatin1(text);
        const tree = parseTree(latin1);
        const expected =
          tree?.type === 'array'
            ? { elements: (tree.children ?? []).map(spanOf), end: tree.offset + tree.length }
            : null;
        expect(findElements(latin1)).toEqual(expected);
      }),
      { numRuns: runs(200) },
    );
  });

  it('agrees with jsonc-parser about the members of every object, the last of equal keys winning', () => {
    fc.assert(
      fc.property(jsonText(), ({ text }) => {
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
      { numRuns: runs(200) },
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
      { numRuns: runs(200) },
    );
  });
});

describe('reading numbers exactly', () => {
  it('changes nothing if no number is long', () => {
    fc.assert(
      fc.property(jsonText(), ({ text, value }) => {
        if (!mayHoldLongNumbers(text)) expect(parseJson(text, readExactly)).toEqual(value);
      }),
      { numRuns: runs(200) },
    );
  });

  it('keeps numbers that a double would change as text', () => {
    const text =
      '{"id":12345678901234567890,"n":[9007199254740993,1e400,0.1234567890123456789,123456789012345],"__proto__":1}';
    expect(mayHoldLongNumbers(text)).toBe(true);
    const value = parseJson(text, readExactly) as Record<string, unknown>;
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
