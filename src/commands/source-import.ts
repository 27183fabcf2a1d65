import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { readEnvironmentVariable } from '../config/config.ts';
import { profilesForImport } from '../config/profile-file.ts';
import { UsageError } from '../core/errors.ts';
import { type ImportReport, importOutcomes, importSources } from '../sources/import/import-sources.ts';
import { importColumns, importLimits, importTemplate } from '../sources/import/read-csv.ts';
import { type CommandIo, cannotRead, counted, printable, printResult, tableText, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';
import { profileProblems } from './source-flags.ts';

/** `source import`: imports many sources from a CSV file. */
export function registerSourceImport(source: CommandUnknownOpts, io: CommandIo): void {
  withJson(source.command('import'))
    .argument('[file]', 'CSV file (RFC 4180, UTF-8; commas, semicolons or tabs)')
    .description('add the sources listed in a CSV file; nothing is written if any line is invalid')
    .option('--template', 'print an example file')
    .option('--update', 'also change existing sources that differ; an empty cell keeps the current value')
    .option('--skip-invalid', 'import the valid lines even if others are invalid')
    .option('--dry-run', 'report what would be done without doing it')
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
    .addHelpText(
      'after',
      `\nColumns (only slug is required). Separate several values in a cell by spaces; paths are relative to the file's folder:\n${importColumns
        .map(({ name, what }) => `  ${name.padEnd(22)}${what}`)
        .join(
          '\n',
        )}\n\nAt most ${importLimits.lines} lines and ${importLimits.bytes / 1024 / 1024} MiB. Secrets are sealed and never printed; ledger entries contain only their ids.`,
    )
    .action(async (file, options) => {
      if (options.template === true) {
        return printResult(io, options, { columns: importColumns, template: importTemplate() }, () =>
          importTemplate().trimEnd(),
        );
      }
      if (file === undefined)
        throw new UsageError(['No CSV file given; `source import --template` prints an example.']);
      const path = resolve(file);
      const { csv, warning } = await load(path);
      await withContext(async (context) => {
        const report = await importSources(
          {
            sources: context.sources,
            isConfigured: (slug) => context.config.defaultSource?.slug === slug,
            readers: {
              folder: dirname(path),
              file: (one) => readFile(one, 'utf8'),
              variable: readEnvironmentVariable,
              profileProblems,
            },
            profiles: profilesForImport(context),
          },
          {
            csv,
            actor: options.officer,
            update: options.update,
            skipInvalid: options.skipInvalid,
            dryRun: options.dryRun,
          },
        );
        if (report.outcome === 'refused') io.exitCode = 2;
        else if (report.problems.length > 0) io.exitCode = 1;
        const warnings = [...(warning === null ? [] : [warning]), ...report.warnings];
        printResult(io, options, { ...report, warnings }, () => reportText({ ...report, warnings }));
      });
    });
}

async function load(path: string): Promise<{ csv: Buffer; warning: string | null }> {
  try {
    const { size, mode } = await stat(path);
    if (size > importLimits.bytes)
      throw new UsageError([`${path} is larger than ${importLimits.bytes} bytes: split it.`]);
    const readable = (mode & 0o044) !== 0 && process.platform !== 'win32';
    return {
      csv: await readFile(path),
      warning: readable
        ? `${path} is readable by other users of this machine: \`chmod 600\` it, and delete it after the import.`
        : null,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw cannotRead(path, error);
  }
}

function reportText({ outcome, lines, problems, warnings }: ImportReport): string {
  // Problems must not be hidden below hundreds of valid lines.
  const isLong = outcome === 'refused' && lines.length > 20;
  const table = tableText(
    ['line', 'source', 'outcome', 'what', 'entry'],
    lines.map((line) => [
      line.line,
      line.slug,
      importOutcomes[line.outcome],
      line.changed.join(', ') || null,
      line.seq,
    ]),
    'No lines imported.',
  );
  const counts = Object.entries(importOutcomes)
    .map(([name, word]) => ({ word, n: lines.filter((line) => line.outcome === name).length }))
    .filter(({ n }) => n > 0)
    .map(({ n, word }) => `${n} ${word}`);
  const ends =
    outcome === 'refused'
      ? `${pc.red('✗')} Nothing was written: ${counted(problems.length, 'problem')}. Correct the file, or import the valid lines with --skip-invalid.`
      : `${problems.length === 0 ? pc.green('✓') : pc.red('✗')} ${counts.join(', ') || 'nothing to do'}${problems.length === 0 ? '' : `, ${counted(problems.length, 'problem')}`}.`;
  return [
    isLong ? `${counted(lines.length, 'line is', 'lines are')} valid: ${counts.join(', ')}.` : table,
    ...problems.map(
      ({ line, slug, column, problem }) =>
        `${pc.red('✗')} ${line === null ? '' : `line ${line}`}${slug === null ? '' : ` (${printable(slug.slice(0, 80))})`}${column === null ? '' : `, ${column}`}: ${printable(problem)}`,
    ),
    ...warnings.map((warning) => `! ${printable(warning)}`),
    ends,
  ].join('\n');
}
