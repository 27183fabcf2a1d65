import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { expect, onTestFinished, test } from 'vitest';
import { openBucket } from '../../src/outside/bucket.ts';
import { runCli } from '../cli/command-line.ts';
import { startCeph } from '../servers/ceph.ts';
import { temporaryFolder } from '../temporary.ts';
import { checkBucket } from './bucket-checks.ts';

test('Ceph accepts our signatures, locks the objects we lock, and keeps checkpoints', async () => {
  const ceph = await startCeph();
  onTestFinished(() => ceph.close());
  const { url, accessKeyId, secretAccessKey } = ceph;
  const credentials = { accessKeyId, secretAccessKey, sessionToken: null };
  const storage = { endpoint: url, region: 'us-east-1', pathStyle: null, credentials };
  const made = await new AwsV4Signer({
    method: 'PUT',
    url: `${url}/ledger`,
    headers: { 'x-amz-bucket-object-lock-enabled': 'true', 'x-amz-content-sha256': createHash('sha256').digest('hex') },
    accessKeyId,
    secretAccessKey,
    service: 's3',
    region: 'us-east-1',
  }).sign();
  expect((await fetch(made.url, { method: 'PUT', headers: made.headers })).status).toBe(200);
  await checkBucket(openBucket(storage, { bucket: 'ledger', prefix: 'checks/here' }));

  const wrong = { ...storage, credentials: { ...credentials, secretAccessKey: 'wrong' } };
  await expect(openBucket(wrong, { bucket: 'ledger', prefix: '' }).versions()).rejects.toThrow('SignatureDoesNotMatch');
  await expect(openBucket(storage, { bucket: 'nothing', prefix: '' }).versions()).rejects.toThrow(
    'the bucket does not exist',
  );

  const folder = await temporaryFolder();
  const policy = join(folder, 'policy');
  await mkdir(join(folder, 'data'), { recursive: true });
  await writeFile(policy, 'bucket vault s3://ledger/checkpoints\nquorum vault\n');
  const env = {
    WITNESSES: policy,
    CHECKPOINT_LOCK: 'COMPLIANCE 1 day',
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const cli = async (...args: string[]) => {
    const ran = await runCli(folder, args, env);
    return { code: ran.code, stdout: ran.stdout };
  };
  for (const name of ['Ada', 'Berta', 'Carla']) {
    const open = ['dsar', 'open', '--kind', 'access', '--received', '2026-06-01T10:00:00Z', '--name', name];
    expect((await cli(...open, '--channel', 'letter')).code).toBe(0);
    expect((await cli('ledger', 'witness')).code).toBe(0);
  }
  const verified = JSON.parse((await cli('ledger', 'verify', '--json')).stdout) as {
    copies: number;
    faults: unknown[];
  };
  expect(verified).toMatchObject({ copies: 3, faults: [] });
});
