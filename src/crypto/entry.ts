import { z } from 'zod';
import { type EntryKind, isEntryKind } from '../core/vocabulary.ts';
import { canonicalJson } from './canonical.ts';
import { equalBytes, hmacSha256, sha256, sha256Into } from './hash.ts';

/** An entry without its place in the ledger. */
export interface NewEntry {
  /** Slug of the source it belongs to. */
  readonly source: string;
  readonly kind: EntryKind;
  /** 32 bytes, unique per (source, kind): an HMAC under the deduplication key (crypto/keys.ts). */
  readonly dedupeKey: Uint8Array;
  /** Our clock, ISO 8601 UTC with milliseconds. */
  readonly receivedAt: string;
  /** Exact bytes of canonical JSON: the headers that matter, verdict, officer … */
  readonly meta: Uint8Array;
  /** Exact bytes as received. */
  readonly body: Uint8Array;
}

/** One immutable line of the ledger. After an erasure `meta`, `body` and `salt` are null; everything else stays. */
export interface Entry {
  readonly seq: number;
  readonly source: string;
  readonly sourceSeq: number;
  readonly kind: EntryKind;
  readonly dedupeKey: Buffer;
  readonly receivedAt: string;
  readonly meta: Buffer | null;
  readonly body: Buffer | null;
  readonly salt: Buffer | null;
  readonly commitment: Buffer;
  readonly leafHash: Buffer;
  readonly mac: Buffer;
}

/** Length of an entry's salt in bytes. */
export const SALT_BYTES = 32;

const COMMITMENT_TAG = Buffer.from('consent-ledger/commitment/v1\n', 'ascii');
/** The input of a commitment, assembled in the same buffer for every entry. */
const committed = Buffer.concat([COMMITMENT_TAG, Buffer.alloc(SALT_BYTES + 64)]);

/**
 * SHA-256(tag ‖ salt ‖ SHA-256(meta) ‖ SHA-256(body)), tag = ASCII `consent-ledger/commitment/v1\n`. Hides the content
 * from anyone with only the leaf data, and binds it for anyone who also has the salt.
 */
export function commitmentOf(salt: Uint8Array, meta: Uint8Array, body: Uint8Array): Buffer {
  if (salt.length !== SALT_BYTES) throw new RangeError(`salt must be ${SALT_BYTES} bytes, got ${salt.length}`);
  committed.set(salt, COMMITMENT_TAG.length);
  sha256Into(meta, committed, COMMITMENT_TAG.length + SALT_BYTES);
  sha256Into(body, committed, COMMITMENT_TAG.length + SALT_BYTES + 32);
  return sha256(committed);
}

/** The same from the two hashes. */
export function commitmentOfHashes(salt: Uint8Array, metaSha256: Uint8Array, bodySha256: Uint8Array): Buffer {
  return sha256(Buffer.concat([COMMITMENT_TAG, salt, metaSha256, bodySha256]));
}

/** The part of an entry to which the Merkle tree commits. */
interface LeafInput {
  readonly seq: number;
  readonly source: string;
  readonly sourceSeq: number;
  readonly kind: EntryKind;
  readonly receivedAt: string;
  readonly dedupeKey: Uint8Array;
  readonly commitment: Uint8Array;
}

/**
 * Leaf data: RFC 8785 JSON of `{v:1, seq, source, sourceSeq, kind, receivedAt, dedupeKey, commitment}`, hashes as
 * lower-case hex. Slug, kind and time use restricted alphabets, so the canonical form can be written directly; a test
 * compares it with the library. A row may contain anything: values outside these alphabets are left to the library.
 */
export function leafData(leaf: LeafInput): Buffer {
  return Buffer.from(leafText(leaf), 'utf8');
}

function leafText(leaf: LeafInput): string {
  if (!isEntryKind(leaf.kind) || !PLAIN.test(leaf.source) || !PLAIN.test(leaf.receivedAt))
    return canonicalLeafData(leaf).toString('utf8');
  return `{"commitment":"${hex(leaf.commitment)}","dedupeKey":"${hex(leaf.dedupeKey)}","kind":"${leaf.kind}","receivedAt":"${leaf.receivedAt}","seq":${leaf.seq},"source":"${leaf.source}","sourceSeq":${leaf.sourceSeq},"v":1}`;
}

