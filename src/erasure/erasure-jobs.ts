import { z } from 'zod';
import type { Source } from '../core/source.ts';
import type { DocumentDeps } from '../documents/begin-document.ts';
import { type JobHandler, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import { listErasures } from '../ledger/erase.ts';
import { produceErasureCertificate, recordedErasure } from './certificate.ts';
import { choose } from './choose.ts';
import { carryOut, finishErasures } from './erase.ts';
import { type ErasurePlan, planErasure } from './plan.ts';
import {
  digestOfPlan,
  type ErasureProposal,
  findProposal,
  type ProposalDeps,
  removeProposal,
  replaceProposal,
} from './proposal.ts';
import { type RetentionDeps, runRetention } from './retention.ts';

const payloadSchema = z.object({ proposal: z.string(), source: z.string().nullable(), actor: z.string() });
const resultSchema = z.object({
  /** The erasure entries, and the number of entries and documents that lost their content. */
  seqs: z.array(z.number()),
  entries: z.number(),
  documents: z.number(),
  /** The id of the certificate; null: there is none, and `problem` says why. */
  certificate: z.string().nullable(),
  problem: z.string().nullable(),
});

/** The result of an erasure job. */
export type ErasureResult = z.infer<typeof resultSchema>;

/** The job that carries out a proposal. The payload contains no personal data: jobs that mention an erased person are erased too. */
export function erasureJob({ id, source }: Pick<ErasureProposal, 'id' | 'source'>, actor: string): NewJob {
  return { kind: 'erase', key: id, payload: { proposal: id, source, actor }, maxAttempts: 3 };
}

/**
 * Enqueues the job of a proposal, in the transaction that records its approval in it. Null, with nothing started: the
 * proposal was withdrawn, or started before.
 */
export async function startErasure(
  deps: Pick<ProposalDeps, 'store' | 'keys'> & { readonly jobs: Jobs },
  proposal: ErasureProposal,
): Promise<string | null> {
  const job = erasureJob(proposal, proposal.officer);
  const id = await deps.store.transaction(async (tx) =>
    (await replaceProposal(tx, deps, proposal)) ? (await deps.jobs.enqueueIn(tx, job)).id : null,
  );
  if (id !== null) deps.jobs.wake([{ kind: job.kind, at: null }]);
  return id;
}

/** The result of an erasure job; null: none yet. */
export function erasureOf(result: unknown): ErasureResult | null {
  return resultSchema.safeParse(result).data ?? null;
}

export interface ErasureJobDeps extends ProposalDeps {
  readonly erasure: RetentionDeps;
  readonly sources: { findAny(slug: string): Source | null };
  readonly documents: DocumentDeps;
}

/**
 * `erase`: erases what was confirmed on a page, like `ledger erase`, and makes the certificate. After a crash, the next run
 * continues. `retention`: erases what has been kept long enough.
 */
export function createErasureJobs(deps: ErasureJobDeps) {
  const { erasure, sources } = deps;

  /** The result of an erasure whose job ended after the last step and before it said so. Rejects with JobRefused if there is none. */
  async function finished(id: string): Promise<ErasureResult> {
    const done = (await listErasures(erasure.store.read, erasure.ledger)).filter((one) => one.id === id);
    const [first] = done;
    if (first === undefined) throw new JobRefused('Nothing was erased: this erasure was withdrawn.');
    await erasure.projector.catchUp();
    const certificate = await erasure.store.read
      .selectFrom('documents')
      .select(['document_id', 'parameters'])
      .where('name', '=', 'erasure-certificate')
      .where('seq', '>', first.seq)
      .orderBy('seq')
      .execute();
    const own = certificate.find(
      ({ parameters }) => (JSON.parse(parameters) as { erasure?: unknown }).erasure === first.seq,
    );
    return {
      seqs: done.map(({ seq }) => seq),
      entries: done.reduce((sum, one) => sum + one.seqs.length, 0),
      documents: done.reduce((sum, one) => sum + one.documents.length, 0),
      certificate: own?.document_id ?? null,
      problem: own === undefined ? `There is no certificate yet. ${REMEDY}` : null,
    };
  }

  return {
    async retention() {
      await finishErasures(erasure);
      const runs = await runRetention(erasure, 'schedule');
      return runs.map(({ source, erased, held }) => ({
        source,
        entries: erased?.entries ?? 0,
        documents: erased?.documents ?? 0,
        held: [...held],
      }));
    },

    async erase(payload, { progress }) {
      const { proposal: id } = readPayload(payloadSchema, payload);
      const proposal = await findProposal(deps, id);
      if (proposal === null) return finished(id);
      // Not only on the page: someone who can write to the database can add a job.
      if (proposal.needsSecond && proposal.confirmedBy === null)
        throw new JobRefused('Nothing was erased. No second person has approved this erasure yet.');
      progress({ done: 0, total: null, message: 'finding everything to erase' });
      await finishErasures(erasure);
      const begun = (await listErasures(erasure.store.read, erasure.ledger)).filter((one) => one.id === id);
      const refuse = async (problem: string): Promise<never> => {
        await removeProposal(deps, id);
        throw new JobRefused(`Nothing was erased. ${problem}`);
      };
      let plan: ErasurePlan | null = null;
      const chosen = await choose({ ...erasure, sources }, proposal.choice);
      if (chosen.outcome === 'chosen') plan = await planErasure(erasure, chosen.chosen);
      else if (begun.length === 0) return refuse(chosen.problems.join(' '));
      if (begun.length === 0 && plan !== null && digestOfPlan(plan) !== proposal.digest)
        return refuse('The data to be erased has changed since it was confirmed: check it again.');

      let seqs = begun.map(({ seq }) => seq);
      if (plan !== null && plan.entries.length + plan.documents.length + plan.suppress.length > 0) {
        progress({ done: 0, total: null, message: 'erasing, then rewriting the database' });
        const done = await carryOut(erasure, plan, proposal);
        if (done.outcome === 'refused') return refuse(done.problems.join(' '));
        seqs = [...seqs, ...done.seqs];
      }
      // From the entries and not from the plan: if the process ended in between, the plan has only the rest.
      progress({ done: 0, total: null, message: 'making the certificate' });
      const certificate = await certify(deps, proposal);
      await removeProposal(deps, id);
      const [entries, documents] = [plan?.entries.length ?? 0, plan?.documents.length ?? 0];
      return {
        seqs,
        entries: entries + begun.reduce((sum, one) => sum + one.seqs.length, 0),
        documents: documents + begun.reduce((sum, one) => sum + one.documents.length, 0),
        ...certificate,
      } satisfies ErasureResult;
    },
  } satisfies Record<string, JobHandler>;
}

/** A failed certificate is reported but does not undo the erasure. */
async function certify(
  { documents, erasure, sources }: ErasureJobDeps,
  { id, officer, source }: ErasureProposal,
): Promise<Pick<ErasureResult, 'certificate' | 'problem'>> {
  const nameOf = (law: string) => erasure.regimes.regimes.get(law)?.law ?? law;
  const recorded = await recordedErasure(documents.proofs, nameOf, id);
  if ('problem' in recorded) return { certificate: null, problem: recorded.problem };
  const found = [source ?? '', recorded.source ?? ''].find((slug) => sources.findAny(slug) !== null);
  const made = await produceErasureCertificate(documents, {
    source: found ?? '',
    ...{ erasure: recorded.facts, format: 'pdf', actor: officer },
  });
  if (made.outcome === 'produced') {
    // The page links to it as soon as the job is done.
    await erasure.projector.catchUp();
    return { certificate: made.documentId, problem: null };
  }
  const problem = made.outcome === 'refused' ? made.problem : 'No certificate: unknown source.';
  return { certificate: null, problem: `${problem} ${REMEDY}` };
}

const REMEDY =
  'Once that is corrected, an operator can make the certificate of the last erasure: `consent-ledger ledger erase --finish --certificate certificate.pdf`.';
