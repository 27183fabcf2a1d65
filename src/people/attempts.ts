import { isoNow } from '../core/clock.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import type { StoreTransaction } from '../store/store.ts';
import type { PeopleDeps } from './sessions.ts';

/** What is counted: failures for an account, existing or not, and failures from one address. */
type Counted = 'account' | 'address';

interface Limit {
  /** Consecutive failures without a penalty. */
  readonly free: number;
  /** Failures after which only a new password helps; null: never. SP 800-63B-4 §3.2.2: no more than 100. */
  readonly lockedAt: number | null;
}

const limits: Readonly<Record<Counted, Limit>> = {
  account: { free: 5, lockedAt: 100 },
  // Higher, because a whole office may share an address.
  address: { free: 20, lockedAt: null },
};
const FIRST_PAUSE_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 15 * 60;
/** Failures are forgotten after this long without another one. */
const FORGOTTEN_HOURS = 24;
/** Stands for "until someone resets it". */
const NEVER = '9999-12-31T23:59:59.999Z';

/** Seconds to wait after this many consecutive failures, doubling up to a quarter of an hour; null: locked. */
export function pauseAfter(counted: Counted, failures: number): number | null {
  const { free, lockedAt } = limits[counted];
  if (lockedAt !== null && failures >= lockedAt) return null;
  if (failures < free) return 0;
  return Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(failures - free, 20), LONGEST_PAUSE_SECONDS);
}

/** Whether an attempt is allowed, or until when it is blocked. */
export type Admission =
  | { readonly outcome: 'admitted' }
  /** `until`: ISO 8601 UTC; null if only a new password helps. */
  | { readonly outcome: 'blocked'; readonly until: string | null };

/**
 * Counts an attempt as failed before it is checked, so that concurrent attempts count like consecutive ones; success
 * takes it back. An attempt that comes too early is refused unchecked and does not count.
 */
export async function admitAttempt(deps: PeopleDeps, email: string, address: string): Promise<Admission> {
  const now = isoNow(deps.clock);
  const keys = keysOf(deps, email, address);
  return deps.store.transaction(async ({ query, insertMany }) => {
    const forgotten = new Date(Date.parse(now) - FORGOTTEN_HOURS * 3_600_000).toISOString();
    await query
      .deleteFrom('sign_in_failures')
      .where('last_at', '<', forgotten)
      .where('blocked_until', '<', NEVER)
      .execute();
    const rows = await query
      .selectFrom('sign_in_failures')
      .selectAll()
      .where('key_hash', 'in', [keys.account, keys.address])
      .execute();
    const blocked = rows.map((row) => row.blocked_until).filter((until) => until > now);
    const last = blocked.sort().at(-1);
    if (last !== undefined) return { outcome: 'blocked', until: last === NEVER ? null : last };
    const failed = (['account', 'address'] as const).map((counted) => {
      const failures = (rows.find((row) => row.key_hash.equals(keys[counted]))?.failures ?? 0) + 1;
      const pause = pauseAfter(counted, failures);
      const until = pause === null ? NEVER : new Date(Date.parse(now) + pause * 1000).toISOString();
      return { key_hash: keys[counted], failures, last_at: now, blocked_until: until };
    });
    await insertMany('sign_in_failures', failed, 'replace');
    return { outcome: 'admitted' };
  });
}

/** Clears the failures of an account, inside the transaction that signs in or sets a new password. */
export async function forgetFailures(
  deps: Pick<PeopleDeps, 'keys'>,
  { query }: StoreTransaction,
  email: string,
): Promise<void> {
  await query
    .deleteFrom('sign_in_failures')
    .where('key_hash', '=', keysOf(deps, email, '').account)
    .execute();
}

/** Takes back the failure counted in advance for an address; others stay, or anyone with an account could clear them. */
export async function uncountAddress(
  deps: Pick<PeopleDeps, 'keys'>,
  { query }: StoreTransaction,
  address: string,
): Promise<void> {
  await query
    .updateTable('sign_in_failures')
    .set((eb) => ({ failures: eb('failures', '-', 1), blocked_until: '' }))
    .where('key_hash', '=', keysOf(deps, '', address).address)
    .execute();
}

/** Stores only keyed hashes of the tried e-mail address and the caller's address. */
function keysOf({ keys }: Pick<PeopleDeps, 'keys'>, email: string, address: string): Readonly<Record<Counted, Buffer>> {
  const key = (text: string) => hmacSha256(keys.instance.session, Buffer.from(`sign-in failure ${text}`));
  return { account: key(`account ${email}`), address: key(`address ${address}`) };
}
