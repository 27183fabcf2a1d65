import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { startServing } from '../serving.ts';
import { alter, bytes } from '../tampering.ts';
import { temporaryFolder } from '../temporary.ts';

test('the verifier key is printed, lies in DATA_DIR, and is shown by the public listener', async () => {
  const folder = await temporaryFolder();
  const serving = await startServing(folder);
  const response = await fetch(`${serving.url}/.well-known/consent-ledger/log.vkey`);
  const shown = await response.text();
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(shown).toMatch(/^consent-ledger\/[0-9a-f]{10}\/1\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}\n$/);
  await serving.stop();
  expect((await runCli(folder, ['ledger', 'key'])).stdout).toBe(shown);
  expect(await readFile(join(folder, 'log.vkey'), 'utf8')).toBe(shown);
  // What somebody else put there is put right.
  await writeFile(join(folder, 'log.vkey'), 'consent-ledger/other/1+00000000+AQ==\n');
  const key = JSON.parse((await runCli(folder, ['ledger', 'key', '--json'])).stdout) as { verifierKey: string };
  expect(`${key.verifierKey}\n`).toBe(shown);
  expect(await readFile(join(folder, 'log.vkey'), 'utf8')).toBe(shown);
});

describe('proofs on the command line', () => {
  async function installation() {
    const folder = await temporaryFolder();
    const run = (...args: string[]) => runCli(folder, args);
    const open = async (name: string) => {
      const opened = await run(
        ...[
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
          '--json',
        ],
      );
      expect(opened.stderr).toBe('');
      return (JSON.parse(opened.stdout) as { caseId: string }).caseId;
    };
    return { folder, run, open };
  }

  test('prove writes the proofs of a case with key and policy, and prints the proof of one entry', async () => {
    const { folder, run, open } = await installation();
    const caseId = await open('Ada');
    const out = join(folder, 'out');
    const written = await run('ledger', 'prove', caseId, '--out', out, '--json');
    expect(written.code).toBe(0);
    const { entries, verifierKey } = JSON.parse(written.stdout) as {
      entries: { seq: number; bodyBase64: string }[];
      verifierKey: string;
    };
    const [{ seq = 0 } = {}] = entries;
    expect(JSON.parse(await readFile(join(out, `proofs/${seq}.body`), 'utf8'))).toMatchObject({ requesterName: 'Ada' });
    expect(await readFile(join(out, 'log.vkey'), 'utf8')).toBe(`${verifierKey}\n`);
    expect(await readFile(join(out, 'tlog-policy'), 'utf8')).toBe(`log ${verifierKey}\nquorum none\n`);
    const printed = await run('ledger', 'prove', String(seq));
    expect(printed.stdout).toBe(await readFile(join(out, `proofs/${seq}.tlog-proof`), 'utf8'));
    expect((await run('ledger', 'prove', 'no-such-case')).code).toBe(2);
    expect((await run('ledger', 'prove', '999')).stderr).toContain('the entry is missing');
  });

  test('consistency connects a checkpoint that was handed out with the newest, and finds a fork and a cut', async () => {
    const { folder, run, open } = await installation();
    await open('Ada');
    const early = join(folder, 'early.json');
    await writeFile(early, (await run('ledger', 'checkpoint', '--json')).stdout);
    await open('Berta');
    await open('Carla');
    const late = join(folder, 'late.txt');
    await writeFile(late, (await run('ledger', 'checkpoint')).stdout);
    const proof = await run('ledger', 'consistency', early);
    expect(proof.stdout).toMatch(/^old \d+\n(?:[A-Za-z0-9+/]{43}=\n)+\nconsent-ledger\/[^\n]+\n\d+\n/);
    expect((await run('ledger', 'consistency', early, late)).stdout).toBe(proof.stdout);
    expect((await run('ledger', 'consistency', '1', late, '--json')).stdout).toContain('"consistent": true');
    expect((await run('ledger', 'consistency', late, early)).code).toBe(2);

    await alter(folder, `update entries set leaf_hash = ${bytes(Buffer.alloc(32))} where seq = 1`);
    const forked = await run('ledger', 'consistency', early);
    expect([forked.code, forked.stdout]).toEqual([3, expect.stringContaining('they were rewritten since')]);
    const size = (JSON.parse(await readFile(early, 'utf8')) as { size: number }).size;
    await alter(folder, `delete from entries where seq > ${size}`, `delete from checkpoints where size > ${size}`);
    const cut = await run('ledger', 'consistency', late);
    expect([cut.code, cut.stdout]).toEqual([3, expect.stringContaining('entries are gone from the end')]);
  });
});
