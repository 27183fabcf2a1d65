import type { ProofFiles } from '../../src/ledger/prove-entry.ts';
import { type BannerEvidence, type CiteBanner, createBannerCitation } from '../../src/store/queries/history-banners.ts';
import { stateOfEvidenceFile } from '../../src/ledger/evidence-files.ts';
import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import {
  loadPolicyIntervals,
  type PolicyInterval,
  loadPolicyTextIntervals,
  type PolicyTextInterval,
  type CiteText,
  createTextCitation,
} from '../policy-texts.ts';
import { formatCount } from '../format.ts';
import type { WithheldType } from '../letters/texts.ts';
import type { Frame } from '../render/blocks.ts';
import { parseFolded } from '../../src/cases/folded.ts';
import type { Disclosure } from '../../src/cases/moves.ts';
import { mostDisclosure } from '../../src/cases/readiness.ts';
import type { Selectable } from 'kysely';
import type { PackCase } from '../../src/cases/load-pack-case.ts';
import type { Match } from '../../src/cases/match.ts';
import { decidingLaw, type Deadlines } from '../../src/law/deadlines.ts';
import type { Letter } from '../letters/letter.ts';
import type { Tables } from '../../src/store/schema.ts';
import { type DocumentInput, frameParameters, type Parameters, referenceOf } from '../report.ts';

/** What is known of the person's records before the first file is written. Constant in size however long the history is. */
interface RecordsFound {
  /** Distinct decisions. */
  readonly decisions: number;
  readonly first: string | null;
  readonly last: string | null;
  /** The policies that they name. */
  readonly policyIds: ReadonlySet<string>;
}

export interface PackContext {
  readonly input: DsarPackInput;
  /** Printed in every file: the id under which the pack is registered begins with it. */
  readonly reference: string;
  readonly disclosure: Disclosure;
  readonly found: RecordsFound;
  readonly policies: readonly PolicyInterval[];
  /** The texts of these policies from the first decision to the last, as they were fetched. A text is referred to by its place here, from 1. */
  readonly texts: readonly PolicyTextInterval[];
  /** Under which of the texts a decision was made. */
  readonly cite: CiteText;
  /** The evidence of a banner for a decision, all that the person's decisions rest on, and whether a file of it is there to enclose. */
  readonly banner: {
    readonly cite: CiteBanner;
    readonly evidence: readonly BannerEvidence[];
    readonly enclosed: boolean;
  };
  /** Kinds of what was left out of the decisions. */
  readonly withheld: ReadonlySet<WithheldType>;
  /** The person's decisions as often as they are needed; none unless the disclosure is full. */
  decisions(): AsyncIterable<JudgedRow>;
}

/** A file of the pack. */
export interface PackFile {
  readonly name: string;
  /** One line: what it is, for the reader of the pack. */
  readonly what: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** One part of the pack: which file it makes, or none for this case. */
export type PackPart = (context: PackContext) => PackFile | null | Promise<PackFile | null>;

/** A file that has been written: what the manifest says of it. */
export interface WrittenFile {
  readonly name: string;
  readonly what: string;
  readonly bytes: number;
  readonly sha256: string;
}

export async function loadContext(input: DsarPackInput): Promise<PackContext> {
  let disclosure = effectiveDisclosure(input);
  const withholds = withholdsIdentifiers(input);
  const withheld = new Set<WithheldType>();
  const decisions = async function* (): AsyncGenerator<JudgedRow> {
    if (disclosure !== 'full') return;
    for await (const row of input.history.decisionRowsOf(input, input.match.subjects))
      yield withholds ? withholdIdentifiers(row, withheld) : row;
  };
  const shown = await input.history.bannerEvidence(input);
  const citeBanner = createBannerCitation(shown);
  const used = new Set<number>();
  const policyIds = new Set<string>();
  const found = { decisions: 0, first: null as string | null, last: null as string | null, policyIds };
  for await (const row of decisions()) {
    found.decisions += row.is_first;
    if (found.first === null || row.at < found.first) found.first = row.at;
    if (found.last === null || row.at > found.last) found.last = row.at;
    if (row.policy_id !== null) policyIds.add(row.policy_id);
    for (const { seq } of citeBanner({ bannerId: row.banner_id, at: row.at })) used.add(seq);
  }
  // A subject without a record up to asOf cannot be linked to one.
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
  };
}

async function anyFile({ evidenceFolder }: DsarPackInput, evidence: readonly BannerEvidence[]): Promise<boolean> {
  if (evidenceFolder === undefined) return false;
  for (const { sha256 } of evidence) if ((await stateOfEvidenceFile(evidenceFolder, sha256)) === 'sound') return true;
  return false;
}

/** From the first decision on. Of the policies that the decisions name; of all, where they name none. */
async function loadTexts(
  { history, source, asOf, generatedAt }: DsarPackInput,
  { first, policyIds }: RecordsFound,
): Promise<readonly PolicyTextInterval[]> {
  if (first === null) return [];
  const looks = history.textLooks({ source, asOf }, policyIds.size === 0 ? undefined : policyIds);
  return loadPolicyTextIntervals(looks, first, generatedAt);
}

/** In whose name the answer goes out: the controller, also where a processor drafts it. */
export function letterhead({ profile, sourceName }: DsarPackInput): string {
  if (profile === null) return sourceName;
  return profile.role === 'processor' && profile.controllerOrJointContact !== null
    ? profile.controllerOrJointContact
    : profile.name;
}

