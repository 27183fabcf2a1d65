import { z } from 'zod';
import { gatherPack } from '../../reports/dsar-pack/gather.ts';
import { letterFactsOf } from '../../reports/dsar-pack/letter.ts';
import type { ChosenLanguage } from '../../reports/letters/languages.ts';
import {
  hasBlanks,
  type Letter,
  type LetterFacts,
  letterBlocks,
  letterFrame,
  letterProblem,
  letterProposals,
  quotesUntranslated,
  refusalText,
} from '../../reports/letters/letter.ts';
import { fillOwnText } from '../../reports/letters/own-text.ts';
import { type LetterStep, letterSteps } from '../../reports/letters/texts.ts';
import type { Block, Frame } from '../../reports/render/blocks.ts';
import { renderHtml } from '../../reports/render/html.tsx';
import { renderPdf, unprintableIn } from '../../reports/render/pdf.ts';
import { renderPlain } from '../../reports/render/plain.ts';
import { frameParameters, type Parameters, referenceOf } from '../../reports/report.ts';
import type { CaseFolded } from '../cases/folded.ts';
import { asOneLine } from '../core/validation.ts';
import { confirmedController, controllerProblem, doubtfulController } from '../sources/controller.ts';
import {
  type FrameRequest,
  type InvalidTime,
  madeBefore,
  type RefusedDocument,
  type RegisteredDocument,
  refusing,
  type UnknownSource,
} from './begin-document.ts';
import { languageForLetter } from './letter-language.ts';
import { type GivenDetails, textWith, textWithout } from './letter-moves.ts';
import { loadOwnText } from './letter-texts.ts';
import {
  type CaseDocumentDeps,
  type CaseInput,
  loadCaseInput,
  projectedSourceOfCase,
  type UnknownCase,
} from './produce-pack.ts';
import { registerDocument } from './register.ts';

export const letterFormats = ['pdf', 'html', 'txt'] as const;
type LetterFormat = (typeof letterFormats)[number];

/** The most characters of an officer's text. */
export const LETTER_TEXT_LENGTH = 8000;
const RECIPIENT_LENGTH = 300;

/** A requested letter of a case. */
export interface LetterWish {
  readonly caseId: string;
  readonly step: LetterStep;
  /** BCP 47; null: that of the requester. Refused if that is not known, or letters do not exist in it. */
  readonly language?: string | null;
  /** What the officer wrote; null: what the case has recorded for this step, if anything. */
  readonly text?: string | null;
  /** The addressee of a notice to a recipient of the data. */
  readonly recipient?: string | null;
  /** For a letter that is recorded together with its move: the other details of the move, as far as they are given. */
  readonly details?: GivenDetails;
  /** Leaves out everything that the requester wrote, including the name: for an address that may belong to someone else. */
  readonly anonymous?: boolean;
}

export interface LetterRequest extends LetterWish, FrameRequest {
  readonly format: LetterFormat;
  readonly actor: string;
  /** The controller that the person confirmed for this letter, whose profile may be another client's. */
  readonly controller?: string | null;
}

/** A letter as it would be sent now. */
export interface LetterDraft {
  readonly letter: Letter;
  readonly blocks: readonly Block[];
  readonly frame: Frame;
  /** Why it cannot be sent like this, in words for the officer; null: it can be. */
  readonly problem: string | null;
  /** A variant of the language that its texts are not written in (`pt-BR`), as given; null: none. */
  readonly missingLanguage: string | null;
  /** Whether it quotes a controller profile that has no texts in its language. */
  readonly untranslatedProfile: boolean;
  /** Characters missing in the fonts of a PDF, which shows U+FFFD and the code point instead. */
  readonly unprintable: readonly string[];
  /** Texts to start from: what the case has recorded for this step, then the proposals of the language. */
  readonly starts: readonly string[];
  /** Other letters that cannot be sent at all under the laws of the case, with the reason. */
  readonly impossible: ReadonlyMap<LetterStep, string>;
}

export type LetterOutcome =
  | ({
      readonly outcome: 'produced';
      readonly letter: Letter;
      readonly missingLanguage: string | null;
      readonly untranslatedProfile: boolean;
      /** Characters that the PDF shows as U+FFFD with their code point; none in other formats. */
      readonly unprintable: readonly string[];
    } & RegisteredDocument)
  | RefusedDocument
  | UnknownCase
  | InvalidTime
  | UnknownSource;

