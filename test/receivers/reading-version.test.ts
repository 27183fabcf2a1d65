import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recordsOf } from '../../receivers/discover/effects.ts';
import { readDelivery } from '../../receivers/read.ts';
import { READING_VERSION } from '../../receivers/reading-version.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { sha256Hex } from '../../src/crypto/hash.ts';

const options = sourceOptionsSchema.parse({});
const root = new URL('./', import.meta.url);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8')) as unknown;

/**
 * What each version reads from every known shape and capture. If this differs after a release: give the reader the next number
 * (receivers/reading-version.ts) and add its digest here, so that what was read before is listed before it changes. A version that
 * has not been released yet gets another digest instead.
 */
const digests: Readonly<Record<number, string>> = {
  2: '166a937b180092c6e6f7a76d55d1bc46db3623715259c5a5eba2c2ef0d025d8a',
};

function* payloads(): Generator<object> {
  for (const { payload } of json('shapes/consent.json') as { payload: object }[]) yield payload;
  for (const file of readdirSync(new URL('captures', root))
    .filter((name) => name.endsWith('.json'))
    .sort())
    for (const { payload } of (json(`captures/${file}`) as { captures: { payload: object }[] }).captures) yield payload;
}

it('the version of reading grows when known payloads are read differently', () => {
  const read = [...payloads()].map((payload) =>
    recordsOf(
      readDelivery(Buffer.from(JSON.stringify({ event: 'consent.recorded', ...payload })), {
        receivedAt: '2026-11-26T15:05:00.000Z',
        options,
      }),
    ),
  );
  expect(read.length).toBeGreaterThan(400);
  expect(sha256Hex(canonicalJson(read))).toBe(digests[READING_VERSION]);
});
