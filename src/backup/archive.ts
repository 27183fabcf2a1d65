import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import {
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption';
import { extract, pack } from 'tar-stream';
import { z } from 'zod';
import { MIXED_RECIPIENTS, quantumResistance } from '../core/age-recipients.ts';
import { UsageError, VerificationFault } from '../core/errors.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { createTally, equalBytes, hmacSha256, sha256Hex } from '../crypto/hash.ts';
import { syncFolder } from '../ledger/durable-file.ts';

/*
 * The file of a backup (docs/backup.md): a tar archive, compressed with gzip, encrypted with age
 * (age-encryption.org/v1). Its last members are manifest.json, which lists all others with size and SHA-256, and
 * manifest.mac, an HMAC of it under the instance key: anyone can encrypt for a recipient, but only the installation can
 * make a backup of itself.
 */

/** What encrypts a backup: recipients (`age1…`), or a passphrase. */
export type Lock =
  | { readonly recipients: readonly string[] }
  | {
      readonly passphrase: string;
      /** Work factor of scrypt as a power of two; default: that of age. */
      readonly workFactor?: number;
    };
/** What decrypts it: identities (`AGE-SECRET-KEY-1…`), or the passphrase. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

const memberSchema = z.object({ name: z.string(), bytes: z.number(), sha256: z.string() });
type Member = z.infer<typeof memberSchema>;
const manifestSchema = z.looseObject({ members: z.array(memberSchema) });

/** Adds members to an archive, in reading order. */
export interface Adding {
  add(name: string, content: Buffer): Promise<void>;
  /** False if the file does not exist. */
  addFile(name: string, path: string): Promise<boolean>;
}

const MANIFEST = 'manifest.json';
const MANIFEST_MAC = 'manifest.mac';
const TAG = Buffer.from('consent-ledger/backup/v1\n', 'ascii');
const WHERE_SHARED = 'it was altered or cut off after it was written';

export interface Written {
  readonly bytes: number;
  /** Of the encrypted file. */
  readonly sha256: string;
  readonly members: readonly Member[];
}

/**
 * Writes an archive to `path`: under another name first, synced, read back and checked, then renamed, so that a file
 * with that name is complete. `produce` adds the members and resolves with further content of the manifest. Throws
 * UsageError for an invalid recipient.
 */
export async function writeArchive(
  path: string,
  options: {
    readonly lock: Lock;
    readonly appendKey: Uint8Array;
    readonly madeAt: Date;
    readonly produce: (to: Adding) => Promise<Readonly<Record<string, unknown>>>;
    readonly onReadBack?: (bytes: number) => void;
  },
): Promise<Written> {
  // Its own name: another backup may begin in the same second, and would have the same file's name.
  const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
  const { encrypter, unlock } = await lockOf(options.lock);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const written = await writeDraft(draft, encrypter, options);
    const read = await readArchive(draft, {
      unlock,
      appendKey: options.appendKey,
      onMember: drain,
      ...(options.onReadBack ? { onProgress: options.onReadBack } : {}),
    });
    if (read.sha256 !== written.sha256)
      throw new VerificationFault('The backup read back differs from what was written.');
    await rename(draft, path);
    await syncFolder(dirname(path));
    return written;
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeDraft(
  draft: string,
  encrypter: Encrypter,
  { appendKey, madeAt, produce }: Parameters<typeof writeArchive>[1],
): Promise<Written> {
  const members: Member[] = [];
  const tape = pack();
  const file = await open(draft, 'wx', 0o600);
  try {
    const tally = createTally();
    const draining = pipeline(
      tape as unknown as Readable,
      createGzip({ level: 1 }),
      async (source: AsyncIterable<Uint8Array>) => {
        for await (const chunk of tally.pass(await encrypter.encrypt(webStreamOf(source)))) await file.write(chunk);
      },
    );
    // Adding a member must not hang if the disk has failed.
    const failed = draining.then(() => new Promise<never>(() => undefined));
    const adding = adderTo(tape, members, madeAt, failed);
    const producing = (async () => {
      const facts = await produce(adding);
      const manifest = canonicalJson({ ...facts, members });
      await adding.add(MANIFEST, manifest);
      await adding.add(MANIFEST_MAC, Buffer.from(`${macOf(appendKey, manifest).toString('hex')}\n`));
      tape.finalize();
    })().catch((error: unknown) => {
      tape.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    });
    const [produced, drained] = await Promise.allSettled([producing, draining]);
    if (produced.status === 'rejected') throw produced.reason;
    if (drained.status === 'rejected') throw drained.reason;
    await file.sync();
    return { ...tally.total(), members: members.slice(0, -2) };
  } finally {
    await file.close();
  }
}

function adderTo(tape: ReturnType<typeof pack>, members: Member[], madeAt: Date, failed: Promise<never>): Adding {
  const headerOf = (name: string, size: number) => ({ name, size, mode: 0o600, mtime: madeAt });
  return {
    async add(name, content) {
      const added = new Promise<void>((resolve, reject) => {
        tape.entry(headerOf(name, content.length), content, (error) => (error ? reject(error) : resolve()));
      });
      await Promise.race([added, failed]);
      members.push({ name, bytes: content.length, sha256: sha256Hex(content) });
    },
    async addFile(name, path) {
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (found === null) return false;
      const tally = createTally();
      const entry = tape.entry(headerOf(name, found.size));
      const copied = pipeline(createReadStream(path), tally.pass<Buffer>, entry as unknown as NodeJS.WritableStream);
      await Promise.race([copied, failed]);
      members.push({ name, bytes: found.size, sha256: tally.total().sha256 });
      return true;
    },
  };
}

type TapeEntry = AsyncIterable<Buffer> & { readonly header: { readonly name: string; readonly type: string } };

export interface Read {
  readonly bytes: number;
  readonly sha256: string;
  /** The content of the manifest, whose MAC was checked. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Bytes of each member that the manifest lists, by name. */
  readonly sizes: ReadonlyMap<string, number>;
}

/**
 * Reads an archive from beginning to end, keeping nothing, and rejects like {@link readArchive}: whatever someone without
 * the instance key wrote into it is refused here, before any of it is used.
 */
export function checkArchive(
  path: string,
  options: Pick<Parameters<typeof readArchive>[1], 'unlock' | 'onProgress'> & { readonly appendKey: Uint8Array },
): Promise<Read> {
  return readArchive(path, { ...options, onMember: drain });
}

async function drain(_name: string, content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of content);
}

/**
 * Reads an archive from beginning to end and checks everything: the encryption of each part, the manifest, its MAC.
 * What `onMember` receives is decrypted but not yet compared with the manifest, which comes last: do not rely on
 * anything before this resolves. Throws UsageError if nothing decrypts the file, VerificationFault if it is not what
 * was written.
 */
export async function readArchive(
  path: string,
  options: {
    readonly unlock: Unlock;
    /** Null: do not check the manifest's MAC. */
    readonly appendKey: Uint8Array | null;
    /**
     * `sizes` of an earlier reading of the same file: what is not in it, or is larger, is refused before it is read
     * whole, since the file may have been replaced in between. Absent: nothing is known, so `onMember` must keep nothing.
     */
    readonly sizes?: ReadonlyMap<string, number>;
    /** Must read the content to its end. */
    readonly onMember: (name: string, content: AsyncIterable<Buffer>) => Promise<void>;
    /** Called with the number of bytes read. */
    readonly onProgress?: (bytes: number) => void;
  },
): Promise<Read> {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* cipherText() {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      options.onProgress?.(bytes);
      yield chunk as Buffer;
    }
  }
  const plain = await decrypt(path, webStreamOf(cipherText()), options.unlock);
  const tape = extract();
  const feeding = pipeline(
    Readable.from(plain, { objectMode: false }),
    createGunzip(),
    tape as unknown as NodeJS.WritableStream,
  );
  // Awaited below; until then, a failure shows up where the members are read.
  feeding.catch(() => undefined);
  const names = new Set<string>();
  const members: Member[] = [];
  let manifest: Buffer | null = null;
  let mac: string | null = null;
  // An error of a member's reader is not a fault of the file.
  let ownError: { readonly error: unknown } | null = null;
  const onMember = (name: string, content: AsyncIterable<Buffer>) =>
    options.onMember(name, withinKnown(path, name, content, options.sizes)).catch((error: unknown) => {
      ownError ??= { error };
      throw error;
    });
  try {
    for await (const entry of tape as AsyncIterable<TapeEntry>) {
      const { name, type } = entry.header;
      if (names.has(name) || type !== 'file')
        throw new VerificationFault(
          `${path} contains ${names.has(name) ? 'two members named' : `a ${type} named`} ${JSON.stringify(name)}: it was not made by \`backup\`.`,
        );
      names.add(name);
      if (name === MANIFEST) manifest = await wholeWithin(path, name, entry, mostOfManifest(members));
      else if (name === MANIFEST_MAC) mac = (await wholeWithin(path, name, entry, MAC_BYTES)).toString('utf8').trim();
      else members.push(await readMember(name, entry, onMember));
    }
    await feeding;
  } catch (error) {
    const failed = await feeding.then(
      () => null,
      (reason: unknown) => reason,
    );
    const thrown = error instanceof VerificationFault ? { error } : (ownError as { readonly error: unknown } | null);
    // A member that ends too early makes its reader fail as well.
    if (thrown !== null && (failed === null || isEndedEarly(failed))) throw thrown.error;
    throw asFault(path, failed ?? error);
  }
  return {
    bytes,
    sha256: hash.digest('hex'),
    manifest: checkManifest(path, { manifest, mac, members }, options.appendKey),
    sizes: new Map(members.map((member) => [member.name, member.bytes])),
  };
}

