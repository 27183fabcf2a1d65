import { chunksOf, type ErasureRecord, listErasures } from '../ledger/erase.ts';
import type { ErasureDeps } from './deps.ts';
import { carryOut, finishErasures } from './erase.ts';
import { type ErasurePlan, planErasure } from './plan.ts';
import { loadErasureRecords } from './records.ts';

export interface ErasedAgain {
  /** Erasures that the ledger did not have, and how many entries lost their content by them. */
  readonly erasures: number;
  readonly entries: number;
  /** Records that cannot be relied on, and erasures that could not be made again, in sentences. */
  readonly problems: readonly string[];
}

/**
 * Makes again, in a database that was restored from an older backup, every erasure that DATA_DIR/erasures tells of and that its ledger lacks: the same entries lose
 * their content, with new erasure entries that say when they were erased first. To be called before the restored installation serves. Harmless to repeat.
 */
export async function reapplyErasures(deps: ErasureDeps): Promise<ErasedAgain> {
  await finishErasures(deps);
  const { records, problems } = await loadErasureRecords(deps);
  const known = new Set((await listErasures(deps.store.read)).map(({ id }) => id));
  const failed: string[] = [...problems];
  let erasures = 0;
  let entries = 0;
  for (const record of records) {
    const { erasure, receivedAt } = record;
    if (known.has(erasure.id)) continue;
    known.add(erasure.id);
    const plan = await planAgain(deps, record);
    // The backup is from before these entries.
    if (plan.entries.length + plan.documents.length + plan.suppress.length === 0) continue;
    const { officer, confirmedBy, reason, law } = erasure;
    const despite = plan.needs.map(({ name }) => name);
    const again = { id: erasure.id, madeAt: erasure.firstMadeAt ?? receivedAt };
    const done = await carryOut(deps, plan, { officer, confirmedBy, reason, law, despite }, again);
    if (done.outcome === 'erased') {
      erasures += 1;
      entries += done.entries;
    } else failed.push(`The erasure of ${receivedAt} could not be repeated: ${done.problems.join(' ')}`);
  }
  return { erasures, entries, problems: failed };
}

/** What of an erasure the restored database still holds. Documents and suppressions are those of the first time. */
async function planAgain(deps: ErasureDeps, { erasure, commitments }: ErasureRecord): Promise<ErasurePlan> {
  const begins = new Map(erasure.seqs.map((seq, place) => [seq, commitments[place]]));
  const seqs: number[] = [];
  for (const chunk of chunksOf(erasure.seqs)) {
    const rows = await deps.store.read
      .selectFrom('entries')
      .select(['seq', 'commitment'])
      .where('seq', 'in', chunk)
      .where('body', 'is not', null)
      .execute();
    for (const { seq, commitment } of rows)
      if (commitment.toString('hex').startsWith(begins.get(seq) || 'none')) seqs.push(seq);
  }
  const plan = await planErasure(deps, { by: erasure.by, seqs });
  const documents = new Map(plan.documents.map((one) => [one.documentId, one]));
  for (const one of erasure.documents)
    documents.set(one.documentId, { ...one, caseId: null, isThere: true, why: 'was erased before' });
  return {
    ...plan,
    documents: [...documents.values()],
    files: [...new Set([...plan.files, ...erasure.files])],
    suppress: erasure.suppress,
  };
}
