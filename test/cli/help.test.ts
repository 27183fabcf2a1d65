import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { commandsOf, createCommandLine } from './command-line.ts';

const whole = await createCommandLine();
const names = commandsOf(whole.program).map(({ name }) => name);

describe('every command', () => {
  it('is covered by this test', () => {
    expect(names.length).toBeGreaterThan(25);
    expect(names).toEqual(
      expect.arrayContaining(['doctor', 'delivery diagnose', 'sync', 'sync status', 'source rotate', 'ledger verify']),
    );
  });

  it.each(whole.program.commands.map((command) => command.name()))(
    '%s is loaded alone when it is called',
    async (name) => {
      const { program } = await createCommandLine(name);
      expect(program.commands.map((command) => command.name())).toEqual([name]);
    },
  );

  it.each(names)('%s describes itself and each of its flags, and accepts --json', (name) => {
    const command = commandsOf(whole.program).find((one) => one.name === name)?.command;
    expect(command?.description()).toMatch(/\w{3}/);
    expect(command?.options.map(({ long }) => long)).toContain('--json');
    const silent = command?.options
      .filter(({ description, hidden }) => !hidden && description === '')
      .map(({ flags }) => flags);
    expect(silent).toEqual([]);
    const wordless = command?.registeredArguments
      .filter(({ description }) => description === '')
      .map((one) => one.name());
    expect(wordless).toEqual([]);
  });

  it.each(names)('%s --help prints its usage and does not touch anything', async (name) => {
    const { program, written } = await createCommandLine(...name.split(' '), '--help');
    const ended: unknown = await program
      .parseAsync(['node', 'consent-ledger', ...name.split(' '), '--help'])
      .catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(CommanderError);
    expect((ended as CommanderError).exitCode).toBe(0);
    expect(written()).toContain(`Usage: consent-ledger ${name}`);
  });
});
