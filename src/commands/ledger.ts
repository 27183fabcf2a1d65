import type { Command } from 'commander';
import pc from 'picocolors';
import { originOf, verifierKeyOf } from '../core/checkpoint.ts';
import { counted, createProgress, type CommandIo, printResult, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** `ledger verify|checkpoint|rebuild`: the evidence. */
export function registerLedger(program: Command, io: CommandIo): void {
  const ledger = program.command('ledger').description('check, seal and rebuild the evidence');

  withJson(ledger.command('verify'))
    .description(
      'read the whole ledger against its hashes, keys, checkpoints and journal; exit code 3 when something was altered',
    )
    .action((options: { json?: boolean }) =>
      withContext(async (context) => {
        const progress = createProgress(io, 'entries verified');
        const verification = await context.verify((done, total) => progress.report(done, total));
        progress.end();
        if (verification.faults.length > 0) io.exitCode = 3;
        printResult(io, options, verification, () => {
          const { entries, sources, checkpoints, unsealed, unfinishedNotes, files, erased, faults, moreFaults, root } =
            verification;
          const read = `${counted(entries, 'entry', 'entries')} of ${counted(sources, 'source')}, ${counted(checkpoints, 'checkpoint')}`;
          const notes = [
            ...(files > 0
              ? [`${counted(files, 'file')} of evidence in DATA_DIR/evidence compared with the entries`]
              : []),
            `root of all ${entries}: ${root}`,
            ...(unsealed > 0
              ? [
                  `${counted(unsealed, 'entry', 'entries')} after the last checkpoint: protected by the instance key, not yet by a signature`,
                ]
              : []),
            ...(unfinishedNotes > 0
              ? [
                  `${counted(unfinishedNotes, 'note')} of the journal cut off while being written: never published, passed over`,
                ]
              : []),
            ...(erased > 0
              ? [`${counted(erased, 'entry', 'entries')} erased: their place is proven, their content is gone`]
              : []),
          ];
          if (faults.length === 0) return [`${pc.green('✓ sound')}: ${read}`, ...notes].join('\n');
          return [
            `${pc.red(`✗ ${counted(faults.length + moreFaults, 'fault')}`)}: ${read}`,
            ...faults.map(
              ({ seq, fault, sentence }) => `  ${seq === null ? 'ledger' : `entry ${seq}`}: ${fault}: ${sentence}`,
            ),
            ...(moreFaults > 0 ? [`  … and ${moreFaults} more`] : []),
            'Keep the database and the journal as they are: they are evidence now. Compare with a backup to see what was there before.',
          ].join('\n');
        });
      }),
    );

  withJson(ledger.command('checkpoint'))
    .description('seal what was appended so far and print the signed tree head')
    .action((options: { json?: boolean }) =>
      withContext(async (context) => {
        const sealing = await context.seal();
        const verifierKey = verifierKeyOf(originOf(context.instance, context.epoch), context.keys.verifying);
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
              return `${pc.red('✗ not sealed')}: entry ${sealing.seq}: ${sealing.reason}. Run \`consent-ledger ledger verify\`.`;
            case 'sealed':
            case 'unchanged':
              return `${sealing.checkpoint.note}\nverifier key: ${verifierKey}`;
            default:
              return sealing satisfies never;
          }
        });
      }),
    );

  withJson(ledger.command('rebuild'))
    .description('fold the read models anew from the ledger, and say what differed')
    .action((options: { json?: boolean }) =>
      withContext(async (context) => {
        const progress = createProgress(io, 'entries projected');
        await context.projector.catchUp();
        const report = await context.rebuild((done, total) => progress.report(done, total));
        progress.end();
        // Which rows differed, not what they hold: that may be somebody's name.
        const differences = report.differences.map(({ table, key }) => ({ table, key }));
        printResult(io, options, { seq: report.seq, differences }, () =>
          differences.length === 0
            ? `${pc.green('✓')} ${counted(report.seq, 'entry', 'entries')} projected anew: nothing differed`
            : `${counted(report.seq, 'entry', 'entries')} projected anew; ${counted(differences.length, 'difference')} put right:\n${differences.map(({ table, key }) => `  ${table} ${JSON.stringify(key)}`).join('\n')}`,
        );
      }),
    );
}
