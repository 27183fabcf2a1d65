import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { isoNow } from '../core/clock.ts';
import { asOneLine } from '../core/validation.ts';
import { INSTALLATION } from '../core/vocabulary.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import { appendAction, NotAllowed, unlessRefused } from '../ledger/append-action.ts';
import type { Query } from '../store/store.ts';
import { openingOf, ownHand, type Person, personAction, recordForPerson } from './people.ts';
import { keepSession, type NewSession, newSession, type PeopleDeps } from './sessions.ts';

/**
 * Where a passkey is valid: the origin of the pages and the host name to which it is bound (WebAuthn Level 2 §5.1.2,
 * relying party identifier).
 */
export interface PasskeyOrigin {
  readonly origin: string;
  readonly host: string;
}

/** Loaded with the first page that offers a passkey, because the package has a hundred files with its dependencies. */
const loadWebAuthn = () => import('@simplewebauthn/server');

/** How long a person may take to respond with the authenticator. */
const CHALLENGE_MINUTES = 5;
const RANDOM_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 16;
/** The most passkeys per account. */
export const PASSKEYS_PER_PERSON = 20;
/**
 * EdDSA, ES256 and RS256 (COSE), on every version of Node. By default the library also offers ML-DSA-44 where Node has
 * it, as an experiment: such a passkey could not be verified on an older version.
 */
const ALGORITHMS = [-8, -7, -257];

/** A random value, its expiry, and a MAC over both and the purpose; nothing is stored until it is answered. */
function drawChallenge(deps: Pick<PeopleDeps, 'keys' | 'clock'>, purpose: string): Uint8Array<ArrayBuffer> {
  const content = Buffer.alloc(RANDOM_BYTES + EXPIRY_BYTES);
  randomBytes(RANDOM_BYTES).copy(content);
  content.writeUIntBE(deps.clock().getTime() + CHALLENGE_MINUTES * 60_000, RANDOM_BYTES, EXPIRY_BYTES);
  return new Uint8Array(Buffer.concat([content, challengeMac(deps, content, purpose)]));
}

function isOwnChallenge(deps: Pick<PeopleDeps, 'keys' | 'clock'>, text: string, purpose: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== RANDOM_BYTES + EXPIRY_BYTES + MAC_BYTES) return false;
  const content = bytes.subarray(0, RANDOM_BYTES + EXPIRY_BYTES);
  const isOurs = timingSafeEqual(challengeMac(deps, content, purpose), bytes.subarray(content.length));
  return isOurs && content.readUIntBE(RANDOM_BYTES, EXPIRY_BYTES) > deps.clock().getTime();
}

function challengeMac({ keys }: Pick<PeopleDeps, 'keys'>, content: Buffer, purpose: string): Buffer {
  const message = Buffer.concat([Buffer.from(`passkey ${purpose} `), content]);
  return hmacSha256(keys.instance.session, message).subarray(0, MAC_BYTES);
}

/** A person's passkeys, oldest first. */
export async function listPasskeys({ store }: Pick<PeopleDeps, 'store'>, personId: string) {
  const rows = await store.read
    .selectFrom('passkeys')
    .select(['credential_id', 'label', 'created_at'])
    .where('person_id', '=', personId)
    .orderBy('created_at')
    .execute();
  return rows.map(({ credential_id: id, label, created_at: createdAt }) => ({ id, label, createdAt }));
}

