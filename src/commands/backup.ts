import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { Lock, Unlock } from '../backup/archive.ts';
import { backUp, backupPlacesOf, withDownloaded } from '../backup/bucket-backups.ts';
import { exportEverything } from '../backup/export.ts';
import { acceptDatabase, type RestoreOptions, type RestoreReport, restoreBackup } from '../backup/restore.ts';
import { loadProcessConfig } from '../config/config.ts';
import { MIXED_RECIPIENTS, quantumResistance, recipientProblem } from '../core/age-recipients.ts';
import { UsageError } from '../core/errors.ts';
import { createLog } from '../log/log.ts';
import {
  type CommandIo,
  counted,
  createProgress,
  printable,
  printResult,
  wholeNumber,
  withJson,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

/** `backup`: the whole installation except its keys, in one encrypted file. */
export function registerBackup(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('backup'))
    .description(
      'write an encrypted backup, also while the server runs (exit code 3 if it was made but something named in the ledger is missing)',
    )
    .option('--out <place>', 'a folder, or a bucket s3://bucket/folder; default: BACKUP_FOLDER and BACKUP_BUCKET')
    .option('--recipient <age1…>', 'public key to encrypt for, repeatable; default: BACKUP_RECIPIENTS', recipients)
    .option('--passphrase-file <file>', 'encrypt with the passphrase in this file instead')
    .addHelpText(
      'after',
      '\nMake a key pair with `age-keygen -o key.txt` (age-encryption.org) and keep key.txt away from this machine: nobody can restore without it.\nINSTANCE_KEY and the signing key are not in a backup. Keep them too: without them, no backup can be restored (docs/backup.md).',
    )
    .action((flags) =>
      withContext(async (context) => {
        const places = flags.out === undefined ? context.config.backup : backupPlacesOf(flags.out);
        if (places.folder === null && places.bucket === null)
          throw new UsageError(['No place for the backup: use --out <folder>, or set BACKUP_FOLDER or BACKUP_BUCKET.']);
        const lock = await lockOf(flags, context.config.backup.recipients);
        const progress = createProgress(io, 'entries written');
        const reading = createProgress(io, 'bytes read back');
        const uploading = createProgress(io, 'bytes uploaded');
        const shown = { written: progress, 'read back': reading, uploaded: uploading };
        const report = await backUp({
          context,
          places,
          lock,
          actor: COMMAND_LINE_ACTOR,
          onProgress: (step, done, total) => shown[step].report(done, total),
        });
        progress.end();
        reading.end();
        uploading.end();
        if (report.faults.length > 0) io.exitCode = 3;
        printResult(io, flags, report, () =>
          [
            `${pc.green('✓')} ${printable(report.path)}`,
            `${counted(report.seq, 'entry', 'entries')} (${report.sealed} under a checkpoint), ${counted(report.files, 'file')}, ${report.bytes} bytes; read back and decrypted`,
            ...(report.uploaded === null || report.uploaded === report.path
              ? []
              : [`uploaded to ${printable(report.uploaded)}`]),
            ...report.faults.map((fault) => pc.red(`✗ ${printable(fault)}`)),
            ...(report.entry === null
              ? ['The ledger accepts no entries at the moment, so this backup is not recorded in it.']
              : []),
            'It contains no keys: keep INSTANCE_KEY, the signing key and the private key of the backup elsewhere.',
          ].join('\n'),
        );
      }),
    );
}

