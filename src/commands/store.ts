import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { type CopyReport, copyInstallation, reopenInstallation } from '../backup/copy-installation.ts';
import { readEnvironmentVariable } from '../config/config.ts';
import type { DatabaseAddress } from '../config/read-values.ts';
import { valuesSchema } from '../config/variables.ts';
import { isInstallationBegun, openStore } from '../context/engines.ts';
import { UsageError } from '../core/errors.ts';
import { type CommandIo, counted, createProgress, printResult, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, databaseAddress, withContext } from './run-context.ts';

/** `store copy`: copies the installation to another database. */
export function registerStore(program: CommandUnknownOpts, io: CommandIo): void {
  const store = program.command('store').description('move this installation to another database');

  withJson(store.command('copy'))
    .description(
      'copy the installation in DATABASE_URL to another database and verify the copy (exit code 3 if it has a fault)',
    )
    .option('--to <url>', 'target database: postgres://… or sqlite:<path>', databaseAddress)
    .option(
      '--to-env <name>',
      'read the target from this environment variable, which keeps the password out of the process list',
    )
    .option(
      '--retire',
      'make the old database refuse new entries once the copy has been verified, to complete the move',
    )
    .addHelpText(
      'after',
      '\nRun the command again to continue an interrupted copy, or to copy what a running installation has added in the meantime. Documents, journal and\nkeys are not in the database: the new installation needs the same DATA_DIR, INSTANCE_KEY and SIGNING_KEY_FILE (docs/scaling.md).',
    )
    .action((options) =>
      withContext(async (context) => {
        const target = options.to ?? addressIn(options.toEnv);
        if (sameDatabase(target, context.config.database))
          throw new UsageError(['--to is the database that this installation already uses.']);
        if ((await context.readings.pending()) !== null)
          throw new UsageError([
            'This version reads some earlier records differently, and a copy is read anew: put the new reading in force first (`consent-ledger ledger readings`).',
          ]);
        const to = await openStore(target);
        try {
          const steps = new Map<string, ReturnType<typeof createProgress>>();
          const report = await copyInstallation({
            context,
            to,
            name: nameOf(target),
            retire: options.retire ?? false,
            actor: COMMAND_LINE_ACTOR,
            onProgress(step, done, total) {
              let progress = steps.get(step);
              if (progress === undefined) steps.set(step, (progress = createProgress(io, `entries ${step}`)));
              progress.report(done, total);
            },
          });
          for (const progress of steps.values()) progress.end();
          if (!isWhole(report)) io.exitCode = 3;
          printResult(io, options, { to: nameOf(target), ...report }, () =>
            textOf(report, nameOf(target), options.retire ?? false),
          );
        } finally {
          await to.close();
        }
      }),
    );

  withJson(store.command('reopen'))
    .description(
      'undo `store copy --retire`: the database in DATABASE_URL accepts entries again, and the other one refuses them',
    )
    .option(
      '--to <url>',
      'the database to which the installation moved: postgres://… or sqlite:<path>',
      databaseAddress,
    )
    .option('--to-env <name>', 'read that address from this environment variable')
    .option('--other-is-lost', 'instead of --to: the other database no longer exists')
    .addHelpText(
      'after',
      '\nStop every server of the other database first. If it has entries that this one lacks, nothing is changed: copy back instead (docs/scaling.md).',
    )
    .action((options) =>
      withContext(async (context) => {
        if (options.otherIsLost === true && (options.to ?? options.toEnv) !== undefined)
          throw new UsageError(['Use either --to (or --to-env) or --other-is-lost.']);
        const target = options.otherIsLost === true ? null : (options.to ?? addressIn(options.toEnv));
        if (target !== null && !(await isInstallationBegun(target)))
          throw new UsageError([
            `There is no installation in ${nameOf(target)}. If it no longer exists, use --other-is-lost instead of --to.`,
          ]);
        const to = target === null ? null : await openStore(target);
        try {
          const ownName = nameOf(context.config.database);
          const { seq } = await reopenInstallation({ context, to, ownName, actor: COMMAND_LINE_ACTOR });
          printResult(io, options, { seq }, () =>
            [
              `${pc.green('✓')} This database accepts entries again; entry ${seq} records it.`,
              ...(target === null ? [] : [`${nameOf(target)} now refuses new entries.`]),
              'Start the server with this DATABASE_URL.',
            ].join('\n'),
          );
        } finally {
          await to?.close();
        }
      }),
    );
}

