import type { Command } from 'commander';
import pc from 'picocolors';
import { verifySignature } from '../../receivers/signature.ts';
import { UsageError } from '../core/errors.ts';
import { loadAmbiguousRepeats } from '../projections/ambiguous-repeats.ts';
import { readmitRejected, type Readmitted } from '../rejected/readmit.ts';
import { type CommandIo, counted, printable, printResult, tableText, wholeNumberFrom, withJson } from './command-io.ts';
import { loadDeliveries, loadQuarantine, loadRefusedCounts } from './delivery-lists.ts';
import { diagnoseRefused, diagnosisText } from './delivery-diagnosis.ts';
import { loadDelivery, deliveryText } from './delivery-show.ts';
import { withContext } from './run-context.ts';

interface ListFlags {
  readonly source?: string;
  readonly event?: string;
  readonly limit: number;
  readonly quarantine?: boolean;
  readonly refused?: boolean;
  readonly ambiguous?: boolean;
  readonly json?: boolean;
}

interface RingFlags {
  readonly source?: string;
  readonly id?: readonly number[];
  readonly json?: boolean;
}

const NOTHING_REFUSED =
  'No refused deliveries. They are kept for 72 hours; a running server stores new ones within five seconds.';

/** `delivery list|show|diagnose|readmit`: what arrived, what was refused and why. */
export function registerDelivery(program: Command, io: CommandIo): void {
  const delivery = program
    .command('delivery')
    .description('webhook deliveries: what arrived, what was refused and why');
  registerList(delivery, io);

  withJson(delivery.command('show'))
    .argument('<seq>', 'entry number', wholeNumberFrom(1))
    .description('show everything the ledger holds about one delivery, including the body')
    .action((seq: number, options: { json?: boolean }) =>
      withContext(async (context) => {
        await context.projector.catchUp();
        const loaded = await loadDelivery(context.store.read, seq);
        if (loaded === null) throw new UsageError([`Unknown entry ${seq}: see \`consent-ledger delivery list\`.`]);
        printResult(io, options, loaded, () => deliveryText(loaded));
      }),
    );

  withRing(delivery.command('diagnose'))
    .description('explain why each refused delivery was refused, and how to fix it')
    .option('--limit <number>', 'how many to examine, newest first', wholeNumberFrom(1), 50)
    .action((options: RingFlags & { limit: number }) =>
      withContext(async (context) => {
        const all = await context.rejected.list(options.source === undefined ? {} : { source: options.source });
        const { id: ids } = options;
        const wanted = all.filter(({ id }) => ids?.includes(id) ?? true);
        assertKept(ids, wanted);
        const diagnosed = await diagnoseRefused(context, wanted.slice(0, options.limit));
        printResult(io, options, { kept: all.length, diagnosed }, () =>
          diagnosed.length === 0 ? NOTHING_REFUSED : diagnosisText(diagnosed, wanted.length),
        );
      }),
    );

  withRing(delivery.command('readmit'))
    .description(
      'verify refused deliveries again with the current secrets; valid ones enter the ledger as verified-late',
    )
    .action((options: RingFlags) =>
      withContext(async (context) => {
        const { source, id: ids } = options;
        assertKept(ids, await context.rejected.list());
        const results = await readmitRejected(
          { ring: context.rejected, sources: context.sources, ledger: context.ledger, verify: verifySignature },
          { ...(source === undefined ? {} : { source }), ...(ids === undefined ? {} : { ids }) },
        );
        await context.projector.catchUp();
        // Strangers probe every address: only what was asked for by its id counts as a failure when it stays outside.
        if (ids !== undefined && results.some((one) => !isIn(one))) io.exitCode = 1;
        printResult(io, options, results, () => readmittedText(results));
      }),
    );
}

