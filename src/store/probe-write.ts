import { randomBytes } from 'node:crypto';
import { WRITE_PROBE } from './settings.ts';
import type { Store } from './store.ts';

/** As much as an ordinary delivery, because a full disk may still have room for less. */
const PROBE_BYTES = 65_536;

/** Writes as much as a delivery takes and removes it again. Rejects if the database cannot store it. */
export async function probeWrite(store: Pick<Store, 'transaction'>): Promise<void> {
  const value = randomBytes(PROBE_BYTES / 2).toString('hex');
  // Removed in the same transaction, after the database has found room for it.
  await store.transaction(async (tx) => {
    await tx.insertMany('settings', [{ name: WRITE_PROBE, value }], 'replace');
    await tx.query.updateTable('settings').set({ value: '' }).where('name', '=', WRITE_PROBE).execute();
  });
}
