import { choicesThatDiffer } from '../../src/core/consent-judgement.ts';
import type { DecisionRow } from '../../src/store/queries/history-decisions.ts';
import type { ReconciledDecision } from '../../src/store/queries/history-reconciliation.ts';
import { stateWord } from '../words.ts';

/** Two records of one decision that cannot both be right. */
export interface Contradiction {
  readonly decisionId: string;
  readonly at: string;
  readonly bannerId: string | null;
  /** The entry that came first and counts, and the one that contradicts it. */
  readonly first: number;
  readonly other: number;
  /** `state: given / refused`, one for each field that differs. */
  readonly differs: readonly string[];
}

const fields = [
  ['subject', 'subject'],
  ['banner_id', 'banner'],
  ['policy_id', 'policy'],
  ['policy_version', 'policy version'],
] as const;

/** The rows of a decision that contradict an earlier one, each beside the first row that it differs from. */
export function contradictionsOf({ decisionId, rows }: ReconciledDecision): Contradiction[] {
  const found: Contradiction[] = [];
  for (const [place, row] of rows.entries()) {
    if (row.conflicts !== 1) continue;
    const earlier = rows.slice(0, place).find((one) => differencesOf(one, row).length > 0) ?? rows[0];
    if (earlier === undefined) continue;
    found.push({
      decisionId,
      at: (rows[0] ?? row).at,
      bannerId: row.banner_id,
      first: earlier.seq,
      other: row.seq,
      differs: differencesOf(earlier, row),
    });
  }
  return found;
}

/** What two rows say differently; what one of them leaves out is no difference. Subjects are named as differing only. */
export function differencesOf(a: DecisionRow, b: DecisionRow): string[] {
  const differs: string[] = [];
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown')
    differs.push(`state: ${stateWord(a.state)} / ${stateWord(b.state)}`);
  for (const [field, word] of fields) {
    if (a[field] === null || b[field] === null || a[field] === b[field]) continue;
    differs.push(field === 'subject' ? word : `${word}: ${a[field]} / ${b[field]}`);
  }
  for (const { purpose, choices } of choicesThatDiffer(a, b)) differs.push(`${purpose}: ${choices.join(' / ')}`);
  return differs;
}
