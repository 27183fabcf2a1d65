import type { Selectable } from 'kysely';
import {
  type DsarPackInput,
  gatherPack,
  type LetterOfCase,
  packDeadline,
  packParameters,
  packReference,
} from '../../reports/dsar-pack/gather.ts';
import { draftProblem } from '../../reports/dsar-pack/letter.ts';
import { packFiles, type SealedList, sealFiles } from '../../reports/dsar-pack/pack.ts';
import { type EntryProof, entriesIn } from '../../reports/dsar-pack/proofs.ts';
import { chooseLanguage } from '../../reports/letters/languages.ts';
import type { Letter } from '../../reports/letters/letter.ts';
import { isLetterStep, type LetterStep } from '../../reports/letters/texts.ts';
import { renderZip, type ZipFile } from '../../reports/render/zip.ts';
import { type CaseFolded, foldedColumn } from '../cases/folded.ts';
import { loadPackCase, type PackCase } from '../cases/load-pack-case.ts';
import type { Readiness } from '../cases/readiness.ts';
import { type CaseReading, type CaseView, type ViewContext, viewCase } from '../cases/view.ts';
import { UsageError } from '../core/errors.ts';
import { languageText } from '../core/language.ts';
import type { Source } from '../core/source.ts';
import { originOf, verifierKeyOf } from '../crypto/checkpoint.ts';
import { type Deadlines, whyNotRefused } from '../law/deadlines.ts';
import type { ControllerProfile } from '../law/profile.ts';
import { normaliseJurisdiction } from '../law/regime-table.ts';
import { appendAction } from '../ledger/append-action.ts';
import { type Cited, UntrustedEntry } from '../ledger/cited.ts';
import { newestWitnessed, type WitnessedNote, witnessedAsRecorded } from '../ledger/cosigned-checkpoints.ts';
import { createProver, noteAsSealed, type ProofFiles, proofFiles, type Under } from '../ledger/prove-entry.ts';
import { doubtfulController } from '../sources/controller.ts';
import { sourceOfCase } from '../store/queries/cases.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import {
  type DocumentDeps,
  type FrameRequest,
  frameOf,
  type InvalidTime,
  madeBefore,
  type RefusedDocument,
  type RegisteredDocument,
  refusing,
  type UnknownSource,
} from './begin-document.ts';
import { languageForLetter } from './letter-language.ts';
import { loadOwnText } from './letter-texts.ts';
import { registerDocument } from './register.ts';

/** A request for the pack of one case. */
export interface PackRequest extends FrameRequest {
  readonly caseId: string;
  readonly actor: string;
  /** BCP 47, of the draft in it; null: that of the requester. Once an answer is written, the pack is in its language. */
  readonly language?: string | null | undefined;
}

export type PackOutcome =
  | ({
      readonly outcome: 'produced';
      readonly disclosure: DsarPackInput['disclosure'];
      /** What the case still lacks. The pack can be previewed, and lists it. */
      readonly readiness: Readiness;
    } & RegisteredDocument)
  | UnknownCase
  | InvalidTime
  | RefusedDocument
  | UnknownSource;

/**
 * Produces the ZIP that answers a case and registers it. Its letter is the last answer made as a letter, otherwise a
 * draft. Errors: as {@link import('./produce-report.ts').produceReport}.
 */
export async function producePack(
  deps: CaseDocumentDeps,
  request: PackRequest,
  signal?: AbortSignal,
): Promise<PackOutcome> {
  return refusing(() => makePack(deps, request, signal));
}

