import type { Selectable } from 'kysely';
import { heldForSecondPerson } from '../../../cases/check-move.ts';
import { listOriginals, type PossibleOriginal } from '../../../cases/duplicates.ts';
import { type EarlierTask, findCase, listEarlierTasks, type ShownCase, showRow } from '../../../cases/list-cases.ts';
import { REPLY_MAIL, replyMailSchema, type ThreadMessage, threadOf } from '../../../cases/messages.ts';
import type { MoveName } from '../../../cases/moves.ts';
import type { Context } from '../../../context/context.ts';
import { publicUrlOf } from '../../../core/address.ts';
import { dateIn } from '../../../core/zoned-days.ts';
import { awaitingApproval, isAnswer } from '../../../documents/awaiting-approval.ts';
import { type DocumentRow, listDocuments } from '../../../documents/check.ts';
import { LETTER_MAIL, listMailings, type Mailing } from '../../../documents/mail-letter.ts';
import {
  type EndedHandOver,
  handOversEndedByRestore,
  tasksEndedByRestore,
} from '../../../hand-over/ended-by-restore.ts';
import { type ListedHandOver, listHandOvers } from '../../../hand-over/hand-over.ts';
import { listReplyMails, type ReplyMail, type ReplyReach, replyReachOf } from '../../../hand-over/mail-reply.ts';
import { TASK_MAIL } from '../../../hand-over/mail-task.ts';
import { isShared, ONLY_LOCAL_LINKS, problemOfTaskAddress, taskLink } from '../../../hand-over/task-link.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import { listWorkers, type Person } from '../../../people/people.ts';
import { type DoubtfulController, doubtfulController } from '../../../sources/controller.ts';
import { createHistory } from '../../../store/queries/history.ts';
import { type BannerNames, createBannerQueries } from '../../../store/queries/history-banners.ts';
import type { Tables } from '../../../store/schema.ts';

type DecisionRow = Pick<
  Selectable<Tables['decision_history']>,
  'seq' | 'at' | 'banner_id' | 'state' | 'label' | 'withdraws' | 'policy_version' | 'via' | 'action' | 'page' | 'domain'
> & {
  /** 1 if the decision's records contradict each other. */
  readonly disputed: number;
  /** The choice according to all its records. */
  readonly chosen: string;
};

/** All data on the page of a case. */
export interface CasePageData {
  readonly shown: ShownCase;
  /** Moves that the reader may not make because a second person is needed, with the reason. */
  readonly held: ReadonlyMap<MoveName, string>;
  /** The latest recorded decisions of the matched subjects. */
  readonly decisions: readonly DecisionRow[];
  readonly documents: readonly DocumentRow[];
  /** BCP 47: the language of the last letter that answers; null: none is written. */
  readonly answeredIn: string | null;
  /** Ids of documents that a second person has yet to approve. */
  readonly awaiting: ReadonlySet<string>;
  /** Newest first. */
  readonly handOvers: readonly ListedHandOver[];
  /** Those that a restore has ended, newest first. */
  readonly endedHandOvers: readonly EndedHandOver[];
  /** Packs in progress, and jobs that ended without a document. */
  readonly jobs: readonly Job[];
  /** Mailings of letters to the requester, by document. */
  readonly mailed: ReadonlyMap<string, Mailing>;
  /** Letters whose mail is being sent or failed; the latest job of each document. */
  readonly mails: ReadonlyMap<string, Job>;
  /**
   * For each task by number: its current link, when a restore ended the latest one (ISO 8601 UTC), and the mail that is
   * being sent or failed.
   */
  readonly taskLinks: ReadonlyMap<
    string,
    { readonly link: string | null; readonly endedAt: string | null; readonly job: Job | null }
  >;
  /** Why task links do not work everywhere; null: they do. */
  readonly taskLinkProblem: string | null;
  /** What requester and officers wrote to each other, oldest first. */
  readonly thread: readonly ThreadMessage[];
  /** What became of the mail that tells of a reply, and the one that is being sent or failed: by the version that the reply made. */
  readonly replyMails: ReadonlyMap<number, ReplyMail>;
  readonly replyJobs: ReadonlyMap<number, Job>;
  /** How a reply would reach the requester. */
  readonly reach: ReplyReach;
  /** Tasks given to other systems for earlier requests of the source, latest first. */
  readonly earlierTasks: readonly EarlierTask[];
  /**
   * Requests that this one could duplicate, most likely first; more than {@link ORIGINALS_SHOWN} means that the list is
   * incomplete.
   */
  readonly originals: readonly PossibleOriginal[];
  /** People who may work on the source. */
  readonly workers: readonly Person[];
  readonly bannerNames: BannerNames;
  /** YYYY-MM-DD in the controller's time zone. */
  readonly today: string;
  /** Whether mail can be sent. */
  readonly canMail: boolean;
  /** Set if letters and packs would name a controller that may be another client. */
  readonly doubtful: DoubtfulController | null;
}

