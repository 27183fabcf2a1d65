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

it('times may be typed as people write them, and errors name the flag with an example', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, TIME_ZONE: 'Europe/Berlin', WEBHOOK_SECRETS: 'a-secret-of-this-test' };
  const cli = (...args: string[]) => runCli(folder, args, env);
  const opened = async (received: string) => {
    const flags = ['--kind', 'access', '--channel', 'letter', '--json', '--received', received];
    const { code, stdout, stderr } = await cli('dsar', 'open', ...flags);
    return code === 0 ? stdout : stderr;
  };
  for (const [typed, at] of [
    ['2026-01-27T10:00Z', '2026-01-27T10:00:00.000Z'],
    ['2026-01-27T10:00:00+0200', '2026-01-27T08:00:00.000Z'],
    ['2026-01-27 10:00', '2026-01-27T09:00:00.000Z'],
    ['2026-01-27', '2026-01-26T23:00:00.000Z'],
  ] as const)
    expect([typed, await opened(typed)]).toEqual([typed, expect.stringContaining(`"receipt_at": "${at}"`)]);
  expect(await opened('27.1.2026')).toContain(
    'Invalid time "27.1.2026" for --received: use ISO 8601, e.g. 2026-07-01T',
  );
  expect(await opened('2026-02-31T10:00Z')).toContain('for --received: February 2026 has 28 days.');
  expect(await opened('2199-01-01')).toContain('--received: is in the future');

  const { caseId } = JSON.parse(await opened('2026-01-28')) as { caseId: string };
  const move = (at: string) => cli('dsar', 'move', caseId, 'acknowledge', 'channel=e-mail', `at=${at}`, '--json');
  expect((await move('soon')).stderr).toMatch(/acknowledge\.at: Invalid time "soon": use ISO 8601, e\.g\. 2026-07-01T/);
  expect((await move('2026-01-29')).stdout).toContain('2026-01-28T23:00:00.000Z');
  expect((await cli('dsar', 'list', '--since', '2026-01-32T00:00Z')).stderr).toContain('for --since: January has 31');
});

it('--made and the dates of the deadline calculator may be typed as people write them, too', async () => {
  const folder = await temporaryFolder();
  const env = { DATA_DIR: folder, TIME_ZONE: 'Europe/Berlin', WEBHOOK_SECRETS: 'a-secret-of-this-test' };
  const cli = (...args: string[]) => runCli(folder, args, env);
  await cli('dsar', 'list');
  const report = (made: string) =>
    cli('report', 'consent-audit', '--from', '2026-01-01', '--to', '2026-02-01', '--format', 'json', '--made', made);
  // The ledger began later, and the refusal says how the time was read.
  expect((await report('2026-02-03')).stderr).toContain('have been made at 2026-02-02T23:00:00.000Z');
  expect((await report('2026-02-03T10:00+0100')).stderr).toContain('have been made at 2026-02-03T09:00:00.000Z');
  expect((await report('3.2.2026')).stderr).toContain(
    'Invalid time "3.2.2026" for --made: use ISO 8601, e.g. 2026-07-01T',
  );

  expect((await cli('sync', '--from', '3.2.2026')).stderr).toContain(
    'Invalid time "3.2.2026" for --from: use ISO 8601',
  );

  const deadline = (...flags: string[]) => cli('dsar', 'deadline', '--kind', 'access', ...flags);
  for (const typed of ['2026-01-27T10:00Z', '2026-01-27 10:00+01', '2026-01-27T10:00+0100'])
    expect([typed, (await deadline('--received', typed)).code]).toEqual([typed, 0]);
  const wrong = await deadline('--received', '27.1.2026', '--fee', '2026-02-31');
  expect(wrong.stderr).toContain(
    '--received: Invalid date "27.1.2026": use YYYY-MM-DD or ISO 8601 such as 2026-07-01T',
  );
  expect(wrong.stderr).toContain('--fee: Invalid date "2026-02-31": February 2026 has 28 days.');
});
