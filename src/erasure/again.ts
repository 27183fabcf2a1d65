import { chunksOf, type ErasureRecord, listErasures } from '../ledger/erase.ts';
import { carryOut, finishErasures } from './erase.ts';
import { type ErasureDeps, type ErasurePlan, planErasure } from './plan.ts';
import { loadErasureRecords } from './records.ts';

export interface ErasedAgain {
  /** Erasures that were missing in the ledger, and the number of entries that lost their content. */
  readonly erasures: number;
  readonly entries: number;
  /** Unreliable records, and erasures that could not be repeated, in sentences. */
  readonly problems: readonly string[];
}

/**
 * After an older backup was restored, repeats every erasure that is recorded in DATA_DIR/erasures but missing in the
 * ledger: the same entries lose their content, with new erasure entries that state the original time. Call it before
 * the restored installation serves. Idempotent.
 */
export async function reapplyErasures(deps: ErasureDeps): Promise<ErasedAgain> {
  await finishErasures(deps);
  const { records, problems } = await loadErasureRecords(deps);
  const known = new Set((await listErasures(deps.store.read, deps.ledger)).map(({ id }) => id));
  const failed: string[] = [...problems];
  let erasures = 0;
  let entries = 0;
  for (const record of records) {
    const { erasure, receivedAt } = record;
    if (known.has(erasure.id)) continue;
    known.add(erasure.id);
    const plan = await planAgain(deps, record);
    // The backup is older than these entries.
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

/** What the restored database still holds of an erasure. Documents and suppressions are those of the original erasure. */
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
