import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '../../core/errors.ts';

const MARKER = '.consent-ledger-demo';

/** Makes the demo's folder empty. Refuses to touch a folder that the demo did not make. */
export async function prepareFolder(path: string): Promise<string> {
  const folder = resolve(path);
  if (existsSync(folder) && !existsSync(join(folder, MARKER)) && (await readdir(folder)).length > 0) {
    throw new UsageError([`${folder} contains files that are not from a demo. Choose another folder with --folder.`]);
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, MARKER), 'Made by `consent-ledger demo`, which empties this folder each time.\n');
  return folder;
}

/** The demo's folder as an earlier run left it. */
export function findFolder(path: string): string {
  const folder = resolve(path);
  if (!existsSync(join(folder, MARKER))) {
    throw new UsageError([`No demo found in ${folder}: run \`npm run demo\` first.`]);
  }
  return folder;
}
