import { resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import type { Witnessing } from '../ledger/cosigned-checkpoints.ts';
import type { Verification } from '../ledger/verify/verify-ledger.ts';
import type { RebuildReport } from '../projections/rebuild.ts';
import { findPositionFault, lastSeq, positionFaultText } from '../store/queries/fold-position.ts';
import {
  type CommandIo,
  counted,
  createProgress,
  misdatedText,
  printable,
  printResult,
  timeText,
  wholeNumberFrom,
  withJson,
} from './command-io.ts';
import { registerLedgerErase } from './ledger-erase.ts';
import { registerLedgerEvents } from './ledger-events.ts';
import { registerLedgerProofs } from './ledger-proofs.ts';
import { registerLedgerReadings } from './ledger-readings.ts';
import { COMMAND_LINE_ACTOR, changedMeanwhile, databaseAddress, withContext } from './run-context.ts';

/** `ledger verify|checkpoint|key|events|erase|rebuild`: the evidence. */
export function registerLedger(program: CommandUnknownOpts, io: CommandIo): void {
  const ledger = program
    .command('ledger')
    .description('verify, seal and prove the ledger, erase content, rebuild the read models');

  registerVerify(ledger, io);

  registerCheckpoint(ledger, io);

  registerLedgerProofs(ledger, io);
  registerLedgerWitness(ledger, io);
  registerLedgerEvents(ledger, io);
  registerLedgerErase(ledger, io);

  registerRebuild(ledger, io);
  registerLedgerReadings(ledger, io);
}

function registerVerify(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('verify'))
    .description(
      'check the whole ledger against its hashes, keys, checkpoints and journal (exit code 3 if anything was altered)',
    )
    .option(
      '--since <entry>',
      'read only the entries after the last checkpoint up to this entry, and trust that checkpoint for the rest',
      wholeNumberFrom(1),
    )
    .option('--public', 'verify without any secret, on a database or a copy opened read-only (requires --key)')
    .option('--key <key>', 'with --public: the verifier key, or a file with it')
    .option(
      '--checkpoint <file...>',
      'with --public: files with checkpoints that were handed out (notes, manifests, JSON reports, PDFs, pages, packs)',
    )
    .option(
      '--timestamp <file...>',
      'with --public: responses of time-stamping authorities (.tsr) about these checkpoints',
    )
    .option('--ca <file>', 'with --timestamp: root certificates (PEM) of the time-stamping authority')
    .option(
      '--database <address>',
      'with --public: sqlite:<path> or postgres://…; default: DATABASE_URL',
      databaseAddress,
    )
    .action(async (options) => {
      if (options.public && options.since !== undefined)
        throw new UsageError(['--since and --public cannot be combined.']);
      if (options.public) return (await import('./ledger-verify-public.ts')).verifyWithoutSecrets(io, options);
      if ((options.key ?? options.checkpoint ?? options.database ?? options.timestamp ?? options.ca) !== undefined)
        throw new UsageError(['--key, --checkpoint, --timestamp, --ca and --database go with --public.']);
      return withContext(async (context) => {
        const progress = createProgress(io, 'entries verified');
        const verification = await context.verify((done, total) => progress.report(done, total), options.since);
        progress.end();
        if (verification.faults.length > 0) io.exitCode = 3;
        printResult(io, options, verification, () => verificationText(verification));
      });
    });
}