const DECISIONS_SHOWN = 50;
export const ORIGINALS_SHOWN = 50;

/** What of the installation the page is loaded from. */
export type CaseNeeds = 'cases' | 'store' | 'jobs' | 'clock' | 'config' | 'keys' | 'epoch' | 'sources';

/** Loads the data on the page of a case for a reader; null if the case does not exist. */
export async function loadCase(
  context: Pick<Context, CaseNeeds>,
  caseId: string,
  actor: string,
): Promise<CasePageData | null> {
  const now = context.clock().toISOString();
  const { read } = context.store;
  const row = await findCase(read, caseId);
  if (row === null) return null;
  const { source } = row;
  // The slowest statement, which compares requesters, comes first, because there are only a few connections.
  const [shown, earlierTasks, documents, handOvers, jobs, mails, taskMails, mailed, bannerNames, workers] =
    await Promise.all([
      showRow(context.cases, row, now),
      listEarlierTasks(read, source),
      listDocuments(read, { caseId, limit: Number.MAX_SAFE_INTEGER }),
      listHandOvers(context, { caseId }),
      context.jobs.list({ kind: 'document', limit: 100 }),
      context.jobs.list({ kind: LETTER_MAIL, limit: 100 }),
      context.jobs.list({ kind: TASK_MAIL, limit: 100 }),
      listMailings(read, { source, caseId }),
      createBannerQueries(read).bannerNames({ source, asOf: Number.MAX_SAFE_INTEGER }),
      listWorkers(context, [source]),
    ]);
  const { subjects } = shown.match;
  const thread = threadOf(shown.history);
  const [decisions, originals, awaiting, endedTasks, endedHandOvers, replyMails, replyJobs] = await Promise.all([
    subjects.length === 0 ? [] : createHistory(read).latestDecisionsOf(source, subjects, DECISIONS_SHOWN),
    shown.view.open ? listOriginals(read, shown, ORIGINALS_SHOWN + 1) : [],
    awaitingApproval(context.cases, documents),
    tasksEndedByRestore(read, context.epoch, caseId),
    handOversEndedByRestore(read, context.epoch, { source, caseId }),
    thread.length === 0 ? new Map<number, ReplyMail>() : listReplyMails(read, { source, caseId }),
    thread.length === 0 ? [] : context.jobs.list({ kind: REPLY_MAIL, limit: 100 }),
  ]);
  const canMail = context.config.mail !== null;
  const { timeZone } = context.config;
  return {
    shown,
    held: heldForSecondPerson(shown.view, { ...shown, actor }),
    decisions,
    documents,
    answeredIn: languageOfAnswer(documents),
    awaiting,
    handOvers,
    endedHandOvers,
    jobs: jobs.filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done').slice(0, 5),
    mailed,
    // The list begins with the newest, so each document is set once.
    mails: new Map(
      mails
        .filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done')
        .toReversed()
        .map((job) => [payloadText(job, 'documentId') ?? '', job]),
    ),
    taskLinks: linksOf(context, shown, now, { mails: taskMails, ended: endedTasks }),
    taskLinkProblem:
      context.config.publicUrl === null ? ONLY_LOCAL_LINKS : problemOfTaskAddress(context.config.publicUrl),
    thread,
    replyMails,
    replyJobs: new Map(
      replyJobs
        .filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done')
        .map((job) => [replyMailSchema.parse(job.payload).version, job]),
    ),
    reach: replyReachOf({ handOvers, email: row.requester_email, canMail, timeZone }),
    earlierTasks,
    originals,
    bannerNames,
    workers,
    today: dateIn(now, timeZone),
    canMail,
    doubtful: doubtfulController(shown.profile, context.sources.findAny(source), context.sources),
  };
}

function languageOfAnswer(documents: readonly DocumentRow[]): string | null {
  const answer = documents.find((one) => one.name === 'letter' && isAnswer(one));
  return answer === undefined ? null : ((JSON.parse(answer.parameters) as { language?: string }).language ?? null);
}

function linksOf(
  context: Pick<Context, 'config' | 'keys' | 'epoch'>,
  { view }: ShownCase,
  now: string,
  { mails, ended }: { readonly mails: readonly Job[]; readonly ended: ReadonlyMap<string, string> },
): CasePageData['taskLinks'] {
  const caseId = view.row.case_id;
  const publicUrl = publicUrlOf(context.config, context.config.port);
  const unsent = mails.filter((job) => payloadText(job, 'caseId') === caseId && job.state !== 'done');
  return new Map(
    (view.folded.tasks ?? []).map((task, place) => {
      const number = String(place + 1);
      const endedAt = isShared(task, now) ? (ended.get(number) ?? null) : null;
      const shared = isShared(task, now) && endedAt === null && problemOfTaskAddress(publicUrl) === null;
      const link = shared ? taskLink(context, publicUrl, { caseId, number, links: task.links }) : null;
      return [number, { link, endedAt, job: unsent.find((job) => payloadText(job, 'task') === number) ?? null }];
    }),
  );
}
