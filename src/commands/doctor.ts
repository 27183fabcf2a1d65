import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { type Config, loadProcessConfig } from '../config/config.ts';
import { isInstallationBegun } from '../context/engines.ts';
import { CodedError, StoreUnavailable, UsageError } from '../core/errors.ts';
import { type CommandIo, counted, printable, printResult, withJson } from './command-io.ts';
import { checkData } from './doctor/data.ts';
import { fault, type Line, runChecks } from './doctor/finding.ts';
import { checkStoredDescriptions, networkChecks } from './doctor/network.ts';
import { checkSettings, sourceChecks } from './doctor/sources.ts';
import { surroundings } from './doctor/surroundings.ts';
import { withContextOf } from './run-context.ts';

/** `doctor`: checks whether this installation is ready for production. Changes nothing; exit code 0 if it is, 1 if not. */
export function registerDoctor(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('doctor'))
    .description(
      'check this installation and name the remedy for every problem (exit code 1 if it is not ready for production)',
    )
    .option(
      '--public',
      'also check over the network whether PUBLIC_URL is reachable, the API keys work and the clock is right',
    )
    .action(async (options) => {
      const lines = await examine(options.public === true);
      const reasons = lines.filter(({ level }) => level === 'fault').length;
      if (reasons > 0) io.exitCode = 1;
      printResult(io, options, { ready: reasons === 0, reasons, lines }, () =>
        [
          ...lines.map(lineText),
          '',
          `ready for production: ${reasons === 0 ? pc.green('yes') : pc.red(`no, ${counted(reasons, 'reason')}`)}`,
        ].join('\n'),
      );
    });
}

async function examine(overNetwork: boolean): Promise<Line[]> {
  let config: Config;
  try {
    config = loadProcessConfig();
  } catch (error) {
    return refusals(error, 'configuration', 'See docs/configuration.md.');
  }
  const lines = [...(await runChecks(surroundings, config))];
  try {
    // Opening a missing database would create an installation with keys, which a check must not do.
    if (!(await isInstallationBegun(config.database))) {
      const sentence =
        config.database.engine === 'sqlite'
          ? `No database at ${config.database.path} yet.`
          : 'The database in DATABASE_URL contains no installation yet.';
      return [
        ...lines,
        ...checkSettings(config.defaultSource === null ? [] : [config.defaultSource]),
        fault('database', sentence, 'Start `consent-ledger serve` once to create it, then run this again.'),
      ];
    }
    await withContextOf(
      config,
      async (context) => {
        const further = overNetwork ? networkChecks : [checkStoredDescriptions];
        lines.push(...(await runChecks([checkData, ...sourceChecks, ...further], context)));
      },
      { logLevel: 'fatal' },
    );
  } catch (error) {
    lines.push(...refusals(error, 'start', 'Nothing can be received until this is fixed.'));
  }
  return lines;
}

/** Reports expected errors as lines; rethrows anything else, which is a bug. */
function refusals(error: unknown, about: string, remedy: string): Line[] {
  if (error instanceof UsageError) return error.problems.map((problem) => fault(about, problem, remedy));
  if (error instanceof StoreUnavailable || error instanceof CodedError) return [fault(about, error.message, remedy)];
  throw error;
}

const signs = { ok: pc.green('✓'), note: pc.yellow('!'), fault: pc.red('✗') } as const;

function lineText({ about, level, sentence, remedy }: Line): string {
  const first = `${signs[level]} ${about}: ${printable(sentence)}`;
  return remedy === null ? first : `${first}\n    ${printable(remedy)}`;
}
