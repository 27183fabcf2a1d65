import { createPublicKey, verify } from 'node:crypto';
import { parseTreeHead } from '../crypto/checkpoint.ts';

/** What the first byte of a witness's verifier key stands for (c2sp.org/tlog-cosignature). */
export type CosignatureType = keyof typeof types;

/** Sizes in bytes of the public key and the signature: RFC 8032; FIPS 204, table 2. */
const types = {
  4: { keyBytes: 32, signatureBytes: 64, isSigned: isSignedEd25519 },
  6: { keyBytes: 1312, signatureBytes: 2420, isSigned: isSignedMlDsa44 },
} as const;

/** The key of a witness, and the name that its cosignatures have. */
export interface CosignerKey {
  readonly keyName: string;
  readonly keyHash: Buffer;
  readonly keyType: CosignatureType;
  /** Raw. */
  readonly publicKey: Buffer;
}

/** The type and raw key in the last part of a witness's verifier key; null if it is neither Ed25519 nor ML-DSA-44. */
export function readKeyOfCosigner(bytes: Buffer): Pick<CosignerKey, 'keyType' | 'publicKey'> | null {
  const [keyType] = bytes;
  const publicKey = bytes.subarray(1);
  if (keyType !== 4 && keyType !== 6) return null;
  return publicKey.length === types[keyType].keyBytes ? { keyType, publicKey } : null;
}

/** Longest name, in bytes, in a message that is signed with ML-DSA-44. */
export const NAME_BYTES = 255;

/**
 * When a witness signed a note, according to one of its lines (c2sp.org/tlog-cosignature); null if the line is not a
 * valid cosignature by its key, or does not say when: then the witness agrees with what it saw, but not that it was the
 * newest.
 */
export async function cosignedAt(witness: CosignerKey, note: string, line: string): Promise<string | null> {
  const { keyName, keyHash, keyType, publicKey } = witness;
  const { signatureBytes, isSigned } = types[keyType];
  const [, name, encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return null;
  if (name !== keyName || bytes.length !== 12 + signatureBytes || !bytes.subarray(0, 4).equals(keyHash)) return null;
  const time = bytes.readBigUInt64BE(4);
  if (time === 0n || time >= 1n << 40n) return null;
  return (await isSigned(publicKey, bytes.subarray(12), note, { name, time }))
    ? new Date(Number(time) * 1000).toISOString()
    : null;
}

/** How far ahead of this machine a witness's clock may be, milliseconds. */
const AHEAD_MS = 86_400_000;

/**
 * Why a time that a witness or an authority states proves nothing; null: it has come. Nothing can have been seen in the
 * future, so one of the two clocks is wrong.
 */
export function whyAhead(at: string, now: Date): string | null {
  return Date.parse(at) - now.getTime() > AHEAD_MS
    ? `it states the time ${at}, which has not come yet by the clock of this machine`
    : null;
}

interface Signed {
  readonly name: string;
  /** Seconds since 1970. */
  readonly time: bigint;
}

function isSignedEd25519(publicKey: Buffer, signature: Buffer, note: string, { time }: Signed): boolean {
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${note.slice(0, note.indexOf('\n\n') + 1)}`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

/** The message is the structure cosigned_message, about the tree from its first leaf. */
async function isSignedMlDsa44(publicKey: Buffer, signature: Buffer, note: string, signed: Signed): Promise<boolean> {
  const head = parseTreeHead(note);
  if (head === null || Buffer.byteLength(head.origin) > NAME_BYTES) return false;
  const message = Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    named(signed.name),
    number(signed.time),
    named(head.origin),
    number(0n),
    number(BigInt(head.size)),
    head.root,
  ]);
  // Loaded only when such a cosignature is read.
  const { ml_dsa44 } = await import('@noble/post-quantum/ml-dsa.js');
  return ml_dsa44.verify(signature, message, publicKey);
}

function named(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function number(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
