import { createHmac } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiagnoseInput, diagnoseSignature } from '../../receivers/diagnose.ts';
import { signBody } from '../../receivers/signature-node.ts';
import { anyCharacter } from '../any-character.ts';

const SECRET = 'k7Qw-secret-value';
const secrets = [{ id: 'main', value: SECRET }];
const body = Buffer.from('{"event":"dsar.submitted","name":"J\u00f6rg","url":"https://a.example/x","items":[1,2]}');
const hexOf = (bytes: Uint8Array, secret: string | Uint8Array = SECRET) =>
  createHmac('sha256', secret).update(bytes).digest('hex');
const plain = (hex: string) => ({ 'x-service-signature': hex });
const diagnose = (input: Partial<DiagnoseInput>) =>
  diagnoseSignature({ headers: {}, rawBody: body, secrets, ...input });
const codes = (input: Partial<DiagnoseInput>) => diagnose(input).map((one) => one.code);

describe('the form of the headers', () => {
  it.each<[string, DiagnoseInput['headers'], string[]]>([
    ['no header', { 'content-type': 'text/plain' }, ['no-header']],
    ['a header of another sender', { 'x-hub-signature-256': `sha256=${hexOf(body)}` }, ['no-header', 'other-header']],
    ['no prefix', { 'x-service-signature-256': hexOf(body) }, ['wrong-prefix']],
    ['another prefix', { 'x-service-signature-256': `sha1=${hexOf(body)}` }, ['wrong-prefix']],
    ['an upper-case prefix', { 'x-service-signature-256': `SHA256=${hexOf(body)}` }, ['wrong-prefix']],
    ['a prefix in the plain header', plain(`sha256=${hexOf(body)}`), ['wrong-prefix']],
    ['upper-case hex', plain(hexOf(body).toUpperCase()), ['not-lower-case']],
    ['base64', plain(Buffer.from(hexOf(body), 'hex').toString('base64')), ['base64-digest']],
    [
      'base64 behind the prefix',
      { 'x-service-signature-256': `sha256=${Buffer.from(hexOf(body), 'hex').toString('base64')}` },
      ['base64-digest'],
    ],
    ['a SHA-1 digest', plain('a'.repeat(40)), ['wrong-length']],
    ['a cut digest', plain(hexOf(body).slice(0, 60)), ['wrong-length']],
    ['an empty header', plain(''), ['wrong-length']],
    ['no hex', plain('not a signature!'), ['not-hex']],
    ['the header twice', plain(`${hexOf(body)}, ${hexOf(body)}`), ['repeated-header']],
  ])('%s', (_name, headers, expected) => {
    expect(codes({ headers })).toEqual(expected);
  });
  it('names the algorithm that fits the length', () => {
    expect(diagnose({ headers: plain('a'.repeat(40)) })[0]?.sentence).toContain('SHA-1');
  });
  it('says that the delivery verifies if it does now', () => {
    expect(codes({ headers: signBody(body, SECRET) })).toEqual(['verifies']);
  });
});

describe('what happened to the body', () => {
  const parsed: unknown = JSON.parse(body.toString());
  it.each<[string, Buffer, Buffer, string]>([
    ['a line break was added', body, Buffer.concat([body, Buffer.from('\n')]), 'body-altered'],
    ['a line break was removed', Buffer.concat([body, Buffer.from('\n')]), body, 'body-altered'],
    ['CRLF became LF', Buffer.from('{\r\n"a":1\r\n}'), Buffer.from('{\n"a":1\n}'), 'body-altered'],
    ['LF became CRLF', Buffer.from('{\n"a":1\n}'), Buffer.from('{\r\n"a":1\r\n}'), 'body-altered'],
    ['a byte order mark was added', body, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]), 'body-altered'],
    ['a byte order mark was removed', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]), body, 'body-altered'],
    [
      'Latin-1 was converted to UTF-8',
      Buffer.from('{"n":"J\u00f6rg"}', 'latin1'),
      Buffer.from('{"n":"J\u00f6rg"}', 'utf8'),
      'body-altered',
    ],
    ['compact JSON was indented', body, Buffer.from(JSON.stringify(parsed, null, 2)), 'body-reserialised'],
    ['indented JSON was made compact', Buffer.from(JSON.stringify(parsed, null, 2)), body, 'body-reserialised'],
    [
      'JSON as Python writes it was made compact',
      Buffer.from('{"a": "x, \\" y: z", "b": "\\u00e9"}'),
      Buffer.from('{"a":"x, \\" y: z","b":"\u00e9"}'),
      'body-reserialised',
    ],
    [
      'JSON as PHP writes it was made compact',
      Buffer.from('{"u":"https:\\/\\/a.example"}'),
      Buffer.from('{"u":"https://a.example"}'),
      'body-reserialised',
    ],
  ])('%s', (_name, sent, arrived, expected) => {
    expect(codes({ headers: plain(hexOf(sent)), rawBody: arrived })).toEqual([expected]);
  });
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('the signature covers the body before its compression (%s)', (encoding, compress) => {
    const headers = { ...plain(hexOf(body)), 'content-encoding': encoding };
    const found = diagnose({ headers, rawBody: compress(body) });
    expect(found.map(({ code }) => code)).toEqual(['body-compressed']);
    expect(found[0]?.sentence).toBe(
      'The body was compressed after it was signed: the signature fits what it contains.',
    );
    // With the secret of another source, both are said.
    expect(
      codes({
        headers: plain(hexOf(body, 'former')),
        rawBody: gzipSync(body),
        otherSecrets: [{ id: 'old', value: 'former' }],
      }),
    ).toEqual(['body-compressed', 'old-secret']);
  });
  it('the body was lost', () => {
    expect(codes({ headers: plain(hexOf(body)), rawBody: Buffer.alloc(0) })).toEqual(['empty-body', 'no-match']);
  });
});

