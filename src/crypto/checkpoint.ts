import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isWellFormed } from './canonical.ts';
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
function rawPublicKey(key: KeyObject): Buffer {
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

/** The verifier key in the form used by C2SP tools: `<name>+<key hash, hex>+<base64 of 0x01 and the public key>`. */
export function verifierKeyOf(name: string, publicKey: KeyObject): string {
  const key = Buffer.concat([Buffer.from([ED25519]), rawPublicKey(publicKey)]).toString('base64');
  return `${name}+${keyHashOf(name, publicKey).toString('hex')}+${key}`;
}

/** The name and key of a {@link verifierKeyOf}; null if the text is not one, or if its key hash does not match the key. */
export function parseVerifierKey(text: string): { readonly name: string; readonly publicKey: KeyObject } | null {
  const [, name = '', hash, encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text.trim()) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 33 || bytes[0] !== ED25519) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') };
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
  return keyHashOf(name, publicKey).toString('hex') === hash ? { name, publicKey } : null;
}

/** Signs a tree head; returns the note's text. */
export function signCheckpoint(head: TreeHead, signingKey: KeyObject): string {
  const text = `${head.origin}\n${head.size}\n${head.root.toString('base64')}\n`;
  const signature = Buffer.concat([keyHashOf(head.origin, signingKey), sign(null, Buffer.from(text), signingKey)]);
  return `${text}\n— ${head.origin} ${signature.toString('base64')}\n`;
}

/** The fault of a checkpoint, or the tree head that it proves. */
type CheckpointReading =
  | { readonly outcome: 'valid'; readonly head: TreeHead }
  | { readonly outcome: 'malformed' | 'other-key' | 'bad-signature'; readonly reason: string };

/** A note with more signatures is refused, as C2SP signed-note allows. */
const MOST_SIGNATURES = 100;

/**
 * Parses a note and checks our signature, as strictly as C2SP signed-note and Go's sumdb/note: UTF-8 without control
 * characters, the text, an empty line, and only signature lines up to the end. Signatures by other keys (witnesses)
 * must be well-formed and are otherwise ignored.
 */
export function readCheckpoint(note: string, publicKey: KeyObject): CheckpointReading {
  const parsed = parseNote(note);
  const head = parsed === null ? null : parseTreeHead(note);
  if (parsed === null || head === null || parsed.text.split('\n').length !== 4)
    return { outcome: 'malformed', reason: 'not a valid C2SP tlog-checkpoint' };
  const keyHash = keyHashOf(head.origin, publicKey);
  const ours = parsed.signatures.find(
    ({ name, bytes }) => name === head.origin && bytes.subarray(0, 4).equals(keyHash),
  );
  if (ours === undefined) return { outcome: 'other-key', reason: 'not signed with this installation’s signing key' };
  return verify(null, Buffer.from(parsed.text), publicKey, ours.bytes.subarray(4))
    ? { outcome: 'valid', head }
    : { outcome: 'bad-signature', reason: 'the signature does not match the text' };
}

interface Note {
  /** The signed text, including its final line feed. */
  readonly text: string;
  /** Key name, and key hash ‖ signature. */
  readonly signatures: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Null if it is not a signed note. */
function parseNote(note: string): Note | null {
  // Decoding turns bytes that are not UTF-8 into U+FFFD.
  if (!isWellFormed(note) || note.includes('\ufffd') || hasControls(note)) return null;
  const split = note.lastIndexOf('\n\n');
  if (split < 0 || !note.endsWith('\n')) return null;
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > MOST_SIGNATURES) return null;
  const signatures: Note['signatures'][number][] = [];
  for (const line of lines) {
    const [, name, encoded] = SIGNATURE.exec(line) ?? [];
    if (name === undefined || encoded === undefined) return null;
    const bytes = Buffer.from(encoded, 'base64');
    if (bytes.length < 5 || bytes.toString('base64') !== encoded) return null;
    signatures.push({ name, bytes });
  }
  // C2SP tlog-checkpoint: one line per key. Readers would differ in which one they check.
  const keys = new Set(signatures.map(({ name, bytes }) => `${name} ${bytes.toString('hex', 0, 4)}`));
  if (keys.size < signatures.length) return null;
  return { text: note.slice(0, split + 1), signatures };
}

/** A key name contains neither spaces nor a plus sign. */
const SIGNATURE = /^— ([^\s\u0085+]+) (\S+)$/;

/** Whether a text contains ASCII control characters other than line feeds. */
function hasControls(text: string): boolean {
  for (let place = 0; place < text.length; place += 1) {
    if (text.charCodeAt(place) < 32 && text[place] !== '\n') return true;
  }
  return false;
}

/** Reads origin, size and root of a note without checking the signature; null if it is not a checkpoint. */
export function parseTreeHead(note: string): TreeHead | null {
  const [origin, size, root, blank] = note.split('\n');
  if (!origin || blank !== '' || !/^(?:0|[1-9]\d{0,15})$/.test(size ?? '') || !Number.isSafeInteger(Number(size)))
    return null;
  const bytes = Buffer.from(root ?? '', 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== root) return null;
  return { origin, size: Number(size), root: bytes };
}
