import { canonicalSubject } from '../core/subject.ts';
import type { Query } from '../store/store.ts';
import { listErasures } from './erase.ts';
import type { Ledger } from './ledger.ts';

/** Keyed hash of a subject, hex, as erasures and holds name it: without INSTANCE_KEY a guess cannot be tested. */
export function subjectHash({ keyOf }: Pick<Ledger, 'keyOf'>, source: string, subject: string): string {
  return keyOf('erased-subject', source, canonicalSubject(subject)).toString('hex');
}

/** Whether a row about a subject, from this time (ISO 8601 UTC), is one of those that were erased. */
export type IsSuppressed = (subject: string, at: string) => boolean;

/** Of each ledger, when the subjects of each source were erased last, and up to which erasure that is known. */
const known = new WeakMap<object, { last: number; readonly sources: Map<string, Map<string, string>> }>();

/**
 * Whose earlier rows of a source are not to be pulled again, because everything of theirs was erased; null: nobody's, as a rule. What a person chose after the erasure is new and is
 * recorded. Reads only erasures that came since the last call.
 */
export async function loadSuppression(read: Query, ledger: Ledger, source: string): Promise<IsSuppressed | null> {
  const state = known.get(ledger) ?? { last: 0, sources: new Map<string, Map<string, string>>() };
  known.set(ledger, state);
  for (const { seq, receivedAt, firstMadeAt, suppress } of await listErasures(read, state.last)) {
    for (const one of suppress) {
      const subjects = state.sources.get(one.source) ?? new Map<string, string>();
      state.sources.set(one.source, subjects);
      const erasedAt = firstMadeAt ?? receivedAt;
      if (erasedAt > (subjects.get(one.subject) ?? '')) subjects.set(one.subject, erasedAt);
    }
    state.last = Math.max(state.last, seq);
  }
  const subjects = state.sources.get(source);
  if (subjects === undefined) return null;
  return (subject, at) => {
    const erasedAt = subjects.get(subjectHash(ledger, source, subject));
    return erasedAt !== undefined && at < erasedAt;
  };
}