/** `restore`: restores a backup into an empty place, or accepts what is missing in a database that was restored by other means. */
export function registerRestore(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('restore'))
    .argument('[file]', 'the backup: a file, s3://bucket/file, or s3://bucket/folder/ for the newest there')
    .description(
      'restore a backup into an empty DATA_DIR and database, verify it and begin a new epoch (exit code 3 if it is not sound)',
    )
    .option('--identity <file>', 'file with the private key that decrypts the backup (AGE-SECRET-KEY-…)')
    .option('--passphrase-file <file>', 'file with the passphrase that decrypts the backup')
    .option(
      '--journal <folder>',
      'the surviving journal of the lost DATA_DIR: its newest checkpoint shows how much is lost',
    )
    .option('--erasures <folder>', 'records of erasures made after the backup; default: the folder erasures next to it')
    .option('--epoch <number>', 'number of the new epoch, if this backup was restored before', wholeNumber(2, 9999))
    .option(
      '--owner <email>',
      'an owner in the backup who may sign in at once; all other accounts wait for a confirmation',
    )
    .option('--despite-faults', 'restore even if verification finds faults, and record that')
    .option(
      '--database-as-it-is',
      'without a file: accept a database that was restored by other means and is behind its journal',
    )
    .addHelpText(
      'after',
      '\nThe keys are not in the backup: put INSTANCE_KEY and the signing key in place first (DATA_DIR may contain the folder keys and nothing else).\nThe steps, and what to check before opening for traffic: docs/backup.md.',
    )
    .action(async (file, flags) => {
      const steps = new Map<string, ReturnType<typeof createProgress>>();
      const common = {
        config: loadProcessConfig(),
        log: createLog('warn'),
        clock: () => new Date(),
        actor: COMMAND_LINE_ACTOR,
        despiteFaults: flags.despiteFaults ?? false,
        epoch: flags.epoch ?? null,
        owner: flags.owner?.trim().toLowerCase() ?? null,
        onProgress(step: string, done: number, total: number | null) {
          let progress = steps.get(step);
          if (progress === undefined) steps.set(step, (progress = createProgress(io, step)));
          progress.report(done, total);
        },
      };
      if ((file === undefined) !== (flags.databaseAsItIs === true))
        throw new UsageError(['Specify the backup file, or use --database-as-it-is without a file.']);
      const report =
        file === undefined
          ? await acceptDatabase(common)
          : await restoreFrom(file, {
              ...common,
              unlock: await unlockOf(flags),
              journal: flags.journal ?? null,
              erasures: flags.erasures ?? null,
            });
      for (const progress of steps.values()) progress.end();
      if (report.erasedAgain.problems.length > 0) io.exitCode = 3;
      printResult(io, flags, report, () => textOfRestore(report));
    });
}

function restoreFrom(place: string, options: Omit<RestoreOptions, 'file'>): Promise<RestoreReport> {
  if (!place.startsWith('s3://')) return restoreBackup({ ...options, file: place });
  const onProgress = (done: number, total: number) => options.onProgress('bytes downloaded', done, total);
  return withDownloaded(options.config, place, onProgress, (file) => restoreBackup({ ...options, file }));
}

/** `export`: everything in open formats, unencrypted. */
export function registerExport(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('export'))
    .description(
      'write everything into a folder in open formats, with a verifier (exit code 3 if something named in the ledger is missing)',
    )
    .requiredOption('--out <folder>', 'a folder that does not exist yet, or is empty')
    .addHelpText(
      'after',
      '\nThe folder is not encrypted and contains personal data. `node verify-export.mjs FOLDER` checks it without this program (docs/backup.md).',
    )
    .action((flags) =>
      withContext(async (context) => {
        const progress = createProgress(io, 'entries written');
        const report = await exportEverything({ context, folder: resolve(flags.out), onProgress: progress.report });
        progress.end();
        if (report.faults.length > 0) io.exitCode = 3;
        printResult(io, flags, report, () =>
          [
            `${pc.green('✓')} ${printable(report.folder)}: ${counted(report.seq, 'entry', 'entries')} (${report.sealed} under a checkpoint), ${counted(report.files, 'file')}`,
            ...report.faults.map((fault) => pc.red(`✗ ${printable(fault)}`)),
            `To check it: cd ${printable(report.folder)} && node verify-export.mjs .`,
          ].join('\n'),
        );
      }),
    );
}

