import type { Command } from 'commander';
import pc from 'picocolors';
import { counted, createProgress, type CommandIo, printResult, withJson } from './command-io.ts';
import { registerLedgerProofs } from './ledger-proofs.ts';
import { withContext } from './run-context.ts';

/** `ledger verify|checkpoint|key|rebuild`: the evidence. */
export function registerLedger(program: Command, io: CommandIo): void {
  const ledger = program.command('ledger').description('verify, seal and prove the ledger, rebuild the read models');

  withJson(ledger.command('verify'))
    .description(
      'check the whole ledger against its hashes, keys, checkpoints and journal (exit code 3 if anything was altered)',
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
                  `${counted(unfinishedNotes, 'note')} of the journal cut off while being written: never published, ignored`,
                ]
              : []),
            ...(erased > 0 ? [`${counted(erased, 'entry', 'entries')} erased: position proven, content gone`] : []),
          ];
          if (faults.length === 0) return [`${pc.green('✓ sound')}: ${read}`, ...notes].join('\n');
          return [
            `${pc.red(`✗ ${counted(faults.length + moreFaults, 'fault')}`)}: ${read}`,
            ...faults.map(
              ({ seq, fault, sentence }) => `  ${seq === null ? 'ledger' : `entry ${seq}`}: ${fault}: ${sentence}`,
            ),
            ...(moreFaults > 0 ? [`  … and ${moreFaults} more`] : []),
            'Do not change the database or the journal: they are now evidence. Compare with a backup to see the original.',
          ].join('\n');
        });
      }),
    );

  withJson(ledger.command('checkpoint'))
    .description('seal all entries so far and print the signed tree head')
    .action((options: { json?: boolean }) =>
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

  registerLedgerProofs(ledger, io);

  withJson(ledger.command('rebuild'))
    .description('rebuild the read models from the ledger and report any differences')
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
            ? `${pc.green('✓')} ${counted(report.seq, 'entry', 'entries')} projected again: no differences`
            : `${counted(report.seq, 'entry', 'entries')} projected again; ${counted(differences.length, 'difference')} corrected:\n${differences.map(({ table, key }) => `  ${table} ${JSON.stringify(key)}`).join('\n')}`,
        );
      }),
    );
}