const PLAIN = /^[A-Za-z0-9:.-]*$/;

/** The same using only the library: the definition for which {@link leafData} is a shortcut. */
export function canonicalLeafData(leaf: LeafInput): Buffer {
  return canonicalJson({
    v: 1,
    seq: leaf.seq,
    source: leaf.source,
    sourceSeq: leaf.sourceSeq,
    kind: leaf.kind,
    receivedAt: leaf.receivedAt,
    dedupeKey: hex(leaf.dedupeKey),
    commitment: hex(leaf.commitment),
  });
}

/** Leaf hash according to RFC 6962 §2.1 / RFC 9162 §2.1.1: SHA-256(0x00 ‖ leaf data). */
export function leafHashOf(leaf: LeafInput): Buffer {
  return sha256(`\0${leafText(leaf)}`);
}

/** `HMAC(K_append, leaf hash)`: proves that a row was written by a holder of the instance key. */
export function macOf(appendKey: Uint8Array, leafHash: Uint8Array): Buffer {
  return hmacSha256(appendKey, leafHash);
}

/** Numbers and hashes one entry: everything that the ledger stores of it. */
export function sealEntry(entry: NewEntry, seq: number, sourceSeq: number, salt: Buffer, appendKey: Uint8Array): Entry {
  return placeEntry(entry, seq, sourceSeq, salt, commitmentOf(salt, entry.meta, entry.body), appendKey);
}

/** The part of {@link sealEntry} that needs the number; the commitment can be computed before. */
export function placeEntry(
  entry: NewEntry,
  seq: number,
  sourceSeq: number,
  salt: Buffer,
  commitment: Buffer,
  appendKey: Uint8Array,
): Entry {
  const leafHash = leafHashOf({
    seq,
    source: entry.source,
    sourceSeq,
    kind: entry.kind,
    receivedAt: entry.receivedAt,
    dedupeKey: entry.dedupeKey,
    commitment,
  });
  return {
    seq,
    source: entry.source,
    sourceSeq,
    kind: entry.kind,
    dedupeKey: asBuffer(entry.dedupeKey),
    receivedAt: entry.receivedAt,
    meta: asBuffer(entry.meta),
    body: asBuffer(entry.body),
    salt,
    commitment,
    leafHash,
    mac: macOf(appendKey, leafHash),
  };
}

/** Faults that can be found in one stored entry alone. */
type EntryFault = 'content' | 'leaf' | 'mac' | 'kind' | 'partial-erasure';

/**
 * Checks one stored entry against its own hashes and the append key (null if the caller does not have it). `content`:
 * meta, body or salt do not match the commitment. `leaf`: seq, source, kind, time or key were edited. `mac`: the row
 * was not written by a holder of the key. `kind`: not a kind that this program writes. An erased entry is checked
 * without its content.
 */
export function findEntryFault(entry: Entry, appendKey: Uint8Array | null): EntryFault | null {
  const { meta, body, salt } = entry;
  if (meta !== null && body !== null && salt !== null) {
    if (salt.length !== SALT_BYTES || !equalBytes(commitmentOf(salt, meta, body), entry.commitment)) return 'content';
  } else if (meta !== null || body !== null || salt !== null) {
    return 'partial-erasure';
  }
  if (!equalBytes(leafHashOf(entry), entry.leafHash)) return 'leaf';
  if (appendKey !== null && !equalBytes(macOf(appendKey, entry.leafHash), entry.mac)) return 'mac';
  return isEntryKind(entry.kind) ? null : 'kind';
}

function hex(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const erasureSchema = z.object({ seqs: z.array(z.number()) });

/** The entries whose content an `erasure` entry erased, from its body; empty if that cannot be read. */
export function erasedSeqs(body: Buffer | null): readonly number[] {
  try {
    return erasureSchema.parse(JSON.parse(body?.toString('utf8') ?? 'null')).seqs;
  } catch {
    return [];
  }
}
