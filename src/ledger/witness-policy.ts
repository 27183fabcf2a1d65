import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type BucketAddress, bucketAddressOf } from '../core/address.ts';
import { UsageError, whyUnreadable } from '../core/errors.ts';
import { sha256 } from '../crypto/hash.ts';
import { type CosignerKey, NAME_BYTES, readKeyOfCosigner } from './cosignature.ts';
import { certificatesIn } from './timestamp.ts';

/** A witness that signs each checkpoint if it continues the last one it saw (c2sp.org/tlog-witness). */
export interface Cosigner extends CosignerKey {
  readonly kind: 'cosigner';
  /** Its name in the policy. */
  readonly name: string;
  /** Where checkpoints are submitted; null: nowhere, its cosignatures are only checked. */
  readonly url: string | null;
}

/** A time-stamping authority (RFC 3161). */
export interface TimestampAuthority {
  readonly kind: 'timestamp';
  readonly name: string;
  /** The trusted certificates for it, as DER. */
  readonly roots: readonly Buffer[];
  /** Null: nothing is submitted, its tokens are only checked. */
  readonly url: string | null;
}

/** A folder elsewhere, for instance on a mounted share, that keeps a copy of each checkpoint. */
export interface Directory {
  readonly kind: 'directory';
  readonly name: string;
  readonly path: string;
}

/** A bucket in object storage that keeps a copy of each checkpoint, locked if possible. */
export interface BucketOfCopies {
  readonly kind: 'bucket';
  readonly name: string;
  readonly address: BucketAddress;
}

export type Witness = Cosigner | TimestampAuthority | Directory | BucketOfCopies;

/** The witnesses, and how many of them have to sign. */
export interface WitnessPolicy {
  readonly witnesses: readonly Witness[];
  readonly isQuorum: (signed: ReadonlySet<string>) => boolean;
}

/** A policy as written; `roots` of its authorities are paths to unread files. */
type Written<W> = W extends TimestampAuthority ? Omit<W, 'roots'> & { readonly caFile: string } : W;
interface WrittenPolicy extends Omit<WitnessPolicy, 'witnesses'> {
  readonly witnesses: readonly Written<Witness>[];
}

/**
 * Reads a policy file and the certificates that it names. Returns a sentence if something is wrong. Relative paths
 * start at its folder.
 */
export async function loadWitnessPolicy(path: string): Promise<WitnessPolicy | string> {
  let text: string;
  try {
    const bytes = await readFile(path);
    // Names are octets. In either encoding, different octets are different text.
    text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  } catch (error) {
    return whyUnreadable(error);
  }
  const policy = parseWitnessPolicy(text);
  if (typeof policy === 'string') return policy;
  const witnesses: Witness[] = [];
  for (const witness of policy.witnesses) {
    if (witness.kind === 'cosigner' || witness.kind === 'bucket') witnesses.push(witness);
    else if (witness.kind === 'directory') witnesses.push({ ...witness, path: resolve(dirname(path), witness.path) });
    else {
      const { caFile, ...authority } = witness;
      const roots = await readRoots(resolve(dirname(path), caFile));
      if (roots === null) return `the certificates of ${witness.name} (${caFile}) cannot be read: PEM is needed`;
      witnesses.push({ ...authority, roots });
    }
  }
  return { ...policy, witnesses };
}

/** The policy in the file named by WITNESSES; null if it is not set. Throws UsageError if the file cannot be used. */
export async function witnessPolicyIn(path: string | null): Promise<WitnessPolicy | null> {
  const policy = path === null ? null : await loadWitnessPolicy(path);
  if (typeof policy === 'string')
    throw new UsageError([
      `WITNESSES: ${path} cannot be used: ${policy}. Correct it (docs/proofs.md), or unset WITNESSES.`,
    ]);
  return policy;
}

async function readRoots(path: string): Promise<readonly Buffer[] | null> {
  try {
    const roots = certificatesIn(await readFile(path, 'utf8'));
    return roots.length === 0 ? null : roots;
  } catch {
    return null;
  }
}

/**
 * Parses a policy (c2sp.org/tlog-policy) with three additional kinds of line: `timestamp <name> <file of certificates>
 * [<url>]`, `directory <name> <path>` and `bucket <name> s3://<bucket>/<folder>`. Returns a sentence if it is invalid.
 * Lines about logs are checked, but decide nothing: the log is this one.
 */
export function parseWitnessPolicy(text: string): WrittenPolicy | string {
  const witnesses: Written<Witness>[] = [];
  const groups = createGroups();
  const logs = new Set<string>();
  let isQuorum: WitnessPolicy['isQuorum'] | null = null;
  for (const [place, line] of text.split('\n').entries()) {
    const problem = (words: string) => `line ${place + 1} ${words}`;
    if (CONTROL.test(line)) return problem('has a control character, such as that of a line ending of Windows');
    // Only spaces and tabs separate items.
    const [keyword = '', name = '', ...rest] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (keyword === '' || keyword.startsWith('#')) continue;
    const read = Object.hasOwn(readers, keyword) ? readers[keyword] : undefined;
    if ((read !== undefined || keyword === 'group') && (name === '' || groups.has(name)))
      return problem(`has no unique name`);
    if (read !== undefined) {
      const witness = read(name, rest);
      if (typeof witness === 'string') return problem(witness);
      if (witnesses.some((one) => isSame(one, witness)))
        return problem('repeats a key, an authority, a folder or a bucket');
      witnesses.push(witness);
      groups.addWitness(name);
    } else if (keyword === 'group') {
      if (!groups.addGroup(name, rest))
        return problem('is not a group of names that are defined above it and in no other');
    } else if (keyword === 'quorum') {
      const found = groups.get(name);
      if (found === undefined || isQuorum !== null || rest.length > 0) return problem('has no quorum, or a second one');
      isQuorum = found;
    } else if (keyword === 'log') {
      const key = keyOfLog(name);
      if (key === null || rest.length > 1) return problem('is not `log <verifier key> [<url>]`');
      if (logs.has(key)) return problem('repeats the key of a log');
      logs.add(key);
    } else return problem(`begins with ${JSON.stringify(keyword)}`);
  }
  return isQuorum === null ? 'it has no line that begins with quorum' : { witnesses, isQuorum };
}

