import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { canonicalContent, createMembers, volatileFields } from '../../src/sync/row.ts';
import { runs } from '../temporary.ts';

/** The intended form: a copy without the volatile fields, written by the library. */
function byTheLibrary(value: unknown): string {
  return canonicalJson(without(value)).toString('utf8');
}
function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !volatileFields.has(key))
      .map(([key, item]) => [key, without(item)]),
  );
}

describe('the content that identifies a row', () => {
  it('is the canonical form of the library, without the volatile fields, for any JSON', () => {
    const key = fc.oneof(fc.constantFrom('fetched_at', 'requestId', '10', '9', '"', '\\', 'ä', '\u2028'), fc.string());
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
      ),
    })).value;
    const membersOf = createMembers(volatileFields);
    fc.assert(
      fc.property(json, (drawn) => {
        // The library does not sort an object that has a member of this name.
        const value: unknown = JSON.parse(JSON.stringify(drawn).replaceAll('"toJSON"', '"toJson"'));
        expect(canonicalContent(value)).toBe(byTheLibrary(value));
        // As in a page, whose rows share the cache of their keys.
        expect(canonicalContent(value, membersOf)).toBe(byTheLibrary(value));
      }),
      { numRuns: runs(300) },
    );
  });

  it('has no form with a lone surrogate, or if it is nested too deeply', () => {
    expect(canonicalContent(JSON.parse('{"a":["\\ud800"]}'))).toBeNull();
    expect(canonicalContent(JSON.parse('{"\\udc00":1}'))).toBeNull();
    expect(canonicalContent(JSON.parse('{"\\ud800":1,"fetched_at":"x"}'))).toBeNull();
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth += 1) deep = [deep];
    expect(canonicalContent(deep)).toBeNull();
  });
});
