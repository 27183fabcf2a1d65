import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { parseVerifierKey, readCheckpoint } from '../../src/crypto/checkpoint.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { provesConsistency } from '../../src/crypto/tlog-proof.ts';
import { parseWitnessPolicy } from '../../src/ledger/witness.ts';
import { runCli } from '../cli/command-line.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

/** A witness as c2sp.org/tlog-witness describes it, for one log. */
async function startWitness(name: string, logKey: string, forge = false) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const log = parseVerifierKey(logKey);
  const keyBytes = Buffer.concat([Buffer.of(4), Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')]);
  const keyHash = sha256(Buffer.concat([Buffer.from(`${name}\n`), keyBytes])).subarray(0, 4);
  let latest: { size: number; root: Buffer } = { size: 0, root: Buffer.alloc(0) };
  const answer = (body: string): [number, string] => {
    const [head = '', ...rest] = body.split('\n\n');
    const note = rest.join('\n\n');
    const [old = '', ...hashes] = head.split('\n');
    const reading = readCheckpoint(note, log?.publicKey as KeyObject);
    if (reading.outcome !== 'valid') return [403, ''];
    if (Number(old.slice(4)) !== latest.size) return [409, `${latest.size}\n`];
    const { head: now } = reading;
    if (latest.size === now.size && !latest.root.equals(now.root)) return [409, `${latest.size}\n`];
    if (
      latest.size > 0 &&
      !provesConsistency(
        latest,
        now,
        hashes.map((hash) => Buffer.from(hash, 'base64')),
      )
    )
      return [422, ''];
    if (latest.size === 0 && hashes.length > 0) return [422, ''];
    latest = now;
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(1_800_000_000n);
    const signed = `cosignature/v1\ntime 1800000000\n${note.slice(0, note.indexOf('\n\n') + 1)}${forge ? ' ' : ''}`;
    const signature = Buffer.concat([keyHash, time, sign(null, Buffer.from(signed), privateKey)]);
    return [200, `— other.example/w AAAAAAAA\n— ${name} ${signature.toString('base64')}\n`];
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const [status, said] =
        request.url === '/w/add-checkpoint' && request.method === 'POST' ? answer(body) : [404, ''];
      response.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' }).end(said);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `${name}+${keyHash.toString('hex')}+${keyBytes.toString('base64')} http://127.0.0.1:${port}/w`;
}

test('witnesses cosign checkpoint after checkpoint, and find a history that was rewritten or cut off', async () => {
  const folder = await temporaryFolder();
  const run = (...args: string[]) => runCli(folder, args);
  const open = (name: string) =>
    run(
      'dsar',
      'open',
      '--kind',
      'access',
      '--received',
      '2026-06-01T10:00:00Z',
      '--name',
      name,
      '--channel',
      'letter',
    );
  const key = (await run('ledger', 'key')).stdout.trim();
  const path = join(folder, 'policy');
  const [one, two] = [await startWitness('witness.example/1', key), await startWitness('witness.example/2', key, true)];
  const policy = (rule: string) =>
    writeFile(path, `# ours\nlog ${key}\n\nwitness one ${one}\nwitness two ${two}\n${rule}\n`);

  await open('Ada');
  await policy('group both all one two\nquorum both');
  const partly = await run('ledger', 'witness', path);
  expect([partly.code, partly.stdout]).toEqual([
    1,
    expect.stringContaining('✗ two: its answer has no valid cosignature of its key'),
  ]);
  await policy('group any-of any one two\nquorum any-of');
  await open('Berta');
  await open('Carla');
  const { size, file, witnesses } = JSON.parse((await run('ledger', 'witness', path, '--json')).stdout) as {
    size: number;
    file: string;
    witnesses: { outcome: string; at?: string }[];
  };
  expect(witnesses).toMatchObject([{ outcome: 'cosigned', at: '2027-01-15T08:00:00.000Z' }, { outcome: 'failed' }]);
  const note = await readFile(file, 'utf8');
  expect(note.split('\n')[1]).toBe(String(size));
  expect(note).toContain('— witness.example/1 ');
  expect((await run('ledger', 'witness', path)).code).toBe(0);
  expect((await run('ledger', 'verify', '--public', '--key', key, '--checkpoint', file)).code).toBe(0);

  await policy('quorum none');
  await open('Dora');
  await alter(folder, `update entries set leaf_hash = ${bytes(Buffer.alloc(32))} where seq = ${size}`);
  const rewritten = await run('ledger', 'witness', path);
  expect([rewritten.code, rewritten.stdout]).toEqual([3, expect.stringContaining('they were rewritten')]);
  await alter(folder, `delete from entries where seq >= ${size}`, `delete from checkpoints where size >= ${size}`);
  const cut = await run('ledger', 'witness', path);
  expect([cut.code, cut.stdout]).toEqual([3, expect.stringContaining('entries are gone from the end')]);
});

test.each([
  ['no quorum', 'log x\n', 'quorum'],
  ['a witness without a key', 'witness a b\nquorum a\n', 'line 1'],
  ['a quorum of nobody', 'quorum a\n', 'line 1'],
  ['a group of nobody', 'group g any a\nquorum g\n', 'line 1'],
  ['another keyword', 'quorom none\n', 'line 1'],
  ['two quorums', 'quorum none\nquorum none\n', 'line 2'],
])('a policy with %s is refused', (_, policy, words) => {
  expect(parseWitnessPolicy(policy)).toContain(words);
});
