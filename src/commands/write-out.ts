import { writeFile } from 'node:fs/promises';
import { printable } from './command-io.ts';

/** Writes what a command made to the file of its --out flag; a sentence when that fails, because what was made is there all the same. */
export async function writeOut(path: string, content: string | Uint8Array): Promise<string | null> {
  try {
    await writeFile(path, content);
    return null;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return `Cannot write ${printable(path)} (${code}).`;
  }
}
