import type { Selectable } from 'kysely';
import { type ShownCase, showCase } from '../../cases/list-cases.ts';
import type { Context } from '../../context.ts';
import { LETTER_MAIL } from '../../documents/mail-letter.ts';
import { answerSteps } from '../../documents/produce-pack.ts';
import { type ListedHandOver, listHandOvers } from '../../hand-over/hand-over.ts';
import type { Job } from '../../jobs/job.ts';
import { createHistory } from '../../store/queries/history.ts';
import type { Tables } from '../../store/schema.ts';
import { type DocumentRow, payloadText } from './load-today.ts';

type DecisionRow = Pick<
  Selectable<Tables['decision_history']>,
  'seq' | 'at' | 'banner_id' | 'state' | 'label' | 'withdraws' | 'policy_version' | 'via' | 'action' | 'page' | 'domain'
> & {
  /** 1: its records contradict each other. */
  readonly disputed: number;
  /** The choice by all its records together. */
  readonly chosen: string;
};

/** Everything on the page of a case. */
export interface CasePageData {
  readonly shown: ShownCase;
  /** The latest recorded decisions of the subjects that were found. */
  readonly decisions: readonly DecisionRow[];
  /** Consent of the subject that was recorded after this case had withdrawn it. */
  readonly documents: readonly DocumentRow[];
  /** The newest first. */
  readonly handOvers: readonly ListedHandOver[];
  /** Packs under way, and those that ended without a document. */
  readonly jobs: readonly Job[];
  /** When letters were mailed to the requester, ISO 8601 UTC, by document. */
  readonly mailed: ReadonlyMap<string, string>;
  /** Letters whose mail is under way, or was not sent; the latest of each document. */
  readonly mails: ReadonlyMap<string, Job>;
  /** Whether mail can be sent. */
  readonly canMail: boolean;
}

const DECISIONS_SHOWN = 50;

/** Loads what the page of a case shows; null if the case does not exist. */
export async function loadCase(
  context: Pick<Context, 'cases' | 'store' | 'jobs' | 'clock' | 'config'>,
  caseId: string,
): Promise<CasePageData | null> {
  const shown = await showCase(context.cases, caseId, context.clock().toISOString());
  if (shown === null) return null;
  const { read } = context.store;
  const { subjects } = shown.match;
  const history = createHistory(read);
  const [decisions, documents, handOvers, jobs, mails, mailed] = await Promise.all([
    subjects.length === 0 ? [] : history.latestDecisionsOf(shown.view.row.source, subjects, DECISIONS_SHOWN),
    read.selectFrom('documents').selectAll().where('case_id', '=', caseId).orderBy('seq', 'desc').execute(),
    listHandOvers(context, { caseId }),
    context.jobs.list({ kind: 'document', limit: 100 }),
    context.jobs.list({ kind: LETTER_MAIL, limit: 100 }),
    read
      .selectFrom('action_history')
      .innerJoin('documents', 'documents.document_id', 'action_history.object')
      .select(['documents.document_id', 'action_history.received_at'])
      .where('documents.case_id', '=', caseId)
      .where('action_history.source', '=', shown.view.row.source)
      .where('action_history.action', '=', 'document.mailed')
      .orderBy('action_history.seq')
      .execute(),
  ]);
  return {
    shown,
    decisions,
    documents,
    handOvers,
    jobs: jobs.filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done').slice(0, 5),
    mailed: new Map(mailed.map((row) => [row.document_id, row.received_at])),
    // The list begins with the newest: the last one set is the newest.
    mails: new Map(
      mails
        .filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done')
        .toReversed()
        .map((job) => [payloadText(job, 'documentId') ?? '', job]),
    ),
    canMail: context.config.mail !== null,
  };
}

/** A pack, or a letter that answers. */
export function isAnswer({ name, parameters }: CasePageData['documents'][number]): boolean {
  if (name !== 'letter') return true;
  const { step } = JSON.parse(parameters) as { step?: unknown };
  return answerSteps.some((answer) => answer === step);
}
