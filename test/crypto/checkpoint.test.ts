import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCheckpoint, signCheckpoint } from '../../src/crypto/checkpoint.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const origin = 'consent-ledger/test/1';
const note = signCheckpoint({ origin, size: 12, root: Buffer.alloc(32, 7) }, privateKey);
const [text = '', signature = ''] = note.split('\n\n');
const witness = `— witness.example ${randomBytes(68).toString('base64')}\n`;
const other = signCheckpoint({ origin, size: 13, root: Buffer.alloc(32, 7) }, privateKey).split('\n\n')[1] ?? '';

const witnesses = (count: number) =>
  Array.from({ length: count }, () => `— witness.example ${randomBytes(68).toString('base64')}\n`).join('');

/**
 * The results of golang.org/x/mod/sumdb/note Open for each case; unlike this program, it accepts non-canonical base64
 * too, and ignores a second signature of one key, which C2SP tlog-checkpoint forbids.
 */
describe('a checkpoint', () => {
  it.each([
    ['as it was signed', note],
    ['with the signature of a witness after ours', note + witness],
    ['with the signature of a witness before ours', `${text}\n\n${witness}${signature}`],
    ['with 100 signatures', note + witnesses(99)],
    ['with another key of our name', `${note}— ${origin} ${randomBytes(68).toString('base64')}\n`],
  ])('is valid %s', (_, given) => {
    expect(readCheckpoint(given, publicKey)).toMatchObject({ outcome: 'valid', head: { origin, size: 12 } });
  });

  it.each([
    ['empty', ''],
    ['without a signature', `${text}\n`],
    ['without a signature after the empty line', `${text}\n\n`],
    ['without the empty line', `${text}\n${signature}`],
    ['with text after the signatures', `${note}more\n`],
    ['with text between text and signatures', `${text}\n\nmore\n\n${signature}`],
    ['with text among the signatures', `${text}\n\nmore\n${signature}`],
    ['with a line after the root', `${text}\nmore\n\n${signature}`],
    ['with an empty line among the signatures', `${note}\n${witness}`],
    ['with an empty line at the end', `${note}\n`],
    ['without the last line feed', note.slice(0, -1)],
    ['with carriage returns', note.replaceAll('\n', '\r\n')],
    ['with a control character', `${note}${witness.replace('witness', 'wit\tness')}`],
    ['with a NUL', `${note}${witness.replace('witness', 'wit\0ness')}`],
    [
      'with bytes that are not UTF-8',
      Buffer.concat([Buffer.from(`${note}— `), Buffer.from([0xff]), Buffer.from(' AAAAAAAA\n')]).toString(),
    ],
    ['with half a surrogate pair', `${note}${witness.replace('witness', 'wit\ud800ness')}`],
    ['with a hyphen for the dash', `${note}${witness.replace('—', '-')}`],
    ['without a name', `${note}— ${randomBytes(68).toString('base64')}\n`],
    ['with an empty name', `${note}—  ${randomBytes(68).toString('base64')}\n`],
    ['with a plus in a name', `${note}${witness.replace('witness', 'wit+ness')}`],
    ['with a Unicode space in a name', `${note}${witness.replace('witness', 'wit\u2003ness')}`],
    ['with a fourth word on the line', `${note}${witness.replace('\n', ' more\n')}`],
    ['with an empty signature', `${note}— witness.example \n`],
    ['with a signature of four bytes', `${note}— witness.example AAAAAA==\n`],
    ['with base64 without its padding', `${note}— witness.example AAAAAAA\n`],
    ['with base64 whose last bits are not zero', `${note}— witness.example AAAAAAB=\n`],
    ['with base64url', `${note}— witness.example AAAA-_AA\n`],
    ['with base64 and anything else', `${text}\n\n${signature.replace('\n', '!\n')}`],
    ['with 101 signatures', note + witnesses(100)],
    ['signed twice by us', note + signature],
    ['whose first signature by our key is not right', `${text}\n\n${other}${signature}`],
    ['signed twice by a witness', note + witness + witness],
    ['with a size that has a leading zero', note.replace('\n12\n', '\n012\n')],
    ['with a size that no number holds exactly', note.replace('\n12\n', '\n9007199254740993\n')],
  ])('is malformed %s', (_, given) => {
    expect(readCheckpoint(given, publicKey).outcome).toBe('malformed');
  });

  it.each([
    ['bad-signature', 'signed for another text', `${text}\n\n${other}`],
    ['other-key', 'that only a witness signed', `${text}\n\n${witness}`],
  ])('is %s when %s', (outcome, _, given) => {
    expect(readCheckpoint(given, publicKey).outcome).toBe(outcome);
  });
});
