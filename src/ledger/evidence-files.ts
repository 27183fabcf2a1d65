import { createReadStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex, sha256OfStream } from '../crypto/hash.ts';
import { writeDurably } from './durable-file.ts';

/**
 * The path of a file to which entries commit by SHA-256 without containing it: `DATA_DIR/evidence/<sha256>`. Files have
 * no other name, so a file added for several banners is stored once, and nothing in an upload determines a path.
 */
function evidencePath(folder: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError('not a SHA-256 in lower-case hex');
  return join(folder, sha256);
}

/** Writes a file and syncs it and its folder: durable when it resolves with the SHA-256, before an entry names it. */
export async function writeEvidenceFile(folder: string, bytes: Uint8Array): Promise<string> {
  const sha256 = sha256Hex(bytes);
  if ((await stateOfEvidenceFile(folder, sha256)) === 'sound') return sha256;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeDurably(folder, sha256, bytes, { mode: 0o600 });
  return sha256;
}

/** Whether the file that an entry names exists, byte for byte. */
export type EvidenceFileState = 'sound' | 'missing' | 'altered';

export function stateOfEvidenceFile(folder: string, sha256: string): Promise<EvidenceFileState> {
  return stateOfFile(evidencePath(folder, sha256), sha256);
}

/** Reads the file once, in constant memory. Throws if it exists but cannot be read. */
export async function stateOfFile(path: string, sha256: string): Promise<EvidenceFileState> {
  const found = await sha256OfFile(path);
  if (found === null) return 'missing';
  return found === sha256 ? 'sound' : 'altered';
}

/** SHA-256 of a file, lower-case hex; null if the file does not exist. */
export async function sha256OfFile(path: string): Promise<string | null> {
  try {
    return await sha256OfStream(createReadStream(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The bytes, if they are the ones that the entry names: an altered file is never handed out under its old name. */
export async function readEvidenceFile(
  folder: string,
  sha256: string,
): Promise<{ readonly state: 'sound'; readonly bytes: Buffer } | { readonly state: 'missing' | 'altered' }> {
  try {
    const bytes = await readFile(evidencePath(folder, sha256));
    return sha256Hex(bytes) === sha256 ? { state: 'sound', bytes } : { state: 'altered' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'missing' };
    throw error;
  }
}
