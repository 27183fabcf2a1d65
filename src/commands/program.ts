import { Command } from 'commander';
import { loadVersion } from '../config/version.ts';
import type { CommandIo } from './command-io.ts';
import { registerDemo } from './demo/register.ts';
import { registerDelivery } from './delivery.ts';
import { registerDoctor } from './doctor.ts';
import { registerDocument } from './document.ts';
import { registerDsar } from './dsar.ts';
import { registerDsarPack } from './dsar-pack.ts';
import { registerInit } from './init.ts';
import { registerLedger } from './ledger.ts';
import { registerPolicy } from './policy.ts';
import { registerReport } from './report.ts';
import { registerSandbox } from './sandbox.ts';
import { registerServe } from './serve.ts';
import { registerSource } from './source.ts';
import { registerStore } from './store.ts';
import { registerSync } from './sync.ts';
import { registerToken } from './token.ts';
import { registerWorker } from './worker.ts';

/** Builds the command line: one file of this folder per command. */
export function createProgram(io: CommandIo): Command {
  const program = new Command('consent-ledger')
    .description('Evidence for consent, policies and data subject requests, provable later.')
    .version(loadVersion())
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(run with --help for what is possible)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 usage or configuration, 3 verification found a fault.\nConfiguration: environment variables and .env, see docs/configuration.md.',
    )
    // What stands behind a subcommand is its own, even where its parent has a flag of that name (`sync status --source x`).
    .enablePositionalOptions()
    .exitOverride();
  registerInit(program, io);
  registerDoctor(program, io);
  registerServe(program, io);
  registerWorker(program, io);
  registerToken(program, io);
  registerSource(program, io);
  registerDelivery(program, io);
  registerSync(program, io);
  registerDsarPack(registerDsar(program, io), io);
  registerPolicy(program, io);
  registerReport(program, io);
  registerDocument(program, io);
  registerLedger(program, io);
  registerStore(program, io);
  registerDemo(program, io);
  registerSandbox(program, io);
  inheritSettings(program);
  return program;
}

/** Commander hands settings to subcommands at their creation only; these were set on the parent first, so all have them. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}
