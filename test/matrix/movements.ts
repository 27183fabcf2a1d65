import { cp } from 'node:fs/promises';
import { expect } from 'vitest';
import { backUp, cli, emptyPlace, keyPair, type Place, restore } from '../commands/backup-world.ts';
import { LOOKER } from './installation.ts';
import type { TableName } from '../../src/store/schema.ts';
import { temporaryFolder } from '../temporary.ts';

/** A way in which an installation gets to another place, or under another version. */
export interface Movement {
  readonly name: string;
  /** Moves a closed installation; resolves with where it is then. */
  move(from: Place): Promise<Place>;
  /** Tables that it leaves behind on purpose. */
  readonly loses?: readonly TableName[];
  /** Columns that it changes on purpose. */
  readonly changes?: Partial<Record<TableName, readonly string[]>>;
  /** Pages on which it shows, so that they cannot be the same. */
  readonly says?: readonly string[];
  /** Settings of the place or the epoch, which it sets anew. */
  readonly sets?: readonly string[];
}

/** A copy of a closed installation, so that it can be moved more than once. */
export async function copyOf({ folder, env }: Place): Promise<Place> {
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true });
  return { folder: copy, env: { ...env, DATA_DIR: copy, DATABASE_URL: `sqlite:${copy}/ledger.sqlite` } };
}

export const backupAndRestore: Movement = {
  name: '`backup` and `restore`',
  async move(from) {
    const { recipient, file } = await keyPair();
    const made = await backUp(from, recipient);
    expect(made.faults).toEqual([]);
    const to = await emptyPlace(from.folder, 'sqlite');
    const target = { folder: to.folder, env: { ...from.env, ...to.env } };
    const { verification } = await restore(target, made.path, file, '--owner', LOOKER);
    expect(verification.faults).toEqual([]);
    // An owner confirms that no account was disabled since.
    expect((await cli(target, 'people', 'enable', '--held')).code).toBe(0);
    return target;
  },
  // Whatever gives access, and may have been taken away since (docs/backup.md). A new epoch has its own checkpoints.
  loses: [
    ...(['sessions', 'sign_in_links', 'sign_in_failures', 'api_tokens', 'idempotency_keys', 'hand_overs'] as const),
    ...(['checkpoints', 'fold_positions'] as const),
  ],
  // Work that was waiting may have been done since: an officer starts it again.
  changes: { jobs: ['state', 'error', 'finished_at', 'updated_at', 'lease_owner', 'lease_until'] },
  // Epoch and checkpoints; an export is not kept for more than a day.
  says: ['/evidence', '/documents/export'],
  sets: ['epoch', 'identity_pin'],
};
