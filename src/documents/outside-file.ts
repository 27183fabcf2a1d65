import { createReadStream } from 'node:fs';
import { readZip, type ZipReading } from '../archives/zip.ts';
import { sha256OfStream } from '../crypto/hash.ts';

/** What is read of a file that is checked. */
export interface OutsideFile {
  readonly sha256: string;
  /** With the texts by which a pack is recognised and checked. */
  readonly zip: ZipReading;
}

export type ReadOutsideFile = (path: string) => Promise<OutsideFile>;

/** Reads a file in pieces and unpacks it if it is a ZIP, within limits (archives/limits.ts). Rejects if it cannot be read. */
export async function readOutsideFile(path: string): Promise<OutsideFile> {
  const sha256 = await sha256OfStream(createReadStream(path));
  return { sha256, zip: await readZip(path, { keep: isRead }) };
}

const isRead = (name: string) => /(?:^|\/)(?:manifest\.json|[^/]+\.tlog-proof)$/.test(name);
