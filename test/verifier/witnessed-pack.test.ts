import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import * as verifier from '../../reports/verifier/verify.mjs';
import { checkFile } from '../../src/documents/check.ts';
import { producePack } from '../../src/documents/produce-pack.ts';
import { readOutsideNotes } from '../../src/ledger/verify/outside-checkpoints.ts';
import { openssl } from '../ledger/time-stamping-authority.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesOf, packOf, witnessedPack } from './pack-world.ts';

type Found = { ok: boolean; checks: { state: string; what: string; text: string }[] };
const check = (files: ReadonlyMap<string, Buffer>, options = {}) =>
  verifier.check(
    new Map([...files].map(([name, content]) => [name, { content: new Uint8Array(content), broken: false }])),
    options,
  ) as Promise<Found>;
const linesOf = ({ checks }: Found) => checks.map(({ state, what, text }) => `${state} ${what}: ${text}`);
const faults = (found: Found) => linesOf(found).filter((line) => line.startsWith('bad'));

async function unpacked(files: ReadonlyMap<string, Buffer>): Promise<string> {
  const folder = join(await temporaryFolder(), 'pack');
  for (const [name, content] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

function run(script: string, ...args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), stdout }),
    );
  });
}

const zipOf = (files: ReadonlyMap<string, Buffer>) =>
  Buffer.from(zipSync(Object.fromEntries([...files].map(([name, content]) => [name, new Uint8Array(content)]))));

test('a pack carries what witnesses had signed over its entries, and its verifier says so without a network', async () => {
  const { zip, path, key, caFile, verifierKey, world } = await witnessedPack();
  const files = filesOf(zip);
  expect(String(files.get('tlog-policy'))).toBe(`log ${verifierKey}\nwitness first ${key}\nquorum none\n`);
  expect([...files.keys()].filter((name) => name.startsWith('witnessed/'))).toEqual([
    expect.stringMatching(/^witnessed\/1-0{15}\d\.tsa\.tsr$/),
    expect.stringMatching(/^witnessed\/1-0{15}\d\.note$/),
  ]);
  for (const entry of [1, 3, 4])
    expect(String(files.get(`proofs/${entry}.tlog-proof`))).toMatch(/\n— witness\.example\/1 \S+\n$/);
  expect(String(files.get('proofs/manifest.tlog-proof'))).not.toContain('witness.example');
  expect(String(files.get('README.txt'))).toContain('time stamps over the checkpoint of these proofs');
  const folder = await unpacked(files);
  const found = await run(join(folder, 'verify.mjs'), path, '--key', verifierKey);
  expect(found.code, found.stdout).toBe(0);
  expect(found.stdout).toMatch(
    /· Witnesses: the checkpoint over \d entries was also signed by first \(20\S+Z\)\. .*Under it: entries 1, 3, 4\n/,
  );
  expect(found.stdout).toMatch(
    /· manifest\.json: is under the checkpoint over \d entries, which was made with the pack/,
  );
  expect(found.stdout).toMatch(
    /· Time stamp: \S+ says that the checkpoint over \d entries existed on 20\d\d-\S+T\S+Z\./,
  );
  const [, note = '', token = ''] = /-data (\S+) -in (\S+) -CAfile/.exec(found.stdout) ?? [];
  const stamped = await openssl(folder, 'ts', '-verify', '-data', note, '-in', token, '-CAfile', caFile);
  expect(stamped.stdout + stamped.stderr).toContain('Verification: OK');
  const { stdout } = await openssl(folder, 'ts', '-reply', '-in', token, '-text');
  const [, time = ''] = /Time stamp: (.+ GMT)/.exec(stdout) ?? [];
  expect(found.stdout).toContain(new Date(time).toISOString().slice(0, 19));

  // The program recognises it, whole, zipped again, and with a change of what the witnesses signed.
  const judged = async (name: string, bytes: Buffer) => {
    const at = join(await temporaryFolder(), name);
    await writeFile(at, bytes);
    return checkFile(world.context, at);
  };
  expect((await checkFile(world.context, path)).documents).toHaveLength(1);
  const again = await judged('again.zip', zipOf(files));
  expect([again.packs.length, again.problems]).toEqual([1, []]);
  const token2 = [...files.keys()].find((name) => name.endsWith('.tsr')) ?? '';
  const changed = await judged('changed.zip', zipOf(new Map([...files, [token2, Buffer.from('x')]])));
  expect([changed.packs.length, changed.problems.join()]).toEqual([0, expect.stringContaining('was changed')]);
  const { notes } = await readOutsideNotes(path);
  expect(notes.some((one) => one.includes('— witness.example/1 '))).toBe(true);
});

