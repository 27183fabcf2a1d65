import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { proofFolder } from '../../reports/dsar-pack/proofs.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { originOf, verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import { proofFiles, proveEntry } from '../../src/ledger/prove-entry.ts';
import { createLog } from '../../src/log/log.ts';
import { openssl, serveAuthority } from '../ledger/time-stamping-authority.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

/** A ledger with two witnesses, one entry that they have seen, and one after it. */
async function world() {
  const folder = await temporaryFolder();
  const file = join(folder, 'witnesses');
  const config = loadConfig(environment(folder, { WITNESSES: file }), folder);
  await writeFile(file, 'quorum none\n');
  const context = await openContext(config, createLog('fatal'));
  onTestFinished(() => context.close());
  const [first, second] = [
    await startWitness('witness.example/1', context.verifierKey),
    await startWitness('witness.example/2', context.verifierKey),
  ];
  await writeFile(file, `witness first ${first}\nwitness second ${second}\ngroup both all first second\nquorum both\n`);
  const deliver = async (nth: number) => {
    const delivery = {
      ...({ source: 'default', headers: {}, secretId: 'aaaaaaaa', verdict: 'verified', contentType: null } as const),
      rawBody: Buffer.from(JSON.stringify({ event: 'consent.recorded', data: { consent_id: `c-${nth}` } })),
    };
    return (await appendDelivery(context.ledger, delivery, new Date().toISOString())).seq;
  };
  const seq = await deliver(1);
  await context.witness();
  const later = await deliver(2);
  await context.seal();
  return { folder, context, keys: { first, second }, seq, later };
}

/** The folder that `ledger prove` writes. */
async function proofOf(context: Awaited<ReturnType<typeof world>>['context'], ...seqs: number[]): Promise<string> {
  const proven = [];
  for (const seq of seqs) {
    const proof = await proveEntry(context, seq, 'witnessed');
    if (proof.outcome === 'unproven' || proof.inclusion === null) throw new Error('not proven');
    proven.push({ seq, ...proofFiles(proof.entry, proof.inclusion, true) });
  }
  const out = join(await temporaryFolder(), 'proof');
  for await (const { name, content } of proofFolder(context.verifierKey, proven)) {
    await mkdir(dirname(join(out, name)), { recursive: true });
    await writeFile(join(out, name), content);
  }
  return out;
}

function verify(folder: string, ...args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(folder, 'verify.mjs'), folder, ...args], (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), stdout }),
    );
  });
}

test('the proof of an entry that witnesses have seen carries their cosignatures, which its verifier checks without a network', async () => {
  const { context, keys, seq, later } = await world();
  const folder = await proofOf(context, seq);
  const found = await verify(folder);
  expect(found.code, found.stdout).toBe(0);
  expect(found.stdout).toMatch(
    /· Witnesses: the checkpoint over \d+ entr.* was also signed by first \(20\S+Z\), second \(20\S+Z\)\. The keys of the witnesses came with the files/,
  );
  const policy = await readFile(join(folder, 'tlog-policy'), 'utf8');
  expect(policy).toBe(
    [
      `log ${context.verifierKey}`,
      `witness first ${keys.first.split(' ')[0]}`,
      `witness second ${keys.second.split(' ')[0]}`,
      'group enclosed any first second',
      'quorum enclosed\n',
    ].join('\n'),
  );
  // One that they have not seen goes without.
  const bare = await proofOf(context, later);
  expect((await verify(bare)).stdout).not.toContain('Witnesses');
  expect(await readFile(join(bare, 'tlog-policy'), 'utf8')).toBe(`log ${context.verifierKey}\nquorum none\n`);
});

test('the proof of an entry carries the time stamp over its checkpoint, which openssl verifies from the same folder', async () => {
  const { folder, context, seq } = await world();
  const authority = await serveAuthority();
  await writeFile(join(folder, 'witnesses'), `timestamp tsa ${authority.caFile} ${authority.url}\nquorum tsa\n`);
  await context.witness({ again: true });
  const out = await proofOf(context, seq);
  const found = await verify(out);
  expect(found.code, found.stdout).toBe(0);
  const [, note = '', token = ''] = /-data (\S+) -in (\S+) -CAfile/.exec(found.stdout) ?? [];
  const checked = await openssl(out, 'ts', '-verify', '-data', note, '-in', token, '-CAfile', authority.caFile);
  expect(checked.stdout + checked.stderr).toContain('Verification: OK');
  // A token over something else, and a changed checkpoint beside it.
  const proven = await readFile(join(out, note), 'utf8');
  await writeFile(join(out, note), `${proven}\n`);
  expect((await verify(out)).stdout).toContain('is not over a checkpoint of these proofs');
  await writeFile(join(out, note), proven);
  await writeFile(join(out, token), (await readFile(join(out, token))).fill(0, 40, 160));
  expect((await verify(out)).code).toBe(3);
});

