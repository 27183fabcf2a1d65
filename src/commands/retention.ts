import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { UsageError } from '../core/errors.ts';
import { liftHold, listHolds, placeHold } from '../erasure/holds.ts';
import { planRetention, reviewRetention, runRetention } from '../erasure/retention.ts';
import { retentionPeriodText } from '../law/profile.ts';
import { type CommandIo, counted, dayText, printable, printResult, tableText, timeOf, withJson } from './command-io.ts';
import { noSuchSource, withCaughtUp, withContext } from './run-context.ts';

/** `retention show|run`: how long each kind of data is kept, and erasing what is due. */
export function registerRetention(program: CommandUnknownOpts, io: CommandIo): void {
  const command = program.command('retention').description('show how long data is kept, and erase what is due');

  withJson(command.command('show'))
    .description(
      'show what is kept, for how long, from when and why, and what is due (for the records of GDPR Art. 30)',
    )
    .option('--source <slug>', 'only this source')
    .action((options) =>
      withContext(async (context) => {
        const { source } = options;
        if (source !== undefined && context.sources.findAny(source) === null) throw noSuchSource(source);
        const reviewed = await reviewRetention(context.erasure, source ?? null);
        const planned = await planRetention(context.erasure, reviewed);
        const value = reviewed.map(({ due, ...one }) => ({
          ...one,
          due: { entries: due.seqs.length, cases: due.caseIds.length, documents: due.documentIds.length },
        }));
        printResult(io, options, { kept: value, heldBy: planned?.held ?? [] }, () =>
          [
            tableText(
              ['source', 'what', 'kept', 'from', 'ground', 'due'],
              value.map((one) => [
                one.source,
                one.what,
                `${printable(retentionPeriodText(one.period))}${one.isSet ? '' : ' (default)'}`,
                one.from,
                one.ground,
                one.due.entries + one.due.documents === 0
                  ? 0
                  : one.due.documents > 0
                    ? counted(one.due.documents, 'document')
                    : counted(one.due.entries, 'entry', 'entries'),
              ]),
              'There are no sources yet.',
            ),
            ...((planned?.held.length ?? 0) > 0
              ? [`Some of the data that is due is kept by ${planned?.held.join(', ')} (\`hold list\`, \`dsar show\`).`]
              : []),
            'The nightly job erases what is due at sources whose controller profile has a `retention` section.',
          ].join('\n'),
        );
      }),
    );

  withJson(command.command('run'))
    .description('erase now what is due at sources whose controller profile has a `retention` section')
    .option('--source <slug>', 'only this source')
    .requiredOption('--officer <name>', 'who ran it; recorded in the ledger')
    .action((options) =>
      withContext(async (context) => {
        const { source, officer } = options;
        if (source !== undefined && context.sources.findAny(source) === null) throw noSuchSource(source);
        const runs = await runRetention(context.erasure, officer, source ?? null);
        printResult(io, options, runs, () =>
          runs.length === 0
            ? 'No controller profile has a `retention` section: nothing is erased automatically (docs/configuration.md, Retention).'
            : runs
                .map(
                  ({ source: slug, erased, held }) =>
                    `${slug}: ${erased === null ? 'nothing due' : `${counted(erased.entries, 'entry', 'entries')} and ${counted(erased.documents, 'document')} erased, recorded as entry ${erased.seqs.join(', ')}`}${held.length > 0 ? `; kept by ${held.join(', ')}` : ''}`,
                )
                .join('\n'),
        );
      }),
    );
}

/** `hold add|list|lift`: data that must not be erased. */
export function registerHold(program: CommandUnknownOpts, io: CommandIo): void {
  const command = program
    .command('hold')
    .description('legal holds: data that must not be erased until they are lifted');

  withJson(command.command('add'))
    .description('keep everything that matches all these flags until the hold is lifted')
    .requiredOption('--reason <text>', 'why, without personal data')
    .requiredOption('--officer <name>', 'who decided; recorded in the ledger')
    .option('--source <slug>', 'entries of this source; default: of every source')
    .option('--case <id>', 'entries of this case')
    .option(
      '--subject <id>',
      'records of this person (with --source): e-mail address, visitor hash or record id; a keyed hash is recorded',
    )
    .option('--from <time>', 'only entries received from this time on')
    .option('--to <time>', 'only entries received before this time')
    .action((options) =>
      withContext(async (context) => {
        const { source, reason, officer } = options;
        if (source !== undefined && context.sources.findAny(source) === null) throw noSuchSource(source);
        await context.projector.catchUp();
        const time = (text: string | undefined, flag: string) =>
          text === undefined ? null : timeOf(text, flag, context.config.timeZone);
        const placed = await placeHold(
          { ...context.erasure, sources: context.sources },
          {
            officer,
            reason,
            source: source ?? null,
            caseId: options.case ?? null,
            subject: options.subject ?? null,
            from: time(options.from, '--from'),
            to: time(options.to, '--to'),
          },
        );
        if (placed.outcome === 'refused') throw new UsageError(placed.problems);
        printResult(io, options, placed, () => `${pc.green('✓')} ${placed.holdId}, recorded as entry ${placed.seq}`);
      }),
    );

  withJson(command.command('list'))
    .description('list the holds in force')
    .action((options) =>
      withCaughtUp(async (context) => {
        const holds = await listHolds(context.store.read);
        printResult(io, options, holds, () =>
          tableText(
            ['id', 'since', 'source', 'case', 'subject', 'from', 'to', 'by', 'reason'],
            holds.map((hold) => [
              hold.holdId,
              dayText(hold.placedAt),
              hold.sourceSlug,
              hold.caseId,
              hold.about === null ? null : `${hold.about.slice(0, 12)}…`,
              hold.from,
              hold.to,
              hold.officer,
              hold.reason,
            ]),
            'No holds.',
          ),
        );
      }),
    );

  withJson(command.command('lift'))
    .argument('<id>', 'id of the hold, from `hold list`')
    .description('lift a hold')
    .requiredOption('--reason <text>', 'why, without personal data')
    .requiredOption('--officer <name>', 'who decided; recorded in the ledger')
    .action((holdId, options) =>
      withCaughtUp(async (context) => {
        const { reason, officer } = options;
        const lifted = await liftHold(context.erasure, { holdId, reason, officer });
        if (lifted.outcome === 'refused') throw new UsageError(lifted.problems);
        if (lifted.outcome === 'unknown')
          throw new UsageError([`Unknown hold ${printable(holdId)} in force: see \`consent-ledger hold list\`.`]);
        printResult(io, options, { holdId, lifted: true }, () => `${pc.green('✓')} ${holdId} is lifted`);
      }),
    );
}
