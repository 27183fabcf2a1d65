import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseWitnessPolicy } from '../../src/ledger/witness-policy.ts';
import { runCli, runProcess } from '../cli/command-line.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

test('witnesses cosign successive checkpoints, and detect a rewritten or truncated history', async () => {
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
  const [one, two] = [
    await startWitness('witness.example/1', key),
    await startWitness('witness.example/2', key, { forge: true }),
  ];
  const policy = (rule: string) =>
    writeFile(path, `# ours\nlog ${key}\n\nwitness one ${one}\nwitness two ${two}\n${rule}\n`);

  await open('Ada');
  await policy('group both all one two\nquorum both');
  const partly = await run('ledger', 'witness', path);
  expect([partly.code, partly.stdout]).toEqual([
    1,
    expect.stringContaining('✗ two: its response has no valid cosignature from its key'),
  ]);
  await policy('group any-of any one two\nquorum any-of');
  await open('Berta');
  // Three requests and the record of what was signed: five entries, so that the last one is part of the next proof.
  await open('Carla');
  await open('Cleo');
  const { size, files, witnesses } = JSON.parse((await run('ledger', 'witness', path, '--json')).stdout) as {
    size: number;
    files: string[];
    witnesses: { outcome: string; at?: string }[];
  };
  expect(witnesses).toMatchObject([
    { outcome: 'cosigned', at: expect.stringMatching(/^20.*Z$/) },
    { outcome: 'failed' },
  ]);
  const [file = ''] = files;
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
  const noticed = await run('ledger', 'witness', path);
  expect([noticed.code, noticed.stdout]).toEqual([3, expect.stringContaining('the entry is missing')]);
  // Without the mark of what was seen here, the witness still knows.
  await rm(join(folder, 'high-water'), { recursive: true });
  const cut = await run('ledger', 'witness', path);
  expect([cut.code, cut.stdout]).toEqual([3, expect.stringContaining('entries are gone from the end')]);
});

test.each([
  ['no quorum', '# empty\n', 'quorum'],
  ['a log without a key', 'log x\nquorum none\n', 'line 1'],
  ['a witness without a key', 'witness a b\nquorum a\n', 'line 1'],
  ['a quorum of nobody', 'quorum a\n', 'line 1'],
  ['a group of nobody', 'group g any a\nquorum g\n', 'line 1'],
  ['another keyword', 'quorom none\n', 'line 1'],
  ['a keyword that every object knows', 'constructor a b\nquorum none\n', 'line 1'],
  ['a time-stamping authority without certificates', 'timestamp t\nquorum t\n', 'line 1'],
  [
    'a time-stamping authority whose name is a path',
    'timestamp ../t ca.pem https://t.example\nquorum none\n',
    'line 1',
  ],
  ['a folder without a path', 'directory d\nquorum d\n', 'line 1'],
  ['one folder twice', 'directory d /x\ndirectory e /x\nquorum d\n', 'line 2'],
  ['a bucket that is none', 'bucket b https://x\nquorum b\n', 'line 1'],
  ['one bucket twice', 'bucket b s3://one/x\nbucket c s3://one/x/\nquorum b\n', 'line 2'],
  ['two quorums', 'quorum none\nquorum none\n', 'line 2'],
])('a policy with %s is refused', (_, policy, words) => {
  expect(parseWitnessPolicy(policy)).toContain(words);
});

test('doctor says whether checkpoints leave the machine, and fails if one has waited too long', async () => {
  const folder = await temporaryFolder();
  const [share, policy] = [join(folder, 'share'), join(folder, 'policy')];
  await mkdir(share);
  const doctor = async (more: Record<string, string>) => {
    const run = await runCli(folder, ['doctor', '--json'], more);
    const { lines } = JSON.parse(run.stdout) as { lines: { about: string; level: string; sentence: string }[] };
    return lines
      .filter(({ about }) => about.startsWith('witness'))
      .map(({ level, sentence }) => `${level}: ${sentence}`);
  };
  const open = ['dsar', 'open', '--kind', 'access', '--received', '2026-06-01T10:00:00Z', '--name', 'Ada'];
  expect((await runCli(folder, [...open, '--channel', 'letter'])).code).toBe(0);
  expect(await doctor({})).toEqual([expect.stringContaining('note: Checkpoints do not leave this machine')]);
  await writeFile(policy, 'witness one\nquorum one\n');
  expect(await doctor({ WITNESSES: policy })).toEqual([expect.stringContaining('cannot be used: line 1')]);
  await writeFile(policy, `directory share ${share}\nquorum share\n`);
  expect(await doctor({ WITNESSES: policy })).toEqual(['ok: 1 witness configured; none has been asked yet.']);
  expect((await runCli(folder, ['ledger', 'witness'], { WITNESSES: policy })).code).toBe(0);
  expect(await doctor({ WITNESSES: policy })).toEqual([expect.stringMatching(/^ok: Witnessed by share over 1 entry/)]);
  await writeFile(policy, `directory share ${share}\nbucket vault s3://ledger/x\nquorum share\n`);
  expect(await doctor({ WITNESSES: policy })).toEqual([
    expect.stringContaining('note: Copies in the bucket of vault are not locked'),
    expect.stringMatching(/^ok: Witnessed by share/),
  ]);
  expect(await doctor({ WITNESSES: policy, CHECKPOINT_LOCK: 'COMPLIANCE 30 days' })).toHaveLength(1);
  await writeFile(policy, `directory share ${share}\nquorum share\n`);
  await alter(
    folder,
    `update settings set value = '{"witnesses":{},"quorum":{"epoch":0,"size":0}}' where name = 'witnesses'`,
    `update checkpoints set created_at = '2026-01-01T00:00:00.000Z'`,
  );
  expect(await doctor({ WITNESSES: policy })).toEqual([expect.stringMatching(/^fault: .* for the witnesses\.$/)]);
});

test.each(['serve', 'worker'])(
  '%s does not start with an invalid witness file, and says what to do',
  async (command) => {
    const folder = await temporaryFolder();
    const path = join(folder, 'policy');
    const start = async (text: string | null) => {
      if (text !== null) await writeFile(path, text);
      return runProcess(folder, [command], { env: { WITNESSES: path } });
    };
    const missing = await start(null);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('cannot be used: there is no such file (ENOENT). Correct it'),
    ]);
    const wrong = await start('witness one\nquorum one\n');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain(`${path} cannot be used: line 1 `);
    expect(wrong.stderr).toContain('unset WITNESSES');
    expect(wrong.stderr).not.toMatch(/\n\s+at /);
  },
);
