import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  keyPaths,
  newInstanceKeyText,
  newSigningKeyPem,
  parseInstanceKey,
  parseSigningKey,
  readIfThere,
  writeSecretOnce,
} from './config/key-files.ts';
import { UsageError, whyUnreadable } from './core/errors.ts';
import { deriveKeys, keyFingerprint, type InstanceKeys } from './crypto/keys.ts';
import type { Store } from './store/store.ts';

/** The keys of an installation, checked against its database. */
export interface Keys {
  readonly instance: InstanceKeys;
  /** Ed25519 private key that signs checkpoints. */
  readonly signing: KeyObject;
  readonly verifying: KeyObject;
  /** As the `settings` table keeps them. */
  readonly fingerprints: { readonly instance: string; readonly signing: string };
  /** Key files that this call made: the operator must back them up. */
  readonly created: readonly string[];
}

/** What {@link loadKeys} needs of the configuration. */
export interface KeySettings {
  readonly instanceKey: Buffer | null;
  readonly signingKeyFile: string | null;
  readonly dataDir: string;
}

const INSTANCE_SETTING = 'fingerprint_instance';
const SIGNING_SETTING = 'fingerprint_signing';

/**
 * Loads the keys, making those that are missing at the very first start (SQLite only), and compares their fingerprints with
 * the ones that the database was begun with. A missing or wrong key of a database that has been used throws UsageError with
 * every problem: going on with a new key would begin a silent second life that no proof connects with the first.
 */
export async function loadKeys(settings: KeySettings, store: Store): Promise<Keys> {
  // In this order: another process may record its fingerprints and append between the two reads.
  const used = await hasEntries(store);
  const recorded = await readFingerprints(store);
  const unrecorded = recorded.instance === null && recorded.signing === null;
  const mayCreate = store.engine === 'sqlite' && unrecorded;
  if (unrecorded && used) {
    throw new UsageError([
      'The database has entries but no key fingerprints: it was altered or restored in part. Restore it from a backup.',
    ]);
  }
  const firstStart = unrecorded;
  const paths = keyPaths(settings.dataDir);
  const created: string[] = [];
  const problems: string[] = [];

  const instanceKey =
    settings.instanceKey ??
    (await loadFile(
      paths.instance,
      mayCreate ? newInstanceKeyText : null,
      parseInstanceKey,
      'INSTANCE_KEY',
      created,
      problems,
      firstStart,
    ));
  const signingPath = settings.signingKeyFile ?? paths.signing;
  const mayCreateSigning = mayCreate && settings.signingKeyFile === null;
  const signing = await loadFile(
    signingPath,
    mayCreateSigning ? newSigningKeyPem : null,
    parseSigningKey,
    'SIGNING_KEY_FILE',
    created,
    problems,
    firstStart && settings.signingKeyFile === null,
  );
  if (instanceKey === null || signing === null) throw new UsageError(problems);

  const verifying = createPublicKey(signing);
  const fingerprints = { instance: keyFingerprint(instanceKey), signing: signingFingerprint(verifying) };
  // Recorded under the write lock, and compared with what stands there afterwards: of two first starts one wins.
  const standing =
    recorded.instance === null || recorded.signing === null ? await recordFingerprints(store, fingerprints) : recorded;
  if (standing.instance !== fingerprints.instance)
    problems.push(wrongKey('INSTANCE_KEY', standing.instance, fingerprints.instance));
  if (standing.signing !== fingerprints.signing)
    problems.push(wrongKey('signing key', standing.signing, fingerprints.signing));
  if (problems.length > 0) throw new UsageError(problems);
  return { instance: deriveKeys(instanceKey), signing, verifying, fingerprints, created };
}

/** Fingerprint of an Ed25519 public key (its SubjectPublicKeyInfo, DER). */
function signingFingerprint(verifying: KeyObject): string {
  return keyFingerprint(verifying.export({ type: 'spki', format: 'der' }));
}

async function loadFile<T extends object>(
  path: string,
  make: (() => string) | null,
  parse: (text: string) => T | string,
  variable: string,
  created: string[],
  problems: string[],
  firstStart: boolean,
): Promise<T | null> {
  try {
    let text = await readIfThere(path);
    if (text === null && make !== null) {
      if (await writeSecretOnce(path, make())) created.push(path);
      text = await readIfThere(path);
    }
    if (text === null) {
      problems.push(missingKey(path, variable, firstStart));
      return null;
    }
    const key = parse(text);
    if (typeof key !== 'string') return key;
    problems.push(`${path} ${key}: restore it from your backup, or correct ${variable}.`);
  } catch (error) {
    problems.push(
      `Cannot read ${path}: ${whyUnreadable(error)}. Make it readable for the program, or correct ${variable}.`,
    );
  }
  return null;
}

function missingKey(path: string, variable: string, firstStart: boolean): string {
  return firstStart
    ? `${variable} is not set and ${path} does not exist. With PostgreSQL, keys are not created at start because every process needs the same ones: create both with \`consent-ledger init\` and distribute them to all processes.`
    : `${path} is missing: restore it from your backup, or set ${variable}. A new key would not match this database.`;
}

function wrongKey(name: string, recorded: string | null, given: string): string {
  return `The ${name} does not belong to this database (fingerprint ${given}, expected ${recorded ?? 'none'}). Use the right key or the right DATABASE_URL.`;
}

interface Fingerprints {
  readonly instance: string | null;
  readonly signing: string | null;
}

async function readFingerprints(store: Store): Promise<Fingerprints> {
  const rows = await store.read
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', [INSTANCE_SETTING, SIGNING_SETTING])
    .execute();
  const valueOf = (name: string) => rows.find((row) => row.name === name)?.value ?? null;
  return { instance: valueOf(INSTANCE_SETTING), signing: valueOf(SIGNING_SETTING) };
}

async function recordFingerprints(
  store: Store,
  { instance, signing }: { instance: string; signing: string },
): Promise<Fingerprints> {
  await store.transaction((tx) =>
    tx.insertMany(
      'settings',
      [
        { name: INSTANCE_SETTING, value: instance },
        { name: SIGNING_SETTING, value: signing },
      ],
      'keep',
    ),
  );
  return readFingerprints(store);
}

async function hasEntries(store: Store): Promise<boolean> {
  return (await store.read.selectFrom('entries').select('seq').limit(1).executeTakeFirst()) !== undefined;
}
