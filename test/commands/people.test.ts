import { expect, it } from 'vitest';
import { runCli } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary.ts';

it('`people` invites, changes, resets and disables accounts, and explains refusals', async () => {
  const folder = await temporaryFolder();
  const url = ['--admin-url', 'https://ledger.example.org'];
  const run = (...args: string[]) => runCli(folder, ['people', ...args]);
  expect((await run('list')).stdout).toContain('No accounts yet');
  expect((await run('set-up', ...url)).stdout).toMatch(/^https:\/\/ledger\.example\.org\/join\?token=[\w-]{43}\n/);
  const invited = await run('invite', 'olga@acme.example', '--name', 'Olga', '--source', 'default', ...url);
  expect([invited.code, invited.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^Olga \(p-[0-9a-f]{8}\): officer, default, invited\nhttps:\/\/ledger\.example\.org\/join\?token=/,
    ),
  ]);
  expect((await run('set-up', ...url)).stderr).toContain('There are accounts already');
  expect((await run('change', 'olga@acme.example', '--role', 'owner')).stderr).toContain(
    'Owners and admins see every source',
  );
  expect((await run('change', 'OLGA@acme.example', '--role', 'owner', '--all-sources')).stdout).toContain(
    'owner, all sources',
  );
  const moved = await run('change', 'olga@acme.example', '--email', 'Olga@New.example', '--json');
  expect(JSON.parse(moved.stdout)).toMatchObject({ person: { email: 'olga@new.example', role: 'owner' } });
  expect((await run('change', 'olga@new.example', '--email', 'olga')).stderr).toContain('Enter an e-mail address');
  expect((await run('change', 'olga@new.example', '--email', 'olga@acme.example')).code).toBe(0);
  expect((await run('reset', 'olga@acme.example', ...url)).stdout).toContain('/join?token=');
  expect((await run('disable', 'olga@acme.example')).stdout).toContain('disabled');
  expect((await run('reset', 'olga@acme.example', ...url)).stderr).toContain('enable it first');
  const list = JSON.parse((await run('list', '--json')).stdout) as { people: Record<string, unknown>[] };
  expect(list.people).toMatchObject([{ email: 'olga@acme.example', role: 'owner', sources: null }]);
  expect(JSON.stringify(list)).not.toContain('password');
  for (const args of [
    ['reset', 'nobody@acme.example', ...url],
    ['invite', 'otto', '--name', 'Otto', ...url],
    ['invite', 'otto@acme.example', '--name', 'Otto', '--role', 'root'],
    ['invite', 'otto@acme.example', '--name', 'Otto', '--source', 'nowhere', ...url],
  ])
    expect([args, (await run(...args)).code]).toEqual([args, 2]);
});