async function makePack(deps: CaseDocumentDeps, request: PackRequest, signal?: AbortSignal): Promise<PackOutcome> {
  const { caseId, actor, asOf } = request;
  const source = await projectedSourceOfCase(deps, caseId);
  if (source === null) return { outcome: 'unknown-case', caseId };
  const asked = { source, name: 'dsar-pack', format: 'zip', caseId };
  const before = asOf === undefined ? null : await madeBefore(deps, { ...asked, asOf }, {});
  const recorded = before === null ? null : languageIn(before);
  const loaded = await loadCaseInput(deps, source, caseId, {
    asOf,
    madeAt: request.madeAt ?? before?.madeAt,
    language: request.language ?? recorded,
  });
  if ('outcome' in loaded) return loaded;
  const { cited, found } = loaded;
  // A pack of an earlier version, which recorded no language, is reproduced as it was made.
  const isOld = before !== null && recorded === null && request.language == null;
  const language = languageForPack(
    request.language ?? recorded,
    loaded.input.case,
    loaded.input.letter?.written ?? null,
  );
  if (language.outcome === 'invalid' && !isOld) return language;
  const about = {
    ...{ source: deps.sources.find(source), profile: loaded.input.profile },
    written: loaded.input.letter?.written ?? null,
  };
  const unconfirmed = before === null ? draftControllerProblem(deps, about) : null;
  if (unconfirmed !== null) return { outcome: 'invalid', problem: unconfirmed };
  const witnessed = await witnessedFor(deps, before);
  const input = {
    ...loaded.input,
    ...(isOld || language.outcome === 'invalid' || loaded.input.letter === undefined
      ? {}
      : { letter: { ...loaded.input.letter, language: language.chosen.locale } }),
    ...(witnessed === null ? {} : { witnessed }),
  };
  const fault = await deps.readModelsFault();
  if (fault !== null) return { outcome: 'refused', problem: fault };
  const facts = {
    actor,
    reference: packReference(input),
    name: 'dsar-pack',
    format: 'zip',
    asOf: input.asOf,
    caseId,
    parameters: packParameters(input),
  };
  const prover = createPackProver(deps, input.checkpoint?.size ?? 'first');
  const { asOf: reached } = input;
  /** Seals the list of files in the ledger; the pack contains this entry. The one that registers the pack says who made it. */
  const seal = async (sealed: SealedList): Promise<ProofFiles> => {
    // Do not seal anything for a pack that will be refused.
    await cited.assertSound(deps.proofs);
    await deps.assertHeld?.();
    const { reference, name } = facts;
    const action = {
      ...{ action: 'document.manifest' as const, actor: 'program', name, reference, asOf: reached, caseId },
      ...sealed,
    };
    const keyParts = ['document.manifest', reference, sealed.sha256];
    const { seq } = await appendAction(deps.ledger, source, action, keyParts, deps.clock().toISOString());
    await deps.seal();
    // No witness has seen its checkpoint yet.
    return (await prover.of(seq, null)).files(true);
  };
  async function* files(): AsyncGenerator<ZipFile> {
    const gathered = await gatherPack(input);
    const { verifierKey } = prover;
    yield* sealFiles(
      await seal(yield* packFiles(gathered, { verifierKey, entries: prover.each(entriesIn(gathered), witnessed) })),
    );
  }
  const content = renderZip(files(), input.generatedAt);
  const registered = await registerDocument(deps, source, facts, cited, content, signal);
  return { outcome: 'produced', disclosure: found.disclosure, readiness: found.readiness, ...registered };
}

/** The language in the parameters of a document; null: none was recorded. */
function languageIn({ language }: Readonly<Record<string, unknown>>): string | null {
  return typeof language === 'string' ? language : null;
}

/** The language of a pack: of the answer in it, which must not contradict the one chosen, otherwise as for letters. */
function languageForPack(
  wanted: string | null | undefined,
  row: Parameters<typeof languageForLetter>[1],
  written: Letter | null,
): ReturnType<typeof languageForLetter> {
  const wish = languageForLetter(wanted, row);
  if (written === null) return wish;
  if (wanted == null || (wish.outcome === 'chosen' && wish.chosen.language === written.language))
    return { outcome: 'chosen', chosen: { language: written.language, locale: written.locale, missing: null } };
  return {
    outcome: 'invalid',
    problem: `The answer letter of this request is in ${languageText(written.language)}, so its response pack is too. Write the letter in the other language first.`,
  };
}

/** Why a pack cannot be made in a language now, before the job that makes it is started; null: it can. */
export async function packProblem(
  deps: Pick<DocumentDeps, 'read' | 'sources' | 'loadProfile'>,
  row: CaseView['row'],
  wanted: string | null,
): Promise<string | null> {
  const written = (await lastAnswer(deps.read, row.case_id, Number.MAX_SAFE_INTEGER))?.letter ?? null;
  const language = languageForPack(wanted, row, written);
  if (language.outcome === 'invalid') return language.problem;
  const source = deps.sources.find(row.source);
  return draftControllerProblem(deps, { source, profile: await deps.loadProfile(source), written });
}

/** Why a pack without a written answer cannot be made: its draft would name a controller that may be another client's. */
function draftControllerProblem(
  { sources }: Pick<DocumentDeps, 'sources'>,
  { source, profile, written }: { source: Source | null; profile: ControllerProfile | null; written: Letter | null },
): string | null {
  const doubtful = doubtfulController(profile, source, sources);
  return written !== null || doubtful === null
    ? null
    : `${doubtful.controller} may not be the controller of ${doubtful.source.name}, whose profile is shared by several sources. Write the answer letter first, which asks, or have an admin say whose profile it is on the page of the source.`;
}

