import { mkdir, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Checkpoints outside the database, one file a day (UTC), notes separated by an empty line. A note is synced here
 * before it is published, so that a database put back to an earlier state is noticed.
 */
export interface Journal {
  /** Appends a note; durable when it resolves. */
  write(note: string, at: string): Promise<void>;
  /** All notes, oldest first. */
  read(): AsyncIterable<{ readonly file: string; readonly note: string }>;
  /** The newest note; null when there is none. */
  newest(): Promise<string | null>;
}

/** A journal in `folder`, which is made when missing. */
export function createJournal(folder: string): Journal {
  return {
    async write(note, at) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = await open(join(folder, `${at.slice(0, 10)}.notes`), 'a', 0o600);
      try {
        await file.appendFile(`${note}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
      // A new file exists for sure only when its folder is synced as well.
      const directory = await open(folder, 'r');
      try {
        await directory.sync();
      } finally {
        await directory.close();
      }
    },
    async *read() {
      for (const file of await listFiles(folder)) {
        for (const note of await readNotes(join(folder, file))) yield { file, note };
      }
    },
    async newest() {
      for (const file of (await listFiles(folder)).reverse()) {
        const note = (await readNotes(join(folder, file))).at(-1);
        if (note !== undefined) return note;
      }
      return null;
    },
  };
}

async function listFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith('.notes')).sort();
}

/** A note is its text, an empty line, its signatures; and an empty line follows it: so notes are every second pair of blocks. */
async function readNotes(path: string): Promise<string[]> {
  const blocks = (await readFile(path, 'utf8')).split('\n\n');
  const notes: string[] = [];
  for (let place = 0; place + 1 < blocks.length; place += 2) notes.push(`${blocks[place]}\n\n${blocks[place + 1]}\n`);
  return notes;
}
