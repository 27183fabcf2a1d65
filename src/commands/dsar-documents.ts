import { copyFile, readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Argument, type Command, Option } from 'commander';
import pc from 'picocolors';
import { letterSteps, type LetterStep } from '../../reports/letters/texts.ts';
import { UsageError } from '../core/errors.ts';
import type { LetterDraft, LetterFormat } from '../documents/produce-letter.ts';
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
    .argument('<case>', 'case id from `dsar list`')
    .addArgument(new Argument('<step>', 'which letter').choices(letterSteps))
    .description('create a letter for a case: acknowledgement, question, extension, answer, refusal …')
    .option(
      '--language <tag>',
      'language (BCP 47); default: language of the request, else of the controller profile, else en',
    )
    .option(
      '--text <file>',
      'your own text for the letter (UTF-8; - for standard input); default: the text recorded in the case for this step',
    )
    .option('--proposals', 'print suggested texts without creating a letter')
    .addOption(
      new Option('--format <format>', 'pdf, html, or txt for a message').choices(['pdf', 'html', 'txt']).default('pdf'),
    )
    .option('--recipient <name>', 'recipient of a notice')
    .option('--out <file>', 'also write a copy to this file')
    .option('--as-of <seq>', 'reproduce it from the ledger up to this entry', wholeNumberFrom(0))
    .option(
      '--made <time>',
      'creation time (ISO 8601 with an offset); default: now, or with --as-of the time of the original',
      momentFrom('--made'),
    )
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
    .addHelpText(
      'after',
      `
Example: a refusal in German, based on a suggested text:
  $ consent-ledger dsar letter default-3 refusal --language de --proposals > reasons.txt
  $ consent-ledger dsar letter default-3 refusal --language de --text reasons.txt --out refusal.pdf
Separate paragraphs by empty lines and begin list items with "- ". A letter that still contains a blank, […], is not created.`,
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
          throw new UsageError([`--as-of ${asOf} is beyond the end of the ledger (entry ${last}).`]);
        if (options.proposals === true) {
          const draft = await draftLetter(deps, wish);
          if (draft.outcome !== 'drafted') throw new UsageError([problemOf(draft)]);
          sayLanguage(io, draft);
          const { starts, letter } = draft;
          const none = 'This letter needs no text from you; --text adds one.';
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
        sayLanguage(io, made);
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
      throw new UsageError([`Cannot read ${file} (${error.code ?? error.message}).`]);
    },
  );
  if (text.includes('\uFFFD')) throw new UsageError([`${file} is not UTF-8 text: save it as UTF-8.`]);
  return text;
}

function sayLanguage(
  io: CommandIo,
  {
    missingLanguage,
    untranslatedProfile,
    letter: { language },
  }: Pick<LetterDraft, 'missingLanguage' | 'untranslatedProfile' | 'letter'>,
): void {
  const notes = [
    ...(missingLanguage === null
      ? []
      : [`Letters are not available in ${printable(missingLanguage)}; this one is in ${language}.`]),
    ...(untranslatedProfile
      ? [
          `The controller profile has no texts in this language: add translations.${language} to it, or its purposes, recipients and other parts appear as they are.`,
        ]
      : []),
  ];
  for (const note of notes) io.stderr.write(`${pc.yellow('!')} ${note}\n`);
}

function problemOf(
  outcome:
    | { readonly outcome: 'unknown-case'; readonly caseId: string }
    | { readonly outcome: 'unknown-source'; readonly source: string }
    | { readonly outcome: 'invalid' | 'refused'; readonly problem: string },
): string {
  switch (outcome.outcome) {
    case 'unknown-case':
      return `Unknown case ${printable(outcome.caseId)}: see \`consent-ledger dsar list\`.`;
    case 'unknown-source':
      return `The source ${outcome.source} of this case is no longer configured.`;
    default:
      return outcome.problem;
  }
}

interface PackFlags {
  readonly out?: string;
  readonly officer: string;
  readonly asOf?: number;
  readonly made?: string;
  readonly json?: boolean;
}

/** `dsar pack <case>`: the ZIP that answers a case. */
export function registerDsarPack(dsar: Command, io: CommandIo): void {
  withJson(dsar.command('pack'))
    .argument('<case>', 'case id from `dsar list`')
    .description('create the ZIP that answers a case: letter, history, data, manifest')
    .option('--out <file>', 'also write a copy to this file')
    .option('--as-of <seq>', 'reproduce it from the ledger up to this entry', wholeNumberFrom(0))
    .option(
      '--made <time>',
      'creation time (ISO 8601 with an offset); default: now, or with --as-of the time of the original',
      momentFrom('--made'),
    )
    .option('--officer <name>', 'officer’s name to record in the ledger', COMMAND_LINE_ACTOR)
    .action((caseId: string, options: PackFlags) =>
      withContext(async (context) => {
        // Loaded only here: the other commands of cases start sooner without what renders documents.
        const { producePack } = await import('../documents/produce-pack.ts');
        const deps = { ...context.documents, cases: context.cases };
        const { officer: actor, asOf, made: madeAt } = options;
        const last = await context.projector.catchUp();
        if (asOf !== undefined && asOf > last)
          throw new UsageError([`--as-of ${asOf} is beyond the end of the ledger (entry ${last}).`]);
        const produced = await producePack(deps, { caseId, actor, asOf, madeAt });
        if (produced.outcome === 'invalid') throw new UsageError([produced.problem]);
        if (produced.outcome === 'unknown-case') {
          throw new UsageError([`Unknown case ${printable(caseId)}: see \`consent-ledger dsar list\`.`]);
        }
        if (produced.outcome === 'unknown-source') {
          throw new UsageError([`The source ${produced.source} of this case is no longer configured.`]);
        }
        if (produced.outcome === 'refused') {
          io.exitCode = 3;
          printResult(io, options, produced, () => `${pc.red('✗')} ${produced.problem}`);
          return;
        }
        if (options.out !== undefined) await copyFile(produced.path, options.out);
        printResult(io, options, { ...produced, out: options.out ?? null }, () =>
          [
            options.out ?? produced.path,
            `pack ${produced.documentId}, as of entry ${produced.asOf}, made ${String(produced.parameters['madeAt'])}, ${produced.bytes} bytes; may hold: ${produced.disclosure}`,
            `SHA-256 ${produced.sha256}, registered as entry ${produced.seq}`,
            produced.readiness.ready
              ? `${pc.green('✓')} nothing required is missing`
              : `${pc.yellow('!')} not ready to send:`,
            ...produced.readiness.lacks.map(({ blocking, text }) => `  ${blocking ? '✗' : '·'} ${printable(text)}`),
          ].join('\n'),
        );
      }),
    );
}