/** The options for a browser to create a passkey, for one session of the person. */
export async function passkeyCreation(deps: PeopleDeps, person: Person, handle: string, { host }: PasskeyOrigin) {
  const { generateRegistrationOptions } = await loadWebAuthn();
  return generateRegistrationOptions({
    rpName: 'consent-ledger',
    rpID: host,
    userID: new Uint8Array(Buffer.from(person.personId)),
    userName: person.email,
    userDisplayName: person.name,
    challenge: drawChallenge(deps, `create ${handle}`),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: (await listPasskeys(deps, person.personId)).map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Stores the passkey that a browser created. Returns the problem if it is refused, otherwise null. */
export async function addPasskey(
  deps: PeopleDeps,
  person: Person,
  {
    response,
    handle,
    place,
    label,
  }: { readonly response: unknown; readonly handle: string; readonly place: PasskeyOrigin; readonly label: string },
): Promise<string | null> {
  const refused = 'The passkey was not made for this page, or took too long. Try again.';
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const verified = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: (challenge) => isOwnChallenge(deps, challenge, `create ${handle}`),
    expectedOrigin: place.origin,
    expectedRPID: place.host,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null);
  if (verified === null || !verified.verified) return refused;
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  const row = {
    credential_id: id,
    person_id: person.personId,
    public_key: Buffer.from(publicKey),
    counter,
    label: asOneLine(label.slice(0, 100), 100),
    created_at: isoNow(deps.clock),
  };
  const action = personAction('person.second-factor-set', ownHand(person), person, 'passkey');
  const recorded = await unlessRefused(async () => {
    await recordForPerson(deps, action, async (tx) => {
      const problem = await problemOfPasskey(tx.query, row);
      if (problem !== null) throw new NotAllowed(problem);
      await tx.insertMany('passkeys', [row]);
    });
    return null;
  });
  return recorded?.problem ?? null;
}

/** Why a person cannot have this passkey as well; null: they can. */
async function problemOfPasskey(query: Query, row: { readonly credential_id: string; readonly person_id: string }) {
  const known = await query
    .selectFrom('passkeys')
    .select('credential_id')
    .where((eb) => eb.or([eb('credential_id', '=', row.credential_id), eb('person_id', '=', row.person_id)]))
    .execute();
  if (known.some((one) => one.credential_id === row.credential_id)) return 'This passkey is already set up.';
  return known.length >= PASSKEYS_PER_PERSON
    ? `An account has at most ${PASSKEYS_PER_PERSON} passkeys: remove one first.`
    : null;
}

/** Removes a passkey of the person; does nothing if there is none with this id. */
export async function removePasskey(deps: PeopleDeps, person: Person, id: string): Promise<void> {
  const action = personAction('person.second-factor-removed', ownHand(person), person, 'passkey');
  await recordForPerson(deps, action, async ({ query }) => {
    await query
      .deleteFrom('passkeys')
      .where('credential_id', '=', id)
      .where('person_id', '=', person.personId)
      .execute();
  });
}

/** The options for a browser to sign in; the same for everyone. */
export async function passkeyRequest(deps: Pick<PeopleDeps, 'keys' | 'clock'>, { host }: PasskeyOrigin) {
  const { generateAuthenticationOptions } = await loadWebAuthn();
  return generateAuthenticationOptions({
    rpID: host,
    challenge: drawChallenge(deps, 'sign-in'),
    userVerification: 'required',
  });
}

/** Rolls back a sign-in whose response was used before, or whose account has since been disabled. */
class Unfit extends Error {
  override readonly name = 'Unfit';
}

/**
 * Signs a person in by their authenticator's response, which also verifies who they are, so no code is required. Each
 * response is valid once: its challenge is the key of the entry. Null if it is not valid, without saying why.
 */
export async function signInWithPasskey(
  deps: PeopleDeps,
  response: unknown,
  place: PasskeyOrigin,
  browser: string,
): Promise<NewSession | null> {
  const { id } = (response ?? {}) as { readonly id?: unknown };
  const row = await deps.store.read
    .selectFrom('passkeys')
    .innerJoin('people', 'people.person_id', 'passkeys.person_id')
    .select(['passkeys.public_key', 'passkeys.counter', 'people.person_id', 'people.name'])
    .where('passkeys.credential_id', '=', typeof id === 'string' ? id : '')
    .executeTakeFirst();
  if (typeof id !== 'string' || row === undefined) return null;
  let asked = '';
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const verified = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: (challenge) => {
      asked = challenge;
      return isOwnChallenge(deps, challenge, 'sign-in');
    },
    expectedOrigin: place.origin,
    expectedRPID: place.host,
    credential: { id, publicKey: new Uint8Array(row.public_key), counter: row.counter },
  }).catch(() => null);
  if (verified === null || !verified.verified) return null;
  const now = isoNow(deps.clock);
  const opening = openingOf({ personId: row.person_id, name: row.name }, 'passkey', browser);
  const { session, row: kept } = newSession(deps, opening, now);
  try {
    await appendAction(
      deps.ledger,
      INSTALLATION,
      { action: 'session.opened', actor: opening.officer, detail: 'passkey' },
      ['session-opened', 'passkey', asked],
      now,
      async (tx, [appended]) => {
        const { numUpdatedRows } = await tx.query
          .updateTable('passkeys')
          .set({ counter: verified.authenticationInfo.newCounter })
          .where('credential_id', '=', id)
          .where('person_id', 'in', (eb) =>
            eb
              .selectFrom('people')
              .select('people.person_id')
              .where('people.person_id', '=', row.person_id)
              .where('people.disabled_at', 'is', null),
          )
          .executeTakeFirst();
        if (appended?.outcome !== 'stored' || Number(numUpdatedRows) !== 1) throw new Unfit();
        await keepSession(tx, kept);
      },
    );
  } catch (error) {
    if (error instanceof Unfit) return null;
    throw error;
  }
  return session;
}
