import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runIn } from '../cli/command-line.ts';
import { environment } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

async function createInstallation() {
  const folder = await temporaryFolder();
  const run = (args: string[], input = '') => runIn(folder, args, { env: environment(folder), input });
  return { folder, run };
}

it('shows, replaces and gives out the controller profile, and records each change', async () => {
  const { folder, run } = await createInstallation();
  const none = await run(['profile', 'show']);
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('There is none yet')]);

  const file = join(folder, 'new.yaml');
  await writeFile(file, 'name: Acme GmbH\ncontry: DE\n');
  const wrong = await run(['profile', 'set', file, '--officer', 'Olga']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('contry')]);
  expect(wrong.stderr).toContain(file);
  expect((await run(['profile', 'show'])).stdout).toContain('There is none yet');

  await writeFile(file, '# Who we are\nname: Acme GmbH\ncountry: DE\n');
  const set = await run(['profile', 'set', file, '--officer', 'Olga', '--json']);
  expect([set.code, JSON.parse(set.stdout)]).toMatchObject([0, { outcome: 'saved', seq: expect.any(Number) }]);
  const { path, seq } = JSON.parse(set.stdout) as { path: string; seq: number };
  expect(await readFile(path, 'utf8')).toBe('# Who we are\nname: Acme GmbH\ncountry: DE\n');
  const entry = JSON.parse((await run(['ledger', 'prove', String(seq), '--json'])).stdout) as { body?: string };
  expect(JSON.stringify(entry)).not.toContain('Who we are');
  const again = await run(['profile', 'set', file, '--officer', 'Olga']);
  expect([again.code, again.stdout]).toEqual([0, 'Nothing was changed: it says so already.\n']);

  const shown = await run(['profile', 'show']);
  expect(shown.stdout).toMatch(
    /: shared by every source .*\n# missing: .*supervisory authority.*\n# Who we are\nname: Acme GmbH/,
  );

  const own = await run(['profile', 'own', 'default', '--officer', 'Olga']);
  expect([own.code, own.stdout]).toEqual([0, expect.stringContaining('has its own profile now')]);
  const bolt = await run(['profile', 'set', '-', '--source', 'default', '--officer', 'Olga'], 'name: Bolt Ltd\n');
  expect([bolt.code, bolt.stdout]).toEqual([
    0,
    expect.stringMatching(/^Saved .*profiles\/default-\S+\.yaml, recorded as entry \d+/),
  ]);
  expect((await run(['profile', 'show', '--source', 'default'])).stdout).toMatch(
    /of the source default\n[\s\S]*name: Bolt Ltd/,
  );
  expect((await run(['profile', 'show'])).stdout).toContain('name: Acme GmbH');
  expect((await run(['profile', 'own', 'default', '--officer', 'Olga'])).stderr).toContain('already has its own');
  expect((await run(['profile', 'show', '--source', 'nowhere'])).code).toBe(2);
});
