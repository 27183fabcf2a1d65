import { Argument, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { unprintableNote } from '../../reports/letters/letter.ts';
import { letterSteps } from '../../reports/letters/texts.ts';
import { findCase } from '../cases/list-cases.ts';
import { withTimesIn } from '../cases/moves.ts';
import type { Context } from '../context/context.ts';
import { UsageError, unknownCase } from '../core/errors.ts';
import type { LetterDraft } from '../documents/produce-letter.ts';
import type { LetterToRecord } from '../documents/record-letter.ts';
import {
  type CommandIo,
  printable,
  printResult,
  readField,
  readText,
  readVersion,
  withJson,
  withOptions,
} from './command-io.ts';
import { catchUpTo, documentFlags, finishDocument, madeAtOf, problemOf, refuseDocument } from './produce-document.ts';
import { withContext } from './run-context.ts';

/** `dsar letter <case> <step>`: a letter of a case, in the requester's language. */
export function registerDsarLetter(dsar: CommandUnknownOpts, io: CommandIo): void {
  const command = withJson(dsar.command('letter'))
    .argument('<case>', 'case id from `dsar list`')
    .addArgument(new Argument('<step>', 'which letter').choices(letterSteps))
    .argument(
      '[field=value...]',
      'with --record: details of the move of this letter besides its text, e.g. basis="Art. 12(5)(b) GDPR"',
    )
    .description('create a letter for a case: acknowledgement, question, extension, answer, refusal …')
    .option(
      '--language <tag>',
      'language (BCP 47), such as de; default: that of the requester. Needed if it is not known, and then remembered',
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
    .option(
      '--controller <name>',
      'confirm that this organisation is the controller; needed if its profile is shared by several sources',
    )
    .addOption(
      new Option(
        '--record <way>',
        'also record the move that this letter belongs to (acknowledge, ask-identity, ask-clarification, extend, refuse): letter, because you post it, or e-mail, which `serve` sends and then records',
      ).choices(['letter', 'e-mail']),
    )
    .option('--based-on <version>', 'with --record: refuse if the case has a newer version than this');
  withOptions(command, documentFlags)
    .addHelpText(
      'after',
      `
Example: a refusal in German, based on a suggested text:
  $ consent-ledger dsar letter default-3 refusal --language de --proposals > reasons.txt
  $ consent-ledger dsar letter default-3 refusal --language de --text reasons.txt --out refusal.pdf

Example: an extension, made and recorded as sent by letter with the same reasons:
  $ consent-ledger dsar letter default-3 extension --text reasons.txt --record letter

Separate paragraphs by empty lines and begin list items with "- ". A letter that still contains a blank, […], is not created.`,
    )
    .action((caseId, step, fields, options) =>
      withContext(async (context) => {
        // Imported here so that the other case commands start without loading the document renderers.
        const { draftLetter, produceLetter } = await import('../documents/produce-letter.ts');
        const { rememberLanguage } = await import('../documents/letter-language.ts');
        const deps = { ...context.documents, cases: context.cases };
        const { language = null, recipient = null, asOf } = options;
        const wish = {
          caseId,
          step,
          language,
          recipient,
          text: options.text === undefined ? null : await readText(options.text),
        };
        if (options.record === undefined && (fields.length > 0 || options.basedOn !== undefined))
          throw new UsageError(['field=value and --based-on go with --record.']);
        await catchUpTo(context, asOf);
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
        const { format, officer: actor, controller = null } = options;
        if (options.record !== undefined) {
          const details = Object.fromEntries(fields.map(readField));
          return recordNow(io, options, context, { ...wish, details, way: options.record, format, actor, controller });
        }
        const madeAt = madeAtOf(context, options.made);
        const made = await produceLetter(deps, { ...wish, format, actor, asOf, madeAt, controller });
        if (made.outcome !== 'produced') return refuseDocument(io, options, made);
        sayLanguage(io, made);
        if (options.language !== undefined && asOf === undefined && step !== 'notice')
          await rememberLanguage(context, { caseId, language: options.language, actor });
        await finishDocument(io, options, made, { what: `letter ${made.documentId} (${step}, ${made.letter.locale})` });
      }),
    );
}

/** `dsar letter --record`: makes the letter and records its move; exit code 1 if the case has changed. */
async function recordNow(
  io: CommandIo,
  options: {
    readonly out?: string;
    readonly json?: boolean;
    readonly basedOn?: string;
    readonly made?: string;
    readonly asOf?: number;
  },
  context: Pick<Context, 'documents' | 'cases' | 'jobs' | 'config' | 'projector' | 'store'>,
  wish: Omit<LetterToRecord, 'text' | 'basedOn'> & { readonly text: string | null },
): Promise<void> {
  if (options.asOf !== undefined || options.made !== undefined)
    throw new UsageError(['--record is for a letter made now: leave out --as-of and --made.']);
  const { recordLetter } = await import('../documents/record-letter.ts');
  const { moveOfLetter } = await import('../documents/letter-moves.ts');
  const { caseId, step, actor } = wish;
  const row = await findCase(context.store.read, caseId);
  if (row === null) throw new UsageError([unknownCase(printable(caseId))]);
  const basedOn = options.basedOn === undefined ? row.version : readVersion(options.basedOn);
  const details = withTimesIn(moveOfLetter(step)?.move ?? '', wish.details, context.config.timeZone);
  const recorded = await recordLetter(context, { ...wish, text: wish.text ?? '', details, basedOn });
  if (recorded.outcome === 'unknown-case' || recorded.outcome === 'unknown-source')
    throw new UsageError([problemOf(recorded)]);
  if (recorded.outcome === 'refused') throw new UsageError(recorded.problems);
  if (recorded.outcome === 'conflict') {
    io.exitCode = 1;
    return printResult(io, options, recorded, () => `${pc.red('✗')} ${recorded.problem}`);
  }
  const { rememberLanguage } = await import('../documents/letter-language.ts');
  await rememberLanguage(context, { caseId, language: String(recorded.letter.parameters['language']), actor });
  await finishDocument(io, options, recorded.letter, {
    what: `letter ${recorded.letter.documentId} (${step}, ${String(recorded.letter.parameters['language'])})`,
    more: [
      recorded.outcome === 'recorded'
        ? `${pc.green('✓')} recorded as sent by letter, entry ${recorded.seq}`
        : recorded.outcome === 'sending'
          ? `${pc.green('✓')} \`serve\` sends it by e-mail, then records it`
          : `${pc.yellow('!')} not recorded as sent: ${printable(recorded.next)}`,
    ],
  });
}

function sayLanguage(
  io: CommandIo,
  {
    missingLanguage,
    untranslatedProfile,
    unprintable,
    letter: { language },
  }: Pick<LetterDraft, 'missingLanguage' | 'untranslatedProfile' | 'unprintable' | 'letter'>,
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
    ...(unprintable.length === 0 ? [] : [unprintableNote(unprintable)]),
  ];
  for (const note of notes) io.stderr.write(`${pc.yellow('!')} ${note}\n`);
}

/** `dsar pack <case>`: the ZIP that answers a case. */
export function registerDsarPack(dsar: CommandUnknownOpts, io: CommandIo): void {
  const command = withJson(dsar.command('pack'))
    .argument('<case>', 'case id from `dsar list`')
    .description('create the ZIP that answers a case: letter, history, data, manifest')
    .option(
      '--language <tag>',
      'language (BCP 47) of a pack without a written answer; default: that of the requester. Needed if it is not known, and then remembered',
    );
  withOptions(command, documentFlags).action((caseId, options) =>
    withContext(async (context) => {
      // Imported here so that the other case commands start without loading the document renderers.
      const { producePack } = await import('../documents/produce-pack.ts');
      const { rememberLanguage } = await import('../documents/letter-language.ts');
      const { officer: actor, asOf } = options;
      const madeAt = madeAtOf(context, options.made);
      await catchUpTo(context, asOf);
      const deps = { ...context.documents, cases: context.cases };
      const { language } = options;
      const produced = await producePack(deps, { caseId, actor, asOf, madeAt, language });
      if (produced.outcome !== 'produced') return refuseDocument(io, options, produced);
      if (language !== undefined && asOf === undefined) await rememberLanguage(context, { caseId, language, actor });
      const { documentId, disclosure, readiness } = produced;
      await finishDocument(io, options, produced, {
        what: `pack ${documentId}`,
        note: `; may hold: ${disclosure}`,
        more: [
          readiness.ready ? `${pc.green('✓')} nothing required is missing` : `${pc.yellow('!')} not ready to send:`,
          ...readiness.lacks.map(({ blocking, text }) => `  ${blocking ? '✗' : '·'} ${printable(text)}`),
        ],
      });
    }),
  );
}
