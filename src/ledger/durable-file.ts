import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

interface Placing {
  readonly mode: number;
  /** If the name is taken, reject with EEXIST and keep the existing file. */
  readonly once?: boolean;
  /** Runs when the bytes are on disk, before the file gets its name. If it rejects, no file is placed. */
  readonly before?: () => Promise<void>;
}

/**
 * Writes a file into an existing folder. The file gets its name only when complete and synced; the folder is synced
 * when this resolves.
 */
export async function writeDurably(
  folder: string,
  name: string,
  bytes: Uint8Array | string,
  { mode, once = false, before }: Placing,
): Promise<void> {
  const path = join(folder, name);
  const draft = `${path}.${randomUUID()}.draft`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await before?.();
    if (once) await linkOrRename(draft, path);
    else await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(folder);
}

/** A new file is only certain to exist once its folder is synced too. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function linkOrRename(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    // File systems without hard links, such as many network shares: the caller has checked that the name is free.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    await rename(draft, path);
  }
}
