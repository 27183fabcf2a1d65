import type { Selectable } from 'kysely';
import { parseFolded } from '../../src/cases/folded.ts';
import type { PackCase } from '../../src/cases/load-pack-case.ts';
import type { Match } from '../../src/cases/match-subject.ts';
import type { Disclosure } from '../../src/cases/moves.ts';
import { mostDisclosure } from '../../src/cases/readiness.ts';
import { type Deadlines, decidingLaw } from '../../src/law/deadlines.ts';
import { datelessText, unrecordedCodes, unrecordedText } from '../../src/law/not-recorded.ts';
import { normaliseJurisdiction } from '../../src/law/regime-table.ts';
import { recordOfWitnessed, type WitnessedNote } from '../../src/ledger/cosigned-checkpoints.ts';
import { stateOfEvidenceFile } from '../../src/ledger/evidence-files.ts';
import { type BannerEvidence, type CiteBanner, createBannerCitation } from '../../src/store/queries/history-banners.ts';
import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import { type AdoptedReading, rangesIn } from '../../src/store/queries/history-readings.ts';
import type { Tables } from '../../src/store/schema.ts';
import { withholdingProvisions } from '../letters/laws.ts';
import type { Letter } from '../letters/letter.ts';
import type { WithheldType } from '../letters/texts.ts';
import { fill } from '../letters/wording.ts';
import {
  type CiteText,
  createTextCitation,
  loadPolicyIntervals,
  loadPolicyTextIntervals,
  type PolicyInterval,
  type PolicyTextInterval,
} from '../policy-texts.ts';
import { type DocumentInput, frameParameters, type Parameters, referenceOf } from '../report.ts';

/**
 * A summary of the person's records, gathered before the first file is written. Its size does not depend on the length
 * of the history.
 */
interface RecordsFound {
  /** Distinct decisions. */
  readonly decisions: number;
  readonly first: string | null;
  readonly last: string | null;
  /** The policies named by the decisions. */
  readonly policyIds: ReadonlySet<string>;
}

export interface GatheredPack {
  readonly input: DsarPackInput;
  /** Printed in every file; the id of the registered pack begins with it. */
  readonly reference: string;
  readonly disclosure: Disclosure;
  readonly found: RecordsFound;
  readonly policies: readonly PolicyInterval[];
  /**
   * The fetched texts of these policies from the first decision to the last. A text is referred to by its place in this
   * list, from 1.
   */
  readonly texts: readonly PolicyTextInterval[];
  /** Finds the text under which a decision was made. */
  readonly cite: CiteText;
  /**
   * The evidence of a banner for a decision, all evidence for the person's decisions, and whether each file exists and
   * can be enclosed.
   */
  readonly banner: {
    readonly cite: CiteBanner;
    readonly evidence: readonly BannerEvidence[];
    readonly enclosed: boolean;
  };
  /** Readings of later versions that concern the person's decisions, each with the entries of these. */
  readonly readings: readonly OwnReading[];
  /** Kinds of data left out of the decisions. */
  readonly withheld: ReadonlySet<WithheldType>;
  /** Iterates over the person's decisions, any number of times; none unless the disclosure is full. */
  decisions(): AsyncIterable<JudgedRow>;
}

/** A reading that was put in force, and the person's entries that are read differently since. */
export interface OwnReading {
  readonly reading: AdoptedReading;
  readonly entries: readonly number[];
}

function ownReadings(adopted: readonly AdoptedReading[], own: ReadonlySet<number>): readonly OwnReading[] {
  return adopted.flatMap((reading) => {
    const ranges = rangesIn(reading.entries);
    const entries = [...own].filter((seq) => ranges.some(({ from, to }) => from <= seq && seq <= to));
    return entries.length === 0 ? [] : [{ reading, entries }];
  });
}

