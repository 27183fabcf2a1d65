import { AwsV4Signer } from 'aws4fetch';
import { expect, onTestFinished, test } from 'vitest';
import { openBucket, readVersions } from '../../src/outside/bucket.ts';
import { BucketError, objectUrl } from '../../src/outside/s3.ts';
import { longest } from '../../src/service/outgoing-http.ts';
import { checkBucket } from './bucket-checks.ts';
import { KEY_ID, SECRET, type StandIn, signatureOf, startObjectStore } from './object-store.ts';

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Examples. */
const examples = [
  {
    method: 'GET',
    target: '/test.txt',
    more: { range: 'bytes=0-9' },
    sha256: EMPTY,
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    // The client does not sign Range.
    client: false,
  },
  {
    method: 'PUT',
    target: '/test%24file.text',
    more: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    sha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    client: true,
  },
  {
    method: 'GET',
    target: '/?lifecycle',
    more: {},
    sha256: EMPTY,
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    client: true,
  },
  {
    method: 'GET',
    target: '/?max-keys=2&prefix=J',
    more: {},
    sha256: EMPTY,
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    client: true,
  },
];

test.each(examples)(
  '$method $target has the signature in the documentation, here and in the stand-in',
  async (example) => {
    const { method, target, more, sha256, signature, client } = example;
    const [date, time, region] = ['20130524', '20130524T000000Z', 'us-east-1'];
    const headers: Record<string, string> = {
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': sha256,
      'x-amz-date': time,
      ...more,
    };
    const signedHeaders = Object.keys(headers).sort().join(';');
    expect(signatureOf({ method, target, headers }, { secret: SECRET, region, date, time, signedHeaders })).toBe(
      signature,
    );
    if (!client) return;
    const signer = new AwsV4Signer({
      method,
      url: `https://${headers['host']}${target}`,
      headers: { ...more, 'x-amz-content-sha256': sha256 },
      accessKeyId: KEY_ID,
      secretAccessKey: SECRET,
      service: 's3',
      region,
      datetime: time,
    });
    expect(await signer.signature()).toBe(signature);
  },
);

const bucketAt = (
  { url }: Pick<StandIn, 'url'>,
  other: Partial<{ region: string; secret: string; id: string; token: string }> = {},
) =>
  openBucket(
    {
      endpoint: url,
      region: other.region ?? 'eu-test-1',
      pathStyle: null,
      credentials: {
        accessKeyId: other.id ?? KEY_ID,
        secretAccessKey: other.secret ?? SECRET,
        sessionToken: other.token ?? null,
      },
    },
    { bucket: 'ledger', prefix: 'ours/here' },
  );

test.each([false, true])(
  'objects are written, locked, listed in pages, read and removed (forgetful store: %s)',
  async (forgetful) => {
    const store = await startObjectStore({ forgetful });
    await checkBucket(bucketAt(store));
    expect(store.versions.every(({ key }) => key.startsWith('ours/here/'))).toBe(true);
  },
);

test('a session token is sent, and signed', async () => {
  const store = await startObjectStore({ token: 'the-token' });
  await expect(bucketAt(store).versions()).rejects.toThrow('ExpiredToken');
  expect(await bucketAt(store, { token: 'the-token' }).versions()).toEqual([]);
});

test('the bucket is in the host name for AWS and on request, otherwise in the path', () => {
  const storage = { endpoint: null, region: 'eu-central-1', pathStyle: null, credentials: null };
  const at = (other: object) => objectUrl({ ...storage, ...other }, 'ledger', 'a/b c', { 'list-type': '2' });
  expect(at({})).toBe('https://ledger.s3.eu-central-1.amazonaws.com/a/b%20c?list-type=2');
  expect(at({ pathStyle: true })).toBe('https://s3.eu-central-1.amazonaws.com/ledger/a/b%20c?list-type=2');
  expect(at({ endpoint: 'https://s.example:9000/s3' })).toBe('https://s.example:9000/s3/ledger/a/b%20c?list-type=2');
  expect(at({ endpoint: 'https://s.example', pathStyle: false })).toBe('https://ledger.s.example/a/b%20c?list-type=2');
});

test.each([
  ['a wrong secret', { secret: 'wrong' }, 'AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID'],
  ['an unknown key', { id: 'AKIAOTHER' }, 'the storage does not know AWS_ACCESS_KEY_ID'],
  ['another region', { region: 'us-east-1' }, 'AWS_REGION is not the region of the bucket'],
])('%s is named without any secret', async (_, other, words) => {
  const store = await startObjectStore();
  const error = await bucketAt(store, other)
    .versions()
    .catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(BucketError);
  expect(String(error)).toContain(words);
  expect(String(error)).not.toContain(SECRET);
  // A refusal is final.
  expect(store.asked).toHaveLength(1);
});

test('the bucket client reports a bucket that does not exist, and one that cannot lock', async () => {
  const store = await startObjectStore({ lock: false });
  const bucket = bucketAt(store);
  expect(await bucket.canLock()).toBe(false);
  await expect(bucket.put(bucket.keyOf('x'), 'x', { mode: 'COMPLIANCE', days: 1 })).rejects.toThrow('InvalidRequest');
  const storage = { endpoint: store.url, region: 'eu-test-1', pathStyle: true, credentials: null };
  const missing = openBucket(
    { ...storage, credentials: { accessKeyId: KEY_ID, secretAccessKey: SECRET, sessionToken: null } },
    { bucket: 'other', prefix: '' },
  );
  await expect(missing.versions()).rejects.toThrow('the bucket does not exist');
  await expect(openBucket(storage, { bucket: 'ledger', prefix: '' }).versions()).rejects.toThrow('are not set');
});

test('a store that is down or busy is tried three times, and a silent one times out', async () => {
  const store = await startObjectStore();
  const bucket = bucketAt(store);
  const before = { ...longest };
  Object.assign(longest, { exchangeMs: 200, pauseMs: 10 });
  onTestFinished(() => void Object.assign(longest, before));
  for (const [fault, words] of [
    ['away', 'does not answer'],
    ['busy', 'HTTP 503 SlowDown'],
    ['silent', 'does not answer'],
  ] as const) {
    store.fault = fault;
    store.asked.length = 0;
    await expect(bucket.versions()).rejects.toThrow(words);
    expect(store.asked).toHaveLength(3);
  }
});

test('the bucket client ends a listing that never ends, and an answer that is not a listing', () => {
  expect(readVersions('<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>')).toEqual({
    versions: [],
    next: null,
  });
  expect(
    readVersions('<Version><Key>%zz</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Version><Version><Key>a')
      .versions,
  ).toEqual([]);
  expect(readVersions('<Version>'.repeat(20_000)).versions).toEqual([]);
});