/** The verifier key of a witness (c2sp.org/tlog-cosignature). */
export function verifierKeyOfWitness({ keyName, keyHash, keyType, publicKey }: CosignerKey): string {
  return `${keyName}+${keyHash.toString('hex')}+${Buffer.concat([Buffer.of(keyType), publicKey]).toString('base64')}`;
}

const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

type IsMet = (signed: ReadonlySet<string>) => boolean;

/** Witnesses and groups, which share their names. */
function createGroups() {
  const met = new Map<string, IsMet>([['none', () => true]]);
  const members = new Set<string>();
  return {
    has: (name: string) => met.has(name),
    get: (name: string) => met.get(name),
    addWitness(name: string): void {
      met.set(name, (signed) => signed.has(name));
    },
    /** False if it is invalid. No name may be a member twice: a witness counts once. */
    addGroup(name: string, [threshold = '', ...names]: readonly string[]): boolean {
      const isDecimal = /^[1-9]\d{0,4}$/.test(threshold);
      const wanted = threshold === 'all' ? names.length : threshold === 'any' ? 1 : isDecimal ? Number(threshold) : 0;
      if (wanted < 1 || wanted > names.length) return false;
      const known: IsMet[] = [];
      for (const member of names) {
        const isMet = member === 'none' || members.has(member) ? undefined : met.get(member);
        if (isMet === undefined) return false;
        members.add(member);
        known.push(isMet);
      }
      met.set(name, (signed) => known.filter((isMet) => isMet(signed)).length >= wanted);
      return true;
    },
  };
}

/** The key in a verifier key of a log, by which two are the same whatever their names; null if it is not one. */
function keyOfLog(text: string): string | null {
  const [, name = '', hash = '', encoded = ''] = VERIFIER_KEY.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length < 2 || bytes.toString('base64') !== encoded) return null;
  const own = sha256(Buffer.concat([Buffer.from(`${name}\n`), bytes])).toString('hex', 0, 4);
  // The id of a key of type 0x02 is computed in another way.
  return own === hash || bytes[0] === 2 ? bytes.toString('hex', 1) : null;
}

const VERIFIER_KEY = /^([^\s\u0085+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/;

function isSame(one: Written<Witness>, other: Written<Witness>): boolean {
  if (one.kind === 'cosigner') return other.kind === 'cosigner' && one.publicKey.equals(other.publicKey);
  if (one.kind === 'directory') return other.kind === 'directory' && one.path === other.path;
  if (one.kind === 'bucket')
    return (
      other.kind === 'bucket' &&
      one.address.bucket === other.address.bucket &&
      one.address.prefix === other.address.prefix
    );
  return other.kind === 'timestamp' && one.url !== null && one.url === other.url;
}

/** Each returns a sentence if its line is invalid. */
const readers: Readonly<Record<string, (name: string, rest: readonly string[]) => Written<Witness> | string>> = {
  witness: readCosigner,
  timestamp(name, [caFile = '', url, ...more]) {
    // The name becomes part of a file name.
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return 'has a name with characters other than letters, digits, - and _';
    if (caFile === '' || (url !== undefined && !isAddress(url)) || more.length > 0)
      return 'is not `timestamp <name> <file of certificates> [<url>]`';
    return { kind: 'timestamp', name, caFile, url: url ?? null };
  },
  directory(name, rest) {
    const path = rest.join(' ');
    return path === '' ? 'names no folder' : { kind: 'directory', name, path };
  },
  bucket(name, [text = '', ...more]) {
    const address = bucketAddressOf(text);
    return address === null || more.length > 0
      ? 'is not `bucket <name> s3://<bucket>/<folder>`'
      : { kind: 'bucket', name, address };
  },
};

const isAddress = (url: string) => /^https?:\/\//.test(url) && URL.canParse(url);

function readCosigner(name: string, [key = '', url, ...more]: readonly string[]): Cosigner | string {
  const refused =
    'lacks a key of type 0x04 (Ed25519 cosignature) or 0x06 (ML-DSA-44 cosignature), or has an invalid address';
  const [, keyName = '', hash = '', encoded = ''] = VERIFIER_KEY.exec(key) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const read = bytes.toString('base64') === encoded ? readKeyOfCosigner(bytes) : null;
  if (read === null || Buffer.byteLength(keyName) > NAME_BYTES) return refused;
  if ((url !== undefined && !isAddress(url)) || more.length > 0) return refused;
  const keyHash = sha256(Buffer.concat([Buffer.from(`${keyName}\n`), bytes])).subarray(0, 4);
  if (keyHash.toString('hex') !== hash) return refused;
  return { kind: 'cosigner', name, keyName, keyHash, ...read, url: url?.replace(/\/$/, '') ?? null };
}
