import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { UNPACKED_BYTES } from './limits.ts';
import { createNameCheck } from './member-names.ts';

/*
 * ZIP files from outside (APPNOTE 6.3). Programs differ in what they show of an archive: some follow the directory at
 * its end, others the headers in front of each file, and a tolerant one searches for either. Only the layout in which
 * all of them see the same files is accepted: header, content and, if its flag is set, descriptor of each file, one
 * after another from the first byte, then the directory in the same order, then its end record, which ends the file.
 */

/** A file of an archive. */
export interface ZipMember {
  readonly name: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Its content as UTF-8; null unless it was asked for. */
  readonly text: string | null;
}

/** `reason`: a phrase about the archive, such as "it holds two files named x". `other`: not a ZIP file. */
export type ZipReading =
  | { readonly outcome: 'read'; readonly members: readonly ZipMember[] }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'other' };

export interface ZipOptions {
  /** Whether the text of a file is returned, up to {@link KEPT_BYTES} in total; the others are only hashed. */
  readonly keep: (name: string) => boolean;
  /** Limit of all files together, unpacked. */
  readonly unpackedBytes?: number;
}

/** How much text is returned at most. The proofs of 20,000 entries have 60 MB. */
const KEPT_BYTES = 128 * 1024 ** 2;
const DIRECTORY_BYTES = 16 * 1024 ** 2;
const WINDOW = 256 * 1024;
const END = 22;
const LOCAL = 30;
const CENTRAL = 46;
const DESCRIPTOR = 16;

const signatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  descriptor: 0x08074b50,
  end64: 0x07064b50,
};

class Refused extends Error {}
const refuse = (reason: string): never => {
  throw new Refused(reason);
};

/** The reason for a layout that programs read differently. */
const ambiguous = (why: string): never => refuse(`programs could show different files of it: ${why}`);

/**
 * Reads a ZIP file: every file is unpacked once, in pieces, and hashed. Rejects if the file cannot be read; everything
 * about its content is a refusal.
 */
export async function readZip(path: string, options: ZipOptions): Promise<ZipReading> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const pieces = readInPieces(file);
    if (size < 2 || (await pieces.read(0, 2)).toString('latin1') !== 'PK') return { outcome: 'other' };
    return { outcome: 'read', members: await readMembers(pieces, size, options) };
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', reason: error.message };
    throw error;
  } finally {
    await file.close();
  }
}

async function readMembers(
  pieces: Pieces,
  size: number,
  { keep, unpackedBytes = UNPACKED_BYTES }: ZipOptions,
): Promise<readonly ZipMember[]> {
  const { records, begin } = await readDirectory(pieces, size);
  const total = records.reduce((sum, record) => sum + record.unpacked, 0);
  if (total > unpackedBytes) refuse(`it unpacks to more than ${unpackedBytes} bytes`);
  const members: ZipMember[] = [];
  let at = 0;
  let kept = 0;
  for (const record of records) {
    const start = await readLocalHeader(pieces, record, at, begin);
    const wanted = keep(record.name) && kept + record.unpacked <= KEPT_BYTES;
    if (wanted) kept += record.unpacked;
    const member = await readContent(pieces, record, start, wanted);
    at = start + record.packed + (await readDescriptor(pieces, record, start + record.packed, begin));
    if (!record.isFolder) members.push(member);
  }
  if (at !== begin) ambiguous('there is something between its files and its directory');
  return members;
}

/** One record of the directory. */
interface Listed {
  readonly name: string;
  readonly rawName: Buffer;
  /** The ten bytes that the local header repeats: version, flags, method, time and date. */
  readonly repeated: Buffer;
  readonly hasDescriptor: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly unpacked: number;
  readonly offset: number;
  readonly isFolder: boolean;
}

async function readDirectory(pieces: Pieces, size: number): Promise<{ records: readonly Listed[]; begin: number }> {
  const end = await readEnd(pieces, size);
  const bytes = await pieces.read(end.begin, end.length);
  const records: Listed[] = [];
  const faultOf = createNameCheck();
  let at = 0;
  for (let left = end.count; left > 0; left -= 1) {
    if (at + CENTRAL > bytes.length || bytes.readUInt32LE(at) !== signatures.central)
      refuse('its directory is damaged');
    const [nameLength, extraLength, commentLength, disk] = [28, 30, 32, 34].map((place) =>
      bytes.readUInt16LE(at + place),
    );
    const next = at + CENTRAL + (nameLength ?? 0) + (extraLength ?? 0);
    if (next > bytes.length) refuse('its directory is damaged');
    if (commentLength !== 0 || disk !== 0) ambiguous('its directory has comments, or is in several parts');
    const record = recordAt(bytes, at, bytes.subarray(at + CENTRAL, at + CENTRAL + (nameLength ?? 0)));
    checkExtra(bytes.subarray(next - (extraLength ?? 0), next), record.name);
    const fault = faultOf(record.name, record.isFolder);
    if (fault !== null) ambiguous(fault);
    records.push(record);
    at = next;
  }
  if (at !== bytes.length) ambiguous('its directory has more records than it counts');
  return { records, begin: end.begin };
}

