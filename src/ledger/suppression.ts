import { canonicalSubject } from '../core/subject.ts';
import type { Query } from '../store/store.ts';
import { listErasures } from './erase.ts';
import type { Ledger } from './ledger.ts';

/** Keyed hash of a subject in hex, as used by erasures and holds: without INSTANCE_KEY, guesses cannot be tested. */
export function subjectHash({ keyOf }: Pick<Ledger, 'keyOf'>, source: string, subject: string): string {
  return keyOf('erased-subject', source, canonicalSubject(subject)).toString('hex');
}

/** Whether a row about a subject with this time (ISO 8601 UTC) was erased. */
export type IsSuppressed = (subject: string, at: string) => boolean;

/** Per ledger: when the subjects of each source were last erased, and up to which erasure this is known. */
const known = new WeakMap<object, { last: number; readonly sources: Map<string, Map<string, string>> }>();

/**
 * Tells which rows of a source must not be stored again because everything about their subject was erased; null if
 * there are none, as is usual. Choices made after the erasure are new and are recorded. Reads only erasures added since
 * the last call.
 */
export async function loadSuppression(read: Query, ledger: Ledger, source: string): Promise<IsSuppressed | null> {
  const state = known.get(ledger) ?? { last: 0, sources: new Map<string, Map<string, string>>() };
  known.set(ledger, state);
  for (const { seq, receivedAt, firstMadeAt, suppress } of await listErasures(read, ledger, state.last)) {
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