function verificationText(verification: Verification): string {
  const {
    entries,
    sources,
    checkpoints,
    unsealed,
    unfinishedNotes,
    files,
    documents,
    erased,
    faults,
    moreFaults,
    root,
    cosignatures,
    timestamps,
    copies,
    witnessed,
    unchecked,
    since,
  } = verification;
  const read = `${counted(entries, 'entry', 'entries')} of ${counted(sources, 'source')}, ${counted(checkpoints, 'checkpoint')}`;
  const notes = [
    ...(files > 0 ? [`${counted(files, 'file')} of evidence in DATA_DIR/evidence compared with the entries`] : []),
    ...(documents > 0 ? [`${counted(documents, 'document')} in DATA_DIR/documents compared with the entries`] : []),
    ...(since > 0
      ? [
          `not read: the first ${counted(since, 'entry', 'entries')}, which a signed checkpoint vouches for, and the settings of sources`,
        ]
      : []),
    ...(witnessed > 0
      ? [
          `witnessed up to entry ${witnessed}: ${counted(cosignatures, 'cosignature')}, ${counted(timestamps, 'timestamp')}, ${counted(copies, 'copy', 'copies')} elsewhere`,
        ]
      : []),
    ...unchecked.map((sentence) => `${pc.yellow('not checked')}: ${printable(sentence)}`),
    `root of all ${entries}: ${root}`,
    ...(unsealed > 0
      ? [
          `${counted(unsealed, 'entry', 'entries')} after the last checkpoint: protected by the instance key, not yet by a signature`,
        ]
      : []),
    ...(unfinishedNotes > 0
      ? [`${counted(unfinishedNotes, 'note')} of the journal cut off while being written: never published, ignored`]
      : []),
    ...(erased > 0 ? [`${counted(erased, 'entry', 'entries')} erased: position proven, content gone`] : []),
    ...misdatedText(verification.misdated),
    ...verification.restored.map(
      ({ epoch, first, lost }) =>
        `a backup was restored: epoch ${epoch} begins with entry ${first}${lost > 0 ? `; ${counted(lost, 'entry', 'entries')} made before it are known to be lost` : ''}`,
    ),
  ];
  if (faults.length === 0) return [`${pc.green('✓ sound')}: ${read}`, ...notes].join('\n');
  return [
    `${pc.red(`✗ ${counted(faults.length + moreFaults, 'fault')}`)}: ${read}`,
    ...faults.map(({ seq, fault, sentence }) => `  ${seq === null ? 'ledger' : `entry ${seq}`}: ${fault}: ${sentence}`),
    ...(moreFaults > 0 ? [`  … and ${moreFaults} more`] : []),
    'Do not change the database or the journal: they are now evidence. Compare with a backup to see the original.',
  ].join('\n');
}

function registerCheckpoint(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('checkpoint'))
    .description('seal all entries so far and print the signed tree head')
    .action((options) =>
      withContext(async (context) => {
        const sealing = await context.seal();
        const { verifierKey } = context;
        if (sealing.outcome === 'refused') io.exitCode = 3;
        const value =
          sealing.outcome === 'sealed' || sealing.outcome === 'unchanged'
            ? {
                outcome: sealing.outcome,
                size: sealing.checkpoint.size,
                root: sealing.checkpoint.root.toString('hex'),
                note: sealing.checkpoint.note,
                createdAt: sealing.checkpoint.createdAt,
                verifierKey,
              }
            : { ...sealing, verifierKey };
        printResult(io, options, value, () => {
          switch (sealing.outcome) {
            case 'empty':
              return 'The ledger is empty: there is nothing to seal.';
            case 'refused':
              return notSealedText(sealing);
            case 'sealed':
            case 'unchanged':
              return `${sealing.checkpoint.note}\nverifier key: ${verifierKey}`;
            default:
              return sealing satisfies never;
          }
        });
      }),
    );
}

function registerRebuild(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('rebuild'))
    .description('rebuild the read models from the ledger and report any differences')
    .option('--check', 'only compare, without changing the read models (exit code 3 if any row differs)')
    .option('--reread <slug>', 'also read earlier entries of this source with its current settings, and record that')
    .action((options) =>
      withContext(async (context) => {
        if (options.reread !== undefined) await reread(context, options.reread, options.check === true);
        const progress = createProgress(io, 'entries projected');
        const report = options.check
          ? await context.readModels.check((done, total) => progress.report(done, total))
          : await rebuildAll(context, (done, total) => progress.report(done, total));
        progress.end();
        const { seq, position, counts, differences, indexes } = report;
        if (options.check && (differences.length > 0 || position !== null || indexes.length > 0)) io.exitCode = 3;
        // Which rows differ, but not their content, which may be someone's name.
        const keys = differences.map(({ table, key }) => ({ table, key }));
        const later = (await lastSeq(context.store.read)) - seq;
        const waits = options.check === true && (await context.readings.pending()) !== null;
        printResult(io, options, { seq, position, counts, differences: keys, indexes }, () =>
          [
            ...(waits ? [WAITS] : []),
            rebuildText(report, options.check === true),
            ...(options.check && position === null && later > 0
              ? [
                  `${counted(later, 'later entry has', 'later entries have')} not been folded yet, so nothing was compared with ${later === 1 ? 'it' : 'them'}.`,
                ]
              : []),
          ].join('\n'),
        );
      }),
    );
}

function notSealedText({ seq, reason }: { readonly seq: number; readonly reason: string }): string {
  return `${pc.red('✗ not sealed')}: entry ${seq}: ${reason}. Run \`consent-ledger ledger verify\`.`;
}