export function packFrame(context: PackContext, title: string, kind: Frame['kind']): Frame {
  const { input, reference } = context;
  return {
    title,
    owner: letterhead(input).split('\n')[0] ?? '',
    footer: `Case ${input.case.case_id} · reference ${reference} · as of entry ${formatCount(input.asOf)}`,
    language: input.language,
    producer: `consent-ledger ${input.version}`,
    createdAt: input.generatedAt,
    watermark: input.sample ? 'SAMPLE' : null,
    kind,
  };
}

/** What the pack of one case is made from. */
export interface DsarPackInput extends DocumentInput {
  /** The case as it stood at asOf. */
  readonly case: Selectable<Tables['cases']>;
  readonly deadline: PackDeadline;
  readonly disclosure: Disclosure;
  /** How the requester was found in the records, and under which subjects. */
  readonly match: Pick<Match, 'status' | 'subjects'>;
  /** Whether the identity check that applies was made; how, in words (never a document). */
  readonly identity: PackCase['identity'];
  /** The controller's other systems, as the case marks them; null: not marked. */
  readonly systems?: PackCase['systems'];
  /** DATA_DIR/evidence; absent: the files of evidence are named as missing. */
  readonly evidenceFolder?: string;
  /** What its letter says of the law and the time, and the letter itself. */
  readonly letter?: LetterOfCase;
  /** What proves its entries; absent: nothing does. */
  readonly proofs?: PackProofs;
}

/** What proves the entries of a pack to somebody who has only the pack. */
export interface PackProofs {
  readonly verifierKey: string;
  /** Throws when the entry is not what was sealed. */
  of(seq: number): Promise<{ readonly kind: string; files(withContent: boolean): ProofFiles }>;
  /** Seals the list of files in the ledger, and proves that. */
  sealManifest(sealed: {
    readonly sha256: string;
    readonly files: Readonly<Record<string, string>>;
  }): Promise<ProofFiles>;
}

/** Dates are YYYY-MM-DD; null: no law sets one, or what is asked takes effect at once. */
export interface LetterOfCase {
  /** Ids of the laws that apply, the one that decides first. */
  readonly laws: readonly string[];
  readonly limit: string | null;
  readonly firstLimit: string | null;
  /** Whether this kind of request must not depend on an identity check. */
  readonly unchecked: boolean;
  /** Why the request cannot be refused, in words for the officer; null: it can. */
  readonly irrefusable: string | null;
  /** The answer as an officer last made it as a letter; null: not yet. */
  readonly written: Letter | null;
  /** The controller's own wording of an answer in a language, with placeholders; null: none. */
  readonly ownAnswer?: { readonly language: string; readonly text: string } | null;
}

/** The dates of the case under the law that decides. */
interface PackDeadline {
  /** Id of the deciding law; `none` where no law known here gives a right to an answer. */
  readonly regime: string;
  readonly aimFor: string | null;
  readonly legalLimit: string | null;
  readonly explanation: readonly string[];
  readonly citation: string;
}

/** What a pack says of the deadlines of its case. */
export function packDeadline(deadlines: Deadlines): PackDeadline {
  const law = decidingLaw(deadlines);
  return {
    regime: law?.id ?? 'none',
    aimFor: deadlines.aimFor,
    legalLimit: deadlines.limit,
    explanation: law?.explanation ?? [],
    citation: law?.citation ?? '',
  };
}

/** What a pack is made from besides the entries up to asOf. Who was matched follows from them. */
export function packParameters(input: DsarPackInput): Parameters {
  return { ...frameParameters(input), disclosure: input.disclosure };
}

/** What a pack prints to be found again; the id under which it is registered begins with it. */
export function packReference(input: DsarPackInput): string {
  const { asOf } = input;
  const parameters = packParameters(input);
  return referenceOf({ name: 'dsar-pack', format: 'zip', asOf, caseId: input.case.case_id, parameters });
}

/** What may be disclosed in the end, whatever the caller says: nothing of a person in a refusal, nor beyond what identity and match allow. */
function effectiveDisclosure(input: DsarPackInput): Disclosure {
  if (input.disclosure !== 'full') return input.disclosure;
  if (parseFolded(input.case.folded).refusal !== null) return 'categories-only';
  return mostDisclosure(input.identity.status, input.match);
}

/** What stands in place of a piece that may not be disclosed, by its kind: the reader has to be told what is held (11 CCR 7024(d)). */
const WITHHELD: Readonly<Record<WithheldType, string>> = {
  socialSecurity: '[withheld: Social Security number, 11 CCR 7024(d)]',
  longNumber: '[withheld: account, card or identification number, 11 CCR 7024(d)]',
};

const SOCIAL_SECURITY = /^\d{3}-\d{2}-\d{4}$/;
// Social security numbers, and long runs of digits that look like account, card or licence numbers.
const FORBIDDEN = /(?<![\dA-Za-z])(?:\d{3}-\d{2}-\d{4}|\d{9}|\d(?:[ -]?\d){12,18})(?![\dA-Za-z])/g;

/**
 * Whether a law of the case bars government ids and account numbers from the answer, verified requester or not (11 CCR 7024(d)). It does so
 * where another law decides the date as well: a rule of one law never loosens another.
 */
export function withholdsIdentifiers({ letter, deadline }: Pick<DsarPackInput, 'letter' | 'deadline'>): boolean {
  return (letter?.laws ?? [deadline.regime]).includes('us-ca');
}

/**
 * A decision without what may never be disclosed (11 CCR 7024(d)). The records hold hashed subjects; but what the service or a site
 * put into their texts is not ours to choose, so every text of them is searched. `found` takes the kinds of what was left out.
 */
function withholdIdentifiers(row: JudgedRow, found: Set<WithheldType>): JudgedRow {
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
      return WITHHELD[type];
    });
  }
  return safe as unknown as JudgedRow;
}
