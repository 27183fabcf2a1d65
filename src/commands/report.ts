import { copyFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import pc from 'picocolors';
import { reports } from '../../reports/index.ts';
import type { ReportFormat } from '../../reports/report.ts';
import { UsageError } from '../core/errors.ts';
import { produceReport } from '../documents/produce-report.ts';
import { type CommandIo, momentFrom, printResult, tableText, wholeNumberFrom, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

interface ReportFlags {
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly format: ReportFormat;
  readonly out?: string;
  readonly asOf?: number;
  readonly made?: string;
  readonly subject?: string;
  readonly officer: string;
  readonly json?: boolean;
}

/** `report list` and `report <name>`: audit documents over a period. */
export function registerReport(program: Command, io: CommandIo): void {
  const command = program.command('report').description('audit reports for a period');

  withJson(command.command('list'))
    .description('list the available reports')
    .action((options: { json?: boolean }) => {
      const list = reports.map(({ name, title, description, formats }) => ({ name, title, description, formats }));
      printResult(io, options, list, () =>
        tableText(
          ['name', 'formats', 'description'],
          list.map(({ name, formats, description }) => [name, formats.join(' '), description]),
          'No reports.',
        ),
      );
    });

  for (const report of reports) {
    const named = withJson(command.command(report.name))
      .description(report.description)
      .option('--source <slug>', 'source', 'default')
      .requiredOption('--from <date>', 'first day, YYYY-MM-DD in TIME_ZONE')
      .requiredOption('--to <date>', 'day after the last one')
      .addOption(new Option('--format <format>', 'file format').choices([...report.formats]).default(report.formats[0]))
      .option('--out <file>', 'also write a copy to this file')
      .option('--as-of <seq>', 'reproduce it from the ledger up to this entry', wholeNumberFrom(0))
      .option(
        '--made <time>',
        'creation time (ISO 8601 with an offset); default: now, or with --as-of the time of the original',
        momentFrom('--made'),
      )
      .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
      .action((options: ReportFlags) => run(report.name, options, io));
    if (report.takesSubject)
      named.option(
        '--subject <id>',
        'append the history of this subject (PDF, HTML and JSON), for example a visitor hash',
      );
  }
}

function run(name: string, options: ReportFlags, io: CommandIo): Promise<void> {
  return withContext(async (context) => {
    const { source, from, to, format, asOf, made: madeAt, subject, officer } = options;
    const last = await context.projector.catchUp();
    // Beyond the end it would be today's document under a number of tomorrow.
    if (asOf !== undefined && asOf > last)
      throw new UsageError([`--as-of ${asOf} is beyond the end of the ledger (entry ${last}).`]);
    const produced = await produceReport(context.documents, {
      name,
      source,
      from,
      to,
      format,
      asOf,
      madeAt,
      subject,
      actor: officer,
    });
    if (produced.outcome === 'invalid') throw new UsageError([produced.problem]);
    if (produced.outcome === 'unknown-source') {
      throw new UsageError([`Unknown source ${produced.source}: see \`consent-ledger source list\`.`]);
    }
    if (produced.outcome === 'refused') {
      io.exitCode = 3;
      printResult(io, options, produced, () => `${pc.red('✗')} ${produced.problem}`);
      return;
    }
    if (options.out !== undefined) {
      await copyFile(produced.path, options.out).catch((error: NodeJS.ErrnoException) => {
        throw new UsageError([
          `Cannot write ${options.out} (${error.code ?? error.message}); the document is stored as ${produced.path}.`,
        ]);
      });
    }
    printResult(io, options, { ...produced, out: options.out ?? null }, () =>
      [
        `${options.out ?? produced.path}`,
        `document ${produced.documentId}, as of entry ${produced.asOf}, made ${String(produced.parameters['madeAt'])}, ${produced.bytes} bytes`,
        `SHA-256 ${produced.sha256}, registered as entry ${produced.seq}`,
      ].join('\n'),
    );
  });
}
