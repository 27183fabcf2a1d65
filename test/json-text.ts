import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';

/** A JSON text, and the value that it represents. */
export interface JsonText {
  readonly text: string;
  readonly value: unknown;
}

/**
 * JSON with white space and escapes wherever they may be. The values are not read back with JSON.parse, which misreads
 * keys on Node 24 (src/core/json.ts).
 */
export function jsonText(): fc.Arbitrary<JsonText> {
  const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  ');
  const scalarOf = (text: string): JsonText => ({ text, value: JSON.parse(text) });
  const string = fc
    .oneof(
      fc.string({ unit: anyCharacter }).map((value) => JSON.stringify(value)),
      fc.constantFrom('"\\""', '"\\\\"', '"\\\\\\""', '"\\u0022\\u005c"', '"{[]},:"', '"\\ud800"', '"ü😀"', '"\\/"'),
    )
    .map(scalarOf);
  const scalar = fc.oneof(
    string,
    fc
      .constantFrom(
        'null',
        'true',
        'false',
        '0',
        '-0',
        '1e400',
        '-1.5E-7',
        '12345678901234567890',
        '0.1234567890123456789',
      )
      .map(scalarOf),
    fc.integer().map((value) => ({ text: String(value), value })),
  );
  return fc.letrec<{ value: JsonText }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.tuple(space, fc.array(fc.tuple(space, tie('value'), space))).map(([inner, items]) => ({
        text: `[${items.length === 0 ? inner : items.map(([a, { text }, b]) => a + text + b).join(',')}]`,
        value: items.map(([, { value }]) => value),
      })),
      fc.tuple(space, fc.array(fc.tuple(space, string, space, space, tie('value'), space))).map(([inner, members]) => ({
        text: `{${
          members.length === 0
            ? inner
            : members.map(([a, key, b, c, { text }, d]) => `${a}${key.text}${b}:${c}${text}${d}`).join(',')
        }}`,
        value: Object.fromEntries(members.map(([, key, , , { value }]) => [key.value as string, value])),
      })),
    ),
  })).value;
}
