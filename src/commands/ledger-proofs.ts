import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { proofFolder } from '../../reports/dsar-pack/proofs.ts';
import { renderZip } from '../../reports/render/zip.ts';
import type { Context } from '../context/context.ts';
import { verifierKeyPath } from '../context/data-directory.ts';
import { UsageError } from '../core/errors.ts';
import { parseTreeHead, readCheckpoint, type TreeHead } from '../crypto/checkpoint.ts';
import { formatConsistencyProof, provesConsistency } from '../crypto/tlog-proof.ts';
import { createProver, type ProofFiles, type ProofOptions, proofFiles, receiptOf } from '../ledger/prove-entry.ts';
import { newestCheckpoint } from '../ledger/stored-checkpoints.ts';
import { openTree } from '../ledger/tree.ts';
import { readOutsideNotes } from '../ledger/verify/outside-checkpoints.ts';
import { entriesOfCase } from '../store/queries/cases.ts';
import {
  type CommandIo,
  cannotRead,
  counted,
  printable,
  printResult,
  wholeNumberFrom,
  withJson,
  writeOut,
} from './command-io.ts';
import { withContext } from './run-context.ts';

/** `ledger key|prove|receipt|consistency`: what others need to check the ledger without its keys (docs/proofs.md). */
export function registerLedgerProofs(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('key'))
    .description('print the verifier key: the public key that checks every checkpoint of this ledger')
    .action((options) =>
      withContext(async ({ verifierKey, instance, epoch, config }) => {
        const file = verifierKeyPath(config.dataDir);
        printResult(io, options, { verifierKey, instance, epoch, file }, () => verifierKey);
      }),
    );

  withJson(ledger.command('prove'))
    .argument('<what>', 'an entry number, a document id (from `document list`) or a case id (from `dsar list`)')
    .description('prove entries to someone who has only the verifier key: C2SP tlog-proof files, with meta and body')
    .option(
      '--out <path>',
      'folder to write the files to, or one file (….zip) that holds them all; without it the proof of one entry is printed',
    )
    .option('--no-content', 'leave out meta, body and salt: prove position and time without disclosing content')
    .action((what, options) => withContext((context) => prove(context, io, what, options)));

  withJson(ledger.command('receipt'))
    .argument('<entry>', 'entry number', wholeNumberFrom(1))
    .description(
      'print a receipt for the sender of an entry: position, time, leaf hash, and the proof under a signed root',
    )
    .option('--out <file>', 'write the receipt to this file')
    .option('--no-salt', 'leave out the salt, which is needed to compare the delivered bytes')
    .action((seq, options) => withContext((context) => giveReceipt(context, io, seq, options)));

  withJson(ledger.command('consistency'))
    .argument(
      '<old>',
      'size of the earlier tree, or a file with its checkpoint (note, manifest, report, PDF, pack)',
      sizeOrFile,
    )
    .argument('[new]', 'size of the later checkpoint, or a file with it; default: the newest', sizeOrFile)
    .description('prove that a later checkpoint continues an earlier one (exit code 3 if it does not)')
    .action((old, later, options) => withContext((context) => showConsistency(context, io, { old, later }, options)));
}

function sizeOrFile(text: string): number | string {
  if (!/^\d+$/.test(text)) return text;
  if (!Number.isSafeInteger(Number(text))) throw new InvalidArgumentError('Use a size of at most 15 digits.');
  return Number(text);
}

