import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { runCli } from './command-line.ts';

it('the command line prints times in the installation’s zone, and JSON in UTC', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, TIME_ZONE: 'America/New_York', WEBHOOK_SECRETS: 'a-secret-of-this-test' };
  const cli = (...args: string[]) => runCli(folder, args, env);
  const opened = await cli(
    ...['dsar', 'open', '--kind', 'access', '--received', '2026-07-01T02:02:00Z'],
    ...['--channel', 'letter', '--jurisdiction', 'DE', '--json'],
  );
  const { caseId } = JSON.parse(opened.stdout) as { caseId: string };
  const { stdout } = await cli('dsar', 'show', caseId);
  // In New York it was still the day before.
  expect(stdout).toContain('received Tue 30 Jun 2026, 22:02 (America/New_York)');
  expect(stdout).toMatch(/0 +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?-0[45]:00 +opened/);
  expect(stdout).not.toMatch(/\dT[\d:.]+Z/);
  const shown = JSON.parse((await cli('dsar', 'show', caseId, '--json')).stdout) as {
    history: readonly { at?: string; receivedAt?: string }[];
  };
  expect(JSON.stringify(shown.history)).toMatch(/\dT[\d:.]+Z/);
});
