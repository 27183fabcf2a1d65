import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { parseTreeHead, type TreeHead } from '../crypto/checkpoint.ts';
import { sha256 } from '../crypto/hash.ts';
import { formatConsistencyProof } from '../crypto/tlog-proof.ts';
import type { Tree } from './tree.ts';

/** Somebody who signs that each checkpoint of a log that he has seen continues the one before (c2sp.org/tlog-witness). */
export interface Witness {
  /** In the policy. */
  readonly name: string;
  readonly keyName: string;
  readonly keyHash: Buffer;
  readonly publicKey: KeyObject;
  /** Where checkpoints are submitted; null: nowhere. */
  readonly url: string | null;
}

/** Witnesses, and how many of them have to sign (c2sp.org/tlog-policy). */
export interface WitnessPolicy {
  readonly witnesses: readonly Witness[];
  readonly isQuorum: (signed: ReadonlySet<string>) => boolean;
}

const COSIGNATURE = 4;

/** Reads a policy; a sentence when it is none. Lines of logs are passed over: the log is this one. */
export function parseWitnessPolicy(text: string): WitnessPolicy | string {
  const witnesses: Witness[] = [];
  const holds = new Map<string, (signed: ReadonlySet<string>) => boolean>([['none', () => true]]);
  const used = new Set<string>();
  let isQuorum: WitnessPolicy['isQuorum'] | null = null;
  for (const [place, line] of text.split('\n').entries()) {
    const [keyword = '', name = '', ...rest] = line.trim().split(/[ \t]+/);
    const problem = (words: string) => `line ${place + 1} ${words}`;
    if (keyword === '' || keyword.startsWith('#') || keyword === 'log') continue;
    if ((keyword === 'witness' || keyword === 'group') && (name === '' || holds.has(name)))
      return problem(`has no name of its own`);
    if (keyword === 'witness') {
      const witness = readWitness(name, rest);
      if (witness === null) return problem('has no key of type 0x04 (Ed25519 cosignature), or an address that is none');
      if (witnesses.some((one) => one.publicKey.equals(witness.publicKey))) return problem('repeats a key');
      witnesses.push(witness);
      holds.set(name, (signed) => signed.has(name));
    } else if (keyword === 'group') {
      const [threshold = '', ...members] = rest;
      const wanted = threshold === 'all' ? members.length : threshold === 'any' ? 1 : Number(threshold);
      const known = members.map((member) => (member === 'none' || used.has(member) ? undefined : holds.get(member)));
      members.forEach((member) => used.add(member));
      if (!(Number.isInteger(wanted) && wanted >= 1 && wanted <= members.length) || known.includes(undefined))
        return problem('is not a group of what stands above it');
      holds.set(name, (signed) => known.filter((member) => member?.(signed)).length >= wanted);
    } else if (keyword === 'quorum') {
      const found = holds.get(name);
      if (found === undefined || isQuorum !== null) return problem('names no quorum, or a second one');
      isQuorum = found;
    } else return problem(`begins with ${JSON.stringify(keyword)}`);
  }
  return isQuorum === null ? 'it has no line that begins with quorum' : { witnesses, isQuorum };
}

function readWitness(name: string, [key = '', url]: readonly string[]): Witness | null {
  const [, keyName = '', hash = '', encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(key) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 33 || bytes[0] !== COSIGNATURE || (url !== undefined && !/^https?:\/\//.test(url))) return null;
  const keyHash = sha256(Buffer.concat([Buffer.from(`${keyName}\n`), bytes])).subarray(0, 4);
  if (keyHash.toString('hex') !== hash) return null;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') };
  return {
    name,
    keyName,
    keyHash,
    publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
    url: url?.replace(/\/$/, '') ?? null,
  };
}

/** What came of a submission. `forked`: the witness has seen another history of this log, which is a reason for alarm. */
export type Witnessed =
  | { readonly outcome: 'cosigned'; readonly line: string; readonly at: string }
  | { readonly outcome: 'forked' | 'failed'; readonly reason: string };

/** Sends a body and resolves with the answer; rejects when none came. */
export type Post = (url: string, body: string) => Promise<{ readonly status: number; readonly text: string }>;

/**
 * Submits a checkpoint (add-checkpoint). The witness says itself what it has seen last, and is given the proof that the checkpoint continues it. Its answer
 * counts if it has a valid cosignature of its key.
 */
export async function submitCheckpoint(witness: Witness, note: string, tree: Tree, post: Post): Promise<Witnessed> {
  const head = parseTreeHead(note);
  if (head === null || witness.url === null) return { outcome: 'failed', reason: 'it has no address' };
  let seen = 0;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const hashes = await tree.consistency(seen, head.size);
    if (hashes === null)
      return { outcome: 'failed', reason: 'an entry of the ledger is missing: run `consent-ledger ledger verify`' };
    const { status, text } = await post(`${witness.url}/add-checkpoint`, formatConsistencyProof(seen, hashes, note));
    if (status === 200) return readCosignature(witness, note, text);
    if (status === 422) return forked(head, seen);
    const [size] = /^(?:0|[1-9]\d{0,15})(?=\n$)/.exec(text) ?? [];
    if (status !== 409 || size === undefined) return { outcome: 'failed', reason: `it answered ${status}` };
    if (Number(size) > head.size)
      return {
        outcome: 'forked',
        reason: `it has seen ${size} entries, and this ledger ends at ${head.size}: entries are gone from the end`,
      };
    // It has been told already that this is what it saw.
    if (Number(size) === seen) return forked(head, seen);
    seen = Number(size);
  }
  return { outcome: 'failed', reason: 'it says at each attempt that it has seen something else' };
}

function forked({ size }: TreeHead, seen: number): Witnessed {
  return {
    outcome: 'forked',
    reason: `the ledger of ${size} entries does not continue the ${seen} entries that it has seen: they were rewritten`,
  };
}

/** c2sp.org/tlog-cosignature, Ed25519. */
function readCosignature(witness: Witness, note: string, answer: string): Witnessed {
  const body = note.slice(0, note.indexOf('\n\n') + 1);
  for (const line of answer.split('\n')) {
    const [, name, encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (name !== witness.keyName || bytes.length !== 76 || !bytes.subarray(0, 4).equals(witness.keyHash)) continue;
    const time = bytes.readBigUInt64BE(4);
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${body}`);
    if (time < 1n << 40n && verify(null, message, witness.publicKey, bytes.subarray(12)))
      return { outcome: 'cosigned', line, at: new Date(Number(time) * 1000).toISOString() };
  }
  return { outcome: 'failed', reason: 'its answer has no valid cosignature of its key' };
}
