import { type Command, Option } from 'commander';
import { reports } from '../../reports/index.ts';
import type { ReportFormat } from '../../reports/report.ts';
import { produceReport } from '../documents/produce-report.ts';
import { type CommandIo, printResult, tableText, withJson } from './command-io.ts';
import {
  catchUpTo,
  type DocumentFlags,
  finishDocument,
  refuseDocument,
  withDocumentFlags,
} from './produce-document.ts';
import { withContext } from './run-context.ts';

interface ReportFlags extends DocumentFlags {
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly format: ReportFormat;
  readonly subject?: string;
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
      .addOption(
        new Option('--format <format>', 'file format').choices([...report.formats]).default(report.formats[0]),
      );
    withDocumentFlags(named).action((options: ReportFlags) => run(report.name, options, io));
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
    await catchUpTo(context, asOf);
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
    if (produced.outcome !== 'produced') return refuseDocument(io, options, produced);
    await finishDocument(io, options, produced, { what: `document ${produced.documentId}` });
  });
}