async function prove(
  context: ProofOptions & Pick<Context, 'verifierKey' | 'projector' | 'seal' | 'clock'>,
  io: CommandIo,
  what: string,
  options: { out?: string; content: boolean; json?: boolean },
): Promise<void> {
  const seqs = await entriesOf(context, what);
  if (options.out === undefined && seqs.length > 1)
    throw new UsageError([
      `${printable(what)} has ${seqs.length} entries: specify a folder or a ZIP file for their proofs with --out.`,
    ]);
  // Seals entries after the last checkpoint.
  await context.seal();
  const proveOne = createProver(context);
  const proven: (ProofFiles & { readonly seq: number; readonly size: number })[] = [];
  const faults: { seq: number; sentence: string }[] = [];
  for (const seq of seqs) {
    const proof = await proveOne(seq, 'witnessed');
    if (proof.outcome === 'unproven') faults.push({ seq, sentence: proof.sentence });
    else if (proof.inclusion === null)
      faults.push({ seq, sentence: 'it could not be sealed: run `consent-ledger ledger checkpoint`' });
    else
      proven.push({
        seq,
        size: proof.inclusion.head.size,
        ...proofFiles(proof.entry, proof.inclusion, options.content),
      });
  }
  if (faults.length > 0) io.exitCode = 3;
  const written = options.out === undefined ? [] : await writeProofs(context, options.out, proven);
  const value = {
    verifierKey: context.verifierKey,
    entries: proven.map(({ meta, body, stamps, sealedNote: _, ...one }) => ({
      ...one,
      stamps: stamps.map(({ file, token }) => ({ file, tokenBase64: token.toString('base64') })),
      metaBase64: meta?.toString('base64') ?? null,
      bodyBase64: body?.toString('base64') ?? null,
    })),
    faults,
    files: written,
  };
  for (const { seq, sentence } of options.json ? [] : faults)
    io.stderr.write(`${pc.red('✗ not proven')}: entry ${seq}: ${sentence}\n`);
  if (options.out === undefined && !options.json) {
    // Written unchanged, so that it can be piped.
    io.stdout.write(proven.map(({ tlogProof }) => tlogProof).join(''));
    return;
  }
  printResult(io, options, value, () =>
    [
      `${counted(proven.length, 'entry', 'entries')} proven under the signed checkpoint over ${proven[0]?.size ?? 0} entries`,
      ...written.map((file) => `  ${file}`),
      `To check them without this program: open verify.html and choose the files, or \`node verify.mjs ${isZip(options.out) ? 'FILE.zip' : 'FOLDER'}\`; by hand: docs/proofs.md.`,
    ].join('\n'),
  );
}

async function giveReceipt(
  context: ProofOptions & Pick<Context, 'seal'>,
  io: CommandIo,
  seq: number,
  options: { out?: string; salt: boolean; json?: boolean },
): Promise<void> {
  await context.seal();
  const proof = await createProver(context)(seq, 'witnessed');
  const sentence =
    proof.outcome === 'unproven'
      ? proof.sentence
      : proof.inclusion === null
        ? 'it could not be sealed: run `consent-ledger ledger checkpoint`'
        : null;
  if (proof.outcome === 'unproven' || proof.inclusion === null) {
    io.exitCode = 3;
    return printResult(
      io,
      options,
      { entry: seq, fault: sentence },
      () => `${pc.red('✗ no receipt')}: entry ${seq}: ${sentence ?? ''}`,
    );
  }
  const text = `${JSON.stringify(receiptOf(context, proof.entry, proof.inclusion, options.salt), null, 2)}\n`;
  const problem = options.out === undefined ? null : await writeOut(options.out, text);
  if (problem !== null) throw new UsageError([problem]);
  if (options.out === undefined || options.json === true) io.stdout.write(text);
  else io.stdout.write(`${printable(options.out)}: receipt for entry ${seq}\n`);
}

/** The entries of a case, document or decision, in order. Throws UsageError if it does not exist. */
async function entriesOf(
  { store, projector }: Pick<ProofOptions, 'store'> & Pick<Context, 'projector'>,
  what: string,
): Promise<readonly number[]> {
  const { read } = store;
  if (/^[1-9]\d{0,15}$/.test(what)) return [Number(what)];
  await projector.catchUp();
  const { findDocument } = await import('../documents/check.ts');
  const document = await findDocument(read, what);
  if (document !== null) return [Number(document.seq)];
  const moves = await entriesOfCase(read, what);
  if (moves.length > 0) return moves;
  throw new UsageError([
    `Unknown entry, document or case ${printable(what)}: use an entry number, or an id from \`consent-ledger document list\` or \`dsar list\`.`,
  ]);
}

const isZip = (path: string | undefined) => path?.toLowerCase().endsWith('.zip') === true;