/** A file of the pack. */
export interface PackFile {
  readonly name: string;
  /** Describes the file in one line for the reader of the pack. */
  readonly what: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** One part of the pack: returns the file it makes, or null if there is none for this case. */
export type PackPart = (context: GatheredPack) => PackFile | null | Promise<PackFile | null>;

/** A written file as listed in the manifest. */
export interface WrittenFile {
  readonly name: string;
  readonly what: string;
  readonly bytes: number;
  readonly sha256: string;
}

export async function gatherPack(input: DsarPackInput): Promise<GatheredPack> {
  let disclosure = effectiveDisclosure(input);
  const source = withholdingSource(input);
  const withheld = new Set<WithheldType>();
  const decisions = async function* (): AsyncGenerator<JudgedRow> {
    if (disclosure !== 'full') return;
    for await (const row of input.history.decisionRowsOf(input, input.match.subjects))
      yield source === null ? row : withholdIdentifiers(row, source, withheld);
  };
  const shown = await input.history.bannerEvidence(input);
  const citeBanner = createBannerCitation(shown);
  const used = new Set<number>();
  const policyIds = new Set<string>();
  const found = { decisions: 0, first: null as string | null, last: null as string | null, policyIds };
  const adopted = await input.history.adoptedReadings(input);
  const own = new Set<number>();
  for await (const row of decisions()) {
    if (adopted.length > 0) own.add(Number(row.seq));
    found.decisions += row.is_first;
    if (found.first === null || row.at < found.first) found.first = row.at;
    if (found.last === null || row.at > found.last) found.last = row.at;
    if (row.policy_id !== null) policyIds.add(row.policy_id);
    for (const { seq } of citeBanner({ bannerId: row.banner_id, at: row.at })) used.add(seq);
  }
  // A subject without records up to asOf cannot be linked to any.
  if (disclosure === 'full' && found.decisions === 0) disclosure = 'no-match';
  const policies =
    found.first === null
      ? []
      : (
          await loadPolicyIntervals(
            input.history.policyRows({ source: input.source, asOf: input.asOf, to: input.generatedAt }),
            found.first,
            input.generatedAt,
          )
        ).filter(({ policyId }) => policyIds.size === 0 || policyIds.has(policyId));
  const seen = await loadTexts(input, found);
  const texts = seen.filter(({ notBefore, firstSeen }) => (notBefore ?? firstSeen) <= (found.last ?? ''));
  const cite = createTextCitation(seen);
  const evidence = shown.filter(({ seq }) => used.has(seq));
  const banner = { cite: citeBanner, evidence, enclosed: await anyFile(input, evidence) };
  return {
    input,
    reference: packReference(input),
    disclosure,
    found,
    policies,
    texts,
    cite,
    banner,
    withheld,
    decisions,
    readings: ownReadings(adopted, own),
  };
}

async function anyFile({ evidenceFolder }: DsarPackInput, evidence: readonly BannerEvidence[]): Promise<boolean> {
  if (evidenceFolder === undefined) return false;
  for (const { sha256 } of evidence) if ((await stateOfEvidenceFile(evidenceFolder, sha256)) === 'sound') return true;
  return false;
}

/** Texts from the first decision on: of the policies that the decisions name, or of all if they name none. */
async function loadTexts(
  { history, source, asOf, generatedAt }: DsarPackInput,
  { first, policyIds }: RecordsFound,
): Promise<readonly PolicyTextInterval[]> {
  if (first === null) return [];
  const looks = history.textLooks({ source, asOf }, policyIds.size === 0 ? undefined : policyIds);
  return loadPolicyTextIntervals(looks, first, generatedAt);
}

/** In whose name the answer is sent: the controller's, even if a processor drafts it. */
export function letterhead({ profile, sourceName }: DsarPackInput): string {
  if (profile === null) return sourceName;
  return profile.role === 'processor' && profile.controllerOrJointContact !== null
    ? profile.controllerOrJointContact
    : profile.name;
}

/** Input from which the pack of a case is made. */
export interface DsarPackInput extends DocumentInput {
  /** The case at asOf. */
  readonly case: Selectable<Tables['cases']>;
  readonly deadline: PackDeadline;
  readonly disclosure: Disclosure;
  /** How the requester was found in the records, and as which subjects. */
  readonly match: Pick<Match, 'status' | 'subjects' | 'untried'>;
  /** Whether the required identity check was made, and how, in words (never a document). */
  readonly identity: PackCase['identity'];
  /** The controller's other systems as marked in the case; null: not marked. */
  readonly systems?: PackCase['systems'];
  /** DATA_DIR/evidence; absent: evidence files are listed as missing. */
  readonly evidenceFolder?: string;
  /** The legal statements and dates for its letter, and the letter itself. */
  readonly letter?: LetterOfCase;
  /** The checkpoint that witnesses have signed, with what they signed, for the proofs of the entries under it; absent: none. */
  readonly witnessed?: WitnessedNote;
}

/** Dates are YYYY-MM-DD; null: no law sets one, or the request takes effect at once. */
export interface LetterOfCase {
  /** Ids of the laws that apply; the first determines the answer. */
  readonly laws: readonly string[];
  /** Those of them whose deadline is a rule of the installation's own; absent: none. */
  readonly ownRules?: readonly string[];
  readonly limit: string | null;
  readonly firstLimit: string | null;
  /** Whether this kind of request must not depend on an identity check. */
  readonly unchecked: boolean;
  /** Why the request cannot be refused, in words for the officer; null: it can be. */
  readonly irrefusable: string | null;
  /** The letter of the answer that an officer made last; null: none yet. */
  readonly written: Letter | null;
  /** The controller's own wording of an answer in one language, with placeholders; null: none. */
  readonly ownAnswer?: { readonly language: string; readonly text: string } | null;
  /** BCP 47: the language of the pack, as somebody chose it; absent in packs of earlier versions, which had to guess. */
  readonly language?: string;
}

/** The dates of the case under the deciding law. */
interface PackDeadline {
  /** Id of the deciding law; `none` if no recorded law gives a right to an answer. */
  readonly regime: string;
  readonly aimFor: string | null;
  readonly legalLimit: string | null;
  /** Codes of the laws that may apply and are not recorded here: each may set a date, or an earlier one. */
  readonly notRecorded: readonly string[];
  /** The controller's own target where a law is not recorded; it is no law's. */
  readonly ownTarget: string | null;
  readonly explanation: readonly string[];
  readonly citation: string;
}

/** The deadlines of a case as printed in its pack. */
export function packDeadline(deadlines: Deadlines): PackDeadline {
  const law = decidingLaw(deadlines);
  const caveat = datelessText(deadlines) ?? unrecordedText(deadlines);
  return {
    regime: law?.id ?? 'none',
    aimFor: deadlines.aimFor,
    legalLimit: deadlines.limit,
    notRecorded: unrecordedCodes(deadlines.unrecorded),
    ownTarget: deadlines.ownTarget,
    explanation: [...(law?.explanation ?? []), ...(caveat === null ? [] : [caveat])],
    citation: law?.citation ?? '',
  };
}

/** Everything from which a pack is made besides the entries up to asOf; the matched subjects follow from those. */
export function packParameters(input: DsarPackInput): Parameters {
  const { disclosure, letter, witnessed } = input;
  return {
    ...frameParameters(input),
    disclosure,
    ...(letter?.language === undefined ? {} : { language: letter.language }),
    ...(witnessed === undefined ? {} : { witnessed: recordOfWitnessed(witnessed) }),
  };
}

/** The reference printed in a pack; the id of the registered pack begins with it. */
export function packReference(input: DsarPackInput): string {
  const { asOf } = input;
  const parameters = packParameters(input);
  return referenceOf({ name: 'dsar-pack', format: 'zip', asOf, caseId: input.case.case_id, parameters });
}

/**
 * The disclosure that is allowed, whatever the caller asks for: nothing about a person in a refusal, and never more
 * than identity and match allow.
 */
function effectiveDisclosure(input: DsarPackInput): Disclosure {
  if (input.disclosure !== 'full') return input.disclosure;
  if (parseFolded(input.case.folded).refusal !== null) return 'categories-only';
  return mostDisclosure(input.identity.status, input.match);
}

/** Kinds of data that may not be disclosed, as their replacements name them: the reader must be told what is held. */
const WITHHELD: Readonly<Record<WithheldType, string>> = {
  socialSecurity: 'Social Security number',
  longNumber: 'account, card or identification number',
};

/** In place of an identifier, in data files. */
const withheldText = (what: string, source: string) => `[withheld: ${what}, ${source}]`;

/** A text of {@link withholdIdentifiers} in other words; `{what}` and `{source}` in `template` stand for what is left out and why. */
export function withheldInWords(
  text: string,
  source: string | null,
  { template, types }: { readonly template: string; readonly types: Readonly<Record<WithheldType, string>> },
): string {
  if (source === null) return text;
  return (Object.keys(WITHHELD) as WithheldType[]).reduce(
    (said, type) =>
      said.replaceAll(withheldText(WITHHELD[type], source), () => fill(template, { what: types[type], source })),
    text,
  );
}

const SOCIAL_SECURITY = /^\d{3}-\d{2}-\d{4}$/;
// Social security numbers, and long digit sequences that look like account, card or licence numbers.
const FORBIDDEN = /(?<![\dA-Za-z])(?:\d{3}-\d{2}-\d{4}|\d{9}|\d(?:[ -]?\d){12,18})(?![\dA-Za-z])/g;

/**
 * The provisions that bar government ids and account numbers from the answer, verified requester or not (11 CCR §
 * 7024(d)); null: no law of the case does. This holds even if another law decides the date: a rule of one law never
 * loosens another.
 */
export function withholdingSource({
  letter,
  deadline,
  case: row,
}: Pick<DsarPackInput, 'letter' | 'deadline' | 'case'>): string | null {
  const place = normaliseJurisdiction(row.jurisdiction);
  const provisions = withholdingProvisions(letter?.laws ?? [deadline.regime], place);
  return provisions.length === 0 ? null : provisions.join('; ');
}

/**
 * A decision without what may never be disclosed. Subjects are hashed, but we do not control what the service or a site
 * wrote into other texts, so all of them are searched. `found` collects the kinds of what was left out.
 */
function withholdIdentifiers(row: JudgedRow, source: string, found: Set<WithheldType>): JudgedRow {
  const texts = [
    'record_id',
    'subject',
    'banner_id',
    'banner_version',
    'purposes',
    'withdraws',
    'stands',
    'action',
    'method',
    'domain',
    'page',
    'signals',
    'policy_id',
    'policy_version',
    'region',
    'language',
    'decision_id',
  ] as const;
  const safe: Record<string, unknown> = { ...row };
  for (const name of texts) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    safe[name] = value.replace(FORBIDDEN, (number) => {
      const type = SOCIAL_SECURITY.test(number) ? 'socialSecurity' : 'longNumber';
      found.add(type);
      return withheldText(WITHHELD[type], source);
    });
  }
  return safe as unknown as JudgedRow;
}
