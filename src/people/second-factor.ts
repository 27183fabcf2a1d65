import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { isoNow } from '../core/clock.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import { openSealed, sealBytes } from '../crypto/keys.ts';
import type { StoreTransaction } from '../store/store.ts';
import { ownHand, type Person, personAction, recordForPerson, removeSecondFactorRows } from './people.ts';
import type { PeopleDeps } from './sessions.ts';

/** RFC 6238 as supported by every authenticator app: SHA-1, six digits, half a minute. */
const PERIOD_SECONDS = 30;
/** Steps before and after the current one whose code is accepted, because phone clocks differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 50 random bits in base32, written as two halves. */
const recoveryPattern = /^[A-Z2-7]{5}-?[A-Z2-7]{5}$/;

/** A second factor being set up: shown, and sent back with its first code. */
export interface Proposal {
  /** Base32, for typing. */
  readonly secret: string;
  /** `otpauth://totp/…`, for the QR code. */
  readonly address: string;
}

/** What an authenticator app calls an installation: its host tells it from others. */
export function issuerName(adminUrl: string | null): string {
  // Without the port: neither a label nor an issuer may have a colon.
  const host = adminUrl === null ? '' : new URL(adminUrl).hostname.replaceAll(/[[\]:]/g, '');
  return host === '' ? 'consent-ledger' : `consent-ledger ${host}`;
}

/**
 * Generates a key, or continues with one shown before, for the entry that apps list as issuer ({@link issuerName}) and
 * address. Null if that is not a valid key.
 */
export function proposeSecondFactor(email: string, issuer: string, secret?: string): Proposal | null {
  if (secret !== undefined && !/^[A-Z2-7]{32}$/.test(secret)) return null;
  const key = secret === undefined ? new Secret({ size: SECRET_BYTES }) : Secret.fromBase32(secret);
  return { secret: key.base32, address: totpOf(key, email, issuer).toString() };
}

function totpOf(secret: Secret, label = '', issuer = ''): TOTP {
  return new TOTP({ issuer, label, secret, digits: 6, period: PERIOD_SECONDS });
}

/** The time step to which a code belongs; null if none near `now` (ISO 8601 UTC). Compares in constant time (otpauth). */
function stepOf(secret: Secret, code: string, now: string): number | null {
  const timestamp = Date.parse(now);
  const delta = totpOf(secret).validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? null : TOTP.counter({ period: PERIOD_SECONDS, timestamp }) + delta;
}

export type SetUp =
  /** Shown only this once: only their HMACs are stored. */
  | { readonly outcome: 'set'; readonly recoveryCodes: readonly string[] }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Sets up a second factor once the person's app has given a valid code. */
export async function setSecondFactor(deps: PeopleDeps, person: Person, secret: string, code: string): Promise<SetUp> {
  const now = isoNow(deps.clock);
  const step =
    proposeSecondFactor(person.email, '', secret) && stepOf(Secret.fromBase32(secret), code.replaceAll(' ', ''), now);
  if (step === null)
    return {
      outcome: 'refused',
      problem: 'Wrong code: check that the phone’s clock is set automatically.',
    };
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const key = Buffer.from(Secret.fromBase32(secret).buffer);
  const sealed = sealBytes(deps.keys.instance.rest, key, contextOf(person.personId));
  const action = personAction('person.second-factor-set', ownHand(person), person, null);
  await recordForPerson(deps, action, async (tx) => {
    await removeSecondFactorRows(tx, person.personId);
    await tx.query
      .updateTable('people')
      .set({ totp: sealed, totp_step: step })
      .where('person_id', '=', person.personId)
      .execute();
    await tx.insertMany(
      'recovery_codes',
      codes.map((one) => ({
        code_hash: codeHash(deps, person.personId, one),
        person_id: person.personId,
        used_at: null,
      })),
    );
  });
  return { outcome: 'set', recoveryCodes: codes };
}

/** Removes the second factor. */
export async function removeSecondFactor(deps: PeopleDeps, person: Person): Promise<void> {
  const action = personAction('person.second-factor-removed', ownHand(person), person, null);
  await recordForPerson(deps, action, (tx) => removeSecondFactorRows(tx, person.personId));
}

/** How many recovery codes are left. */
export async function countRecoveryCodes({ store }: Pick<PeopleDeps, 'store'>, personId: string): Promise<number> {
  const { count } = await store.read
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Uses up a code, from the app or a recovery code, inside the transaction that it admits. True without checking if the
 * person has no second factor. Each code is valid once: codes of a used time step, or an earlier one, are refused (RFC
 * 6238 §5.2).
 */
export async function takeCode(
  deps: PeopleDeps,
  { query }: StoreTransaction,
  { personId, given }: { readonly personId: string; readonly given: string },
  now: string,
): Promise<boolean> {
  const row = await query
    .selectFrom('people')
    .select(['totp', 'totp_step'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (row === undefined) return false;
  if (row.totp === null) return true;
  const code = given.replaceAll(/\s/g, '').toUpperCase();
  if (recoveryPattern.test(code)) {
    const { numUpdatedRows } = await query
      .updateTable('recovery_codes')
      .set({ used_at: now })
      .where('code_hash', '=', codeHash(deps, personId, code))
      .where('used_at', 'is', null)
      .executeTakeFirst();
    return Number(numUpdatedRows) === 1;
  }
  const key = openSealed(deps.keys.instance.rest, row.totp, contextOf(personId));
  if (key === null) return false;
  const step = stepOf(new Secret({ buffer: new Uint8Array(key).buffer }), code, now);
  if (step === null || step <= row.totp_step) return false;
  await query.updateTable('people').set({ totp_step: step }).where('person_id', '=', personId).execute();
  return true;
}

function newRecoveryCode(): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const text = [...randomBytes(10)].map((byte) => letters[byte % 32]).join('');
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

function codeHash({ keys }: Pick<PeopleDeps, 'keys'>, personId: string, code: string): Buffer {
  return hmacSha256(keys.instance.link, Buffer.from(`recovery ${personId} ${code.replace('-', '')}`));
}

function contextOf(personId: string): string {
  return `totp ${personId}`;
}
