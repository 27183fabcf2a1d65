import { type FileHandle, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../core/errors.ts';
import { parseTreeHead } from '../crypto/checkpoint.ts';

/**
 * Checkpoints outside the database, one file a day (UTC), notes separated by an empty line. A note is synced here
 * before it is published, so restoring an earlier state of the database is noticed.
 */
export interface Journal {
  /** Appends a note; durable when it resolves. Rejects with StoreUnavailable if the disk is full or cannot be written. */
  write(note: string, at: string): Promise<void>;
  /** All notes in the order of writing. */
  read(): AsyncIterable<JournalPart>;
  /**
   * The note over the most entries in this epoch or later ones, or else in earlier ones; null if there is none. Because
   * the clock may have been wrong, it is not always the last.
   */
  newest(epoch?: number): Promise<string | null>;
}

/** A note, or something else found in its place. */
interface JournalPart {
  readonly file: string;
  readonly note: string;
  /** Its writing was cut off (the process or machine stopped); it was never published and says nothing. */
  readonly unfinished: boolean;
}

/** A journal in `folder`, which is created if missing. */
export function createJournal(folder: string): Journal {
  return {
    async write(note, at) {
      try {
        await append(folder, note, at);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === undefined) throw error;
        const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : message;
        throw new StoreUnavailable(
          `Cannot write the journal of checkpoints: ${why}. Nothing was sealed; the entries are kept. Free some space or correct ${folder}, then run \`consent-ledger ledger checkpoint\`.`,
          { cause: error },
        );
      }
    },
    async *read() {
      for (const file of await listFiles(folder)) {
        for (const part of parseNotes(await readFile(join(folder, file), 'utf8'))) yield { file, ...part };
      }
    },
    async newest(epoch = 1) {
      let newest: Found | null = null;
      for (const file of await listFiles(folder)) {
        const found = await newestOf(join(folder, file), epoch);
        if (found !== null && (newest === null || isNewer(found, newest, epoch))) newest = found;
      }
      return newest?.note ?? null;
    },
  };
}

async function append(folder: string, note: string, at: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, `${at.slice(0, 10)}.notes`), 'a+', 0o600);
  try {
    // After a note that was cut off, the next one begins on a new line.
    await file.appendFile(`${(await endsWhole(file)) ? '' : '\n'}${note}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  // A new file is only certain to exist once its folder is synced too.
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  // A folder in the place of a file: the notes that it replaced are missing, which `ledger verify` reports.
  return found
    .filter((one) => one.name.endsWith('.notes') && !one.isDirectory())
    .map(({ name }) => name)
    .sort();
}

async function endsWhole(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const end = Buffer.alloc(2);
  const { bytesRead } = await file.read(end, 0, 2, Math.max(0, size - 2));
  return end.subarray(0, bytesRead).toString('latin1') === '\n\n';
}

const TAIL_BYTES = 4096;

interface Found {
  readonly epoch: number;
  readonly size: number;
  readonly note: string;
}

/** The last note of an earlier epoch may cover entries that were lost when a later epoch began. */
function isNewer(one: Found, other: Found, epoch: number): boolean {
  const isPast = (found: Found) => found.epoch < epoch;
  return isPast(one) === isPast(other) ? one.size >= other.size : isPast(other);
}

/**
 * The newest note of one file. Reads from the end of the file if possible, so that a start need not read years of
 * notes.
 */
async function newestOf(path: string, epoch: number): Promise<Found | null> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(tail, 0, tail.length, size - tail.length);
    const text = tail.toString('utf8');
    const start = tail.length === size ? 0 : text.search(/^consent-ledger\//m);
    const found = start < 0 ? null : highestOf(text.slice(start), epoch);
    return found ?? (tail.length === size ? null : highestOf(await readFile(path, 'utf8'), epoch));
  } finally {
    await file.close();
  }
}

function highestOf(text: string, epoch: number): Found | null {
  let highest: Found | null = null;
  for (const { note } of parseNotes(text)) {
    const head = parseTreeHead(note);
    if (head === null) continue;
    const found = { epoch: Number(/\d+$/.exec(head.origin)?.[0] ?? 0), size: head.size, note };
    if (highest === null || isNewer(found, highest, epoch)) highest = found;
  }
  return highest;
}

// A note consists of text (origin, size, root), an empty line and signatures, followed by an empty line or the end of
// the file.
const NOTE = /^[^\n]+\n\d+\n[A-Za-z0-9+/=]+\n\n(?:— [^\n]*\n)+(?:\n|(?![^]))/gm;

function* parseNotes(text: string): Generator<Omit<JournalPart, 'file'>> {
  let end = 0;
  for (const match of text.matchAll(NOTE)) {
    yield* strayParts(text.slice(end, match.index));
    yield { note: match[0].replace(/\n+$/, '\n'), unfinished: false };
    end = match.index + match[0].length;
  }
  yield* strayParts(text.slice(end));
}

/** The text between notes; normally there is none. */
function* strayParts(text: string): Generator<Omit<JournalPart, 'file'>> {
  for (const part of text.split(/\n(?=consent-ledger\/)/)) {
    const note = part.replace(/(?<!\n)\n+$/, '');
    if (note !== '') yield { note: `${note}\n`, unfinished: isBeginning(note) };
  }
}

/** Whether the text is the beginning of a note, cut at any byte. */
function isBeginning(text: string): boolean {
  const [origin = '', size = '', root = '', blank = '', signature = '', ...more] = text.split('\n');
  const begins = (line: string, start: string) => line.startsWith(start) || start.startsWith(line);
  return (
    begins(origin, 'consent-ledger/') &&
    /^\d*$/.test(size) &&
    /^[A-Za-z0-9+/=]*$/.test(root) &&
    blank === '' &&
    // The dash is three bytes long and may be cut itself.
    begins(signature.replace(/^\ufffd+$/, ''), '— ') &&
    more.length === 0
  );
}
