#!/usr/bin/env node
import type { CommandIo } from './commands/command-io.ts';
import { runProgram } from './commands/program.ts';

/** Milliseconds that the process may live on after its command has ended, because a part did not close. */
const ENDED_MS = 3000;

/** Whether the command has ended, well or not. */
let isSettled = false;

/** The edge of the program: arguments in, exit code out. Nothing else ends the process. */
async function main(): Promise<void> {
  const io: CommandIo = {
    stdout: process.stdout,
    stderr: process.stderr,
    exitCode: 0,
    endWithin(milliseconds) {
      const end = () => {
        isSettled = true;
        process.exit(io.exitCode);
      };
      setTimeout(end, milliseconds).unref();
    },
    untilStopped: () =>
      new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
      }),
  };
  // A reader that goes away (`… | head`) is not a failure of the command.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') {
        isSettled = true;
        process.exit(io.exitCode);
      }
      throw error;
    });
  }
  await runProgram(io, process.argv.slice(2));
  process.exitCode = io.exitCode;
  // Also after a failure: a process that lives on without doing anything is not started again by its supervisor.
  io.endWithin?.(ENDED_MS);
}

process.on('exit', () => {
  if (isSettled) return;
  // Nothing is left that could settle the command: without this, the process would silently end with code 13.
  process.stderr.write(
    'consent-ledger: internal error: the command exited before it finished. Please report this bug.\n',
  );
  process.exitCode = 1;
});
await main();
isSettled = true;
