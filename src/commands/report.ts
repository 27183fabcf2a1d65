import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { reports } from '../../reports/index.ts';
import { spreadsheetNote } from '../../reports/render/csv-json.ts';
import type { Report } from '../../reports/report.ts';
import { produceReport } from '../documents/produce-report.ts';
import { type CommandIo, type OptionsOf, printResult, tableText, withJson, withOptions } from './command-io.ts';
import { catchUpTo, documentFlags, finishDocument, madeAtOf, refuseDocument } from './produce-document.ts';
import { withContext } from './run-context.ts';

/** `report list` and `report <name>`: audit documents over a period. */
export function registerReport(program: CommandUnknownOpts, io: CommandIo): void {
  const command = program.command('report').description('audit reports for a period');

  withJson(command.command('list'))
    .description('list the available reports')
    .action((options) => {
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
    const named = reportCommand(command, report);
    if (report.takesSubject) named.addOption(subjectOption);
    named.action((options) => run(report.name, options, io));
  }
}

function reportCommand(command: CommandUnknownOpts, { name, description, formats }: Report) {
  const named = withJson(command.command(name))
    .description(description)
    .option('--source <slug>', 'source', 'default')
    .requiredOption('--from <date>', 'first day, YYYY-MM-DD in TIME_ZONE')
    .requiredOption('--to <date>', 'day after the last one')
    .addOption(new Option('--format <format>', `file format. ${spreadsheetNote}`).choices(formats).default(formats[0]));
  return withOptions(named, documentFlags);
}

const subjectOption = new Option(
  '--subject <id>',
  'append the history of this subject (PDF, HTML and JSON), for example a visitor hash',
);

type ReportFlags = OptionsOf<ReturnType<typeof reportCommand>> & { readonly subject?: string };

function run(name: string, options: ReportFlags, io: CommandIo): Promise<void> {
  return withContext(async (context) => {
    const { source, from, to, format, asOf, subject, officer } = options;
    const madeAt = madeAtOf(context, options.made);
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
