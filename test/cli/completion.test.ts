import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commandsOf, createCommandLine } from './command-line.ts';
import { completionScript } from './completion-script.ts';

/** The suggestions of bash for the last of these words. */
async function inBash(...words: readonly string[]): Promise<string[]> {
  const script = `${await completionScript('bash')}
COMP_WORDS=(consent-ledger "$@"); COMP_CWORD=$#; _consent_ledger; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-u', '-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.split('\n').filter((line) => line !== '');
}

test('bash completes commands, subcommands, options and their values', async () => {
  expect(await inBash('led')).toEqual(['ledger']);
  expect(await inBash('delivery', 're')).toEqual(['resend', 'readmit']);
  expect(await inBash('ledger', 'events', '--f')).toEqual(['--format']);
  expect(await inBash('ledger', 'events', '--format', '')).toEqual(['jsonl', 'syslog', 'syslog-framed']);
  expect(await inBash('completion', 'z')).toEqual(['zsh']);
  // Options before a subcommand, and values that equal a command name.
  expect(await inBash('delivery', 'list', '--source', 'show', '--qu')).toEqual(['--quarantine']);
  expect(await inBash('sync', '--source', 'status', '--fu')).toEqual(['--full']);
  // A value that cannot be suggested is left to the shell, which offers files.
  expect(await inBash('export', '--out', '')).toEqual([]);
  expect(await inBash('nothing', 'li')).toEqual([]);
  expect(await inBash("$(exit 1)'", '')).toEqual(await inBash(''));
});

test('bash offers every command of the program', async () => {
  const { program } = await createCommandLine();
  expect((await inBash('')).filter((word) => !word.startsWith('-'))).toEqual(program.commands.map((one) => one.name()));
  for (const { name, command } of commandsOf(program)) {
    const words = name.split(' ');
    const parents = words.slice(0, -1);
    expect(await inBash(...parents, words.at(-1) ?? ''), name).toContain(words.at(-1));
    expect(await inBash(...words, '--'), name).toEqual(
      expect.arrayContaining(
        command.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long])),
      ),
    );
  }
});