/** Writes the files into a folder, or as one ZIP; resolves with what was written. Throws UsageError if it cannot be. */
async function writeProofs(
  { verifierKey, clock }: Pick<Context, 'verifierKey' | 'clock'>,
  out: string,
  proven: readonly (ProofFiles & { readonly seq: number })[],
): Promise<string[]> {
  if (isZip(out)) {
    if (proven.length === 0) return [];
    const archive = await buffer(renderZip(proofFolder(verifierKey, proven), clock().toISOString()));
    const problem = await writeOut(out, archive);
    if (problem !== null) throw new UsageError([problem]);
    return [out];
  }
  const written: string[] = [];
  for await (const { name, content } of proofFolder(verifierKey, proven)) {
    const path = join(out, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    written.push(path);
  }
  return written;
}

async function showConsistency(
  context: Pick<Context, 'store' | 'keys' | 'seal'>,
  io: CommandIo,
  { old, later }: { readonly old: number | string; readonly later: number | string | undefined },
  options: { json?: boolean },
): Promise<void> {
  const to = await laterCheckpoint(context, later);
  const from = typeof old === 'number' ? { size: old, root: null } : await readOutside(context, old);
  const isCut = from.size > to.head.size;
  if (isCut && (from.root === null || later !== undefined))
    throw new UsageError([
      `The earlier tree has ${from.size} entries and the later one ${to.head.size}: put the smaller one first.`,
    ]);
  const tree = openTree(context.store.read);
  const hashes = isCut ? null : await tree.consistency(from.size, to.head.size);
  const ownRoot = isCut ? null : await tree.root(from.size);
  const root = from.root ?? ownRoot;
  // The proof may not use an altered part of the earlier tree, so also check that the ledger still gives its root.
  const isOurs = root !== null && ownRoot?.equals(root) === true;
  const sound = isOurs && hashes !== null && provesConsistency({ size: from.size, root }, to.head, hashes);
  if (!sound) io.exitCode = 3;
  const value = {
    consistent: sound,
    old: { size: from.size, root: root?.toString('hex') ?? null },
    new: { size: to.head.size, root: to.head.root.toString('hex'), note: to.note },
    hashes: (sound ? hashes : []).map((hash) => hash.toString('base64')),
  };
  if (sound && !options.json) {
    // Written unchanged, so that it can be piped.
    io.stdout.write(formatConsistencyProof(from.size, hashes, to.note));
    return;
  }
  const why = isCut
    ? `a checkpoint was signed over ${from.size} entries, but the newest one here covers ${to.head.size}: entries are gone from the end`
    : ownRoot !== null && !isOurs
      ? `the first ${from.size} entries do not give the root that the earlier checkpoint was signed for: they were rewritten since`
      : `the ledger does not give the root that the checkpoint over ${to.head.size} entries was signed for`;
  printResult(
    io,
    options,
    { ...value, why: sound ? null : why },
    () => `${pc.red('✗ not consistent')}: ${why}. Run \`consent-ledger ledger verify\`.`,
  );
}

/** A checkpoint from a file, signed with this ledger's key. Throws UsageError if there is none. */
async function readOutside({ keys }: Pick<Context, 'keys'>, path: string): Promise<TreeHead & { note: string }> {
  const { notes, refused } = await readOutsideNotes(path).catch((error: NodeJS.ErrnoException): never => {
    throw error.syscall === undefined ? error : cannotRead(path, error);
  });
  const reasons = refused === null ? [] : [refused];
  for (const note of notes) {
    const reading = readCheckpoint(note, keys.verifying);
    if (reading.outcome === 'valid') return { ...reading.head, note };
    reasons.push(reading.reason);
  }
  throw new UsageError([`${path} has no checkpoint of this ledger${reasons.length > 0 ? `: ${reasons[0]}` : ''}.`]);
}

async function laterCheckpoint(
  context: Pick<Context, 'store' | 'keys' | 'seal'>,
  later: number | string | undefined,
): Promise<{ head: TreeHead; note: string }> {
  if (typeof later === 'string') {
    const { note, ...head } = await readOutside(context, later);
    return { head, note };
  }
  if (later === undefined) await context.seal();
  const row = await newestCheckpoint(context.store.read, later);
  const head = row === null ? null : parseTreeHead(row.note);
  if (row === null || head === null)
    throw new UsageError([
      later === undefined
        ? 'The ledger is empty and has no checkpoint.'
        : `There is no checkpoint over ${later} entries. Leave out the size to use the newest.`,
    ]);
  return { head, note: row.note };
}
