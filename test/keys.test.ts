import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { newInstanceKeyText, newSigningKeyPem } from '../src/config/key-files.ts';
import { type KeySettings, loadKeys } from '../src/config/load-keys.ts';
import { UsageError } from '../src/core/errors.ts';
import { createLedger } from '../src/ledger/ledger.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryFolder, temporaryStore } from './temporary.ts';

let folder: string;
let store: Store;
/** Keys as an operator supplies them. */
let supplied: KeySettings;
/** Settings that fall back to the files of DATA_DIR/keys. */
let settings: KeySettings;
beforeEach(async () => {
  folder = await temporaryFolder();
  settings = { instanceKey: null, signingKeyFile: null, dataDir: join(folder, 'data') };
  supplied = { ...settings, instanceKey: randomBytes(32), signingKeyFile: join(folder, 'supplied.pem') };
  writeFileSync(supplied.signingKeyFile as string, newSigningKeyPem());
  store = await temporaryStore();
});

const instanceFile = () => join(folder, 'data', 'keys', 'instance.key');
const signingFile = () => join(folder, 'data', 'keys', 'signing.pem');

async function problemsOf(given: KeySettings, of: Store = store): Promise<readonly string[]> {
  const error = await loadKeys(given, of).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UsageError)) throw new Error(`not a UsageError: ${String(error)}`);
  return error.problems;
}

test('supplied keys are used, nothing is written for them, and the next start finds the same', async () => {
  const first = await loadKeys(supplied, store);
  expect(first.created).toEqual([]);
  expect(existsSync(join(folder, 'data'))).toBe(false);
  const second = await loadKeys(supplied, store);
  expect(second.fingerprints).toEqual(first.fingerprints);
  const text = Buffer.from('text');
  expect(verify(null, text, second.verifying, sign(null, text, first.signing))).toBe(true);
});

test('one of twenty first starts at once with different keys begins the installation, and the others are refused', async () => {
  const all = await Promise.allSettled(
    Array.from({ length: 20 }, () => loadKeys({ ...supplied, instanceKey: randomBytes(32) }, store)),
  );
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of all) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(UsageError);
});

test('another instance key or signing key than the first is refused, and both are named at once', async () => {
  await loadKeys(supplied, store);
  const other = join(folder, 'other.pem');
  writeFileSync(other, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const problems = await problemsOf({ ...supplied, instanceKey: randomBytes(32), signingKeyFile: other });
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('INSTANCE_KEY does not belong to this database');
  expect(problems[1]).toContain('signing key does not belong');
});

test('a database whose fingerprints were removed does not get new ones', async () => {
  const { instance } = await loadKeys(supplied, store);
  const ledger = createLedger({ store, keys: instance });
  const nothing = Buffer.from('{}');
  await ledger.append([
    {
      source: 'default',
      kind: 'webhook',
      dedupeKey: ledger.keyOf('x'),
      receivedAt: '2026-01-01T00:00:00.000Z',
      meta: nothing,
      body: nothing,
    },
  ]);
  await ledger.close();
  await store.transaction((tx) => tx.query.deleteFrom('settings').where('name', 'like', 'fingerprint%').execute());
  const another = { ...supplied, instanceKey: randomBytes(32) };
  for (const given of [supplied, another, settings])
    expect(await problemsOf(given)).toEqual([expect.stringContaining('entries but no key fingerprints')]);
});

test('keys that exist before the database are adopted', async () => {
  mkdirSync(join(folder, 'data', 'keys'), { recursive: true });
  writeFileSync(instanceFile(), newInstanceKeyText());
  writeFileSync(signingFile(), newSigningKeyPem());
  const first = await loadKeys(settings, store);
  expect(first.created).toEqual([]);
  const another = await loadKeys(settings, await temporaryStore());
  expect(another.created).toEqual([]);
  expect(another.fingerprints).toEqual(first.fingerprints);
});

test('a configured signing key file that is missing is not created', async () => {
  const signingKeyFile = join(folder, 'none.pem');
  expect(await problemsOf({ ...supplied, signingKeyFile })).toEqual([
    expect.stringContaining(`${signingKeyFile} is missing`),
  ]);
  expect(existsSync(signingKeyFile)).toBe(false);
});

test('files that hold no key, or a key of another kind, are refused', async () => {
  mkdirSync(join(folder, 'data', 'keys'), { recursive: true });
  writeFileSync(instanceFile(), 'c2hvcnQ=\n');
  writeFileSync(
    signingFile(),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  const problems = await problemsOf(settings);
  expect(problems).toEqual([
    expect.stringContaining('does not contain 32 bytes'),
    expect.stringContaining('a key of type ec, not Ed25519'),
  ]);
});

test('a store other than SQLite must be given both keys', async () => {
  const problems = await problemsOf(settings, { ...store, engine: 'postgres' });
  expect(problems).toEqual([
    expect.stringMatching(/^INSTANCE_KEY is not set.* every process needs the same/),
    expect.stringMatching(/^SIGNING_KEY_FILE is not set.* every process needs the same/),
  ]);
  expect(existsSync(join(folder, 'data'))).toBe(false);
});
