import {
  addSighting,
  inForceBetween,
  sightingOf,
  type TextVersion,
  textAt,
} from '../src/policy-texts/text-versions.ts';
import type { DecisionRow } from '../src/store/queries/history-decisions.ts';
import type { PolicyRow, TextLookRow } from '../src/store/queries/history-evidence.ts';
import { byText } from './format.ts';
import type { CsvColumn } from './render/csv-json.ts';

/** A fetched text of a policy that may have been in force in a period. Times are ISO 8601 UTC. */
export interface PolicyTextInterval {
  /** `hosted:<policy id>`: the public page; `embed:<type>`: what the embed endpoint returned for the type. */
  readonly target: string;
  readonly policyId: string | null;
  readonly policyType: string | null;
  /** Of the visible text; null: the service answered that there is none. */
  readonly textSha256: string | null;
  /** The entry that holds the answer, and its commitment. */
  readonly bodySeq: number;
  readonly commitment: string | null;
  readonly contentType: string | null;
  /** When the previous text was last seen; null: this is the first text seen. */
  readonly notBefore: string | null;
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** When the next text was first seen; null: none seen yet. */
  readonly nextSeen: string | null;
  /** It was shown by a fetch that counts, not only by one so soon after a change that the edge may have had the old text. */
  readonly settled: boolean;
  readonly looks: number;
}

/** The texts that were, or may have been, in force at some time between `from` and `to`. Looks must come target by target. */
export async function loadPolicyTextIntervals(
  looks: AsyncIterable<TextLookRow>,
  from: string,
  to: string,
): Promise<readonly PolicyTextInterval[]> {
  const found: PolicyTextInterval[] = [];
  let target: string | null = null;
  let versions: readonly TextVersion[] = [];
  const heads = new Map<number, TextLookRow>();
  const finish = (): void => {
    const intervals = versions.map((version, place) =>
      intervalOf(version, heads.get(version.firstSeq) as TextLookRow, versions[place + 1]?.firstSeen ?? null),
    );
    found.push(...inForceBetween(intervals, from, to));
    heads.clear();
    versions = [];
  };
  for await (const look of looks) {
    if (look.target !== target) finish();
    target = look.target;
    const before = versions.length;
    versions = addSighting(versions, sightingOf(look));
    if (versions.length > before) heads.set(look.seq, look);
  }
  finish();
  return found;
}

function intervalOf(version: TextVersion, head: TextLookRow, nextSeen: string | null): PolicyTextInterval {
  return {
    target: head.target,
    policyId: head.policy_id,
    policyType: head.policy_type,
    textSha256: version.textSha256,
    bodySeq: version.bodySeq,
    commitment: head.commitment?.toString('hex') ?? null,
    contentType: head.content_type,
    notBefore: version.notBefore,
    firstSeen: version.firstSeen,
    lastSeen: version.lastSeen,
    nextSeen,
    settled: version.settled,
    looks: version.sightings,
  };
}

/** Describes whose text it is. */
export function describeText({ target, policyId, policyType }: PolicyTextInterval): string {
  if (!target.startsWith('hosted:')) return `embed endpoint, ${policyType ?? target}`;
  return `public page of ${policyId ?? target.slice('hosted:'.length)}${policyType === null ? '' : ` (${policyType})`}`;
}

/**
 * How certain it is under which text a decision was made. `seen`: the text was seen before and after it. `last-seen`:
 * it was the last text seen by then and has not been fetched since. `changing`: one of two, as the text changed around
 * that time. `not-yet-fetched`: the first fetch came later. `never-fetched`: there was none. `policy-not-stated`: the
 * record names no policy.
 */
export type TextKnown = 'seen' | 'last-seen' | 'changing' | 'not-yet-fetched' | 'never-fetched' | 'policy-not-stated';

/**
 * The text, or the two possible ones, of the policy's public page under which a decision was made (GDPR Art. 7(1); EDPB
 * 05/2020 §104–108).
 */
export interface TextCitation {
  readonly known: TextKnown;
  readonly texts: readonly PolicyTextInterval[];
}

export type CiteText = (decision: Pick<DecisionRow, 'policy_id' | 'at'>) => TextCitation;

/** `intervals`: by target, each in order of time, as loadPolicyTextIntervals returns them. */
export function createTextCitation(intervals: readonly PolicyTextInterval[]): CiteText {
  const pages = new Map<string, PolicyTextInterval[]>();
  for (const interval of intervals) {
    const page = pages.get(interval.target);
    if (page === undefined) pages.set(interval.target, [interval]);
    else page.push(interval);
  }
  return ({ policy_id: policyId, at }) => {
    if (policyId === null) return { known: 'policy-not-stated', texts: [] };
    const page = pages.get(`hosted:${policyId}`);
    if (page === undefined) return { known: 'never-fetched', texts: [] };
    const found = textAt(page, at);
    switch (found.outcome) {
      case 'certain':
        return { known: found.seenSince ? 'seen' : 'last-seen', texts: [found.version] };
      case 'between':
        return { known: 'changing', texts: [found.earlier, found.later] };
      case 'before-first':
        return { known: 'not-yet-fetched', texts: [] };
      default:
        return found satisfies never;
    }
  };
}

