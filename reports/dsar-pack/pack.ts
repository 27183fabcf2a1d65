import { createHash } from 'node:crypto';
import { renderZip, type ZipFile } from '../render/zip.ts';
import { bannerFiles } from './banners.ts';
import { caseFile } from './case-file.ts';
import { loadContext, type PackFile, type PackPart, type WrittenFile } from './context.ts';
import { decisionsCsv, decisionsJson } from './decisions.ts';
import { historyPage } from './history-page.ts';
import type { DsarPackInput } from './input.ts';
import { letter } from './letter.ts';
import { manifest } from './manifest.ts';
import { policies, policyTexts } from './policies.ts';
import { readme } from './readme.ts';
import { records27560 } from './records-27560.ts';
import { records } from './records.ts';

/** The parts of a pack, in their order. README.txt and manifest.json follow, because they speak of the others. */
const parts: readonly PackPart[] = [
  letter,
  historyPage,
  decisionsCsv,
  decisionsJson,
  records27560,
  records,
  policies,
  policyTexts,
  caseFile,
];

/**
 * The pack that answers a case, as a ZIP. The same input gives the same bytes. Records of a person are in it only where the
 * disclosure is full, the identity check that applies was made and the subject is that person's alone (dsar-pack/input.ts).
 */
export async function* produceDsarPack(input: DsarPackInput): AsyncGenerator<Uint8Array> {
  yield* renderZip(filesOf(input), input.generatedAt);
}

async function* filesOf(input: DsarPackInput): AsyncGenerator<ZipFile> {
  const context = await loadContext(input);
  const written: WrittenFile[] = [];
  for (const part of parts) {
    const file = await part(context);
    if (file !== null) yield counted(file, written);
  }
  for await (const file of bannerFiles(context)) yield counted(file, written);
  yield counted({ name: 'README.txt', what: 'what the files are', content: readme(context, [...written]) }, written);
  yield { name: 'manifest.json', content: manifest(context, written) };
}

/** Passes a file on and notes its size and hash when it has been read to its end. */
function counted({ name, what, content }: PackFile, written: WrittenFile[]): ZipFile {
  async function* passed(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of content) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
    written.push({ name, what, bytes, sha256: hash.digest('hex') });
  }
  return { name, content: passed() };
}
