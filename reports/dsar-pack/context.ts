import { type BannerEvidence, type CiteBanner, createBannerCitation } from '../../src/store/queries/history-banners.ts';
import { stateOfEvidenceFile } from '../../src/ledger/evidence-files.ts';
import type { JudgedRow } from '../../src/store/queries/history-decisions.ts';
import { loadPolicyIntervals, type PolicyInterval } from '../policy-intervals.ts';
import { loadPolicyTextIntervals, type PolicyTextInterval } from '../policy-texts.ts';
import { type CiteText, createTextCitation } from '../text-citation.ts';
import { formatCount } from '../format.ts';
import type { WithheldType } from '../letters/texts.ts';
import type { Frame } from '../render/blocks.ts';
import type { Disclosure } from '../../src/cases/move-details.ts';
import { type DsarPackInput, effectiveDisclosure, packReference } from './input.ts';
import { withholdIdentifiers, withholdsIdentifiers } from './withheld.ts';

/** What is known of the person's records before the first file is written. Constant in size however long the history is. */
export interface RecordsFound {
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
