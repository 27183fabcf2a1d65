import { z } from 'zod';
import type { CaseWriting } from '../cases/view.ts';
import { unknownCase, unknownSource } from '../core/errors.ts';
import { type JobHandler, JobRefused, type Json, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import type { DocumentDeps, RegisteredDocument } from './begin-document.ts';
import { producePack } from './produce-pack.ts';
import { produceReport } from './produce-report.ts';

const packPayload = z.object({
  type: z.literal('pack'),
  caseId: z.string(),
  actor: z.string(),
  language: z.string().optional(),
});
const reportPayload = z.object({
  type: z.literal('report'),
  name: z.string(),
  source: z.string(),
  from: z.string(),
  to: z.string(),
  format: z.enum(['pdf', 'csv', 'json', 'html']),
  subject: z.string().optional(),
  /** Ids of the people to whom it is mailed, and the schedule that requested it. */
  recipients: z.array(z.string()).optional(),
  schedule: z.string().optional(),
  actor: z.string(),
});
export type ReportJob = Omit<z.infer<typeof reportPayload>, 'type'>;
const documentPayload = z.discriminatedUnion('type', [packPayload, reportPayload]);

/**
 * A job that makes the pack of a case. Enqueuing it again while one is pending or running gives the same job.
 * `language`: BCP 47, as chosen for its draft; null: that of the requester.
 */
export function packJob(caseId: string, actor: string, language: string | null = null): NewJob {
  const chosen = language === null ? {} : { language };
  const key = ['pack', caseId, ...Object.values(chosen)].join(' ');
  return { kind: 'document', key, payload: { type: 'pack', caseId, actor, ...chosen }, priority: 1 };
}

/** A job that makes a report. Dates are YYYY-MM-DD, `to` exclusive. A double click requests only one document. */
export function reportJob(report: ReportJob): NewJob {
  const { name, source, from, to, format, subject = '', schedule = '' } = report;
  const key = ['report', name, source, from, to, format, subject, schedule].join(' ').trim();
  return { kind: 'document', key, payload: { type: 'report', ...report } as Json, priority: 1 };
}

/**
 * The job that produces a report or a pack. It completes in the transaction that registers the file, so a repetition
 * does not make a second one; a report's follow-up jobs (`followedBy`) are enqueued in the same transaction.
 */
export function createDocumentJobs(
  context: {
    readonly documents: DocumentDeps;
    readonly cases: CaseWriting;
    readonly jobs: Pick<Jobs, 'enqueueIn' | 'wake'>;
  },
  followedBy: (report: ReportJob, document: RegisteredDocument) => readonly NewJob[],
) {
  return {
    async document(payload, { signal, assertHeld, completeIn }) {
      const request = readPayload(documentPayload, payload);
      let follows: readonly { readonly kind: string; readonly at: null }[] = [];
      const documents: DocumentDeps = {
        ...context.documents,
        assertHeld,
        async registeredIn(tx, document) {
          const following = request.type === 'report' ? followedBy(request, document) : [];
          for (const job of following) await context.jobs.enqueueIn(tx, job);
          follows = following.map(({ kind }) => ({ kind, at: null }));
          await completeIn(tx, resultOf(document));
        },
      };
      const produced =
        request.type === 'report'
          ? await produceReport(documents, request, signal)
          : await producePack({ ...documents, cases: context.cases }, request, signal);
      switch (produced.outcome) {
        case 'produced':
          context.jobs.wake(follows);
          return resultOf(produced);
        case 'invalid':
        case 'refused':
          throw new JobRefused(produced.problem);
        case 'unknown-source':
          throw new JobRefused(unknownSource(produced.source));
        case 'unknown-case':
          throw new JobRefused(unknownCase(produced.caseId));
        default:
          return produced satisfies never;
      }
    },
  } satisfies Record<string, JobHandler>;
}

function resultOf({ documentId, sha256, bytes, seq }: RegisteredDocument) {
  return { documentId, sha256, bytes, seq };
}