function textOfRestore(report: RestoreReport): string {
  const { first, epoch, madeAt, verification, held, erasedAgain } = report;
  const accepted = verification.faults.length + verification.moreFaults;
  return [
    `${pc.green('✓')} ${counted(first - 1, 'entry', 'entries')} verified${madeAt === null ? '' : `, of the backup of ${madeAt}`}; epoch ${epoch} begins with entry ${first}`,
    ...(accepted > 0
      ? [pc.red(`✗ ${counted(accepted, 'fault')} accepted; \`consent-ledger ledger verify\` lists them`)]
      : []),
    ...textOfLoss(report),
    ...(erasedAgain.erasures > 0
      ? [
          `${counted(erasedAgain.erasures, 'erasure')} made after the backup repeated (${counted(erasedAgain.entries, 'entry', 'entries')}).`,
        ]
      : []),
    ...erasedAgain.problems.map((problem) => pc.red(`✗ ${printable(problem)}`)),
    ...(held.length > 0
      ? [
          `${counted(held.length, 'account')} disabled until confirmed, because some may have been disabled since the backup: ${held.slice(0, 20).map(printable).join(', ')}${held.length > 20 ? ', …' : ''}`,
          'Enable an owner with `consent-ledger people enable <email>`; the owner confirms the others under People, or all of them with `people enable --held`.',
        ]
      : []),
    'Waiting jobs were cancelled, and officers must sign in again. Send the new verifier key to everyone who has the old one: `consent-ledger ledger key`.',
  ].join('\n');
}

function textOfLoss({ lost, missing, madeAt, epoch }: RestoreReport): readonly string[] {
  const asItIs = madeAt === null;
  if (lost === null) return ['Unknown how much is lost: pass the surviving journal with --journal to find out.'];
  if (missing === null) return [`No entries are known to be missing${asItIs ? '' : ' after the backup'}.`];
  const { from, to } = missing;
  return [
    `${counted(lost, 'entry', 'entries')} known to be lost: ${from === to ? `number ${from}` : `numbers ${from} to ${to}`}. The first entry of epoch ${epoch} records this.`,
    'The next sync continues where this ledger ends, so it pulls the lost rows of the consent log again. Requests, policies and scans are not in that log: ask the service, or the people who asked, to send them again.',
  ];
}

async function unlockOf({ identity, passphraseFile }: { identity?: string; passphraseFile?: string }): Promise<Unlock> {
  if ((identity === undefined) === (passphraseFile === undefined))
    throw new UsageError(['The backup is encrypted: use --identity <file> or --passphrase-file <file>.']);
  if (passphraseFile !== undefined) return { passphrase: (await readSecretFile(passphraseFile)).replace(/\r?\n$/, '') };
  const path = identity ?? '';
  const identities = (await readSecretFile(path)).split(/\r?\n/).filter((line) => /^AGE-SECRET-KEY-/.test(line));
  if (identities.length === 0)
    throw new UsageError([`${printable(path)} contains no age private key (a line that begins with AGE-SECRET-KEY-).`]);
  return { identities };
}

async function lockOf(
  { recipient, passphraseFile }: { recipient?: readonly string[]; passphraseFile?: string },
  configured: readonly string[],
): Promise<Lock> {
  if (recipient !== undefined && passphraseFile !== undefined)
    throw new UsageError(['Use either --recipient or --passphrase-file.']);
  if (passphraseFile !== undefined) return { passphrase: await readPassphrase(passphraseFile) };
  const given = recipient ?? configured;
  if (given.length === 0)
    throw new UsageError([
      'No recipient: use --recipient age1… or --passphrase-file, or set BACKUP_RECIPIENTS. `age-keygen -o key.txt` creates a key pair.',
    ]);
  if (quantumResistance(given) === 'mixed') throw new UsageError([`The recipients ${MIXED_RECIPIENTS}.`]);
  return { recipients: given };
}

/** Reads a passphrase without its trailing line feed. Throws UsageError if it could be guessed. */
async function readPassphrase(path: string): Promise<string> {
  const text = (await readSecretFile(path)).replace(/\r?\n$/, '');
  if (text.length < 16)
    throw new UsageError([`The passphrase in ${printable(path)} is shorter than 16 characters and can be guessed.`]);
  return text;
}

export function readSecretFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError([`Cannot read ${printable(path)} (${error.code ?? 'error'}).`]);
  });
}

function recipients(text: string, before: readonly string[] = []): readonly string[] {
  const problem = recipientProblem(text);
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`);
  return [...before, text];
}
