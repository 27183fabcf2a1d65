import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { addPasskey, passkeyCreation } from '../../src/people/passkeys.ts';
import type { Person } from '../../src/people/people.ts';
import type { PeopleDeps } from '../../src/people/sessions.ts';

const place = { host: 'localhost', origin: 'http://localhost' };

/**
 * Sets up a passkey as an authenticator would, one without attestation, ES256: with a challenge and a key of its own.
 * Resolves with the problem if it is refused, otherwise null.
 */
export async function addSoftPasskey(
  deps: PeopleDeps,
  person: Person,
  { handle = 'a session', label = 'a test' }: { readonly handle?: string; readonly label?: string } = {},
): Promise<string | null> {
  return addPasskey(deps, person, { response: await createSoftPasskey(deps, person, handle), handle, place, label });
}

/** The authenticator's answer to a challenge of this session. */
export async function createSoftPasskey(deps: PeopleDeps, person: Person, handle: string) {
  const { challenge } = await passkeyCreation(deps, person, handle, place);
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  // RFC 9053, CBOR by hand: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
  const key = Buffer.concat([
    ...[Buffer.from('a5010203262001215820', 'hex'), Buffer.from(x, 'base64url')],
    ...[Buffer.from('225820', 'hex'), Buffer.from(y, 'base64url')],
  ]);
  // User present and verified, with credential data; counter 0.
  const authData = Buffer.concat([
    ...[createHash('sha256').update(place.host).digest(), Buffer.from([0x45, 0, 0, 0, 0]), Buffer.alloc(16)],
    ...[Buffer.from([0, id.length]), id, key],
  ]);
  // {fmt: "none", attStmt: {}, authData}.
  const attestation = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461' + '58', 'hex'),
    ...[Buffer.from([authData.length]), authData],
  ]);
  const said = JSON.stringify({ type: 'webauthn.create', challenge, origin: place.origin, crossOrigin: false });
  return {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(said).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
    },
  };
}
