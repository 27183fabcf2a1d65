import { readFile } from 'node:fs/promises';
import pc from 'picocolors';
import { loadProcessConfig } from '../config/config.ts';
import type { DatabaseAddress } from '../config/read-values.ts';
import { openDatabaseToRead } from '../context/engines.ts';
import { UsageError } from '../core/errors.ts';
import { parseVerifierKey } from '../crypto/checkpoint.ts';
import { certificatesIn } from '../ledger/timestamp.ts';
import { readOutsideNotes } from '../ledger/verify/outside-checkpoints.ts';
import { type OutsideNote, verifyPublicly } from '../ledger/verify/verify-publicly.ts';
import {
  type CommandIo,
  cannotRead,
  counted,
  createProgress,
  misdatedText,
  printable,
  printResult,
} from './command-io.ts';

interface PublicFlags {
  readonly key?: string;
  readonly checkpoint?: readonly string[];
  readonly timestamp?: readonly string[];
  /** File with the trusted certificates of the tokens. */
  readonly ca?: string;
  readonly database?: DatabaseAddress;
  readonly json?: boolean;
}

/** `ledger verify --public`: uses only the verifier key, on a database or copy that is only read. */
export async function verifyWithoutSecrets(io: CommandIo, options: PublicFlags): Promise<void> {
  if (options.key === undefined)
    throw new UsageError([
      '--public requires --key: the verifier key from `consent-ledger ledger key`, or a file with it.',
    ]);
  const key = await readKey(options.key);
  const outside = (await Promise.all((options.checkpoint ?? []).map(readNotes))).flat();
  const timestamps = await readTimestamps(options);
  const database = options.database ?? loadProcessConfig().database;
  const opened = await openDatabaseToRead(database);
  try {
    const progress = createProgress(io, 'entries verified');
    const found = await verifyPublicly({ read: opened.read, key, outside, timestamps, onProgress: progress.report });
    progress.end();
    const { faults, moreFaults, confirmed } = found;
    if (faults.length > 0) io.exitCode = 3;
    printResult(io, options, { key: key.name, ...found }, () =>
      [
        `${faults.length === 0 ? pc.green('✓ sound') : pc.red(`✗ ${counted(faults.length + moreFaults, 'fault')}`)}: ${counted(found.entries, 'entry', 'entries')}, ${counted(found.checkpoints, 'checkpoint')} of ${key.name}`,
        ...faults.map(
          ({ seq, fault, sentence }) =>
            `  ${seq === null ? 'ledger' : `entry ${seq}`}: ${fault}: ${printable(sentence)}`,
        ),
        ...(moreFaults > 0 ? [`  … and ${moreFaults} more`] : []),
        ...confirmed.map(
          ({ where, size }) =>
            `${pc.green('✓')} ${printable(where)}: nothing has changed in the ${counted(size, 'entry', 'entries')} that it was signed for`,
        ),
        ...found.stamped.map(
          ({ where, size, at }) =>
            `${pc.green('✓')} ${printable(where)}: ${counted(size, 'entry', 'entries')} were sealed before ${at}, according to the time-stamping authority`,
        ),
        ...[...new Set(outside.flatMap(({ within }) => within ?? []))].map(
          (path) =>
            `Only the checkpoint in ${printable(path)} was checked, not the rest of the file: \`consent-ledger document check\` tells whether a document is genuine.`,
        ),
        ...(outside.length === 0
          ? [
              'No outside checkpoint was given (--checkpoint FILE): someone with the signing key could have rewritten everything.',
            ]
          : []),
        `root of all ${found.entries}: ${found.root}`,
        ...(found.unsealed > 0
          ? [
              `${counted(found.unsealed, 'entry', 'entries')} after the last checkpoint: who wrote them cannot be checked without the instance key`,
            ]
          : []),
        ...found.restored.map(
          ({ epoch, first }) => `an older backup was restored: epoch ${epoch} begins with entry ${first}`,
        ),
        ...misdatedText(found.misdated),
        ...(found.erased > 0
          ? [`${counted(found.erased, 'entry', 'entries')} erased: position proven, content gone`]
          : []),
      ].join('\n'),
    );
  } finally {
    await opened.close();
  }
}

/** A verifier key, or a file that contains one. */
async function readKey(
  text: string,
): Promise<{ name: string; publicKey: NonNullable<ReturnType<typeof parseVerifierKey>>['publicKey'] }> {
  const given = parseVerifierKey(text) ?? parseVerifierKey(await readFile(text, 'utf8').catch(() => ''));
  if (given === null || !/^consent-ledger\/[^/]+\/\d+$/.test(given.name))
    throw new UsageError([
      `${printable(text)} is neither a verifier key of a ledger (consent-ledger/<instance>/<epoch>+<hash>+<key>) nor a file with one.`,
    ]);
  return given;
}

async function readTimestamps({ timestamp = [], ca }: PublicFlags) {
  if (timestamp.length > 0 && ca === undefined)
    throw new UsageError(['--timestamp requires --ca: the root certificates (PEM) of the time-stamping authority.']);
  const read = (path: string) =>
    readFile(path).catch((error: NodeJS.ErrnoException): never => {
      throw cannotRead(path, error);
    });
  const tokens = [];
  for (const path of timestamp) tokens.push({ where: path, bytes: await read(path) });
  return { tokens, roots: ca === undefined ? [] : certificatesOf(ca, (await read(ca)).toString('utf8')) };
}

function certificatesOf(path: string, pem: string): readonly Buffer[] {
  try {
    const found = certificatesIn(pem);
    if (found.length > 0) return found;
  } catch {
    // Reported below.
  }
  throw new UsageError([`${path} contains no PEM certificates.`]);
}

async function readNotes(path: string): Promise<readonly (OutsideNote & { readonly within: string | null })[]> {
  const { notes, isWhole, refused } = await readOutsideNotes(path).catch((error: NodeJS.ErrnoException): never => {
    throw error.syscall === undefined ? error : cannotRead(path, error);
  });
  if (notes.length === 0)
    throw new UsageError([
      refused === null
        ? `${path} has no checkpoint: use a signed note, a manifest or JSON report, a PDF, a page, a proof or a pack.`
        : `${path} has no checkpoint that can be read: ${refused}.`,
    ]);
  const what = isWhole ? path : `the checkpoint in ${path}`;
  return notes.map((note) => ({
    where: notes.length === 1 ? what : `${what} (over ${note.split('\n')[1]})`,
    note,
    within: isWhole ? null : path,
  }));
}
