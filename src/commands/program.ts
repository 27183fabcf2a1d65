import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { loadVersion } from '../config/version.ts';
import { withoutPasswords } from '../core/address.ts';
import {
  CodedError,
  describeFileError,
  OutsideError,
  StoreUnavailable,
  UsageError,
  VerificationFault,
} from '../core/errors.ts';
import type { CommandIo, ExitCode } from './command-io.ts';

type Register = (program: CommandUnknownOpts, io: CommandIo) => void;

/**
 * One file of this folder per command, in the order of the help. Only the requested one is loaded: together they are
 * the whole program, which takes longer to load than most commands take to run.
 */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<Register>>> = {
  init: async () => (await import('./init.ts')).registerInit,
  doctor: async () => (await import('./doctor.ts')).registerDoctor,
  serve: async () => (await import('./serve.ts')).registerServe,
  worker: async () => (await import('./worker.ts')).registerWorker,
  people: async () => (await import('./people.ts')).registerPeople,
  token: async () => (await import('./token.ts')).registerToken,
  source: async () => (await import('./source.ts')).registerSource,
  profile: async () => (await import('./profile.ts')).registerProfile,
  delivery: async () => (await import('./delivery.ts')).registerDelivery,
  sync: async () => (await import('./sync.ts')).registerSync,
  // The calculator opens no installation, so do not load the code for one.
  dsar: async (args) =>
    args[0] === 'dsar' && args[1] === 'deadline'
      ? (await import('./deadline.ts')).registerCalculator
      : (await import('./dsar.ts')).registerDsar,
  policy: async () => (await import('./policy.ts')).registerPolicy,
  consent: async () => (await import('./consent.ts')).registerConsent,
  banner: async () => (await import('./banner.ts')).registerBanner,
  scan: async () => (await import('./scan.ts')).registerScan,
  integration: async () => (await import('./scan.ts')).registerIntegration,
  mcp: async () => (await import('./mcp.ts')).registerMcp,
  report: async () => (await import('./report.ts')).registerReport,
  document: async () => (await import('./document.ts')).registerDocument,
  notify: async () => (await import('./notify.ts')).registerNotify,
  ledger: async () => (await import('./ledger.ts')).registerLedger,
  backup: async () => (await import('./backup.ts')).registerBackup,
  restore: async () => (await import('./backup.ts')).registerRestore,
  export: async () => (await import('./backup.ts')).registerExport,
  retention: async () => (await import('./retention.ts')).registerRetention,
  hold: async () => (await import('./retention.ts')).registerHold,
  store: async () => (await import('./store.ts')).registerStore,
  demo: async () => (await import('./demo/demo.ts')).registerDemo,
  sandbox: async () => (await import('./sandbox.ts')).registerSandbox,
  completion: async () => {
    const { registerCompletion } = await import('./completion.ts');
    return (program, io) => registerCompletion(program, io, () => createProgram(io, []));
  },
};

/**
 * Builds the command line for `args`: with the command that they start with; with none for the version; otherwise, for
 * the help, with all of them.
 */
export async function createProgram(io: CommandIo, args: readonly string[]): Promise<Command> {
  const program = new Command('consent-ledger')
    .description('Keeps provable evidence of consent, policies and data subject requests.')
    .version(loadVersion())
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // The message repeats the refused argument.
      writeErr: (text) => io.stderr.write(withoutPasswords(text)),
    })
    .showHelpAfterError('(see --help)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 usage or configuration, 3 verification found a fault.\nConfiguration: environment variables and .env, see docs/configuration.md.',
    )
    // Options after a subcommand belong to it, even if its parent has one with the same name (`sync status --source
    // x`).
    .enablePositionalOptions()
    .exitOverride();
  const [first = ''] = args;
  const asked = Object.entries(commands).filter(([name]) => name === first);
  const needed = asked.length > 0 || first === '--version' || first === '-V' ? asked : Object.entries(commands);
  const loaded = await Promise.all(needed.map(([, load]) => load(args)));
  for (const register of loaded) register(program, io);
  inheritSettings(program);
  return program;
}

/** Commander passes settings to subcommands only at creation; these were set on the parent first, so all subcommands have them. */
function inheritSettings(command: CommandUnknownOpts): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}

/** Runs a command line to its end. Never rejects: a failure becomes a sentence on standard error and `io.exitCode`. */
export async function runProgram(io: CommandIo, args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(io, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    io.exitCode = await explain(error, io.stderr);
  }
}

async function explain(error: unknown, stderr: NodeJS.WritableStream): Promise<ExitCode> {
  if (error instanceof CommanderError) {
    // Commander has already printed a message; help and version are not errors.
    return error.exitCode === 0 ? 0 : 2;
  }
  if (error instanceof UsageError) {
    const [first, ...more] = error.problems.map(withoutPasswords);
    stderr.write(
      more.length === 0
        ? `consent-ledger: ${first}\n`
        : `consent-ledger: ${error.problems.length} problems\n${[first, ...more].map((problem) => `  - ${problem}`).join('\n')}\n`,
    );
    return 2;
  }
  if (error instanceof VerificationFault) {
    stderr.write(`consent-ledger: ${error.message}\n`);
    return 3;
  }
  const file = describeFileError(error);
  if (file !== null) {
    const { printable } = await import('./command-io.ts');
    stderr.write(`consent-ledger: ${withoutPasswords(printable(file))}\n`);
    return 2;
  }
  const isExpected = [StoreUnavailable, CodedError, OutsideError].some((kind) => error instanceof kind);
  const text = error instanceof Error ? ((isExpected ? null : error.stack) ?? error.message) : String(error);
  stderr.write(`consent-ledger: ${withoutPasswords(text)}\n`);
  return 1;
}
