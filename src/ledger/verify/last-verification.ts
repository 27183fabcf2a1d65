import { z } from 'zod';
import { equalBytes } from '../../crypto/hash.ts';
import { readSetting, writeSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import type { Ledger } from '../ledger.ts';

const SETTING = 'ledger_verified';

const storedSchema = z.object({ at: z.string(), faults: z.number(), mac: z.string() });

/** The last verification of the whole ledger. */
export interface LastVerification {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Number of faults; 0: none. */
  readonly faults: number;
}

type Keyed = Pick<Ledger, 'keyOf'>;

/** Stores a verification of the whole ledger with a MAC: someone who can only write to the database cannot fake one. */
export async function noteVerification(store: Store, ledger: Keyed, { at, faults }: LastVerification): Promise<void> {
  await writeSetting(store, SETTING, JSON.stringify({ at, faults, mac: macOf(ledger, at, faults).toString('hex') }));
}

/** The last verification of the whole ledger; null if there was none or it was forged. */
export async function readLastVerification(
  store: Pick<Store, 'read'>,
  ledger: Keyed,
): Promise<LastVerification | null> {
  const text = await readSetting(store, SETTING);
  if (text === null) return null;
  try {
    const { at, faults, mac } = storedSchema.parse(JSON.parse(text));
    return equalBytes(Buffer.from(mac, 'hex'), macOf(ledger, at, faults)) ? { at, faults } : null;
  } catch {
    return null;
  }
}

function macOf(ledger: Keyed, at: string, faults: number): Buffer {
  return ledger.keyOf(SETTING, at, String(faults));
}
