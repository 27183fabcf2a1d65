import type { ErasureSummary } from '../core/erasure.ts';
import type { ErasurePlan } from './plan.ts';

/** Kinds of entries in words for readers who do not know the ledger. */
const kindWords: Readonly<Record<string, string>> = {
  'webhook consent.recorded': 'consent decisions, as the service reported them',
  'webhook consent.updated': 'changes of consent, as the service reported them',
  'webhook consent.withdrawn': 'withdrawals, as the service reported them',
  'consent-log': 'rows of the service’s consent log',
  'action consent.looked-up': 'records of look-ups of the person',
  'action consent.withdrawn-by-request': 'withdrawals that were carried out on request',
  'action case.opened': 'requests, as they were recorded',
  'action case.moved': 'steps in handling requests',
  'action document.produced': 'records of documents that were made',
};

/**
 * What a plan erases, keeps and leaves. Contains no text from outside, since it outlives the erased data: the name of
 * an event may be anything that a sender wrote.
 */
export function summaryOf(plan: ErasurePlan): ErasureSummary {
  const counts = new Map<string, number>();
  const count = (what: string, n: number) => {
    if (n > 0) counts.set(what, (counts.get(what) ?? 0) + n);
  };
  for (const { kind, what } of plan.entries) {
    const name = kind === 'consent-log' || what === null ? kind : `${kind} ${what}`;
    const other =
      kind !== 'webhook'
        ? name
        : what?.startsWith('dsar.') === true
          ? 'requests, as the service reported them'
          : 'other deliveries of the service';
    count(kindWords[name] ?? other, 1);
  }
  count('documents that held them', plan.documents.length);
  count('files of banner evidence', plan.files.length);
  count('jobs', plan.jobs.length);
  count('deliveries that had been refused', plan.rejected.length);
  return {
    entries: plan.entries.length,
    erased: [...counts].map(([what, n]) => ({ what, count: n })),
    kept: plan.kept.map(({ what, why, seqs }) => ({ what, why, count: seqs.length })),
    residues: plan.residues.map(({ where, until }) => ({ where, until })),
  };
}
