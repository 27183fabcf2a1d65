import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { isoNow } from '../core/clock.ts';
import { ENTRIES_AT_ONCE, type Erasure, type ErasureReason } from '../core/erasure.ts';
import { documentPath } from '../documents/register.ts';
import { NotAllowed, unlessRefused } from '../ledger/append-action.ts';
import { appendErasure, chunksOf, listErasures, listSoundErasures } from '../ledger/erase.ts';
import { nextGeneration } from '../projections/position.ts';
import { type AnyTable, historyNames } from '../projections/tables.ts';
import { readSetting, UNFINISHED_ERASURE } from '../store/settings.ts';
import type { StoreTransaction } from '../store/store.ts';
import { heldSince } from './held-since.ts';
import type { ErasureDeps, ErasurePlan } from './plan.ts';
import { writeErasureRecords } from './records.ts';
import { summaryOf } from './summary.ts';

/** Who decided, and why. */
export interface ErasureDecision {
  /** Sixteen hex digits; absent: generated. */
  readonly id?: string;
  readonly officer: string;
  readonly confirmedBy: string | null;
  readonly reason: ErasureReason;
  readonly law: string;
  /** Names of overridden needs (cases, holds). */
  readonly despite: readonly string[];
}

export interface ErasureDone {
  /** The erasure entries. */
  readonly seqs: readonly number[];
  readonly erasedAt: string;
  readonly entries: number;
  readonly documents: number;
}

export type ErasureOutcome =
  | ({ readonly outcome: 'erased' } & ErasureDone)
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Obstacles to carrying out a plan, in sentences. */
export function problemsOf(plan: ErasurePlan, { officer, confirmedBy, despite }: ErasureDecision): readonly string[] {
  const problems = plan.refusals.slice(0, 20).map(({ seq, reason }) => `Entry ${seq} cannot be erased: ${reason}.`);
  if (plan.refusals.length > 20) problems.push(`${plan.refusals.length - 20} more entries cannot be erased.`);
  for (const { name, why, seqs } of plan.needs)
    if (!despite.includes(name))
      problems.push(
        `${seqs.length === 1 ? `Entry ${seqs[0]} is` : `${seqs.length} entries are`} still needed for ${name}: ${why}. To erase anyway, add --despite ${name}.`,
      );
  if (confirmedBy !== null && sameOfficer(confirmedBy, officer))
    problems.push('The second officer must be a different person from the first.');
  if (plan.entries.length + plan.documents.length + plan.suppress.length === 0)
    problems.push('There is nothing to erase.');
  return problems;
}

