import { spawnSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { cliPath } from '../serving.ts';
import { temporaryFolder } from '../temporary.ts';

test('messages name the command that was used: from a checkout, a file, a package', async () => {
  const folder = await temporaryFolder();
  const installed = join(folder, 'consent-ledger');
  await symlink(cliPath, installed);
  const said = (path: string, event: string, ...args: string[]) => {
    const env = { PATH: process.env.PATH ?? '', npm_lifecycle_event: event };
    const { stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd: folder, env, encoding: 'utf8' });
    return stdout + stderr;
  };
  expect(said(cliPath, 'demo', 'demo', 'tamper')).toContain('run `npm run demo` first');
  expect(said(cliPath, '', 'demo', 'tamper')).toContain(`run \`node ${relative(folder, cliPath)} demo\` first`);
  expect(said(installed, '', 'demo', 'tamper')).toContain('run `consent-ledger demo` first');
  expect(said(installed, 'npx', 'demo', 'tamper')).toContain('run `npx consent-ledger demo` first');
  expect(said(installed, 'npx', 'init')).toContain('run `npx consent-ledger doctor`');
});
