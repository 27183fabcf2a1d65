#!/usr/bin/env node
import { CommanderError } from 'commander';
import type { CommandIo } from './commands/command-io.ts';
import { createProgram } from './commands/program.ts';
import { CodedError, StoreUnavailable, UsageError } from './core/errors.ts';
import { withoutPasswords } from './core/service-address.ts';

/** Whether the command has ended, well or not. */
let isSettled = false;

/** The edge of the program: arguments in, exit code out. Nothing else ends the process. */
async function main(): Promise<void> {
  const io: CommandIo = {
    stdout: process.stdout,
    stderr: process.stderr,
    exitCode: 0,
    endSoon: () => void setTimeout(() => process.exit(io.exitCode), 3000).unref(),
    untilStopped: () =>
      new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      }),
  };
  // A reader that goes away (`… | head`) is no fault of the command.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') {
        isSettled = true;
        process.exit(io.exitCode);
      }
      throw error;
    });
  }
  try {
    const program = await createProgram(io, process.argv.slice(2));
    await program.parseAsync(process.argv);
    process.exitCode = io.exitCode;
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has printed its own sentence; help and version are no errors.
    return error.exitCode === 0 ? 0 : 2;
  }
  if (error instanceof UsageError) {
    const [first, ...more] = error.problems.map(withoutPasswords);
    process.stderr.write(
      more.length === 0
        ? `consent-ledger: ${first}\n`
        : `consent-ledger: ${error.problems.length} problems\n${[first, ...more].map((problem) => `  - ${problem}`).join('\n')}\n`,
    );
    return 2;
  }
  if (error instanceof StoreUnavailable || error instanceof CodedError) {
    process.stderr.write(`consent-ledger: ${withoutPasswords(error.message)}\n`);
    return 1;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`consent-ledger: ${withoutPasswords(text)}\n`);
  return 1;
}

process.on('exit', () => {
  if (isSettled) return;
  // Nothing is left that could settle it: without this, the process would end with code 13 and no word.
  process.stderr.write(
    'consent-ledger: the command ended before its work did. This is a fault of the program: please report it.\n',
  );
  process.exitCode = 1;
});
await main();
isSettled = true;