function sameOfficer(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/**
 * Erases what a plan names. `again`: it was erased before, in a database that has since been replaced by an older one.
 * Entries lose their content in one transaction with the erasure entry that names them (in several of
 * {@link ENTRIES_AT_ONCE} if there are more); then the read-model rows made from them are deleted, and
 * {@link finishErasures} follows. After a crash, the next call finishes the rest.
 */
export async function carryOut(
  deps: ErasureDeps,
  plan: ErasurePlan,
  decision: ErasureDecision,
  again: { readonly id: string; readonly madeAt: string } | null = null,
): Promise<ErasureOutcome> {
  const problems = problemsOf(plan, decision);
  if (problems.length > 0) return { outcome: 'refused', problems };
  const { officer, confirmedBy, reason, law } = decision;
  const erasedAt = isoNow(deps.clock);
  const parts = [...chunksOf(plan.entries, ENTRIES_AT_ONCE)];
  const seqs: number[] = [];
  for (const [place, part] of (parts.length === 0 ? [[]] : parts).entries()) {
    const isFirst = place === 0;
    const erasure: Erasure = {
      v: 1,
      id: again?.id ?? decision.id ?? randomBytes(8).toString('hex'),
      officer,
      confirmedBy,
      reason,
      law,
      by: plan.by,
      seqs: part.map(({ seq }) => seq),
      documents: isFirst
        ? plan.documents.map(({ documentId, name, format, sha256, seq }) => ({ documentId, name, format, sha256, seq }))
        : [],
      files: isFirst ? [...plan.files] : [],
      suppress: isFirst ? [...plan.suppress] : [],
      firstMadeAt: again?.madeAt ?? null,
      ...(isFirst && again === null ? { summary: summaryOf(plan) } : {}),
    };
    const appended = await unlessRefused(async () => ({
      outcome: 'appended' as const,
      seq: await appendErasure(deps.ledger, erasure, erasedAt, async (tx, own) => {
        const held = again === null ? await heldSince(tx.query, plan.asOf) : null;
        if (held !== null) throw new NotAllowed(held);
        if (isFirst) await endJobs(tx, plan.jobs, erasedAt);
        if (isFirst) await endHandOvers(tx, plan);
        await tx.insertMany('settings', [{ name: UNFINISHED_ERASURE, value: String(own) }], 'keep');
      }),
    }));
    if (appended.outcome === 'refused') {
      // What was erased before the hold was placed is finished; the rest stays.
      if (!isFirst) await finishErasures(deps);
      return { outcome: 'refused', problems: [appended.problem] };
    }
    await deps.store.foldTransaction((tx) => takeRows(tx, erasure.seqs));
    seqs.push(appended.seq);
  }
  await deps.rejected.remove(plan.rejected);
  await finishErasures(deps);
  return { outcome: 'erased', seqs, erasedAt, entries: plan.entries.length, documents: plan.documents.length };
}

/**
 * Deletes the rows made from the entries. The new generation keeps projectors and rebuilds that have already read the
 * entries from writing anything.
 */
async function takeRows(tx: StoreTransaction, seqs: readonly number[]): Promise<void> {
  const any = tx.query as unknown as Kysely<AnyTable>;
  for (const chunk of chunksOf(seqs))
    for (const table of historyNames) await any.deleteFrom(table).where('seq', 'in', chunk).execute();
  await nextGeneration(tx, 'projector');
  await nextGeneration(tx, 'rebuild');
}

/** Deletes links to erased documents, because their rows name the case. */
async function endHandOvers({ query }: StoreTransaction, { documents }: ErasurePlan): Promise<void> {
  for (const chunk of chunksOf(documents.map(({ documentId }) => documentId)))
    await query.deleteFrom('hand_overs').where('document_id', 'in', chunk).execute();
}

async function endJobs({ query }: StoreTransaction, ids: readonly string[], now: string): Promise<void> {
  for (const chunk of chunksOf(ids)) {
    await query.deleteFrom('jobs').where('id', 'in', chunk).where('state', '!=', 'running').execute();
    await query.updateTable('jobs').set({ cancel_requested: 1, updated_at: now }).where('id', 'in', chunk).execute();
  }
}

/**
 * Deletes rows left in the read models if the process ended between the erasure and {@link takeRows}. Call it before
 * anyone reads them. Does nothing if no erasure is unfinished.
 */
export async function takeRowsLeft({ store, ledger }: Pick<ErasureDeps, 'store' | 'ledger'>): Promise<void> {
  const from = await readSetting(store, UNFINISHED_ERASURE);
  if (from === null) return;
  for (const { seqs } of await listErasures(store.read, ledger, Number(from) - 1))
    await store.foldTransaction((tx) => takeRows(tx, seqs));
}

/** Whether an erasure still has to be finished. */
export async function isUnfinished({ store }: Pick<ErasureDeps, 'store'>): Promise<boolean> {
  return (await readSetting(store, UNFINISHED_ERASURE)) !== null;
}

/**
 * The steps of an erasure outside its transaction: removes files of documents and evidence, folds the read models
 * again, records the erasure in DATA_DIR/erasures for a restored backup, and rewrites the database without the old
 * bytes. Idempotent. False: there was nothing to finish. Throws VerificationFault, with nothing removed, if an erasure
 * was altered: someone who can write to the database must not decide which files are removed.
 */
export async function finishErasures(deps: ErasureDeps): Promise<boolean> {
  const from = await readSetting(deps.store, UNFINISHED_ERASURE);
  if (from === null) return false;
  const erasures = await listSoundErasures(deps.store.read, deps.ledger, Number(from) - 1);
  for (const { documents, files } of erasures) {
    for (const document of documents) await removeDocument(deps.documentsFolder, document);
    for (const sha256 of files) await rm(join(deps.evidenceFolder, sha256), { force: true });
  }
  // Exports that wait for their download contain erased data.
  await rm(join(deps.dataDir, 'exports'), { recursive: true, force: true });
  await writeErasureRecords(deps, erasures);
  await deps.projector.catchUp();
  await deps.rebuild();
  await deps.store.compact();
  await deps.store.transaction(({ query }) =>
    query.deleteFrom('settings').where('name', '=', UNFINISHED_ERASURE).where('value', '=', from).execute(),
  );
  return true;
}

/** Removes the document, and earlier or unfinished files with its name. */
async function removeDocument(folder: string, document: { documentId: string; format: string }): Promise<void> {
  const path = documentPath(folder, document);
  await rm(path, { force: true });
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (name.startsWith(`${document.documentId}.${document.format}.`)) await rm(join(folder, name), { force: true });
}