/** Composes a letter without producing it, for a preview and for the texts to start from. */
export async function draftLetter(
  deps: CaseDocumentDeps,
  wish: LetterWish,
): Promise<({ readonly outcome: 'drafted' } & LetterDraft) | UnknownCase | InvalidTime | UnknownSource> {
  const source = await projectedSourceOfCase(deps, wish.caseId);
  if (source === null) return { outcome: 'unknown-case', caseId: wish.caseId };
  const loaded = await loadCaseInput(deps, source, wish.caseId, { step: wish.step, ...untilIn(wish) });
  if ('outcome' in loaded) return loaded;
  const language = languageForLetter(wish.language, loaded.input.case);
  if (language.outcome === 'invalid') return language;
  const { chosen } = language;
  const { letter, facts, ownText } = await composeLetter(deps, loaded, wish, chosen);
  const blocks = letterBlocks(letter, facts);
  return {
    outcome: 'drafted',
    letter,
    blocks,
    frame: letterFrame(letter, facts, {
      document: wish.caseId,
      version: loaded.input.version,
      madeAt: loaded.input.generatedAt,
      sample: loaded.input.sample,
    }),
    problem: letterProblem(letter, facts),
    missingLanguage: chosen.missing,
    untranslatedProfile: quotesUntranslated(letter, facts),
    unprintable: await unprintableIn(blocks),
    starts:
      wish.details === undefined
        ? startsOf(letter, facts, loaded.found.view.folded, ownText)
        : startsWith(letter, facts, ownText),
    impossible: impossibleSteps(letter, facts),
  };
}

/**
 * Makes a letter of a case and registers it. Step, language, text and recipient are parameters, so that the same bytes
 * can be reproduced. Refused, with the reason, if the letter would say nothing, has blanks left, or does not exist
 * under the laws of the case. Errors: as {@link import('./produce-report.ts').produceReport}.
 */
export async function produceLetter(
  deps: CaseDocumentDeps,
  request: LetterRequest,
  signal?: AbortSignal,
): Promise<LetterOutcome> {
  return refusing(() => makeLetter(deps, request, signal));
}

async function makeLetter(
  deps: CaseDocumentDeps,
  request: LetterRequest,
  signal?: AbortSignal,
): Promise<LetterOutcome> {
  const { caseId, actor, step, format, asOf } = request;
  const source = await projectedSourceOfCase(deps, caseId);
  if (source === null) return { outcome: 'unknown-case', caseId };
  const tooLong = lengthProblem(request);
  if (tooLong !== null) return { outcome: 'invalid', problem: tooLong };
  const asked = { source, name: 'letter', format, caseId };
  const same = { step, ...(request.text == null ? {} : { text: textOf(request.text) }) };
  const before = asOf === undefined ? null : await madeBefore(deps, { ...asked, asOf }, same);
  const madeAt = request.madeAt ?? before?.madeAt;
  const until = untilIn(before === null || request.details !== undefined ? request : { step, details: before });
  const loaded = await loadCaseInput(deps, source, caseId, { asOf, madeAt, step, ...until });
  if ('outcome' in loaded) return loaded;
  const { input, cited } = loaded;
  const doubtful = doubtfulController(input.profile, deps.sources.find(source), deps.sources);
  const unconfirmed = before === null ? controllerProblem(doubtful, request.controller ?? null) : null;
  if (unconfirmed !== null) return { outcome: 'invalid', problem: unconfirmed };
  const recorded = typeof before?.['language'] === 'string' ? before['language'] : null;
  const language = languageForLetter(request.language ?? recorded, input.case);
  if (language.outcome === 'invalid') return language;
  const { chosen } = language;
  const { letter, facts } = await composeLetter(deps, loaded, request, chosen);
  const problem = letterProblem(letter, facts);
  if (problem !== null) return { outcome: 'invalid', problem };
  const parameters: Parameters = {
    ...frameParameters(input),
    disclosure: input.disclosure,
    step,
    language: letter.locale,
    text: letter.text,
    recipient: letter.recipient ?? null,
    ...confirmedController(doubtful, before),
    ...until,
  };
  const reference = referenceOf({ name: 'letter', format, asOf: input.asOf, caseId, parameters });
  const { version, sample, generatedAt } = input;
  const frame = letterFrame(letter, facts, { document: reference, version, madeAt: generatedAt, sample });
  const document = { actor, reference, name: 'letter', format, asOf: input.asOf, caseId, parameters };
  const blocks = letterBlocks(letter, facts);
  const registered = await registerDocument(deps, source, document, cited, render(format, frame, blocks), signal);
  return {
    outcome: 'produced',
    letter,
    missingLanguage: chosen.missing,
    untranslatedProfile: quotesUntranslated(letter, facts),
    unprintable: format === 'pdf' ? await unprintableIn(blocks) : [],
    ...registered,
  };
}

