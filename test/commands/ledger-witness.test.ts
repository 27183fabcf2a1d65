import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseWitnessPolicy } from '../../src/ledger/witness-policy.ts';
import { runCli } from '../cli/command-line.ts';
import { startWitness } from '../ledger/witness-stand-in.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

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
    expect.stringContaining('✗ two: its answer has no valid cosignature of its key'),
  ]);
  await policy('group any-of any one two\nquorum any-of');
  await open('Berta');
  await open('Carla');
  const { size, files, witnesses } = JSON.parse((await run('ledger', 'witness', path, '--json')).stdout) as {
    size: number;
    files: string[];
    witnesses: { outcome: string; at?: string }[];
  };
  expect(witnesses).toMatchObject([{ outcome: 'cosigned', at: '2027-01-15T08:00:00.000Z' }, { outcome: 'failed' }]);
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
  const cut = await run('ledger', 'witness', path);
  expect([cut.code, cut.stdout]).toEqual([3, expect.stringContaining('entries are gone from the end')]);
});

test.each([
  ['no quorum', 'log x\n', 'quorum'],
  ['a witness without a key', 'witness a b\nquorum a\n', 'line 1'],
  ['a quorum of nobody', 'quorum a\n', 'line 1'],
  ['a group of nobody', 'group g any a\nquorum g\n', 'line 1'],
  ['another keyword', 'quorom none\n', 'line 1'],
  ['a time-stamping authority without certificates', 'timestamp t\nquorum t\n', 'line 1'],
  [
    'a time-stamping authority whose name is a path',
    'timestamp ../t ca.pem https://t.example\nquorum none\n',
    'line 1',
  ],
  ['a folder without a path', 'directory d\nquorum d\n', 'line 1'],
  ['one folder twice', 'directory d /x\ndirectory e /x\nquorum d\n', 'line 2'],
  ['two quorums', 'quorum none\nquorum none\n', 'line 2'],
])('a policy with %s is refused', (_, policy, words) => {
  expect(parseWitnessPolicy(policy)).toContain(words);
});
