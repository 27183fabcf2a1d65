// SQLite only, to run once: tokens are requested and read without a database.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { certificatesIn, imprintOf, readTimestamp, requestTimestamp } from '../../src/ledger/timestamp.ts';
import { createAuthority, openssl } from './time-stamping-authority.ts';

const data = Buffer.from('consent-ledger/1234567890/1\n17\n');

test('a token from openssl’s authority is accepted for the data that was sent, and for nothing else', async () => {
  const authority = await createAuthority();
  const roots = certificatesIn(await readFile(authority.caFile, 'utf8'));
  const { query, nonce } = await requestTimestamp(data);
  const answer = await authority.answer(query);
  const read = await readTimestamp(answer, data, roots, nonce);
  expect(read).toEqual({ outcome: 'valid', at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string });
  expect(await imprintOf(answer)).toEqual(sha256(data));

  await writeFile(join(authority.folder, 'data'), data);
  await writeFile(join(authority.folder, 'ours.tsr'), answer);
  const verified = await openssl(
    authority.folder,
    'ts',
    '-verify',
    '-data',
    'data',
    '-in',
    'ours.tsr',
    '-CAfile',
    'ca.pem',
  );
  expect(verified.stdout + verified.stderr).toContain('Verification: OK');

  const reason = async (...args: Parameters<typeof readTimestamp>) => {
    const result = await readTimestamp(...args);
    return result.outcome === 'valid' ? 'valid' : result.reason;
  };
  expect(await reason(answer, Buffer.from('other'), roots)).toBe('it covers something else');
  expect(await reason(answer, data, roots, Buffer.alloc(16, 9))).toContain('nonce');
  const other = await createAuthority();
  expect(await reason(answer, data, certificatesIn(await readFile(other.caFile, 'utf8')))).toContain('certificate');
  expect(await reason(answer, data, [])).toContain('certificate');
  expect(await reason(Buffer.concat([answer, Buffer.of(0)]), data, roots)).toBe('it is not a single DER value');
  expect(await reason(Buffer.from('none'), data, roots)).not.toBe('valid');
});

test('a token counts with any complete chain of certificates, also if the authority encloses a cross certificate', async () => {
  const authority = await createAuthority();
  await authority.crossCertify();
  const { query } = await requestTimestamp(data);
  const answer = await authority.answer(query);
  const root = async (name: string) => certificatesIn(await readFile(join(authority.folder, name), 'utf8'));
  const [ca, old, ended] = [await root('ca.pem'), await root('old.pem'), await root('ended.pem')];
  await writeFile(join(authority.folder, 'data'), data);
  await writeFile(join(authority.folder, 'cross.tsr'), answer);
  const verified = await openssl(
    authority.folder,
    ...['ts', '-verify', '-data', 'data', '-in', 'cross.tsr', '-CAfile', 'ca.pem'],
  );
  expect(verified.stdout + verified.stderr).toContain('Verification: OK');
  // The cross certificate leads nowhere, is needed, or is the longer way beside a root that has expired.
  for (const roots of [ca, old, [...ca, ...old], [...ended, ...old]])
    expect(await readTimestamp(answer, data, roots)).toMatchObject({ outcome: 'valid' });
  for (const roots of [ended, [], certificatesIn(await readFile((await createAuthority()).caFile, 'utf8'))])
    expect(await readTimestamp(answer, data, roots)).toMatchObject({
      outcome: 'invalid',
      reason: expect.stringContaining('certificate') as string,
    });
});

test('a token is refused after any byte of it was changed', async () => {
  const authority = await createAuthority();
  const roots = certificatesIn(await readFile(authority.caFile, 'utf8'));
  const { query } = await requestTimestamp(data);
  const answer = await authority.answer(query);
  const accepted: number[] = [];
  const meanings = new Set<string>();
  // Only a sample of the bytes of each part: all of them would take a minute of CPU time.
  for (let place = 0; place < answer.length; place += 31) {
    const altered = Buffer.from(answer);
    altered[place] = (altered[place] ?? 0) ^ 1;
    const read = await readTimestamp(altered, data, roots);
    if (read.outcome === 'valid') {
      accepted.push(place);
      meanings.add(read.at);
    }
  }
  const whole = await readTimestamp(answer, data, roots);
  // Parts that the signature does not cover (algorithm parameters, tags of optional parts) may vary; the meaning may
  // not.
  expect([...meanings].every((at) => whole.outcome === 'valid' && at === whole.at)).toBe(true);
  expect(accepted.length).toBeLessThan(answer.length / 31 / 5);
});

test('a token counts only with a certificate that is for time-stamping alone', async () => {
  const authority = await createAuthority();
  const roots = certificatesIn(await readFile(authority.caFile, 'utf8'));
  // Made before the token: the certificates have to be valid at its time.
  await authority.certify('sound', 'critical,timeStamping');
  await authority.certify('code', 'critical,codeSigning');
  await authority.certify('both', 'critical,timeStamping,codeSigning');
  await authority.certify('uncritical', 'timeStamping');
  const { query } = await requestTimestamp(data);
  const answer = await authority.answer(query);
  const outcome = async (name: string) => readTimestamp(await authority.signedBy(name, answer), data, roots);
  expect(await outcome('sound')).toMatchObject({ outcome: 'valid' });
  for (const name of ['code', 'both', 'uncritical'])
    expect(await outcome(name)).toEqual({
      outcome: 'invalid',
      reason: 'its certificate is not restricted to time-stamping',
    });
});
