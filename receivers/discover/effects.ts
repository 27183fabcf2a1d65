import {
  changesBetween,
  isFilling,
  type ReadingChange,
  type RecordRead,
  readingChanges,
  readWords,
} from '../../src/core/reading-change.ts';
import type { Fact } from '../index.ts';
import type { Reading } from '../read.ts';

/** How other settings change the reading of payloads. */
export interface Effects {
  /** In how many payloads, by change, the worst first. */
  readonly changes: readonly { readonly change: ReadingChange; readonly count: number }[];
  /** At most three payloads, of the worst change first, as read before and after. Contains names of purposes and, where they change, times, but no ids. */
  readonly examples: readonly Example[];
}

interface Example {
  /** The entry; null: not in the ledger. */
  readonly seq: number | null;
  readonly before: string;
  readonly after: string;
}

/** One payload, read twice. */
export interface ReadTwice {
  readonly seq: number | null;
  readonly before: Reading;
  readonly after: Reading;
}

const EXAMPLES = 3;

/** Compares two readings of the same payloads. */
export function effectsOf(payloads: readonly ReadTwice[]): Effects {
  const found = new Map<ReadingChange, Example[]>();
  for (const { seq, before, after } of payloads) {
    const [was, is] = [recordsOf(before), recordsOf(after)];
    const told = new Set<ReadingChange>();
    for (let place = 0; place < Math.max(was.length, is.length); place += 1) {
      const [one, other] = [was[place] ?? null, is[place] ?? null];
      for (const change of changesBetween(one, other)) {
        if (told.has(change)) continue;
        told.add(change);
        const examples = found.get(change) ?? [];
        found.set(change, examples);
        const withTime = change === 'time-changes';
        const whose = change === 'person-changes' ? '; another visitor' : '';
        examples.push({ seq, before: readWords(one, withTime), after: `${readWords(other, withTime)}${whose}` });
      }
    }
  }
  const changes = readingChanges.flatMap((change) => {
    const count = found.get(change)?.length ?? 0;
    return count === 0 ? [] : [{ change, count }];
  });
  return { changes, examples: changes.flatMap(({ change }) => found.get(change) ?? []).slice(0, EXAMPLES) };
}

/** The changes of what is already understood: a person must decide about these. */
export function alteringIn({ changes }: Effects): Effects['changes'] {
  return changes.filter(({ change }) => !isFilling(change));
}

/** What a reading found of choices and requests, one for each event of the body. */
export function recordsOf(reading: Reading): readonly RecordRead[] {
  return [reading, ...(reading.more ?? [])].map((one) => (one.outcome === 'read' ? recordOf(one.fact) : null));
}

function recordOf(fact: Fact): RecordRead {
  if (fact.type === 'request') return { type: 'request', kind: [fact.kind, ...(fact.furtherKinds ?? [])].join(', ') };
  if (fact.type !== 'decision') return null;
  return {
    type: 'decision',
    state: fact.state,
    purposes: fact.purposes,
    isDoubtful: fact.doubts.length > 0,
    at: fact.occurred.basis === 'received' ? null : fact.occurred.at,
    subject: fact.subject,
  };
}