async function reread(context: Pick<Context, 'sources'>, slug: string, check: boolean): Promise<void> {
  if (check) throw new UsageError(['--reread and --check cannot be combined.']);
  const { outcome } = await context.sources.reread(slug, COMMAND_LINE_ACTOR);
  if (outcome === 'unknown')
    throw new UsageError([`Unknown source ${printable(slug)}: see \`consent-ledger source list --all\`.`]);
  if (outcome !== 'done') throw new Error(changedMeanwhile(printable(slug)));
}

async function rebuildAll(
  context: Pick<Context, 'store' | 'projector' | 'rebuild'>,
  onProgress: (done: number, total: number) => void,
) {
  // Catching up would silently correct a wrong position, leaving nothing to report.
  if ((await findPositionFault(context.store.read)) === null) await context.projector.catchUp();
  return context.rebuild(onProgress);
}

/** Before differences that an upgrade explains. */
const WAITS =
  'The reading of an earlier version is still in force, so rows differ wherever this version reads something else: see `consent-ledger ledger readings`.';

/** Examples listed for each table. */
const EXAMPLES = 5;

function rebuildText({ seq, position, counts, differences, indexes }: RebuildReport, check: boolean): string {
  const projected = `${counted(seq, 'entry', 'entries')} projected again`;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (all === 0 && position === null && indexes.length === 0) return `${pc.green('✓')} ${projected}: no differences`;
  return [
    `${check ? pc.red('✗ ') : ''}${projected}; ${counted(all, 'row')} ${check ? `${all === 1 ? 'differs' : 'differ'} from the ledger` : 'corrected'}:`,
    ...(position === null ? [] : [`  The read models ${positionFaultText(position)}.`]),
    ...indexes.map((found) => `  An index ${check ? 'does' : 'did'} not match its rows: ${found}.`),
    ...Object.entries(counts).flatMap(([table, count]) => {
      const keys = differences.filter((difference) => difference.table === table).map(({ key }) => key);
      const shown = keys.slice(0, EXAMPLES).map((key) => `    ${key}`);
      return [`  ${table}: ${counted(count, 'row')}`, ...shown, ...(count > shown.length ? ['    …'] : [])];
    }),
    ...(check
      ? [
          'Run `consent-ledger ledger verify` to check the entries themselves, then `consent-ledger ledger rebuild` to correct the read models.',
        ]
      : []),
  ].join('\n');
}

/** `ledger witness`: lets others sign the current state of the ledger (docs/proofs.md). */
function registerLedgerWitness(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('witness'))
    .argument('[policy]', 'file with witnesses, their addresses and the quorum (C2SP tlog-policy); default: WITNESSES')
    .description(
      'seal, and have witnesses sign the checkpoint now (exit code 3 if one has seen a different history, 1 without a quorum)',
    )
    .action((path, options) =>
      withContext(async (context) => {
        const policy = path === undefined ? context.config.witnesses : resolve(path);
        const witnessing = await context.witness({ path: policy, again: true });
        if (witnessing.outcome === 'empty') throw new UsageError(['The ledger is empty: there is nothing to witness.']);
        if (witnessing.outcome === 'refused') {
          io.exitCode = 3;
          printResult(io, options, witnessing, () => notSealedText(witnessing));
          return;
        }
        const { size, quorum, results, files } = witnessing;
        if (results.some(({ result }) => result.outcome === 'forked')) io.exitCode = 3;
        else if (!quorum) io.exitCode = 1;
        const witnesses = results.map(({ name, result }) => ({
          name,
          outcome: result.outcome,
          ...('at' in result ? { at: result.at } : {}),
          ...('reason' in result ? { reason: result.reason } : {}),
        }));
        printResult(io, options, { size, quorum, files, witnesses }, () =>
          [
            ...results.map(({ name, result }) => resultLine(name, size, result)),
            quorum ? 'The quorum is reached.' : 'The quorum is not reached.',
            ...files.map((file) => `Kept: ${file}`),
          ].join('\n'),
        );
      }),
    );
}

type Result = Extract<Witnessing, { readonly outcome: 'witnessed' }>['results'][number]['result'];

const verbs = {
  cosigned: 'cosigned',
  stamped: 'timestamped',
  copied: 'holds a copy of the checkpoint over',
} as const;

function resultLine(name: string, size: number, result: Result): string {
  if ('reason' in result) return `${pc.red('✗')} ${printable(name)}: ${printable(result.reason)}`;
  if (result.outcome === 'unchanged') return `${pc.green('✓')} ${printable(name)} has seen this checkpoint before`;
  return `${pc.green('✓')} ${printable(name)} ${verbs[result.outcome]} ${size} entries, ${timeText(result.at)}`;
}
