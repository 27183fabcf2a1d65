import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errors.ts';

/**
 * The highest entry number that any process has seen committed, kept in DATA_DIR, which all processes share. A ledger
 * that ends below it has lost entries, as after a fail-over to a replica that lacks the tail. Not synced: it survives
 * the end of a process, and what outlives the machine is the journal.
 */
export interface HighWater {
  /** 0 if nothing was noted yet. Throws if the folder cannot be read. */
  highest(): number;
  /** Raises the mark; a lower number changes nothing. Throws if the folder cannot be written. */
  note(seq: number): void;
  close(): void;
}

const DIGITS = 16;

/**
 * The marks in `folder`: one file per process, written in place, so that no process can lower what another has noted.
 * Costs a write and a short read per other process for each commit. A process that begins takes over the marks of those before.
 */
export function createHighWater(folder: string): HighWater {
  let own: { readonly file: number; readonly name: string } | null = null;
  let noted = 0;
  let listed: { readonly changed: number; readonly names: readonly string[] } | null = null;

  function names(): readonly string[] {
    const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    if (changed === undefined) return [];
    // Within its clock's resolution, a folder may change again without a new time.
    if (listed?.changed !== changed || Date.now() - changed < 1000)
      listed = { changed, names: readdirSync(folder).filter((name) => name.endsWith('.seq')) };
    return listed.names;
  }

  /** Returns the mark that its file now has. */
  function write(seq: number): number {
    if (own !== null && fstatSync(own.file).nlink === 0) close();
    if (own !== null) {
      put(own.file, seq);
      return seq;
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const name = `${randomBytes(6).toString('hex')}.seq`;
    own = { name, file: openSync(join(folder, name), 'wx', 0o600) };
    const others = readdirSync(folder).filter((one) => one.endsWith('.seq') && one !== name);
    const marks = new Map(others.map((one) => [one, markIn(folder, one)]));
    const highest = Math.max(seq, ...marks.values());
    put(own.file, highest);
    // Files of processes that have ended would otherwise pile up. A live one writes its file anew. Of two that are equal, one stays.
    for (const [one, mark] of marks)
      if (mark < highest || (mark === highest && one > name)) rmSync(join(folder, one), { force: true });
    return highest;
  }

  function put(file: number, seq: number): void {
    writeSync(file, `${String(seq).padStart(DIGITS, '0')}\n`, 0);
  }

  function close(): void {
    if (own !== null) closeSync(own.file);
    own = null;
  }

  return {
    highest: () =>
      Math.max(
        noted,
        ...names()
          .filter((name) => name !== own?.name)
          .map((name) => markIn(folder, name)),
      ),
    note(seq) {
      if (seq <= noted) return;
      noted = write(seq);
    },
    close,
  };
}

/** 0 for a mark whose process ended before it was written, or that was removed. */
function markIn(folder: string, name: string): number {
  try {
    const text = readFileSync(join(folder, name), 'latin1');
    return /^\d{16}\n$/.test(text) ? Number(text) : 0;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** Forgets the marks: a new epoch has recorded the loss. */
export async function forgetHighWater(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