function addressIn(name: string | undefined): DatabaseAddress {
  if (name === undefined) throw new UsageError(['No target database: use --to <url> or --to-env <name>.']);
  const text = readEnvironmentVariable(name);
  if (text === null) throw new UsageError([`The environment variable ${name} is not set.`]);
  const parsed = valuesSchema.shape.DATABASE_URL.safeParse(text);
  if (parsed.success && parsed.data !== undefined) return parsed.data;
  throw new UsageError([`${name} ${parsed.error?.issues[0]?.message ?? 'is empty'}.`]);
}

/** A name for people, without user and password. */
function nameOf(target: DatabaseAddress): string {
  if (target.engine === 'sqlite') return target.path;
  const { host, pathname } = new URL(target.url);
  return `PostgreSQL ${host}${pathname}`;
}

function sameDatabase(one: DatabaseAddress, other: DatabaseAddress): boolean {
  if (one.engine === 'sqlite') return other.engine === 'sqlite' && one.path === other.path;
  return other.engine === 'postgres' && nameOf(one) === nameOf(other);
}

function isWhole({ differentLeaf, verification, readModels }: CopyReport): boolean {
  return differentLeaf === null && verification.faults.length === 0 && (readModels ?? []).every(({ same }) => same);
}

function textOf(report: CopyReport, name: string, wasToRetire: boolean): string {
  const { copied, seq, verification, readModels, behind, differentLeaf } = report;
  const differing = (readModels ?? []).filter(({ same }) => !same).map(({ table }) => table);
  const lines = [`${counted(copied, 'entry', 'entries')} copied; ${name} ends at ${seq}`];
  if (differentLeaf !== null) lines.push(pc.red(`✗ entry ${differentLeaf} differs in the copy`));
  lines.push(
    ...verification.faults.map(({ seq: at, sentence }) =>
      pc.red(`✗ ${at === null ? 'ledger' : `entry ${at}`}: ${sentence}`),
    ),
  );
  if (differentLeaf === null && verification.faults.length === 0)
    lines.push(`${pc.green('✓')} same leaf hashes, verified: root ${verification.root}`);
  if (readModels === null) {
    lines.push(
      `The installation has added entries in the meantime: ${counted(behind, 'entry', 'entries')} left to copy, read models not compared. Stop its server, then run this again.`,
    );
  } else if (differing.length > 0) {
    lines.push(
      pc.red(`✗ read models differ: ${differing.join(', ')}. Run \`consent-ledger ledger rebuild\`, then copy again.`),
    );
  } else {
    lines.push(`${pc.green('✓')} ${readModels.length} read models, all rows identical`);
  }
  lines.push(nextStep(report, wasToRetire));
  return lines.join('\n');
}

function nextStep(report: CopyReport, wasToRetire: boolean): string {
  if (report.retired && isWhole(report))
    return 'The old database refuses new entries. Set DATABASE_URL to the new one and start the server.';
  if (report.retired)
    return 'The old database refuses new entries, and the new one is not finished: correct the fault and run this again, or undo the move with `consent-ledger store reopen`.';
  return wasToRetire
    ? 'The old database was not retired, because the copy has a fault: it still accepts entries.'
    : 'The old database is unchanged. To move: stop its server, run this with --retire, set DATABASE_URL, start the server.';
}
