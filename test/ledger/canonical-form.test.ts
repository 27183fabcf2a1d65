import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryKinds } from '../../src/core/vocabulary.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { canonicalLeafData, leafData } from '../../src/crypto/entry.ts';
import { metaOf } from '../../src/ledger/append-delivery.ts';
import { anyCharacter } from '../any-character.ts';
import { runs } from '../temporary.ts';

/* Two forms are built by hand because every delivery needs them. Here they are compared with the library. */
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const wellFormed = fc.string({ unit: anyCharacter, maxLength: 30 });

test('leaf data is the canonical JSON of the leaf, whatever kind, source and time are', () => {
  const leaf = fc.record({
    seq: fc.maxSafeNat(),
    source: fc.oneof(
      wellFormed,
      fc.stringMatching(/^[a-z0-9-]{1,30}$/),
      fc.constantFrom('', '\n', 'a\n', 'a"b', '\\', 'ü', '\u2028'),
    ),
    sourceSeq: fc.maxSafeNat(),
    kind: fc.oneof(
      fc.constantFrom(...entryKinds),
      wellFormed.map((text) => text as 'webhook'),
    ),
    receivedAt: fc.oneof(
      wellFormed,
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    ),
    dedupeKey: bytes32,
    commitment: bytes32,
  });
  fc.assert(
    fc.property(leaf, (input) => {
      expect(leafData(input).toString('utf8')).toBe(canonicalLeafData(input).toString('utf8'));
    }),
    { numRuns: runs(300) },
  );
});

// Names and values as they can come over HTTP (Node gives values as latin1), including some that are recorded.
const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,20}$/);
const name = fc.oneof(
  token,
  token.map((rest) => `x-${rest}`),
  token.map((rest) => `webhook-${rest}`),
  fc.constantFrom('user-agent', 'date', '__proto__', 'x-__proto__', 'constructor', 'x-1', '1'),
);
const value = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

test('the meta of a delivery is canonical JSON, whatever headers and content type are', () => {
  const delivery = fc.record({
    headers: fc
      .array(fc.tuple(name, fc.oneof(value, fc.array(value), fc.constant(undefined))), { maxLength: 100 })
      .map((pairs) => Object.assign(Object.create(null) as object, Object.fromEntries(pairs))),
    contentType: fc.oneof(fc.constant(null), value),
    secretId: wellFormed,
    verdict: fc.constantFrom('verified' as const, 'verified-headers-disagree' as const, 'verified-late' as const),
  });
  fc.assert(
    fc.property(delivery, (input) => {
      const meta = metaOf({ ...input, source: 'default', rawBody: Buffer.alloc(0) });
      const parsed = JSON.parse(meta.toString('utf8')) as { headers: Record<string, string> };
      expect(meta.toString('utf8')).toBe(canonicalJson(parsed).toString('utf8'));
      expect(Object.keys(parsed.headers).length).toBeLessThanOrEqual(16);
      for (const [header, kept] of Object.entries(parsed.headers)) {
        const given = (input.headers as Record<string, string>)[header];
        expect(kept).toBe(given?.slice(0, 512));
        expect(header).not.toMatch(/auth|cookie|token|signature/);
      }
    }),
    { numRuns: runs(300) },
  );
});
