import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signBody, verifySignature } from '../../receivers/signature-node.ts';
import { anyCharacter } from '../any-character.ts';
import { runs } from '../temporary.ts';

const secrets = [{ id: 'new', value: 'whsec-new' }];
const body = Buffer.from('{"event":"policy.published","policy_id":"p1"}');
const hex = createHmac('sha256', 'whsec-new').update(body).digest('hex');
const wrong = '0'.repeat(64);
const verify = (headers: Record<string, string | string[] | undefined>, rawBody: Uint8Array = body) =>
  verifySignature({ headers, rawBody, secrets });

describe('a signature is accepted', () => {
  it('when the plain header alone is right', () => {
    expect(verify({ 'x-service-signature': hex })).toEqual({
      outcome: 'verified',
      secretId: 'new',
      headersAgree: true,
    });
  });
  it('when the prefixed header alone is right', () => {
    expect(verify({ 'x-service-signature-256': `sha256=${hex}` })).toEqual({
      outcome: 'verified',
      secretId: 'new',
      headersAgree: true,
    });
  });
  it('when both are right, as signBody makes them', () => {
    expect(verify(signBody(body, 'whsec-new'))).toEqual({ outcome: 'verified', secretId: 'new', headersAgree: true });
  });
  it.each([
    ['the prefixed one is wrong', { 'x-service-signature': hex, 'x-service-signature-256': `sha256=${wrong}` }],
    ['the plain one is wrong', { 'x-service-signature': wrong, 'x-service-signature-256': `sha256=${hex}` }],
    ['the prefixed one has no prefix', { 'x-service-signature': hex, 'x-service-signature-256': hex }],
    ['the plain one is not hex', { 'x-service-signature': 'garbage', 'x-service-signature-256': `sha256=${hex}` }],
  ])('but reported as a disagreement when %s', (_name, headers) => {
    expect(verify(headers)).toEqual({ outcome: 'verified', secretId: 'new', headersAgree: false });
  });
  it('under any of several secrets, and the verdict names it', () => {
    const several = [
      { id: 'new', value: 'other' },
      { id: 'old', value: 'whsec-new' },
    ];
    const verdict = verifySignature({ headers: { 'x-service-signature': hex }, rawBody: body, secrets: several });
    expect(verdict).toEqual({ outcome: 'verified', secretId: 'old', headersAgree: true });
  });
  it('when the headers are right under different secrets, as in a rotation', () => {
    const both = [
      { id: 'a', value: 'one' },
      { id: 'b', value: 'two' },
    ];
    const headers = {
      'x-service-signature': signBody(body, 'two')['x-service-signature'],
      'x-service-signature-256': signBody(body, 'one')['x-service-signature-256'],
    };
    const verdict = verifySignature({ headers, rawBody: body, secrets: both });
    expect(verdict).toEqual({ outcome: 'verified', secretId: 'a', headersAgree: true });
  });
  it('over an empty body, and over bytes that are not text', () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from([0xff, 0x00, 0xfe])]) {
      expect(verify(signBody(bytes, 'whsec-new'), bytes).outcome).toBe('verified');
    }
  });
  it('when a header comes as a list with one item', () => {
    expect(verify({ 'x-service-signature': [hex] }).outcome).toBe('verified');
  });
});

describe('a signature is refused', () => {
  it.each([
    ['no header at all', {}],
    ['headers without a value', { 'x-service-signature': undefined, 'x-service-signature-256': [] }],
  ])('as missing with %s', (_name, headers) => {
    expect(verify(headers as Record<string, string[] | undefined>)).toEqual({ outcome: 'missing' });
  });
  it.each([
    ['another digest', { 'x-service-signature': wrong }],
    ['an empty header', { 'x-service-signature': '' }],
    ['upper-case hex', { 'x-service-signature': hex.toUpperCase() }],
    ['base64', { 'x-service-signature': Buffer.from(hex, 'hex').toString('base64') }],
    ['63 digits', { 'x-service-signature': hex.slice(1) }],
    ['65 digits', { 'x-service-signature': `${hex}0` }],
    ['a space in front', { 'x-service-signature': ` ${hex}` }],
    ['a line break behind', { 'x-service-signature': `${hex}\n` }],
    ['a digit outside hex', { 'x-service-signature': `g${hex.slice(1)}` }],
    ['the prefix in the plain header', { 'x-service-signature': `sha256=${hex}` }],
    ['no prefix in the prefixed header', { 'x-service-signature-256': hex }],
    ['another prefix', { 'x-service-signature-256': `sha1=${hex}` }],
    ['an upper-case prefix', { 'x-service-signature-256': `SHA256=${hex}` }],
    ['the header twice as a list', { 'x-service-signature': [hex, hex] }],
    ['the header twice as node joins it', { 'x-service-signature': `${hex}, ${hex}` }],
    ['one header right and the other twice', { 'x-service-signature': hex, 'x-service-signature-256': ['a', 'b'] }],
  ])('as a mismatch with %s', (_name, headers) => {
    expect(verify(headers as Record<string, string | string[]>)).toEqual({ outcome: 'mismatch' });
  });
  it('when the source has no secret, or an empty one', () => {
    const headers = { 'x-service-signature': createHmac('sha256', '').update(body).digest('hex') };
    expect(verifySignature({ headers, rawBody: body, secrets: [] })).toEqual({ outcome: 'mismatch' });
    expect(verifySignature({ headers, rawBody: body, secrets: [{ id: 'x', value: '' }] })).toEqual({
      outcome: 'mismatch',
    });
  });
  it('for every single flipped bit of the body', () => {
    for (let bit = 0; bit < body.length * 8; bit++) {
      const altered = Buffer.from(body);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verify({ 'x-service-signature': hex }, altered).outcome).toBe('mismatch');
    }
  });
  it('for JSON that says the same in other bytes', () => {
    const spaced = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2));
    expect(verify({ 'x-service-signature': hex }, spaced).outcome).toBe('mismatch');
    const sent = Buffer.from('{ "n": 1.0, "event": "x" }');
    const reserialised = Buffer.from(JSON.stringify(JSON.parse(sent.toString())));
    expect(verify(signBody(sent, 'whsec-new'), reserialised).outcome).toBe('mismatch');
  });
});

describe('whatever comes in', () => {
  const headerValue = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: anyCharacter }),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.stringMatching(/^[0-9a-f]{64}$/).map((digest) => `sha256=${digest}`),
  );
  it('random headers and bodies are refused without throwing', () => {
    fc.assert(
      fc.property(headerValue, headerValue, fc.uint8Array({ maxLength: 200 }), (plain, prefixed, bytes) => {
        const { outcome } = verify({ 'x-service-signature': plain, 'x-service-signature-256': prefixed }, bytes);
        return outcome === 'missing' || outcome === 'mismatch';
      }),
      { numRuns: runs(200) },
    );
  });
  it('any body verifies under its own signature, and no other body does', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.string({ minLength: 1 }), (bytes, other, value) => {
        const headers = signBody(bytes, value);
        const check = (rawBody: Uint8Array) =>
          verifySignature({ headers, rawBody, secrets: [{ id: 's', value }] }).outcome;
        return check(bytes) === 'verified' && (Buffer.compare(bytes, other) === 0 || check(other) === 'mismatch');
      }),
      { numRuns: runs(100) },
    );
  });
});
