import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { sha256 } from './hash.ts';

/**
 * Checkpoints: signed tree heads as C2SP tlog-checkpoint, a signed note (C2SP signed-note) with an Ed25519 signature.
 * ```
 * consent-ledger/<instance>/<epoch>
 * <size>
 * <root, base64>
 *
 * — consent-ledger/<instance>/<epoch> <base64 of key hash and signature>
 * ```
 */
export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

const ED25519 = 1;

/** Origin line, which is also the key name: `consent-ledger/<instance>/<epoch>`. */
export function originOf(instance: string, epoch: number): string {
  return `consent-ledger/${instance}/${epoch}`;
}

/** The 32 raw bytes of an Ed25519 public key. */
export function rawPublicKey(key: KeyObject): Buffer {
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x as string, 'base64url');
}

/** Four bytes that tell a verifier which key signed (C2SP signed-note): SHA-256(name ‖ LF ‖ 0x01 ‖ public key). */
export function keyHashOf(name: string, publicKey: KeyObject): Buffer {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([ED25519]), rawPublicKey(publicKey)])).subarray(
    0,
    4,
  );
}

/** The verifier key as C2SP tools take it: `<name>+<key hash, hex>+<base64 of 0x01 and the public key>`. */
export function verifierKeyOf(name: string, publicKey: KeyObject): string {
  const key = Buffer.concat([Buffer.from([ED25519]), rawPublicKey(publicKey)]).toString('base64');
  return `${name}+${keyHashOf(name, publicKey).toString('hex')}+${key}`;
}

/** Signs a tree head; returns the note's text. */
export function signCheckpoint(head: TreeHead, signingKey: KeyObject): string {
  const text = `${head.origin}\n${head.size}\n${head.root.toString('base64')}\n`;
  const signature = Buffer.concat([keyHashOf(head.origin, signingKey), sign(null, Buffer.from(text), signingKey)]);
  return `${text}\n— ${head.origin} ${signature.toString('base64')}\n`;
}

/** What is wrong with a checkpoint, or the tree head that it proves. */
export type CheckpointReading =
  | { readonly outcome: 'valid'; readonly head: TreeHead }
  | { readonly outcome: 'malformed' | 'other-key' | 'bad-signature'; readonly reason: string };

/** Parses a note and checks its signature. Signatures of other keys (witnesses) beside ours are passed over. */
export function readCheckpoint(note: string, publicKey: KeyObject): CheckpointReading {
  const head = parseTreeHead(note);
  if (head === null) return { outcome: 'malformed', reason: 'not a checkpoint as C2SP tlog-checkpoint has it' };
  const split = note.indexOf('\n\n');
  const text = note.slice(0, split + 1);
  const keyHash = keyHashOf(head.origin, publicKey);
  for (const line of note.slice(split + 2).split('\n')) {
    const [dash, name, encoded] = line.split(' ');
    if (dash !== '—' || name !== head.origin || encoded === undefined) continue;
    const signature = Buffer.from(encoded, 'base64');
    if (!signature.subarray(0, 4).equals(keyHash)) continue;
    if (verify(null, Buffer.from(text), publicKey, signature.subarray(4))) return { outcome: 'valid', head };
    return { outcome: 'bad-signature', reason: 'the signature does not fit the text' };
  }
  return { outcome: 'other-key', reason: 'not signed with this installation’s signing key' };
}

/** Reads origin, size and root of a note without checking the signature; null when it is no checkpoint. */
export function parseTreeHead(note: string): TreeHead | null {
  const [origin, size, root, blank] = note.split('\n');
  if (!origin || blank !== '' || !/^(?:0|[1-9]\d{0,15})$/.test(size ?? '')) return null;
  const bytes = Buffer.from(root ?? '', 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== root) return null;
  return { origin, size: Number(size), root: bytes };
}