test('the reader’s own policy judges the entries of a pack, and says that no witness could sign over its list of files', async () => {
  const { zip, key, world } = await witnessedPack();
  const files = filesOf(zip);
  const stranger = (await startWitness('witness.example/9', world.context.verifierKey)).split(' ')[0] ?? '';
  const mine = await check(files, { policyText: `witness mine ${key}\nquorum mine\n` });
  expect(faults(mine)).toEqual([]);
  expect(linesOf(mine).join('\n')).toMatch(
    /ok Witnesses: .* mine \(20\S+\), as your policy requires\. Under it: entries 1, 3, 4\n/,
  );
  expect(linesOf(mine).join('\n')).toContain('note manifest.json: is under the checkpoint');
  const other = await check(files, { policyText: `witness other ${stranger}\nquorum other\n` });
  expect(faults(other)).toEqual([
    expect.stringMatching(/bad proofs\/\d\.tlog-proof: .* as your policy requires\. Under it: entries 1, 3, 4$/),
    expect.stringMatching(/bad proofs\/manifest\.tlog-proof: .* as your policy requires$/),
  ]);
  // The list of files alone does not meet a policy.
  const alone = new Map([...files].filter(([name]) => /^(?:manifest|log|letter\.pdf|proofs\/manifest)/.test(name)));
  expect(faults(await check(alone, { isWhole: false }))).toEqual([]);
  const judged = await check(alone, { isWhole: false, policyText: `witness mine ${key}\nquorum mine\n` });
  expect(faults(judged)).toEqual([expect.stringContaining('bad proofs/manifest.tlog-proof')]);
});

test('a pack is red after what the witnesses signed was changed, removed or swapped', async () => {
  const { zip } = await witnessedPack();
  const files = filesOf(zip);
  expect(faults(await check(files))).toEqual([]);
  const without = (text: string) => text.replace(/— witness\.example\/1 \S+\n/, '');
  const damaged = (text: string) =>
    text.replace(
      /(— witness\.example\/1 \S{30})(.)/,
      (_, head: string, one: string) => head + (one === 'A' ? 'B' : 'A'),
    );
  const proof = String(files.get('proofs/3.tlog-proof'));
  for (const change of [without, damaged]) {
    expect(change(proof)).not.toBe(proof);
    const found = await check(new Map([...files, ['proofs/3.tlog-proof', Buffer.from(change(proof))]]));
    expect(faults(found)).toContain('bad proofs/3.tlog-proof: was changed: its content does not match the manifest');
  }
  const found = await check(new Map([...files, ['proofs/3.tlog-proof', Buffer.from(damaged(proof))]]));
  expect(faults(found).join('\n')).toContain('the cosignature of first on its checkpoint is invalid');
  for (const name of [...files.keys()].filter((one) => one.startsWith('witnessed/'))) {
    const rest = new Map([...files].filter(([one]) => one !== name));
    expect(faults(await check(rest))).toContain(`bad ${name}: is missing`);
  }
});