/**
 * The newest checkpoint that witnesses have signed or stamped, or what the pack enclosed when it was first made; null:
 * none, or the file with the witnesses is unusable, about which the operator is warned: an answer does not wait for it.
 */
async function witnessedFor(
  { proofs }: DocumentDeps,
  before: Readonly<Record<string, unknown>> | null,
): Promise<WitnessedNote | null> {
  const noteOf = noteAsSealed(proofs.store);
  try {
    const kept = await proofs.cosigned?.();
    if (kept === undefined) return null;
    if (before === null) return await newestWitnessed(kept, 1, noteOf);
    const { witnessed } = before;
    return typeof witnessed === 'string' ? await witnessedAsRecorded(kept, witnessed, noteOf) : null;
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/**
 * Proves entries under the checkpoint that witnesses have signed if it covers them, otherwise under the one printed in
 * the pack; later entries and the manifest, under the first checkpoint after it.
 */
function createPackProver(deps: DocumentDeps, under: Under) {
  const prove = createProver(deps.proofs);
  async function of(seq: number, witnessed: WitnessedNote | null): Promise<EntryProof> {
    const proof = await prove(seq, under, witnessed);
    if (proof.outcome === 'unproven') throw new UntrustedEntry(seq, proof.sentence);
    const { entry, inclusion } = proof;
    if (inclusion === null) throw new UntrustedEntry(seq, 'it could not be sealed');
    return { seq, kind: entry.kind, files: (withContent) => proofFiles(entry, inclusion, withContent) };
  }
  return {
    verifierKey: verifierKeyOf(originOf(deps.proofs.instance, deps.epoch), deps.publicKey),
    of,
    async *each(seqs: AsyncIterable<number>, witnessed: WitnessedNote | null): AsyncGenerator<EntryProof> {
      for await (const seq of seqs) yield await of(seq, witnessed);
    },
  };
}

/** What producing documents about a case needs. */
export type CaseDocumentDeps = DocumentDeps & { readonly cases: CaseReading };

/** A case that does not exist, or did not exist yet at the requested entry. */
export type UnknownCase = { readonly outcome: 'unknown-case'; readonly caseId: string };

/** A case, and the input of its pack and letters. */
export interface CaseInput {
  readonly input: DsarPackInput;
  readonly cited: Cited;
  readonly found: PackCase;
}

/** The source of a case, once everything appended so far is projected; null if the case does not exist. */
export async function projectedSourceOfCase(
  deps: Pick<DocumentDeps, 'read' | 'catchUp'>,
  caseId: string,
): Promise<string | null> {
  await deps.catchUp();
  return sourceOfCase(deps.read, caseId);
}

/**
 * Loads a case as of an entry, for a document made at a given time; a requested letter uses the dates of its step. The
 * same ledger, asOf and madeAt give the same input.
 */
export async function loadCaseInput(
  deps: CaseDocumentDeps,
  source: string,
  caseId: string,
  wanted: FrameRequest & { readonly step?: LetterStep; readonly language?: string | null; readonly until?: string },
): Promise<CaseInput | UnknownCase | InvalidTime | UnknownSource> {
  const framed = await frameOf(deps, source, wanted);
  if ('outcome' in framed) return framed;
  const { cited, ...frame } = framed;
  const store = { ...deps.cases.store, read: cited.over(deps.cases.store.read) };
  const found = await loadPackCase({ ...deps.cases, store }, caseId, frame.asOf, frame.generatedAt);
  if (found === null) return { outcome: 'unknown-case', caseId };
  const { view, disclosure, match, identity, systems, profile } = found;
  const { regimes } = deps.cases;
  const context = { regimes, timeZone: frame.timeZone, profile, now: frame.generatedAt };
  const input: DsarPackInput = {
    ...frame,
    case: view.row,
    deadline: packDeadline(view.deadline),
    disclosure,
    match,
    identity,
    systems,
    evidenceFolder: deps.evidenceFolder,
    letter: {
      ...datesOfLetter(view, context, wanted),
      written: (await lastAnswer(deps.read, caseId, frame.asOf))?.letter ?? null,
      ownAnswer: await ownAnswerOf(store.read, view.row, [wanted.language, profile?.language], frame.asOf),
      ...(wanted.language == null ? {} : { language: wanted.language }),
    },
  };
  return { input, cited, found };
}

/**
 * Laws and dates for the letters of a case. A notice of extension sent before the extension is recorded has the date
 * that results from it, or `until` where the law lets the notice set one.
 */
function datesOfLetter(
  view: CaseView,
  context: ViewContext,
  { step = 'answer', until = null }: { readonly step?: LetterStep; readonly until?: string | null },
): Omit<LetterOfCase, 'written' | 'ownAnswer' | 'language'> {
  const { folded } = view;
  const extension =
    step === 'extension' && folded.extension === null
      ? { noticeAt: context.now, reasons: '', until, approvedBy: null }
      : folded.extension;
  const deadline = extension === folded.extension ? view.deadline : withFolded(view, context, { extension });
  const first = folded.extension === null ? view.deadline : withFolded(view, context, { extension: null });
  const limitOf = ({ atOnce, limit }: Deadlines) => (atOnce ? null : limit);
  const ids = deadline.laws.map(({ id }) => id);
  const ownRules = deadline.laws.filter(({ row }) => row.isOwn === true).map(({ id }) => id);
  return {
    laws: [...ids.filter((id) => id === deadline.law), ...ids.filter((id) => id !== deadline.law)],
    ...(ownRules.length === 0 ? {} : { ownRules }),
    limit: limitOf(deadline),
    firstLimit: limitOf(first),
    unchecked: deadline.identity.rule === 'forbidden',
    irrefusable: whyNotRefused(deadline),
  };
}

function withFolded(view: CaseView, context: ViewContext, changes: Partial<CaseFolded>): Deadlines {
  return viewCase({ ...view.row, folded: foldedColumn({ ...view.folded, ...changes }) }, context).deadline;
}

/** Why the letter in a pack of a case, made as of an entry, is marked as a draft; null: it can be sent. */
export async function draftInPack(
  deps: CaseDocumentDeps,
  pack: Pick<Selectable<Tables['documents']>, 'source' | 'as_of' | 'created_at' | 'parameters'> & {
    readonly caseId: string;
  },
): Promise<string | null> {
  const loaded = await loadCaseInput(deps, pack.source, pack.caseId, {
    asOf: Number(pack.as_of),
    madeAt: pack.created_at,
    language: languageIn(JSON.parse(pack.parameters) as Readonly<Record<string, unknown>>),
  });
  return 'outcome' in loaded ? null : draftProblem(loaded.input);
}

async function ownAnswerOf(
  read: Query,
  row: CaseView['row'],
  [chosen, ofController]: readonly [string | null | undefined, string | null | undefined],
  asOf: number,
): Promise<NonNullable<LetterOfCase['ownAnswer']> | null> {
  const { language } = chooseLanguage([chosen, row.language, ofController], normaliseJurisdiction(row.jurisdiction));
  const text = await loadOwnText(read, { source: row.source, step: 'answer', language }, asOf);
  return text === null ? null : { language, text };
}

/** Letters that answer a request. */
export const answerSteps: readonly LetterStep[] = ['answer', 'partial', 'refusal', 'no-match'];

/** Whether an answer letter was made after a pack, so the pack contains an older letter or a draft. */
export async function hasLaterAnswer(
  read: Query,
  pack: { readonly caseId: string; readonly asOf: number },
): Promise<boolean> {
  const last = await lastAnswer(read, pack.caseId, Number.MAX_SAFE_INTEGER);
  return last !== null && last.seq > pack.asOf;
}

/** The last answer that an officer made as a letter, as of an entry; null: none yet. */
async function lastAnswer(
  read: Query,
  caseId: string,
  asOf: number,
): Promise<{ readonly seq: number; readonly letter: Letter } | null> {
  const rows = await read
    .selectFrom('documents')
    .select(['seq', 'parameters'])
    .where('case_id', '=', caseId)
    .where('name', '=', 'letter')
    .where('seq', '<=', asOf)
    .orderBy('seq', 'desc')
    .execute();
  for (const row of rows) {
    const { step, language, text } = JSON.parse(row.parameters) as Readonly<Record<string, unknown>>;
    if (typeof step !== 'string' || !isLetterStep(step) || !answerSteps.includes(step)) continue;
    const chosen = chooseLanguage([typeof language === 'string' ? language : null]);
    const { language: of, locale } = chosen;
    const letter = { step, language: of, locale, text: typeof text === 'string' ? text : null };
    return { seq: Number(row.seq), letter };
  }
  return null;
}