function registerList(delivery: Command, io: CommandIo): void {
  withJson(delivery.command('list'))
    .description('list deliveries, newest first; or those that are unreadable, refused or ambiguous')
    .option('--source <slug>', 'only this source')
    .option('--event <name>', 'only this event')
    .option('--limit <number>', 'maximum number of rows', wholeNumberFrom(1), 50)
    .option('--quarantine', 'list what could not be read, and why: invalid JSON, unknown events, missing fields')
    .option('--refused', 'list refused deliveries with their total')
    .option(
      '--ambiguous',
      'list repeated deliveries with neither id nor time, which may be a new choice or the same one again',
    )
    .action((options: ListFlags) =>
      withContext(async (context) => {
        const { source, event, limit, quarantine, refused, ambiguous } = options;
        if ([quarantine, refused, ambiguous].filter(Boolean).length > 1) {
          throw new UsageError(['Use only one of --quarantine, --refused and --ambiguous.']);
        }
        if (event !== undefined && refused)
          throw new UsageError([
            '--refused cannot be combined with --event: the event of a refused delivery is unknown.',
          ]);
        if (source !== undefined && context.sources.find(source) === null) {
          throw new UsageError([`Unknown source ${printable(source)}: see \`consent-ledger source list\`.`]);
        }
        const { read } = context.store;
        await context.projector.catchUp();
        if (quarantine) {
          const rows = await loadQuarantine(read, { source, event, limit });
          return printResult(io, options, rows, () =>
            tableText(
              ['entry', 'received', 'source', 'event', 'why'],
              rows.map((row) => [row.seq, row.receivedAt, row.source, row.event, row.reason]),
              'No unreadable entries.',
            ),
          );
        }
        if (refused) {
          const kept = await context.rejected.list({ ...(source === undefined ? {} : { source }), limit });
          const counts = await loadRefusedCounts(context, source);
          return printResult(io, options, { kept, counts }, () =>
            [
              tableText(
                ['id', 'received', 'source', 'why', 'bytes', 'from'],
                kept.map((row) => [row.id, row.receivedAt, row.source, row.reason, row.bytes, row.address]),
                NOTHING_REFUSED,
              ),
              ...(counts.length === 0
                ? []
                : [
                    '',
                    tableText(
                      ['source', 'why', 'last 72 hours'],
                      counts.map((row) => [row.source, row.reason, row.count]),
                      '',
                    ),
                  ]),
              ...(kept.length === 0 ? [] : ['', 'Run `consent-ledger delivery diagnose` for the reasons.']),
            ].join('\n'),
          );
        }
        if (ambiguous) {
          const all = await loadAmbiguousRepeats(read, { source: source ?? null });
          const rows = all
            .filter((row) => event === undefined || row.event === event)
            .slice(-limit)
            .reverse();
          return printResult(io, options, rows, () =>
            tableText(
              ['entry', 'source', 'event', 'repeats', 'last', 'is'],
              rows.map((row) => [row.seq, row.source, row.event, row.repeats, row.lastAt, row.resolution]),
              'No ambiguous deliveries.',
            ),
          );
        }
        const rows = await loadDeliveries(read, { source, event, limit });
        printResult(io, options, rows, () =>
          tableText(
            ['entry', 'received', 'source', 'event', 'signature', 'read', 'bytes', 'repeats', 'note'],
            rows.map((row) => [
              row.seq,
              row.receivedAt,
              row.source,
              row.event,
              row.verdict,
              row.outcome,
              row.bytes,
              row.repeats,
              row.note,
            ]),
            'Nothing has arrived yet.',
          ),
        );
      }),
    );
}

function withRing(command: Command): Command {
  const number = wholeNumberFrom(1);
  return withJson(command)
    .option('--source <slug>', 'only this source')
    .option('--id <number...>', 'only these numbers from `delivery list --refused`', (text, before: number[] = []) => [
      ...before,
      number(text),
    ]);
}

function assertKept(ids: readonly number[] | undefined, kept: readonly { id: number }[]): void {
  const gone = (ids ?? []).filter((id) => !kept.some((item) => item.id === id));
  if (gone.length > 0)
    throw new UsageError([
      `Unknown refused delivery ${gone.join(', ')}: see \`consent-ledger delivery list --refused\`.`,
    ]);
}

function isIn({ outcome }: Readmitted): boolean {
  return outcome === 'stored' || outcome === 'duplicate';
}

const whyOut = {
  mismatch: 'the signature is still invalid',
  missing: 'no signature',
  'unknown-source': 'the source no longer exists',
  unreadable: 'altered in the database, or expired',
} as const;

function readmittedText(results: readonly Readmitted[]): string {
  if (results.length === 0) return NOTHING_REFUSED;
  const inside = results.filter(isIn);
  const outside = results.filter((one) => !isIn(one));
  return [
    `${inside.length > 0 ? pc.green('✓') : '·'} ${counted(inside.length, 'delivery', 'deliveries')} readmitted, ${outside.length} still refused`,
    ...inside
      .slice(0, 20)
      .map(
        (one) =>
          `  ${one.id}: entry ${'seq' in one ? one.seq : ''}${one.outcome === 'duplicate' ? ' (already received again)' : ''}`,
      ),
    ...(inside.length > 20 ? [`  … and ${inside.length - 20} more`] : []),
    ...Object.entries(whyOut).flatMap(([outcome, why]) => {
      const count = outside.filter((one) => one.outcome === outcome).length;
      return count === 0 ? [] : [`  ${count}: ${why}`];
    }),
    ...(outside.length > 0 ? ['Run `consent-ledger delivery diagnose` for the reasons.'] : []),
  ].join('\n');
}
