import { inflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';

/** Limits in bytes: of a file that is searched for checkpoints, and of one unpacked part of it. */
export const OUTSIDE_FILE_BYTES = 512 * 1024 * 1024;
const PART_BYTES = 64 * 1024 * 1024;

/**
 * Extracts signed checkpoints that left the installation from whatever contains them: a note, a proof, a manifest or
 * other JSON, a PDF (as attachment), a page, or a pack. Without repeats, in the order found. Nothing is checked: the
 * caller must check the signatures.
 */
export function findNotes(bytes: Buffer): readonly string[] {
  return [...new Set(textsOf(bytes).flatMap(notesIn))];
}

function textsOf(bytes: Buffer): readonly string[] {
  if (bytes.subarray(0, 4).equals(ZIP)) return manifestsOf(bytes).map((text) => text.toString('utf8'));
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') return [...streamsOf(bytes)];
  return [bytes.toString('utf8')];
}

const ZIP = Buffer.from('PK\x03\x04', 'latin1');

/** In a pack: its manifest, and each proof. */
const WITH_CHECKPOINT = /(?:^|\/)(?:manifest\.json|[^/]+\.tlog-proof)$/;

function manifestsOf(zip: Buffer): readonly Buffer[] {
  try {
    const wanted = {
      filter: ({ name, originalSize }: { name: string; originalSize: number }) =>
        WITH_CHECKPOINT.test(name) && originalSize <= PART_BYTES,
    };
    return Object.values(unzipSync(zip, wanted)).map((part) => Buffer.from(part));
  } catch {
    return [];
  }
}

/**
 * Text streams of a PDF that name this program, where attachments are, compressed or not. Unpacks at most
 * {@link OUTSIDE_FILE_BYTES} in total.
 */
function* streamsOf(pdf: Buffer): Generator<string> {
  let unpacked = 0;
  for (let at = 0; unpacked < OUTSIDE_FILE_BYTES; ) {
    const begin = pdf.indexOf('stream', at);
    if (begin < 0) return;
    const end = pdf.indexOf('endstream', begin);
    if (end < 0) return;
    at = end + 'endstream'.length;
    let start = begin + 'stream'.length;
    if (pdf[start] === 13) start += 1;
    if (pdf[start] === 10) start += 1;
    const raw = pdf.subarray(start, end);
    const content = inflated(raw) ?? raw;
    unpacked += content.length;
    if (content.includes('consent-ledger/')) yield content.toString('utf8');
  }
}

/**
 * Null if it is not a zlib stream (RFC 1950 §2.2: method 8, and the first two bytes a multiple of 31). Trying costs
 * more than a short stream is worth.
 */
function inflated(raw: Buffer): Buffer | null {
  if (raw.length < 2 || (raw.readUInt8() & 0x0f) !== 8 || raw.readUInt16BE() % 31 !== 0) return null;
  try {
    return inflateSync(raw, { maxOutputLength: PART_BYTES });
  } catch {
    return null;
  }
}

const NOTE = /consent-ledger\/[^\n]{1,200}\n\d{1,16}\n[A-Za-z0-9+/]{43}=\n\n(?:— [^\n<"]{1,2000}(?:\n|$))+/g;

function notesIn(text: string): readonly string[] {
  const plain = stringsOf(text)
    .join('\n\n')
    .replaceAll('\r\n', '\n')
    // Pages escape it this way.
    .replaceAll('&#43;', '+')
    .replaceAll('&#x2B;', '+')
    .replaceAll('</pre>', '\n');
  return [...plain.matchAll(NOTE)].map(([note]) => (note.endsWith('\n') ? note : `${note}\n`));
}

/** The strings of a JSON document, or the text itself if it is not JSON. */
function stringsOf(text: string): readonly string[] {
  const strings: string[] = [];
  try {
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'string') strings.push(value);
      return value;
    });
    return strings;
  } catch {
    return [text];
  }
}