async function readEnd(
  pieces: Pieces,
  size: number,
): Promise<{ readonly begin: number; readonly length: number; readonly count: number }> {
  const tail = await pieces.read(Math.max(0, size - END - 0xffff), Math.min(size, END + 0xffff));
  const last = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (last < 0) refuse('it is not a complete ZIP archive');
  const at = tail.length - END;
  if (last !== at || tail.readUInt16LE(at + 20) !== 0) ambiguous('something follows its end');
  const [disk, directoryDisk, here, count] = [4, 6, 8, 10].map((place) => tail.readUInt16LE(at + place));
  const [length, begin] = [12, 16].map((place) => tail.readUInt32LE(at + place)) as [number, number];
  const isLarge = count === 0xffff || length === 0xffffffff || begin === 0xffffffff;
  if (isLarge || (at >= 20 && tail.readUInt32LE(at - 20) === signatures.end64))
    refuse('it is in the ZIP64 format: unpack it and check the folder with verify.mjs');
  if (disk !== 0 || directoryDisk !== 0 || here !== count) ambiguous('it is one of several parts');
  if (begin + length !== size - END)
    ambiguous('its directory is not in front of its end, or something is before its first file');
  if (length > DIRECTORY_BYTES) refuse('its directory is too large');
  return { begin, length, count: count ?? 0 };
}

function recordAt(bytes: Buffer, at: number, rawName: Buffer): Listed {
  const repeated = bytes.subarray(at + 6, at + 16);
  const [flags, method] = [repeated.readUInt16LE(2), repeated.readUInt16LE(4)];
  const isAscii = rawName.every((byte) => byte < 0x80);
  const name = rawName.toString('utf8');
  if (!Buffer.from(name).equals(rawName) || (!isAscii && (flags & 0x800) === 0))
    ambiguous(`the name ${JSON.stringify(name)} is not marked as UTF-8`);
  // Bits 1 and 2 only say how well it was compressed.
  if ((flags & ~0x80e) !== 0) refuse(`${name} is encrypted, or packed in a way that is not supported`);
  if (method !== 0 && method !== 8) refuse(`${name} uses a compression method that is not supported`);
  const [crc, packed, unpacked] = [16, 20, 24].map((place) => bytes.readUInt32LE(at + place)) as [
    number,
    number,
    number,
  ];
  const [attributes, offset] = [bytes.readUInt32LE(at + 38), bytes.readUInt32LE(at + 42)];
  if ([packed, unpacked, offset].includes(0xffffffff))
    refuse('it is in the ZIP64 format: unpack it and check the folder with verify.mjs');
  const hasDescriptor = (flags & 8) !== 0;
  const isFolder = name.endsWith('/');
  checkKind(attributes, isFolder, name);
  if (method === 0 && packed !== unpacked) ambiguous(`${name} has two different sizes`);
  if (method === 0 && hasDescriptor && packed > 0) ambiguous(`${name} does not say where it ends`);
  if (isFolder && unpacked !== 0) ambiguous(`the folder ${name} has content`);
  return { name, rawName, repeated, hasDescriptor, method, crc, packed, unpacked, offset, isFolder };
}

/** Only plain files and folders: a link would show another file. High half: mode of Unix; low half: attributes of DOS. */
function checkKind(attributes: number, isFolder: boolean, name: string): void {
  const kind = (attributes >>> 16) & 0o170000;
  const isKind = kind === 0 || kind === (isFolder ? 0o040000 : 0o100000);
  const isDosFolder = (attributes & 0x10) !== 0;
  if (!isKind || (isDosFolder && !isFolder) || (attributes & 0x408) !== 0) ambiguous(`${name} is not a plain file`);
}

/** Times and owners. Others could give another name or size, or a link. */
const HARMLESS: ReadonlySet<number> = new Set([0x000a, 0x5455, 0x5855, 0x7855, 0x7875, 0xcafe]);

function checkExtra(extra: Buffer, name: string): void {
  for (let at = 0; at < extra.length; ) {
    const rest = extra.length - at;
    const length = rest < 4 ? rest : extra.readUInt16LE(at + 2);
    if (rest < 4 + length || !HARMLESS.has(extra.readUInt16LE(at)))
      ambiguous(`${name} has an additional field that could change what is shown`);
    at += 4 + length;
  }
}

