import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { phrasesOf } from '../context/readings-job.ts';
import type { ChangedRecord, SourceReadings } from '../projections/reading-changes.ts';
import { type CommandIo, counted, createProgress, printable, printResult, tableText, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

/** Records that are listed without `--all`. */
const SHOWN = 50;

/** `ledger readings`: what this version of the program reads differently from an earlier one. */
export function registerLedgerReadings(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('readings'))
    .description(
      'after an upgrade: list the records that this version reads differently, by source, and put its reading in force',
    )
    .option('--all', 'list every record, not only the first of them')
    .option('--adopt', 'put the new reading in force: records what changes, then folds every entry again')
    .option('--officer <name>', 'name to record in the ledger with --adopt', COMMAND_LINE_ACTOR)
    .action((options) =>
      withContext(async ({ readings, projector }) => {
        await projector.catchUp();
        const waiting = await readings.pending();
        if (waiting === null)
          return printResult(
            io,
            options,
            { outcome: 'in-force' },
            () => `${pc.green('✓')} The reading of this version is in force: earlier records were read with it.`,
          );
        const progress = createProgress(io, 'entries compared');
        const onProgress = (done: number, total: number) => progress.report(done, total);
        if (options.adopt === true) {
          const adopted = await readings.adopt(options.officer, { onProgress });
          progress.end();
          const sources = adopted?.sources ?? [];
          return printResult(io, options, { outcome: 'adopted', ...waiting, sources }, () =>
            [
              `${pc.green('✓')} The new reading is in force, and recorded. ${sources.length === 0 ? 'Nothing is read differently.' : ''}`.trim(),
              ...sources.map(sourceText),
            ].join('\n'),
          );
        }
        const records: ChangedRecord[] = [];
        let total = 0;
        const sources = await readings.compare({
          onProgress,
          onRecord: (record) => {
            total += 1;
            if (options.all === true || options.json === true || records.length < SHOWN) records.push(record);
          },
        });
        progress.end();
        const listed = records.map(({ seq, part, source, changes, before, after }) => ({
          ...{ seq, part, source, changes, before, after },
        }));
        printResult(io, options, { outcome: 'pending', ...waiting, total, sources, records: listed }, () =>
          pendingText(sources, records, total),
        );
      }),
    );
}

function sourceText({ source, changes }: SourceReadings): string {
  return `  ${printable(source)}: ${phrasesOf(changes)}`;
}

function pendingText(sources: readonly SourceReadings[], records: readonly ChangedRecord[], total: number): string {
  if (total === 0)
    return 'This version reads every earlier record as before. Put its reading in force with `consent-ledger ledger readings --adopt`; a running server does so by itself.';
  return [
    `This version reads ${counted(total, 'earlier record')} differently. Until its reading is in force, they are shown as before, and no document is made.`,
    ...sources.map(sourceText),
    '',
    tableText(
      ['entry', 'source', 'read until now', 'would be read'],
      records.map(({ seq, part, source, before, after }) => [
        part === 0 ? String(seq) : `${seq} (event ${part + 1})`,
        printable(source),
        printable(before),
        printable(after),
      ]),
      '',
    ),
    ...(total > records.length ? [`… and ${total - records.length} more: --all lists them.`] : []),
    '',
    'Put it in force with `consent-ledger ledger readings --adopt --officer <name>`, or on the page /readings.',
  ].join('\n');
}
