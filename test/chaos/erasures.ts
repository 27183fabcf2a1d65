import { expect } from 'vitest';
import { packJob } from '../../src/documents/document-jobs.ts';
import { documentPath } from '../../src/documents/register.ts';
import { recordedErasure } from '../../src/erasure/certificate.ts';
import { choose, type ErasureChoice } from '../../src/erasure/choose.ts';
import { erasureOf, startErasure } from '../../src/erasure/erasure-jobs.ts';
import { planErasure } from '../../src/erasure/plan.ts';
import { digestOfPlan, findProposal, keepProposal, withdrawProposal } from '../../src/erasure/proposal.ts';
import { listSoundErasures } from '../../src/ledger/erase.ts';
import { pick, sleep } from './faults.ts';
import type { Load } from './load.ts';
import { digestOfFile, jobsOf, OFFICER, type Office, openRequest, withAttempts } from './office.ts';

/** An erasure that was confirmed. */
interface Confirmed {
  readonly id: string;
  readonly seqs: readonly number[];
  /** Whether the officer was told that it was withdrawn; null: the answer never came. */
  isWithdrawn: boolean | null;
}

/**
 * Plans and confirms erasures: of a few deliveries, or of a whole case with its letters and pack. Every third one is
 * withdrawn in the moment in which it is started. `confirmed` grows with them.
 */
export function eraseData(office: Office, load: Load, confirmed: Confirmed[], random: () => number): Promise<void> {
  const { context } = office;
  return office.repeatedly('erasure', 5000, async (n) => {
    let choice: ErasureChoice;
    if (n % 2 === 1) {
      const entries = Array.from({ length: 3 }, () => String(pick(load.acknowledged, random).seq));
      choice = { by: 'entries', entries: [...new Set(entries)] };
    } else {
      const caseId = await openRequest(office, `erased ${n}`, `erased-${n}@requester.example`);
      const { id } = await context.jobs.enqueue(withAttempts(packJob(caseId, OFFICER)));
      for (let waited = 0; waited < 20 && (await context.jobs.find(id))?.state !== 'done'; waited += 1)
        await sleep(250);
      choice = { by: 'case', caseId };
    }
    const chosen = await choose({ ...context.erasure, sources: context.sources }, choice);
    if (chosen.outcome === 'refused') throw new Error(chosen.problems.join(' '));
    const plan = await planErasure(context.erasure, chosen.chosen);
    if (plan.entries.length === 0 || plan.alreadyErased.length > 0) return;
    const proposal = await keepProposal(context, {
      ...{ choice, digest: digestOfPlan(plan), reason: 'request' as const, law: 'eu-gdpr' },
      ...{ despite: plan.needs.map(({ name }) => name), officer: OFFICER, personId: null, source: null },
      ...{ needsSecond: false, confirmedBy: null },
    });
    const one: Confirmed = { id: proposal.id, seqs: plan.entries.map(({ seq }) => seq), isWithdrawn: null };
    confirmed.push(one);
    const [, withdrawn] = await Promise.allSettled([
      startErasure(context, proposal),
      n % 3 === 0 ? withdrawProposal(context, proposal.id) : Promise.resolve(false),
    ]);
    if (withdrawn.status === 'fulfilled') one.isWithdrawn = withdrawn.value;
  });
}

/**
 * Each erasure happened as a whole or not at all: its entries have lost their content, its documents are gone and its
 * certificate is there, or nothing is changed. None that was withdrawn happened, and none that happened says that it
 * did not. Resolves with the figures, and with the erased entries.
 */
export async function checkErasures(office: Office, confirmed: readonly Confirmed[]) {
  const { context } = office;
  const recorded = await listSoundErasures(context.store.read, context.ledger);
  const jobs = await jobsOf(office, 'erase');
  let done = 0;
  let withdrawn = 0;
  for (const { id, seqs, isWithdrawn } of confirmed) {
    const own = recorded.filter((one) => one.id === id);
    const job = jobs.find(({ key }) => key === id);
    const about = `erasure ${id} of ${seqs.join(', ')}: ${JSON.stringify(job)}`;
    if (isWithdrawn === true) {
      withdrawn += 1;
      expect([job, own], about).toEqual([undefined, []]);
    }
    if (own.length === 0) {
      expect(job?.state ?? 'failed', about).toBe('failed');
      const refused = await bodiesOf(office, seqs);
      const others = new Set(recorded.flatMap((one) => one.seqs));
      expect(
        refused.filter(({ seq, body }) => (body === null) !== others.has(seq)),
        about,
      ).toEqual([]);
      continue;
    }
    done += 1;
    expect([job?.state, job?.error], about).toEqual(['done', null]);
    const erased = own.flatMap((one) => one.seqs).sort((a, b) => a - b);
    expect(erased, about).toEqual([...seqs].sort((a, b) => a - b));
    for (const { seq, meta, body, salt } of await bodiesOf(office, seqs))
      expect([seq, meta, body, salt], about).toEqual([seq, null, null, null]);
    for (const document of own.flatMap(({ documents }) => documents))
      expect(await digestOfFile(documentPath(context.documentsFolder, document)), about).toBeNull();
    const result = erasureOf(job?.result);
    expect(result, about).toMatchObject({ problem: null, entries: seqs.length });
    const certificate = documentPath(context.documentsFolder, {
      documentId: result?.certificate ?? '',
      format: 'pdf',
    });
    expect(await digestOfFile(certificate), about).not.toBeNull();
    expect(await recordedErasure(context.documents.proofs, (law) => law, id), about).toHaveProperty('facts');
    expect(await findProposal(context, id), about).toBeNull();
  }
  return {
    seqs: new Set(recorded.flatMap((one) => one.seqs)),
    figures: `erasures: ${confirmed.length} confirmed, ${done} done, ${withdrawn} withdrawn`,
    done,
  };
}

function bodiesOf({ context }: Office, seqs: readonly number[]) {
  return context.store.read
    .selectFrom('entries')
    .select(['seq', 'meta', 'body', 'salt'])
    .where('seq', 'in', seqs)
    .execute();
}
