import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { originOf, parseVerifierKey, readCheckpoint, verifierKeyOf } from '../crypto/checkpoint.ts';
import { equalBytes, hmacSha256 } from '../crypto/hash.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import { readSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';

/** The identity of a ledger: the name in its checkpoints, and the key that checks them. */
export interface Identity {
  readonly instance: string;
  readonly epoch: number | string;
  readonly publicKey: KeyObject;
}

/**
 * Whether a file with a verifier key has this one. `earlier`: this key under the name of another epoch; `foreign`:
 * anything else, which its readers would take for the key of this ledger.
 */
export async function stateOfKeyFile(
  path: string,
  verifierKey: string,
): Promise<'same' | 'earlier' | 'foreign' | 'missing'> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return 'missing';
  if (text === `${verifierKey}\n`) return 'same';
  const [found, own] = [parseVerifierKey(text), parseVerifierKey(verifierKey)];
  const ledgerOf = (name: string) => name.replace(/\/\d+$/, '');
  const isEarlier =
    found !== null &&
    own !== null &&
    ledgerOf(found.name) === ledgerOf(own.name) &&
    found.publicKey.equals(own.publicKey);
  return isEarlier ? 'earlier' : 'foreign';
}

/** Said of a foreign one. */
export const FOREIGN_KEY =
  'DATA_DIR/log.vkey holds another key than that of this ledger: a reader who trusts the file would accept forged checkpoints and refuse genuine ones';

const PIN = 'identity_pin';
const TAG = Buffer.from('consent-ledger/identity/v1\n', 'ascii');

/**
 * `HMAC(K_append, tag ‖ verifier key)`. The verifier key contains instance, epoch and public key, so only a holder of
 * the instance key can assign an identity.
 */
function pinOf(appendKey: Uint8Array, { instance, epoch, publicKey }: Identity): Buffer {
  const verifierKey = verifierKeyOf(`consent-ledger/${instance}/${epoch}`, publicKey);
  return hmacSha256(appendKey, Buffer.concat([TAG, Buffer.from(verifierKey)]));
}

/** The setting that pins an identity. */
export function pinSetting(keys: Pick<InstanceKeys, 'append'>, identity: Identity): { name: string; value: string } {
  return { name: PIN, value: pinOf(keys.append, identity).toString('hex') };
}

/**
 * Whether the identity in the database is the pinned one. True if the database names none: the next start generates
 * one.
 */
export async function isPinned(
  store: Pick<Store, 'read'>,
  keys: Pick<InstanceKeys, 'append'>,
  publicKey: KeyObject,
): Promise<boolean> {
  const [instance, epoch, pin] = await Promise.all(
    ['instance_id', 'epoch', PIN].map((name) => readSetting(store, name)),
  );
  if (instance === null || instance === undefined) return true;
  const wanted = pinOf(keys.append, { instance, epoch: epoch ?? '', publicKey });
  return equalBytes(Buffer.from(pin ?? '', 'hex'), wanted);
}

/**
 * Pins the identity of a ledger without a pin: an empty one, or one whose journal is signed for this identity. False if
 * someone without the keys has changed the identity. Another process may be doing the same at its first start, so the
 * pin is compared last.
 */
export async function pinIdentity(
  store: Store,
  journal: Journal,
  keys: Pick<InstanceKeys, 'append'>,
  identity: Identity & { readonly epoch: number },
): Promise<boolean> {
  if ((await readSetting(store, PIN)) === null) {
    const entry = await store.read.selectFrom('entries').select('seq').limit(1).executeTakeFirst();
    if (entry === undefined || (await isSignedFor(journal, identity))) {
      const pin = pinSetting(keys, identity);
      await store.transaction((tx) => tx.insertMany('settings', [pin], 'keep'));
    }
  }
  return isPinned(store, keys, identity.publicKey);
}

async function isSignedFor(journal: Journal, identity: Identity & { readonly epoch: number }): Promise<boolean> {
  const note = await journal.newest(identity.epoch);
  if (note === null) return false;
  const reading = readCheckpoint(note, identity.publicKey);
  return reading.outcome === 'valid' && reading.head.origin === originOf(identity.instance, identity.epoch);
}
