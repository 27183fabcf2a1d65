import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commandsOf, createCommandLine } from './command-line.ts';
import { completionScript } from './completion-script.ts';

/** The suggestions of bash for the last word of each of these lines, all from one shell. */
async function inBashForEach(lines: readonly (readonly string[])[]): Promise<string[][]> {
  const script = `${await completionScript('bash')}
while (($#)); do
  count=$1; shift; unset COMPREPLY
  COMP_WORDS=(consent-ledger "\${@:1:count}"); COMP_CWORD=$count; _consent_ledger
  printf '%s\\n' "\${COMPREPLY[@]}"; printf '\\0'
  shift "$count"
done`;
  const counted = lines.flatMap((words) => [String(words.length), ...words]);
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-u', '-c', script, 'bash', ...counted], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const answers = stdout.split('\0').slice(0, -1);
  expect(answers).toHaveLength(lines.length);
  return answers.map((answer) => answer.split('\n').filter((word) => word !== ''));
}

const inBash = async (...words: readonly string[]): Promise<string[]> => (await inBashForEach([words]))[0] ?? [];

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
  const commands = commandsOf(program);
  const found = await inBashForEach(commands.flatMap(({ name }) => [name.split(' '), [...name.split(' '), '--']]));
  for (const [place, { name, command }] of commands.entries()) {
    const [names, options] = found.slice(2 * place);
    expect(names, name).toContain(name.split(' ').at(-1));
    expect(options, name).toEqual(
      expect.arrayContaining(
        command.options.flatMap(({ long, hidden }) => (long === undefined || hidden ? [] : [long])),
      ),
    );
  }
});
