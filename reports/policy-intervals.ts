import type { PolicyRow } from '../src/store/queries/history-evidence.ts';
import { byText } from './format.ts';

/** A policy as it was known for a stretch of time. */
export interface PolicyInterval {
  readonly policyId: string;
  readonly policyType: string | null;
  readonly title: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly version: string | null;
  readonly change: PolicyRow['change'];
  /** ISO 8601 UTC; `until` null: no later change was told by the end of the period. */
  readonly from: string;
  readonly until: string | null;
  /**
   * A policy is in force by its publication: from the change that published it until the next publication or its deletion. Null: this change
   * put nothing in force, because it was created, edited or deleted and not (yet) published.
   */
  readonly inForceFrom: string | null;
  readonly inForceUntil: string | null;
  /** Entry of the ledger that reported it, and its commitment. */
  readonly seq: number;
  readonly commitment: string | null;
}

/**
 * The policies that were in force at some time between `from` and `to`: each change holds until the next one of the same policy.
 * A deletion ends the last of them. What a change does not mention keeps its last known value.
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
 * Whether a version of a policy was no longer in force at the end of the period: another one was published last, and this one was not told of
 * after that. Where no published version is known, none is.
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