function render(format: LetterFormat, frame: Frame, blocks: readonly Block[]): AsyncIterable<Uint8Array> {
  switch (format) {
    case 'pdf':
      return renderPdf(frame, blocks);
    case 'html':
      return renderHtml(frame, blocks);
    case 'txt':
      return inOnePiece(renderPlain(frame, blocks));
  }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** The facts of a case for a letter, and the requested letter. */
async function composeLetter(
  { cases }: CaseDocumentDeps,
  { input, cited, found }: CaseInput,
  { step, text, recipient, details, anonymous = false }: LetterWish,
  chosen: ChosenLanguage,
): Promise<{
  readonly letter: Letter;
  readonly facts: LetterFacts;
  /** The controller's own wording, filled in; null if there is none. */
  readonly ownText: string | null;
}> {
  const to = asOneLine(recipient?.trim() ?? '', RECIPIENT_LENGTH);
  const known = letterFactsOf(await gatherPack(input));
  const nobody = { name: null, email: null, role: 'person', represented: null } as const;
  const facts = anonymous ? { ...known, requester: nobody } : known;
  const wording = await loadOwnText(
    cited.over(cases.store.read),
    { source: input.source, step, language: chosen.language },
    input.asOf,
  );
  const ownText = wording === null ? null : fillOwnText(wording, chosen, facts);
  // Nobody would fill in the blanks of automatic letters.
  const usual = ownText !== null && (anonymous ? !hasBlanks(ownText) : true) ? ownText : null;
  const own =
    text == null
      ? ((details === undefined ? recordedText(step, chosen.locale, found.view.folded) : null) ?? usual)
      : textWith(step, chosen.locale, textOf(text), details ?? {});
  return {
    facts,
    ownText,
    letter: {
      step,
      language: chosen.language,
      locale: chosen.locale,
      text: own === '' ? null : own,
      ...(step === 'notice' && to !== '' ? { recipient: to } : {}),
    },
  };
}

/** The new date in a notice of extension that is not recorded yet. */
function untilIn({ step, details = {} }: Pick<LetterWish, 'step' | 'details'>): { readonly until?: string } {
  const { until } = details;
  return step === 'extension' && typeof until === 'string' && z.iso.date().safeParse(until).success ? { until } : {};
}

function textOf(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

function lengthProblem({ text, recipient }: LetterWish): string | null {
  if ((text?.length ?? 0) > LETTER_TEXT_LENGTH)
    return `The text has ${text?.length} characters; a letter may have at most ${LETTER_TEXT_LENGTH}. Enclose the rest as a separate document.`;
  if ((recipient?.length ?? 0) > RECIPIENT_LENGTH)
    return `The recipient has ${recipient?.length} characters: use at most ${RECIPIENT_LENGTH}.`;
  return null;
}

/** The recorded text that a letter of this step should contain; null: none. */
function recordedText(step: LetterStep, language: string, folded: CaseFolded): string | null {
  switch (step) {
    case 'identity': {
      const { doubt, asked } = folded.identity;
      return [doubt, asked].filter((part) => part !== null).join('\n\n') || null;
    }
    case 'clarification':
      return folded.clarifications.at(-1)?.question ?? null;
    case 'extension':
      return folded.extension?.reasons ?? null;
    case 'refusal':
      return folded.refusal === null ? null : refusalText(language, folded.refusal);
    default:
      return null;
  }
}

function startsOf(
  { step, locale }: Letter,
  facts: LetterFacts,
  folded: CaseFolded,
  ownText: string | null,
): readonly string[] {
  const recorded = recordedText(step, locale, folded);
  const first = [recorded, ownText].filter((text) => text !== null);
  return [...new Set([...first, ...letterProposals(step, locale, facts)])];
}

/** Texts to start from for a letter that is recorded together with its move, whose other details have their own fields. */
function startsWith({ step, locale }: Letter, facts: LetterFacts, ownText: string | null): readonly string[] {
  const starts = [...(ownText === null ? [] : [ownText]), ...letterProposals(step, locale, facts)];
  return [...new Set(starts.map((text) => textWithout(step, locale, text)))];
}

/** A letter with some text, so that a remaining problem is not about the text. */
function impossibleSteps(letter: Letter, facts: LetterFacts): ReadonlyMap<LetterStep, string> {
  const found = new Map<LetterStep, string>();
  for (const step of letterSteps) {
    // The dates in `facts` belong to the letter being written: only its own extension is known.
    if (step === 'extension' && letter.step !== 'extension') continue;
    const problem = letterProblem({ ...letter, step, text: 'Text.' }, facts);
    if (problem !== null) found.set(step, problem);
  }
  return found;
}