/** The citation as columns of a file. If two texts are possible, both are given with a blank between them. */
export function textColumns(cite: CiteText): readonly CsvColumn<DecisionRow>[] {
  // Computed once for all columns of a row.
  let last: { readonly row: DecisionRow; readonly citation: TextCitation } | null = null;
  const citationOf = (row: DecisionRow): TextCitation => {
    if (last?.row !== row) last = { row, citation: cite(row) };
    return last.citation;
  };
  const column = (title: string, value: (citation: TextCitation) => string | null): CsvColumn<DecisionRow> => ({
    title,
    value: (row) => value(citationOf(row)),
  });
  const each = (texts: readonly PolicyTextInterval[], value: (text: PolicyTextInterval) => string | number) =>
    texts.length === 0 ? null : texts.map(value).join(' ');
  return [
    column('policy_text', ({ known }) => known),
    column('policy_text_sha256', ({ texts }) => each(texts, ({ textSha256 }) => textSha256 ?? 'none')),
    column('policy_text_entry', ({ texts }) => each(texts, ({ bodySeq }) => bodySeq)),
  ];
}

/** What was known of a policy during an interval. */
export interface PolicyInterval {
  readonly policyId: string;
  readonly policyType: string | null;
  readonly title: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly version: string | null;
  readonly change: PolicyRow['change'];
  /** ISO 8601 UTC; null `until`: no later change was reported by the end of the period. */
  readonly from: string;
  readonly until: string | null;
  /**
   * A policy is in force from the change that published it until the next publication or its deletion. Null: this
   * change put nothing in force, because the policy was created, edited or deleted and not (yet) published.
   */
  readonly inForceFrom: string | null;
  readonly inForceUntil: string | null;
  /** The entry that reported it, and its commitment. */
  readonly seq: number;
  readonly commitment: string | null;
}

/**
 * The policies that were in force at some time between `from` and `to`: each change holds until the next one of the
 * same policy; a deletion ends the last. A field that a change does not mention keeps its last known value.
 */
export async function loadPolicyIntervals(
  rows: AsyncIterable<PolicyRow>,
  from: string,
  to: string,
): Promise<readonly PolicyInterval[]> {
  const byPolicy = new Map<string, PolicyRow[]>();
  for await (const row of rows) {
    const known = byPolicy.get(row.policy_id);
    if (known === undefined) byPolicy.set(row.policy_id, [row]);
    else known.push(row);
  }
  const intervals: PolicyInterval[] = [];
  for (const changes of byPolicy.values()) {
    const ordered = changes.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq));
    let before: PolicyInterval | null = null;
    ordered.forEach((row, i) => {
      const ends = ordered.slice(i + 1).find(({ change }) => change === 'published' || change === 'deleted');
      const published = row.change === 'published';
      const interval: PolicyInterval = {
        policyId: row.policy_id,
        policyType: row.policy_type ?? before?.policyType ?? null,
        title: row.title ?? before?.title ?? null,
        jurisdiction: row.jurisdiction ?? before?.jurisdiction ?? null,
        language: row.language ?? before?.language ?? null,
        version: row.version ?? before?.version ?? null,
        change: row.change,
        from: row.at,
        until: ordered[i + 1]?.at ?? null,
        inForceFrom: published ? row.at : null,
        inForceUntil: published ? (ends?.at ?? null) : null,
        seq: row.seq,
        commitment: row.commitment,
      };
      before = interval;
      const end = published ? interval.inForceUntil : interval.until;
      const inPeriod = interval.from < to && (end === null || end > from);
      if (inPeriod && interval.change !== 'deleted') intervals.push(interval);
      if (interval.change === 'deleted' && interval.from >= from && interval.from < to) intervals.push(interval);
    });
  }
  return intervals.sort(
    (a, b) =>
      byText<PolicyInterval>((one) => one.policyId)(a, b) ||
      byText<PolicyInterval>((one) => one.from)(a, b) ||
      a.seq - b.seq,
  );
}

/**
 * Whether a version of a policy was no longer in force at the end of the period: another version was published last,
 * and this one was not reported after that. False if no published version is known.
 */
export function supersededBy(
  intervals: readonly PolicyInterval[],
): (policyId: string | null, version: string | null) => boolean {
  const inForce = new Map<string, { version: string | null; since: Set<string | null> }>();
  for (const { policyId, version, inForceFrom } of intervals) {
    if (inForceFrom !== null) inForce.set(policyId, { version, since: new Set() });
    inForce.get(policyId)?.since.add(version);
  }
  return (policyId, version) => {
    const last = inForce.get(policyId ?? '');
    return last !== undefined && last.version !== null && version !== null && !last.since.has(version);
  };
}
