import { z } from 'zod';
import { chooseLanguage, textsIn } from '../../reports/letters/languages.ts';
import { dateInWords, fill } from '../../reports/letters/wording.ts';
import { moveLatest } from '../cases/move-case.ts';
import { isoNow } from '../core/clock.ts';
import { dateIn as dayIn } from '../core/zoned-days.ts';
import { beginMail } from '../documents/mail-once.ts';
import { type JobHandlers, JobRefused, readPayload } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import { type MailSettings, sendMail } from '../outside/mail.ts';
import { tasksEndedByRestore } from './ended-by-restore.ts';
import {
  type FoundTask,
  findTask,
  isShared,
  problemOfTaskAddress,
  shareTask,
  type TaskLinkDeps,
  taskLink,
} from './task-link.ts';

/** The job that mails a task to its owner, with a link to it. */
export const TASK_MAIL = 'task-mail';
const payloadSchema = z.object({ caseId: z.string(), task: z.string(), actor: z.string() });
/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;

interface MailTaskDeps extends TaskLinkDeps {
  readonly config: { readonly mail: MailSettings | null; readonly publicUrl: string | null };
  readonly projector: { catchUp(): Promise<unknown> };
}

/**
 * A job that mails a task, once for each version of its case: pressing the button twice sends one mail, but a reminder
 * can follow.
 */
export function taskMailJob({ row, number }: FoundTask, actor: string): NewJob {
  return {
    kind: TASK_MAIL,
    key: `${row.case_id}/${number}/${row.version}`,
    payload: { caseId: row.case_id, task: number, actor },
    maxAttempts: MAIL_ATTEMPTS,
  };
}

/** Why a task cannot be mailed; null: it can be. */
export function problemOfTaskMail({ config }: Pick<MailTaskDeps, 'config'>, { task }: FoundTask): string | null {
  if (task.outcome === 'done') return 'The task is already done.';
  if (task.ownerEmail === null) return 'The task has no e-mail address for its owner: copy the link instead.';
  if (config.mail === null) return 'No mail server is set up here: copy the link and send it yourself.';
  if (config.publicUrl === null)
    return 'The task cannot be mailed: its link would work only on the server itself. An admin has to set the server’s public address first.';
  return problemOfTaskAddress(config.publicUrl);
}

/** The job that mails a task. Creates a link if there is none; the move `send-task` records that the mail was sent. */
export function createTaskMailJobs(deps: MailTaskDeps): JobHandlers {
  return {
    async [TASK_MAIL](payload, { job, signal }) {
      const { caseId, task: number, actor } = readPayload(payloadSchema, payload);
      await deps.projector.catchUp();
      const found = await findTask(deps.cases, caseId, number);
      if (found === null) throw new JobRefused('Unknown task.');
      const { source } = found.row;
      const about = String(number);
      const mailing = await beginMail(deps.cases, { mail: 'task', caseId, about, actor, source, jobId: job.id });
      const recordMove = async () => {
        const details = { task: number, channel: 'e-mail' };
        const moved = await moveLatest(deps.cases, { caseId, move: 'send-task', details, actor }, () =>
          deps.projector.catchUp(),
        );
        return { sent: true, ...(moved.outcome === 'moved' ? { seq: moved.seq } : {}) };
      };
      if (mailing.isSent) return recordMove();
      const problem = problemOfTaskMail(deps, found);
      const { mail, publicUrl } = deps.config;
      const { ownerEmail, what, instructions, due } = found.task;
      if (problem !== null || mail === null || publicUrl === null || ownerEmail === null)
        throw new JobRefused(`The task was not sent: ${problem}`);
      let { linkUntil } = found.task;
      let link = taskLink(deps, publicUrl, { caseId, number, links: found.task.links });
      const ended = await tasksEndedByRestore(deps.cases.store.read, deps.epoch, caseId);
      if (linkUntil === null || !isShared(found.task, isoNow(deps.cases.clock)) || ended.has(number)) {
        const shared = await shareTask(deps, { caseId, task: number, actor, publicUrl });
        if (shared.outcome !== 'shared') throw new JobRefused('The task was not sent: no link to it could be made.');
        ({ link, expiresAt: linkUntil } = shared);
      }
      const profile = await deps.cases.profileOf(found.row.source);
      const { locale } = chooseLanguage([profile?.language]);
      const texts = textsIn(locale);
      if (texts === undefined) throw new Error(`there are no texts in ${locale}`);
      const t = texts.task;
      const until = dateInWords(dayIn(linkUntil, deps.cases.timeZone), locale);
      await mailing.send((attempting) =>
        sendMail(
          mail,
          {
            to: [ownerEmail],
            replyTo: profile?.email ?? null,
            subject: `${t.title} (${caseId})`,
            text: [
              fill(t.lead, { controller: profile?.name ?? mail.from.name ?? mail.from.address }),
              '',
              what,
              ...(instructions === null ? [] : ['', instructions]),
              '',
              fill(t.due, { due: dateInWords(due, locale) }),
              '',
              fill(t.mailLink, { until }),
              link,
              '',
            ].join('\n'),
            id: `task.${job.id}`,
          },
          signal,
          attempting,
        ),
      );
      return recordMove();
    },
  };
}
