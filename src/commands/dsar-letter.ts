import { copyFile, readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Argument, type Command, Option } from 'commander';
import pc from 'picocolors';
import { letterSteps, type LetterStep } from '../../reports/letters/texts.ts';
import { UsageError } from '../core/errors.ts';
import type { LetterFormat } from '../documents/produce-letter.ts';
import { type CommandIo, momentFrom, printable, printResult, wholeNumberFrom, withJson } from './command-io.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

interface LetterFlags {
  readonly language?: string;
  readonly text?: string;
  readonly format: LetterFormat;
  readonly recipient?: string;
  readonly proposals?: boolean;
  readonly out?: string;
  readonly officer: string;
  readonly asOf?: number;
  readonly made?: string;
  readonly json?: boolean;
}

/** `dsar letter <case> <step>`: a letter of a case, in the language of the requester. */
export function registerDsarLetter(dsar: Command, io: CommandIo): void {
  withJson(dsar.command('letter'))
    .argument('<case>', 'the case, as `dsar list` names it')
    .addArgument(new Argument('<step>', 'which letter').choices(letterSteps))
    .description('make a letter of a case: acknowledgement, question, extension, answer, refusal …')
    .option(
      '--language <tag>',
      'language (BCP 47); default: that of the request, else of the controller profile, else en',
    )
    .option(
      '--text <file>',
      'what the letter says in your words (UTF-8; - reads standard input); default: what the case has recorded for this step',
    )
    .option('--proposals', 'print texts to start from, and make nothing')
    .addOption(
      new Option('--format <format>', 'pdf, html, or txt for a message').choices(['pdf', 'html', 'txt']).default('pdf'),
    )
    .option('--recipient <name>', 'of a notice: whom it goes to')
    .option('--out <file>', 'copy the letter there as well')
    .option('--as-of <seq>', 'make it again as it was when the ledger ended at this entry', wholeNumberFrom(0))
    .option(
      '--made <time>',
      'when it is made (ISO 8601 with an offset); default: now, or with --as-of when it was made before',
      momentFrom('--made'),
    )
    .option('--officer <name>', 'who asks for it, as the ledger records it', COMMAND_LINE_ACTOR)
    .addHelpText(
      'after',
      `
Example: refuse in German, from a text to start from:
  $ consent-ledger dsar letter default-3 refusal --language de --proposals > reasons.txt
  $ consent-ledger dsar letter default-3 refusal --language de --text reasons.txt --out refusal.pdf
Paragraphs are separated by empty lines, items of a list begin with "- ". A letter with a blank left, […], is not made.`,
    )
    .action((caseId: string, step: LetterStep, options: LetterFlags) =>
      withContext(async (context) => {
        // Loaded only here: the other commands of cases start sooner without what renders documents.
        const { draftLetter, produceLetter } = await import('../documents/produce-letter.ts');
        const deps = { ...context.documents, cases: context.cases };
        const { language = null, recipient = null, asOf } = options;
        const wish = { caseId, step, language, recipient, text: await readText(options.text) };
        const last = await context.projector.catchUp();
        if (asOf !== undefined && asOf > last)
          throw new UsageError([`--as-of ${asOf}: the ledger ends at entry ${last}.`]);
        if (options.proposals === true) {
          const draft = await draftLetter(deps, wish);
          if (draft.outcome !== 'drafted') throw new UsageError([problemOf(draft)]);
          sayMissing(io, draft.missingLanguage, draft.letter.language);
          const { starts, letter } = draft;
          const none = 'This letter needs no text of yours; with --text it says what you add.';
          return printResult(
            io,
            options,
            { language: letter.language, starts },
            () => starts.join('\n\n---\n\n') || none,
          );
        }
        const { format, officer: actor, made: madeAt } = options;
        const made = await produceLetter(deps, { ...wish, format, actor, asOf, madeAt });
        if (made.outcome !== 'produced') throw new UsageError([problemOf(made)]);
        if (options.out !== undefined) await copyFile(made.path, options.out);
        sayMissing(io, made.missingLanguage, made.letter.language);
        printResult(io, options, { ...made, out: options.out ?? null }, () =>
          [
            options.out ?? made.path,
            `letter ${made.documentId} (${step}, ${made.letter.locale}), as of entry ${made.asOf}, made ${String(made.parameters['madeAt'])}, ${made.bytes} bytes`,
            `SHA-256 ${made.sha256}, registered as entry ${made.seq}`,
          ].join('\n'),
        );
      }),
    );
}

async function readText(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch(
    (error: NodeJS.ErrnoException) => {
      throw new UsageError([`${file} cannot be read (${error.code ?? error.message}).`]);
    },
  );
  if (text.includes('\uFFFD')) throw new UsageError([`${file} is not UTF-8 text.`]);
  return text;
}

function sayMissing(io: CommandIo, missing: string | null, language: string): void {
  if (missing !== null)
    io.stderr.write(`${pc.yellow('!')} There are no letters in ${printable(missing)}: this one is in ${language}.\n`);
}

function problemOf(
  outcome:
    | { readonly outcome: 'unknown-case'; readonly caseId: string }
    | { readonly outcome: 'unknown-source'; readonly source: string }
    | { readonly outcome: 'invalid' | 'refused'; readonly problem: string },
): string {
  switch (outcome.outcome) {
    case 'unknown-case':
      return `There is no case ${printable(outcome.caseId)}: \`consent-ledger dsar list\` names them.`;
    case 'unknown-source':
      return `The source ${outcome.source} of this case is not set up any more.`;
    default:
      return outcome.problem;
  }
}
