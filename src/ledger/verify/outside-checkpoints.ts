import { readFile, stat } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';
import { readZip } from '../../archives/zip.ts';

/** Limits in bytes: of a file that is searched for checkpoints, and of one unpacked part of it. */
const OUTSIDE_FILE_BYTES = 512 * 1024 * 1024;
const PART_BYTES = 64 * 1024 * 1024;

/** Signed checkpoints found in a file. Nothing is checked: the caller must check the signatures. */
export interface OutsideNotes {
  /** Without repeats, in the order found. */
  readonly notes: readonly string[];
  /** Whether the file consists of nothing else. Otherwise nothing follows for the rest of it. */
  readonly isWhole: boolean;
  /** Why it could not be searched, in a phrase; null: it was. */
  readonly refused: string | null;
}

/**
 * Extracts signed checkpoints that left the installation from whatever contains them: a note, a proof, a manifest or
 * other JSON, a PDF (as attachment), a page, or a pack. Rejects if the file cannot be read.
 */
export async function readOutsideNotes(path: string): Promise<OutsideNotes> {
  const none = { notes: [], isWhole: false };
  const { size } = await stat(path);
  if (size > OUTSIDE_FILE_BYTES) return { ...none, refused: 'it is too large to contain a checkpoint' };
  const zip = await readZip(path, { keep: (name) => WITH_CHECKPOINT.test(name) });
  switch (zip.outcome) {
    case 'other':
      return { ...findNotes(await readFile(path)), refused: null };
    case 'refused':
      return { ...none, refused: zip.reason };
    case 'read': {
      const notes = zip.members.flatMap(({ text }) => (text === null ? [] : notesIn(text)));
      return { notes: [...new Set(notes)], isWhole: false, refused: null };
    }
    default:
      return zip satisfies never;
  }
}

/** In a pack: its manifest, and each proof. */
const WITH_CHECKPOINT = /(?:^|\/)(?:manifest\.json|[^/]+\.tlog-proof)$/;

/** The same for the content of a file that is not a ZIP. */
export function findNotes(bytes: Buffer): Pick<OutsideNotes, 'notes' | 'isWhole'> {
  const isPdf = bytes.subarray(0, 5).toString('latin1') === '%PDF-';
  const texts = isPdf ? [...streamsOf(bytes)] : [bytes.toString('utf8')];
  return {
    notes: [...new Set(texts.flatMap(notesIn))],
    isWhole: !isPdf && texts.every((text) => wholeNotesIn(text) !== null),
  };
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

function notesIn(text: string): readonly string[] {
  return stringsOf(text).flatMap((one) => wholeNotesIn(one.replace(KEY_LINE, '\n')) ?? embeddedNotesIn(one));
}

/** What `ledger checkpoint` prints after the note. */
const KEY_LINE = /\n\nverifier key: \S+\s*$/;

const PROOF = /^(?:c2sp\.org\/tlog-proof@v1|old \d{1,16})\n/;
const NOTE_BEGINS = /^consent-ledger\/[^\n]*\n\d+\n/;

/**
 * The notes of a text that consists of notes, or of a proof, which ends with one. Each is returned with everything up to
 * the next: what somebody added to a note is part of it, so that its check fails. Null for other texts.
 */
function wholeNotesIn(text: string): readonly string[] | null {
  const lines = text.replaceAll('\r\n', '\n');
  const notes = PROOF.test(lines) ? lines.slice(lines.indexOf('\n\n') + 2) : lines;
  if (!NOTE_BEGINS.test(notes)) return null;
  return notes.split(/\n(?=consent-ledger\/)/).map((note) => `${note.replace(/[\r\n]+$/, '')}\n`);
}

const NOTE = /consent-ledger\/[^\n]{1,200}\n\d{1,16}\n[A-Za-z0-9+/]{43}=\n\n(?:— [^\n<"]{1,5000}(?:\n|$))+/g;

/** Notes in a text for people, such as a page. */
function embeddedNotesIn(text: string): readonly string[] {
  const plain = text
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
