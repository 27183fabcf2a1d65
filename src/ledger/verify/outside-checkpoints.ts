import { inflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';

/** Bytes of a file that checkpoints are looked for in, and of one part of it after it was unpacked. */
export const OUTSIDE_FILE_BYTES = 512 * 1024 * 1024;
const PART_BYTES = 64 * 1024 * 1024;

/**
 * Signed checkpoints that left the installation, out of whatever holds them: a note, a proof, a manifest or another JSON document, a PDF (where it is attached), a page, or a
 * pack. Each once, in the order in which they are found. Nothing is checked: the caller checks the signature.
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

/** Text streams of a PDF that name this program: attachments lie in them, compressed or not. Unpacked, they are looked at up to {@link OUTSIDE_FILE_BYTES} in all. */
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

/** Null for what is not a zlib stream (RFC 1950 §2.2: method 8, and the first two bytes a multiple of 31). Trying costs more than a short stream does. */
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
    // As pages escape it.
    .replaceAll('&#43;', '+')
    .replaceAll('&#x2B;', '+')
    .replaceAll('</pre>', '\n');
  return [...plain.matchAll(NOTE)].map(([note]) => (note.endsWith('\n') ? note : `${note}\n`));
}

/** The strings of a JSON document, else the text itself. */
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