describe('the fault in the secret', () => {
  it('an old one was used', () => {
    const found = diagnose({
      headers: plain(hexOf(body, 'former')),
      otherSecrets: [{ id: 'before-june', value: 'former' }],
    });
    expect(found.map((one) => one.code)).toEqual(['old-secret']);
    expect(found[0]?.sentence).toContain('before-june');
  });
  it('none is set', () => {
    expect(codes({ headers: plain(hexOf(body)), secrets: [] })).toEqual(['no-secret', 'no-match']);
  });
  const raw = Buffer.from('00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff', 'hex');
  it.each<[string, string, string | Buffer, string]>([
    ['it is the hex of what signs', raw.toString('hex'), raw, 'secret-encoded'],
    ['it is the base64 of what signs', raw.toString('base64'), raw, 'secret-encoded'],
    ['it is the base64 of what signs, behind whsec_', `whsec_${raw.toString('base64')}`, raw, 'secret-encoded'],
    ['its hex signs', SECRET, Buffer.from(SECRET).toString('hex'), 'secret-encoded'],
    ['it has quotes around it', `"${SECRET}"`, SECRET, 'secret-untidy'],
    ['it has a line break behind it', `${SECRET}\n`, SECRET, 'secret-untidy'],
    ['it has quotes and blanks', ` '${SECRET}' `, SECRET, 'secret-untidy'],
    ['the service has a line break behind it', SECRET, `${SECRET}\n`, 'secret-untidy'],
  ])('%s', (_name, stored, signing, expected) => {
    expect(codes({ headers: plain(hexOf(body, signing)), secrets: [{ id: 'main', value: stored }] })).toEqual([
      expected,
    ]);
  });
  it('reports both an untidy secret and an altered body', () => {
    const found = codes({
      headers: plain(hexOf(body)),
      rawBody: Buffer.concat([body, Buffer.from('\n')]),
      secrets: [{ id: 'main', value: `${SECRET} ` }],
    });
    expect(found).toEqual(['body-altered', 'secret-untidy']);
  });
  it('an unknown one gives no match', () => {
    expect(codes({ headers: plain(hexOf(body, 'stranger')) })).toEqual(['no-match']);
  });
});

describe('a diagnosis', () => {
  it('never holds a secret or a correct digest, and never throws', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('x-service-signature', 'x-service-signature-256', 'x-signature', 'host'),
          fc.oneof(fc.string({ unit: anyCharacter }), fc.array(fc.string())),
        ),
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => new TextEncoder().encode(text)),
        ),
        (headers, rawBody) => {
          const text = JSON.stringify(
            diagnose({ headers, rawBody, otherSecrets: [{ id: 'old', value: 'former-secret' }] }),
          );
          for (const bad of [SECRET, 'former-secret', hexOf(rawBody), hexOf(rawBody, 'former-secret')])
            expect(text).not.toContain(bad);
        },
      ),
      { numRuns: 300 },
    );
  });
  it('of a deeply nested body of a mebibyte ends within seconds', () => {
    const deep = Buffer.from('['.repeat(500_000) + ']'.repeat(500_000));
    const before = performance.now();
    expect(codes({ headers: plain('0'.repeat(64)), rawBody: deep })).toEqual(['no-match']);
    expect(performance.now() - before).toBeLessThan(20_000);
  });
});
