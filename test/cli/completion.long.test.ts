import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { completionScript } from './completion-script.ts';

/** Runs a script in a shell that reads none of the user's files. */
async function run(shell: 'zsh' | 'fish', args: readonly string[], script: string): Promise<string[]> {
  const home = await temporaryFolder();
  const { error, stdout, stderr } = spawnSync(shell, [...args, '-c', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, TERM: 'dumb' },
    cwd: home,
    timeout: 60_000,
  });
  if (error !== undefined)
    throw new Error(`${shell} could not be started (${error.message}): install the Debian package ${shell}.`);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

test('zsh completes commands, options and values through its bash compatibility', async () => {
  const script = await completionScript('zsh');
  const offered = (...words: readonly string[]) =>
    run(
      'zsh',
      ['-f'],
      `${script}
ask() { emulate -L sh; setopt kshglob noshglob braceexpand kshARRAYS; _consent_ledger; printf '%s\\n' "\${COMPREPLY[@]}"; }
COMP_WORDS=(consent-ledger ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; ask
[[ -n "\${_comps[consent-ledger]}" ]] || echo 'not registered'`,
    );
  expect(await offered('led')).toEqual(['ledger']);
  expect(await offered('delivery', 're')).toEqual(['resend', 'readmit']);
  expect(await offered('ledger', 'events', '--format', '')).toEqual(['jsonl', 'syslog', 'syslog-framed']);
});

test('fish completes commands, options and values, with their descriptions', async () => {
  const script = await completionScript('fish');
  const offered = (line: string) => run('fish', ['--no-config'], `${script}\ncomplete -C ${JSON.stringify(line)}`);
  expect(await offered('consent-ledger led')).toEqual([expect.stringMatching(/^ledger\tverify, seal/)]);
  expect((await offered('consent-ledger delivery re')).map((line) => line.split('\t')[0])).toEqual([
    'readmit',
    'resend',
  ]);
  expect(await offered('consent-ledger ledger events --for')).toEqual([expect.stringMatching(/^--format\t/)]);
  expect((await offered('consent-ledger ledger events --format ')).map((line) => line.split('\t')[0])).toEqual([
    'jsonl',
    'syslog',
    'syslog-framed',
  ]);
  expect((await offered('consent-ledger completion ')).map((line) => line.split('\t')[0])).toEqual([
    'bash',
    'fish',
    'zsh',
  ]);
  const names = async (line: string) => (await offered(line)).map((one) => one.split('\t')[0]);
  // Options before a command, and values that equal a command name.
  expect(await names('consent-ledger sync --source status --fu')).toEqual(['--full']);
  expect(await names('consent-ledger delivery list --source show --qu')).toEqual(['--quarantine']);
});
