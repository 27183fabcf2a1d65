import { randomBytes } from 'node:crypto';
import { isoNow } from '../core/clock.ts';
import { comparableEmail } from '../core/email.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { appendAction } from '../ledger/append-action.ts';
import type { StoreTransaction } from '../store/store.ts';
import { admitAttempt, forgetFailures, uncountAddress } from './attempts.ts';
import { passwordFits } from './passwords.ts';
import { openingOf } from './people.ts';
import { takeCode } from './second-factor.ts';
import { keepSession, type NewSession, newSession, type PeopleDeps } from './sessions.ts';

export type SignIn =
  | { readonly outcome: 'signed-in'; readonly session: NewSession }
  /**
   * Unknown account, wrong password, missing or wrong code, disabled: the response does not say which. `personId`: only
   * for the log.
   */
  | { readonly outcome: 'refused'; readonly personId: string | null }
  /** `until`: ISO 8601 UTC; null if only a new password helps. */
  | { readonly outcome: 'blocked'; readonly until: string | null };

/** Rolls back a transaction because of a wrong code. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

/**
 * Signs a person in by e-mail address and password, and by a code if they have a second factor. Takes as long, and
 * answers the same, whether or not the account exists. The session, the use of the code and the entry are written in
 * one transaction.
 */
export async function signIn(
  deps: PeopleDeps,
  given: { readonly email: string; readonly password: string; readonly code: string },
  from: { readonly address: string; readonly browser: string },
): Promise<SignIn> {
  const email = comparableEmail(given.email.slice(0, 300)).slice(0, 254);
  const admission = await admitAttempt(deps, email, from.address);
  if (admission.outcome === 'blocked') return admission;
  const row = await deps.store.read.selectFrom('people').selectAll().where('email', '=', email).executeTakeFirst();
  const isOpen = row !== undefined && row.disabled_at === null;
  if (!(await passwordFits(given.password, isOpen ? row.password : null)) || row === undefined)
    return refuse(deps, row?.person_id ?? null);
  const person = { personId: row.person_id, name: row.name };
  const now = isoNow(deps.clock);
  const way = row.totp === null ? 'password' : 'password and code';
  const opening = openingOf(person, way, from.browser);
  const { session, row: kept } = newSession(deps, opening, now);
  try {
    await appendAction(
      deps.ledger,
      INSTALLATION,
      { action: 'session.opened', actor: opening.officer, detail: way },
      ['session-opened', randomBytes(16).toString('hex')],
      now,
      async (tx) => {
        await assertUnchanged(tx, row.person_id, row.password);
        if (!(await takeCode(deps, tx, { personId: row.person_id, given: given.code }, now))) throw new Unfit();
        await forgetFailures(deps, tx, email);
        await uncountAddress(deps, tx, from.address);
        await keepSession(tx, kept);
      },
    );
  } catch (error) {
    if (error instanceof Unfit) return refuse(deps, row.person_id);
    throw error;
  }
  return { outcome: 'signed-in', session };
}

/** Records that a sign-in failed. */
async function refuse(deps: PeopleDeps, personId: string | null): Promise<SignIn> {
  await recordRefusal(deps, personId);
  return { outcome: 'refused', personId };
}

/** The actor in entries about sign-in attempts, when nobody is signed in. */
const SIGN_IN_ACTOR = 'sign-in page';

/** One entry per account and hour; the ledger counts repeats, so guessing does not fill it. */
export async function recordRefusal({ ledger, clock }: PeopleDeps, personId: string | null): Promise<void> {
  const now = isoNow(clock);
  const hour = `${now.slice(0, 13)}:00:00.000Z`;
  await appendAction(
    ledger,
    INSTALLATION,
    { action: 'session.refused', actor: SIGN_IN_ACTOR, personId, hour },
    ['session-refused', personId ?? '', hour],
    now,
  );
}

/** The account may have been disabled or given another password while the password was being checked. */
async function assertUnchanged({ query }: StoreTransaction, personId: string, password: string | null): Promise<void> {
  const row = await query
    .selectFrom('people')
    .select(['password', 'disabled_at'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (row === undefined || row.disabled_at !== null || row.password !== password) throw new Unfit();
}