/** A member of a file that was read before, up to the size that it had then. */
function withinKnown(
  path: string,
  name: string,
  content: AsyncIterable<Buffer>,
  sizes: ReadonlyMap<string, number> | undefined,
): AsyncIterable<Buffer> {
  if (sizes === undefined) return content;
  const most = sizes.get(name);
  if (most === undefined) throw new VerificationFault(`${path} was replaced while it was read: ${name} is new.`);
  return within(content, most, `${path} was replaced while it was read: ${name} is larger than before.`);
}

async function* within(content: AsyncIterable<Buffer>, most: number, fault: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > most) throw new VerificationFault(fault);
    yield chunk;
  }
}

async function readMember(
  name: string,
  content: AsyncIterable<Buffer>,
  onMember: (name: string, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<Member> {
  const tally = createTally();
  await onMember(name, tally.pass(content));
  return { name, ...tally.total() };
}

/** Bytes of manifest.mac, and of backup.json, at most. */
const MAC_BYTES = 1024;
export const HEADER_BYTES = 64 * 1024;

/** Bytes of a manifest of these members at most: its size was not checked yet, so it must not decide how much is read. */
function mostOfManifest(members: readonly Member[]): number {
  return members.reduce((sum, { name }) => sum + 6 * name.length + 256, 4 << 20);
}

/** A member that is not yet known to be genuine. Throws VerificationFault if it is larger than a genuine one can be. */
export async function wholeWithin(
  path: string,
  name: string,
  content: AsyncIterable<Buffer>,
  most: number,
): Promise<Buffer> {
  return wholeOf(
    within(content, most, `${path}: ${name} is larger than ${most} bytes: it was not made by \`backup\`.`),
  );
}

/** For a member whose size was checked (`sizes` of {@link readArchive}), and is small. */
export async function wholeOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function checkManifest(
  path: string,
  {
    manifest,
    mac,
    members,
  }: { readonly manifest: Buffer | null; readonly mac: string | null; readonly members: readonly Member[] },
  appendKey: Uint8Array | null,
): Readonly<Record<string, unknown>> {
  if (manifest === null || mac === null) throw new VerificationFault(`${path} has no manifest: ${WHERE_SHARED}.`);
  if (appendKey !== null && !equalBytes(macOf(appendKey, manifest), Buffer.from(mac, 'hex')))
    throw new VerificationFault(`${path} was not made with this INSTANCE_KEY: the MAC of its manifest is wrong.`);
  const said = manifestSchema.safeParse(parseJson(manifest)).data;
  if (said === undefined) throw new VerificationFault(`${path} has a manifest that cannot be read.`);
  for (const [place, member] of said.members.entries()) {
    const found = members[place];
    if (found?.name !== member.name || found.bytes !== member.bytes || found.sha256 !== member.sha256)
      throw new VerificationFault(`${path}: ${member.name} is not what the manifest says.`);
  }
  const more = members[said.members.length];
  if (more !== undefined) throw new VerificationFault(`${path}: the manifest does not name ${more.name}.`);
  return said;
}

/** Null if it is not JSON. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

function macOf(appendKey: Uint8Array, manifest: Buffer): Buffer {
  return hmacSha256(appendKey, Buffer.concat([TAG, manifest]));
}

/**
 * With recipients, the file is read back with an additional key generated for that and then discarded: a post-quantum one if all
 * recipients are. Throws UsageError for a list that mixes both kinds, as age does.
 */
async function lockOf(lock: Lock): Promise<{ encrypter: Encrypter; unlock: Unlock }> {
  const encrypter = new Encrypter();
  if ('passphrase' in lock) {
    encrypter.setPassphrase(lock.passphrase);
    if (lock.workFactor !== undefined) encrypter.setScryptWorkFactor(lock.workFactor);
    return { encrypter, unlock: lock };
  }
  const resistance = quantumResistance(lock.recipients);
  if (resistance === 'mixed') throw new UsageError([`The recipients ${MIXED_RECIPIENTS}.`]);
  for (const recipient of lock.recipients) encrypter.addRecipient(recipient);
  const identity = resistance === 'all' ? await generateHybridIdentity() : await generateX25519Identity();
  encrypter.addRecipient(await identityToRecipient(identity));
  return { encrypter, unlock: { identities: [identity] } };
}

async function decrypt(
  path: string,
  cipherText: ReadableStream<Uint8Array>,
  unlock: Unlock,
): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter();
  if ('passphrase' in unlock) decrypter.addPassphrase(unlock.passphrase);
  else for (const identity of unlock.identities) decrypter.addIdentity(identity);
  try {
    return await decrypter.decrypt(cipherText);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined && code.startsWith('E')) throw new UsageError([`Cannot read ${path} (${code}).`]);
    if (/no identity matched/.test(message)) {
      throw new UsageError([
        'passphrase' in unlock
          ? `The passphrase does not open ${path}, or the file was not encrypted with a passphrase.`
          : `None of the given identities opens ${path}: it is encrypted for other recipients, or its header was altered.`,
      ]);
    }
    throw new VerificationFault(`${path} is not an age file, or its header was altered (${message}).`);
  }
}

/** The error of a stream whose reader has stopped reading. */
function isEndedEarly(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function asFault(path: string, error: unknown): unknown {
  if (error instanceof VerificationFault || error instanceof UsageError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  // Errors of age, gzip and tar for bytes that were not written by us.
  const isAltered =
    /invalid tag|ciphertext|final chunk|premature|unexpected end|invalid tar|chunk is empty/i.test(message) ||
    /^Z_|ERR_STREAM_PREMATURE_CLOSE/.test(code);
  return isAltered ? new VerificationFault(`${path}: ${WHERE_SHARED} (${message}).`) : error;
}

/** With back-pressure; Node.js 20's Readable.toWeb throws if its reader stops early. */
function webStreamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
