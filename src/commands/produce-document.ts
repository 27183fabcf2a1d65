import { copyFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import pc from 'picocolors';
import type { Context } from '../context/context.ts';
import { UsageError, unknownCase, unknownSource } from '../core/errors.ts';
import type { RegisteredDocument } from '../documents/begin-document.ts';
import { type CommandIo, printable, printResult, timeOf, timeOrDay, wholeNumberFrom } from './command-io.ts';
import { COMMAND_LINE_ACTOR } from './run-context.ts';

/** The flags of every command that produces a document. */
export const documentFlags = new Command()
  .option('--out <file>', 'also write a copy to this file')
  .option('--as-of <seq>', 'reproduce it from the ledger up to this entry', wholeNumberFrom(0))
  .option('--made <time>', `creation time: ${timeOrDay}; default: now, or with --as-of the time of the original`)
  .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR);

/** The time of `--made` in the time zone of the installation; undefined: not given. Throws UsageError. */
export function madeAtOf({ config }: Pick<Context, 'config'>, made: string | undefined): string | undefined {
  return made === undefined ? undefined : timeOf(made, '--made', config.timeZone);
}

/** Brings the read models up to date. Throws UsageError for a position after the end of the ledger. */
export async function catchUpTo({ projector }: Pick<Context, 'projector'>, asOf: number | undefined): Promise<void> {
  const last = await projector.catchUp();
  // Otherwise today's document would be labelled with a later position.
  if (asOf !== undefined && asOf > last)
    throw new UsageError([`--as-of ${asOf} is beyond the end of the ledger (entry ${last}).`]);
}

/** Why nothing was produced; `refused`: an entry that it would cite was altered. */
type NotProduced =
  | { readonly outcome: 'invalid' | 'refused'; readonly problem: string }
  | { readonly outcome: 'unknown-case'; readonly caseId: string }
  | { readonly outcome: 'unknown-source'; readonly source: string };

/** Why nothing was produced, in a sentence. */
export function problemOf(ended: NotProduced): string {
  switch (ended.outcome) {
    case 'unknown-case':
      return unknownCase(printable(ended.caseId));
    case 'unknown-source':
      return unknownSource(printable(ended.source));
    case 'invalid':
    case 'refused':
      return ended.problem;
  }
}

/** Says why nothing was produced: exit code 3 if an entry was altered; otherwise throws UsageError. */
export function refuseDocument(io: CommandIo, options: { readonly json?: boolean }, ended: NotProduced): void {
  if (ended.outcome !== 'refused') throw new UsageError([problemOf(ended)]);
  io.exitCode = 3;
  printResult(io, options, ended, () => `${pc.red('✗')} ${ended.problem}`);
}

/** Copies a document to --out and prints what was produced. `what` names it; `note` and `more` are added to the general output. */
export async function finishDocument(
  io: CommandIo,
  { out, json = false }: { readonly out?: string; readonly json?: boolean },
  produced: RegisteredDocument,
  { what, note = '', more = [] }: { readonly what: string; readonly note?: string; readonly more?: readonly string[] },
): Promise<void> {
  const { path, asOf, bytes, sha256, seq, parameters } = produced;
  if (out !== undefined)
    await copyFile(path, out).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError([
        `Cannot write ${printable(out)} (${error.code ?? error.message}); the document is stored as ${path}.`,
      ]);
    });
  printResult(io, { json }, { ...produced, out: out ?? null }, () =>
    [
      out ?? path,
      `${what}, as of entry ${asOf}, made ${String(parameters['madeAt'])}, ${bytes} bytes${note}`,
      `SHA-256 ${sha256}, registered as entry ${seq}`,
      ...more,
    ].join('\n'),
  );
}
