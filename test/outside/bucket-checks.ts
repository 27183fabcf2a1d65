import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Bucket } from '../../src/outside/bucket.ts';
import { BucketError } from '../../src/outside/s3.ts';
import { temporaryFolder } from '../temporary.ts';

/** The checks that every store must pass. `bucket` is empty, and can lock objects. */
export async function checkBucket(bucket: Bucket): Promise<void> {
  const folder = await temporaryFolder();
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(await bucket.canLock()).toBe(true);
  expect(await bucket.versions()).toEqual([]);

  // A small object, stored twice under one name with characters that have to be escaped.
  const key = bucket.keyOf('a b+c=d~(e).txt');
  await bucket.put(key, 'one', { mode: 'COMPLIANCE', days: 1 });
  await bucket.put(key, 'two', null);
  for (let nth = 1; nth <= 4; nth += 1) await bucket.put(bucket.keyOf(`n-${nth}`), `${nth}`, null);
  const all = await bucket.versions();
  expect(all.map((one) => one.key)).toEqual([key, key, ...[1, 2, 3, 4].map((nth) => bucket.keyOf(`n-${nth}`))]);
  expect(await bucket.versions('n-', { after: 'n-2' })).toHaveLength(2);
  const [newest, oldest] = all;
  expect((await bucket.get(key, oldest?.version ?? '', 100)).toString()).toBe('one');
  expect((await bucket.get(key, null, 100)).toString()).toBe('two');
  await expect(bucket.get(key, null, 2)).rejects.toThrow('at most 2 ');
  // A locked version stays, an unlocked one is removed.
  expect(await bucket.remove(oldest ?? { key, version: '' })).toBe(false);
  expect(await bucket.remove(newest ?? { key, version: '' })).toBe(true);
  expect((await bucket.get(key, null, 100)).toString()).toBe('one');
  const head = await bucket.head(key);
  expect(head).toMatchObject({ bytes: 3, lock: { mode: 'COMPLIANCE' } });
  expect(head.lock?.until.getTime()).toBeGreaterThan(Date.now() + 86_000_000);
  await expect(bucket.head(bucket.keyOf('nothing'))).rejects.toThrow(BucketError);

  // A large object, uploaded and downloaded in parts.
  const content = randomBytes((32 << 20) + 12_345);
  await writeFile(join(folder, 'large'), content);
  const steps: number[] = [];
  const large = bucket.keyOf('folder/large');
  await bucket.putFile(large, join(folder, 'large'), {
    lock: { mode: 'GOVERNANCE', days: 2 },
    onProgress: (bytes) => steps.push(bytes),
  });
  expect(steps).toEqual([16 << 20, 32 << 20, content.length]);
  expect(await bucket.head(large)).toMatchObject({ bytes: content.length, lock: { mode: 'GOVERNANCE' } });
  await bucket.getFile(large, join(folder, 'back'));
  expect(digest(await readFile(join(folder, 'back')))).toBe(digest(content));
  const [version] = await bucket.versions('folder/');
  expect(version?.bytes).toBe(content.length);
  expect(await bucket.remove(version ?? { key: large, version: '' })).toBe(false);
}
