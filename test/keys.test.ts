import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../src/core/errors.ts';
import { loadKeys, type KeySettings } from '../src/keys.ts';
import { createLedger } from '../src/ledger/append.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';

let folder: string;
let store: Store;
let settings: KeySettings;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'consent-ledger-keys-'));
  settings = { instanceKey: null, signingKeyFile: null, dataDir: join(folder, 'data') };
  store = await openSqliteStore({ path: join(folder, 'ledger.sqlite') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
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

test('a first start makes both keys, for their owner only, and the next start finds them', async () => {
  const first = await loadKeys(settings, store);
  expect(first.created).toEqual([instanceFile(), signingFile()]);
  expect(statSync(instanceFile()).mode & 0o777).toBe(0o600);
  expect(statSync(signingFile()).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'data', 'keys')).mode & 0o777).toBe(0o700);
  const second = await loadKeys(settings, store);
  expect(second.created).toEqual([]);
  expect(second.instance).toEqual(first.instance);
  const text = Buffer.from('text');
  expect(verify(null, text, second.verifying, sign(null, text, first.signing))).toBe(true);
});

test('twenty first starts at once agree on one pair of keys', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => loadKeys(settings, store)));
  expect(new Set(all.map(({ fingerprints }) => `${fingerprints.instance} ${fingerprints.signing}`)).size).toBe(1);
  expect(all.flatMap(({ created }) => created)).toHaveLength(2);
});

test('a configured instance key is used and nothing is written for it', async () => {
  const keys = await loadKeys({ ...settings, instanceKey: randomBytes(32) }, store);
  expect(keys.created).toEqual([signingFile()]);
  expect(existsSync(instanceFile())).toBe(false);
});

test('another instance key or signing key than the first is refused, and both are named at once', async () => {
  await loadKeys(settings, store);
  const other = join(folder, 'other.pem');
  writeFileSync(other, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const problems = await problemsOf({ ...settings, instanceKey: randomBytes(32), signingKeyFile: other });
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('INSTANCE_KEY is not the one that this database was begun with');
  expect(problems[1]).toContain('signing key is not the one');
});

test('a lost key file of a used database is never replaced by a new key', async () => {
  await loadKeys(settings, store);
  const before = readFileSync(signingFile(), 'utf8');
  renameSync(instanceFile(), join(folder, 'away'));
  expect(await problemsOf(settings)).toEqual([expect.stringContaining(`${instanceFile()} is missing: restore it`)]);
  expect(existsSync(instanceFile())).toBe(false);
  expect(readFileSync(signingFile(), 'utf8')).toBe(before);
  renameSync(join(folder, 'away'), instanceFile());
  await loadKeys(settings, store);
});

test('a database whose fingerprints were removed does not get new ones', async () => {
  const { instance } = await loadKeys(settings, store);
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
  expect(await problemsOf(settings)).toEqual([expect.stringContaining('entries but no key fingerprints')]);
});

test('keys that are there before the database are taken over', async () => {
  const first = await loadKeys(settings, store);
  const another = await openSqliteStore({ path: join(folder, 'another.sqlite') });
  try {
    const keys = await loadKeys(settings, another);
    expect(keys.created).toEqual([]);
    expect(keys.fingerprints).toEqual(first.fingerprints);
  } finally {
    await another.close();
  }
});

test('a configured signing key file that is missing is not made up', async () => {
  const signingKeyFile = join(folder, 'none.pem');
  expect(await problemsOf({ ...settings, signingKeyFile })).toEqual([
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
    expect.stringContaining('does not hold 32 bytes'),
    expect.stringContaining('a key of type ec, not Ed25519'),
  ]);
});

test('a store that is not SQLite must be given both keys', async () => {
  const problems = await problemsOf(settings, { ...store, engine: 'postgres' });
  expect(problems).toHaveLength(2);
  expect(existsSync(join(folder, 'data'))).toBe(false);
});

test('a folder that cannot be written is a problem in words', async () => {
  writeFileSync(join(folder, 'data'), 'a file where the folder should be');
  chmodSync(join(folder, 'data'), 0o600);
  expect((await problemsOf(settings)).join('\n')).toContain('cannot be used (ENOTDIR)');
});
