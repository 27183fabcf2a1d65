import { textAt } from '../src/texts/text-versions.ts';
import type { DecisionRow } from '../src/store/queries/history-decisions.ts';
import type { CsvColumn } from './render/csv.ts';
import type { PolicyTextInterval } from './policy-texts.ts';

/**
 * How well it is known under which text a decision was made. `seen`: the text was seen before and after it. `last-seen`: it was the last one
 * seen by then, and nobody has looked since. `changing`: one of two, the change came around that time. `not-yet-fetched`: the first look
 * came later. `never-fetched`: there was none. `policy-not-stated`: the record names no policy.
 */
export type TextKnown = 'seen' | 'last-seen' | 'changing' | 'not-yet-fetched' | 'never-fetched' | 'policy-not-stated';

/** The text, or the two, of the policy's public page under which a decision was made (GDPR Art. 7(1); EDPB 05/2020 §104–108). */
export interface TextCitation {
  readonly known: TextKnown;
  readonly texts: readonly PolicyTextInterval[];
}

export type CiteText = (decision: Pick<DecisionRow, 'policy_id' | 'at'>) => TextCitation;

/** `intervals`: of each target in order of time, as loadPolicyTextIntervals gives them. */
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

/** The citation as columns of a file. Where two texts are possible, both stand there with a blank between. */
export function textColumns(cite: CiteText): readonly CsvColumn<DecisionRow>[] {
  // Once for all columns of a row.
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
