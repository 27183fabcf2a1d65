// SQLite only: keys that a first start makes by itself. PostgreSQL must be given both.
import { randomBytes, sign, verify } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type KeySettings, loadKeys } from '../src/config/load-keys.ts';
import { UsageError } from '../src/core/errors.ts';
import type { Store } from '../src/store/store.ts';
import { temporaryFolder, temporaryStore } from './temporary.ts';

let folder: string;
let store: Store;
let settings: KeySettings;
beforeEach(async () => {
  folder = await temporaryFolder();
  settings = { instanceKey: null, signingKeyFile: null, dataDir: join(folder, 'data') };
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

test('a folder that cannot be written is reported in plain words', async () => {
  writeFileSync(join(folder, 'data'), 'a file where the folder should be');
  chmodSync(join(folder, 'data'), 0o600);
  expect((await problemsOf(settings)).join('\n')).toContain('(ENOTDIR)');
});
