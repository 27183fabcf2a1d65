import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../core/errors.ts';
import { INSTANCE_KEY_BYTES } from '../crypto/keys.ts';
import { syncFolder } from '../ledger/durable-file.ts';

/** The files of an installation's keys, if the environment names none. */
export function keyPaths(dataDir: string): {
  readonly folder: string;
  readonly instance: string;
  readonly signing: string;
} {
  const folder = join(dataDir, 'keys');
  return { folder, instance: join(folder, 'instance.key'), signing: join(folder, 'signing.pem') };
}

/** A fresh instance key in the form used in files: base64 of 32 random bytes. */
export function newInstanceKeyText(): string {
  return randomBytes(INSTANCE_KEY_BYTES).toString('base64');
}

/** A fresh Ed25519 private key, PKCS#8 PEM (RFC 8410). */
export function newSigningKeyPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Parses an instance key file; a sentence if it does not contain a key. */
export function parseInstanceKey(text: string): Buffer | string {
  const key = Buffer.from(text.trim(), 'base64');
  const same = key.toString('base64') === text.trim();
  return same && key.length === INSTANCE_KEY_BYTES ? key : `does not contain ${INSTANCE_KEY_BYTES} bytes as base64`;
}

/** Parses a signing key file; a sentence if it does not contain an Ed25519 private key. */
export function parseSigningKey(pem: string): KeyObject | string {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : `contains a key of type ${key.asymmetricKeyType}, not Ed25519`;
  } catch {
    return 'does not contain an unencrypted private key in PEM format';
  }
}

/** The text of a file; null if it does not exist. Other failures (no permission …) throw. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Writes a secret file once: mode 0600 in a folder of mode 0700, file and name synced to disk before this resolves.
 * Never overwrites: false if the file exists, even if another process has just created it.
 */
export async function writeSecretOnce(path: string, text: string): Promise<boolean> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await chmod(folder, 0o700);
  return writeOnce(path, text);
}

/** Like {@link writeSecretOnce}, into an existing folder whose mode is left unchanged. */
export async function writeOnce(path: string, text: string): Promise<boolean> {
  // The content is complete and on disk before the final name appears, so that nobody ever reads half a key.
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(draft);
  }
  await syncFolder(dirname(path));
  return true;
}