/** Where the content begins. */
async function readLocalHeader(pieces: Pieces, record: Listed, at: number, limit: number): Promise<number> {
  const { name, rawName, repeated, hasDescriptor } = record;
  if (record.offset !== at) ambiguous(`there is something before ${name}, or it is not in its place`);
  const start = at + LOCAL + rawName.length;
  if (start > limit) refuse(`the entry of ${name} is damaged`);
  const header = await pieces.read(at, LOCAL + rawName.length);
  if (header.readUInt32LE(0) !== signatures.local) refuse(`the entry of ${name} is damaged`);
  if (header.readUInt16LE(26) !== rawName.length || !header.subarray(LOCAL).equals(rawName))
    ambiguous(`${name} has another name inside the archive`);
  const sizes = [14, 18, 22].map((place) => header.readUInt32LE(place));
  const expected = [record.crc, record.packed, record.unpacked];
  const isSame = sizes.every((size, place) => size === expected[place]);
  const isLater = hasDescriptor && sizes.every((size) => size === 0);
  if (!header.subarray(4, 14).equals(repeated) || !(isSame || isLater))
    ambiguous(`${name} is described in two different ways`);
  const extraLength = header.readUInt16LE(28);
  if (start + extraLength + record.packed > limit) refuse(`the entry of ${name} is damaged`);
  checkExtra(await pieces.read(start, extraLength), name);
  return start + extraLength;
}

/** The length of the descriptor after the content; 0 if there is none. */
async function readDescriptor(pieces: Pieces, record: Listed, at: number, limit: number): Promise<number> {
  if (!record.hasDescriptor) return 0;
  if (at + DESCRIPTOR > limit) refuse(`the entry of ${record.name} is damaged`);
  const bytes = await pieces.read(at, DESCRIPTOR);
  const found = [0, 4, 8, 12].map((place) => bytes.readUInt32LE(place));
  const expected = [signatures.descriptor, record.crc, record.packed, record.unpacked];
  if (found.some((value, place) => value !== expected[place]))
    ambiguous(`${record.name} is described in two different ways`);
  return DESCRIPTOR;
}

async function readContent(pieces: Pieces, record: Listed, start: number, wanted: boolean): Promise<ZipMember> {
  const { name, unpacked, crc } = record;
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let [bytes, sum] = [0, 0];
  for await (const chunk of unpackedContent(pieces, record, start)) {
    bytes += chunk.length;
    if (bytes > unpacked) break;
    hash.update(chunk);
    sum = crc32(chunk, sum);
    if (wanted) chunks.push(chunk);
  }
  if (bytes !== unpacked || sum !== crc) refuse(`${name} is damaged (size or checksum)`);
  return { name, bytes, sha256: hash.digest('hex'), text: wanted ? Buffer.concat(chunks).toString('utf8') : null };
}

async function* unpackedContent(pieces: Pieces, record: Listed, start: number): AsyncGenerator<Buffer> {
  const packed = pieces.stream(start, record.packed);
  if (record.method === 0) {
    yield* packed;
    return;
  }
  const inflate = createInflateRaw();
  const source = Readable.from(packed, { objectMode: false });
  source.on('error', (error) => inflate.destroy(error));
  source.pipe(inflate);
  try {
    for await (const chunk of inflate) yield chunk as Buffer;
  } catch (error) {
    if (!isDataError(error)) throw error;
    refuse(`${record.name} is damaged (size or checksum)`);
  } finally {
    source.destroy();
    inflate.destroy();
  }
  // A program that reads from the front takes what follows for the next file.
  if (inflate.bytesWritten !== record.packed) ambiguous(`something follows the content of ${record.name}`);
}

function isDataError(error: unknown): boolean {
  return ['Z_DATA_ERROR', 'Z_BUF_ERROR', 'Z_NEED_DICT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

interface Pieces {
  read(at: number, length: number): Promise<Buffer>;
  stream(at: number, length: number): AsyncGenerator<Buffer>;
}

/** Reads a file in large pieces, because headers are small and one after another. */
function readInPieces(file: FileHandle): Pieces {
  let begin = 0;
  let held: Buffer = Buffer.alloc(0);
  async function read(at: number, length: number): Promise<Buffer> {
    if (at < begin || at + length > begin + held.length) {
      const space = Buffer.alloc(Math.max(length, WINDOW));
      let filled = 0;
      while (filled < space.length) {
        const { bytesRead } = await file.read(space, filled, space.length - filled, at + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      begin = at;
      held = space.subarray(0, filled);
    }
    const found = held.subarray(at - begin, at - begin + length);
    return found.length === length ? found : refuse('it is not a complete ZIP archive');
  }
  return {
    read,
    async *stream(at, length) {
      for (let done = 0; done < length; ) {
        const piece = Math.min(length - done, WINDOW);
        yield await read(at + done, piece);
        done += piece;
      }
    },
  };
}
