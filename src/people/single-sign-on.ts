import { isoNow } from '../core/clock.ts';
import { comparableEmail } from '../core/email.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { equalBytes, hmacSha256 } from '../crypto/hash.ts';
import { appendAction } from '../ledger/append-action.ts';
import { openingOf, signOnSetting } from './people.ts';
import { keepSession, type NewSession, newSession, type PeopleDeps } from './sessions.ts';

/** Who has signed in according to an OpenID Connect provider (Core 1.0 §5.1). */
export interface ProvidedIdentity {
  readonly issuer: string;
  /** The issuer never assigns it to anyone else. */
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Single-use, because the exchanged code is. */
  readonly nonce: string;
}

/**
 * `unknown`: no enabled account has this verified address. `another`: the account was first used by another subject of
 * the provider; the address may have been reassigned.
 */
export type ProvidedSignIn =
  | { readonly outcome: 'signed-in'; readonly session: NewSession }
  | { readonly outcome: 'unverified' | 'unknown' | 'another' };

/** Rolls back a sign-in whose response was used before, or whose account has since been changed. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

/**
 * Signs in the account with the address that a provider has verified. No code is required, since the provider decides
 * what to ask. The first sign-in ties the account to the provider's subject until its access is ended (a new password
 * by a reset link, or disabling).
 */
export async function signInByProvider(
  deps: PeopleDeps,
  given: ProvidedIdentity,
  browser: string,
): Promise<ProvidedSignIn> {
  if (given.email === null || !given.emailVerified) return { outcome: 'unverified' };
  const email = comparableEmail(given.email);
  const row = await deps.store.read.selectFrom('people').selectAll().where('email', '=', email).executeTakeFirst();
  if (row === undefined || row.disabled_at !== null) return { outcome: 'unknown' };
  const now = isoNow(deps.clock);
  const opening = openingOf({ personId: row.person_id, name: row.name }, 'single sign-on', browser);
  const { session, row: kept } = newSession(deps, opening, now);
  const identity = JSON.stringify([given.issuer, given.subject]);
  const tie = hmacSha256(deps.keys.instance.session, Buffer.from(`single sign-on ${identity}`));
  const name = signOnSetting(row.person_id);
  try {
    await appendAction(
      deps.ledger,
      INSTALLATION,
      { action: 'session.opened', actor: opening.officer, detail: 'single sign-on' },
      ['session-opened', 'single sign-on', given.nonce],
      now,
      async (tx, [appended]) => {
        const { query } = tx;
        await tx.insertMany('settings', [{ name, value: tie.toString('hex') }], 'keep');
        const { value } = await query
          .selectFrom('settings')
          .select('value')
          .where('name', '=', name)
          .executeTakeFirstOrThrow();
        const { numUpdatedRows } = await query
          .updateTable('people')
          .set((eb) => ({ joined_at: eb.fn.coalesce('joined_at', eb.val(now)) }))
          .where('person_id', '=', row.person_id)
          .where('disabled_at', 'is', null)
          .executeTakeFirst();
        const isFirst = appended?.outcome === 'stored';
        if (!isFirst || Number(numUpdatedRows) !== 1 || !equalBytes(Buffer.from(value, 'hex'), tie)) throw new Unfit();
        await keepSession(tx, kept);
      },
    );
  } catch (error) {
    if (error instanceof Unfit) return { outcome: 'another' };
    throw error;
  }
  return { outcome: 'signed-in', session };
}