test('proofs of which only some have been seen by witnesses are sound together, and it says which have', async () => {
  const { context, keys, seq, later } = await world();
  const folder = await proofOf(context, seq, later);
  const found = await verify(folder);
  expect(found.code, found.stdout).toBe(0);
  expect(found.stdout).toMatch(new RegExp(`· Witnesses: .* signed by first .*Under it: entry ${seq}\n`));
  expect(found.stdout).toMatch(new RegExp(`· Witnesses: no witness has signed .*Under it: entry ${later}\n`));
  expect(await readFile(join(folder, 'tlog-policy'), 'utf8')).toMatch(/\nwitness second \S+\nquorum none\n$/);
  const own = join(folder, '..', 'mine');
  await writeFile(own, `witness mine ${keys.second}\nquorum mine\n`);
  const judged = await verify(folder, '--policy', own);
  expect([judged.code, judged.stdout]).toEqual([3, expect.stringContaining(`requires. Under it: entry ${later}\n`)]);
});

test('the verifier takes the key of a later epoch of the same ledger, and no other', async () => {
  const { context, seq } = await world();
  const folder = await proofOf(context, seq);
  const later = verifierKeyOf(originOf(context.instance, 2), context.keys.verifying);
  const found = await verify(folder, '--key', later);
  expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('a backup was restored between them')]);
  const stranger = verifierKeyOf(originOf('0123456789', 1), context.keys.verifying);
  const other = verifierKeyOf(originOf(context.instance, 1), generateKeyPairSync('ed25519').publicKey);
  for (const key of [stranger, other]) expect((await verify(folder, '--key', key)).code).toBe(3);
});

test('the reader’s own policy decides whether the witnesses are enough', async () => {
  const { folder, context, keys, seq, later } = await world();
  const own = join(folder, 'mine');
  const stranger = await startWitness('witness.example/3', context.verifierKey);
  const judged = async (of: number, ...lines: string[]) => {
    await writeFile(own, `${lines.join('\n')}\n`);
    return verify(await proofOf(context, of), '--policy', own);
  };
  const mine = `witness mine ${keys.second}`;
  const good = await judged(seq, '# who I trust', mine, 'quorum mine');
  expect([good.code, good.stdout]).toEqual([
    0,
    expect.stringMatching(/✓ Witnesses: .* mine \(20.*as your policy requires/),
  ]);
  const missing = await judged(later, mine, 'quorum mine');
  expect([missing.code, missing.stdout]).toEqual([3, expect.stringContaining('as your policy requires')]);
  const other = await judged(seq, `witness other ${stranger}`, 'quorum other');
  expect([other.code, other.stdout]).toEqual([3, expect.stringContaining('✗ proofs/')]);
  const two = await judged(seq, mine, `witness other ${stranger}`, 'group g 2 mine other', 'quorum g');
  expect(two.code).toBe(3);
  const doubled = await judged(seq, mine, 'group g 2 mine mine', 'quorum g');
  expect([doubled.code, doubled.stdout]).toEqual([3, expect.stringContaining('is not understood')]);
});

test.each([
  [
    'a cosignature of another checkpoint',
    'proofs',
    (text: string) =>
      text.replace(
        /(— witness\.example\/1 \S{20})(.)/,
        (_, head: string, one: string) => head + (one === 'A' ? 'B' : 'A'),
      ),
  ],
  ['a witness added to the enclosed policy', 'tlog-policy', (text: string) => `${text}witness more x+00000000+AAAA\n`],
  ['a remark in the enclosed policy', 'tlog-policy', (text: string) => `# This proof was withdrawn.\n${text}`],
  [
    'another log in the enclosed policy',
    'tlog-policy',
    (text: string) => text.replace('log consent-ledger', 'log other'),
  ],
] as const)('the verifier refuses %s', async (_, file, change) => {
  const { context, seq } = await world();
  const folder = await proofOf(context, seq);
  const path = join(folder, file === 'proofs' ? `proofs/${seq}.tlog-proof` : file);
  const before = await readFile(path, 'utf8');
  expect(change(before)).not.toBe(before);
  await writeFile(path, change(before));
  expect((await verify(folder)).code).toBe(3);
});