test.each([
  ['ML-DSA-44', ['ml-dsa-44']],
  ['both of its keys, of which the policy names one', ['ml-dsa-44', 'ed25519']],
] as const)('a pack carries what a witness signed with %s, and its verifier checks that itself', async (_, signs) => {
  const { zip, path, key, verifierKey, world } = await witnessedPack(undefined, signs);
  const files = filesOf(zip);
  expect(String(files.get('tlog-policy'))).toBe(`log ${verifierKey}\nwitness first ${key}\nquorum none\n`);
  const proof = String(files.get('proofs/3.tlog-proof'));
  expect(proof.match(/\n— witness\.example\/1 /g)).toHaveLength(1);
  const folder = await unpacked(files);
  const own = join(folder, '..', 'mine');
  await writeFile(own, `witness mine ${key}\nquorum mine\n`);
  const found = await run(join(folder, 'verify.mjs'), path, '--policy', own);
  expect([found.code, found.stdout]).toEqual([
    0,
    expect.stringMatching(/✓ Witnesses: .* mine \(20\S+Z\), as your policy requires/),
  ]);
  const { subtle } = verifier.engine;
  try {
    verifier.engine.subtle = undefined;
    expect(faults(await check(files))).toEqual([]);
  } finally {
    verifier.engine.subtle = subtle;
  }
  for (const place of [100, 3000]) {
    const damaged = proof.replace(
      new RegExp(`(— witness\\.example/1 \\S{${place}})(.)`),
      (_all, before: string, one: string) => before + (one === 'A' ? 'B' : 'A'),
    );
    expect(damaged).not.toBe(proof);
    const judged = await check(new Map([...files, ['proofs/3.tlog-proof', Buffer.from(damaged)]]));
    expect(faults(judged)).toContain('bad Entry 3: the cosignature of first on its checkpoint is invalid');
  }
  expect((await world.context.verify()).faults).toEqual([]);
});

test('a cosignature of a kind that the verifier does not know is named, and never counts', async () => {
  const { zip } = await witnessedPack();
  const files = filesOf(zip);
  const loose = new Map([...files].filter(([name]) => /^(?:log\.vkey|proofs\/1\.)/.test(name)));
  const key = Buffer.concat([Buffer.of(7), Buffer.alloc(40, 1)]);
  const id = createHash('sha256').update('w.example/7\n').update(key).digest().subarray(0, 4);
  const line = `— w.example/7 ${Buffer.concat([id, Buffer.alloc(80, 1)]).toString('base64')}\n`;
  loose.set('proofs/1.tlog-proof', Buffer.from(String(files.get('proofs/1.tlog-proof')) + line));
  const witness = `witness seven w.example/7+${id.toString('hex')}+${key.toString('base64')}\n`;
  const named = await check(loose, { policyText: `${witness}quorum none\n` });
  expect(linesOf(named).join('\n')).toMatch(
    /note Witnesses: a cosignature of the checkpoint over \d entries does not count: that of seven is of type 0x07, which this verifier cannot check/,
  );
  expect(faults(await check(loose, { policyText: `${witness}quorum seven\n` }))).toHaveLength(1);
});

test('a pack made again as of its entry has the same bytes, even after witnesses have signed more', async () => {
  const { world, caseId, zip } = await witnessedPack();
  const { context } = world;
  const { asOf } = JSON.parse(String(filesOf(zip).get('manifest.json'))) as { asOf: number };
  await context.witness();
  const deps = { ...context.documents, cases: context.cases };
  const again = await producePack(deps, { caseId, actor: 'Olga', asOf });
  if (again.outcome !== 'produced') throw new Error(again.outcome);
  expect(await readFile(again.path)).toEqual(zip);
  expect(again.parameters['witnessed']).toMatch(/^1-\d+( [0-9a-f]{64}){2}$/);
  // One that is made now carries the newer one.
  const now = await producePack(deps, { caseId, actor: 'Olga' });
  if (now.outcome !== 'produced') throw new Error(now.outcome);
  expect(now.parameters['witnessed']).not.toBe(again.parameters['witnessed']);
});

test('a pack is made without witnesses when none has signed, or their file cannot be used', async () => {
  const file = join(await temporaryFolder(), 'witnesses');
  await writeFile(file, 'quorum none\n');
  const { zip, world, caseId, verifierKey } = await packOf(undefined, 'DE', undefined, undefined, { WITNESSES: file });
  const { context } = world;
  const deps = { ...context.documents, cases: context.cases };
  expect(String(filesOf(zip).get('tlog-policy'))).toBe(`log ${verifierKey}\nquorum none\n`);
  expect(faults(await check(filesOf(zip)))).toEqual([]);
  for (const spoil of [() => writeFile(file, 'nonsense\n'), () => rm(file)]) {
    await spoil();
    const pack = await producePack(deps, { caseId, actor: 'Olga' });
    expect(pack.outcome).toBe('produced');
    if (pack.outcome === 'produced') expect(pack.parameters).not.toHaveProperty('witnessed');
  }
});
