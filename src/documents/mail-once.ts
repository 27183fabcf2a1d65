import type { Action } from '../core/action.ts';
import type { Clock } from '../core/clock.ts';
import { isoNow } from '../core/clock.ts';
import { JobRefused } from '../jobs/job.ts';
import { appendAction, assertAllowed, type Condition, unlessRefused } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SendError, sendInJob } from '../outside/send-error.ts';
import type { Store } from '../store/store.ts';

type MailAction = Extract<Action, { action: 'mail.attempted' | 'mail.sent' | 'mail.unsent' | 'mail.unknown' }>;

/** A mail of a case to somebody outside. */
export interface CaseMail extends Pick<MailAction, 'mail' | 'caseId' | 'about' | 'actor'> {
  readonly source: string;
  readonly jobId: string;
}

interface MailOnceDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** What earlier attempts of the same job came to. */
interface Past {
  readonly attempts: number;
  /** Attempts that certainly sent nothing. */
  readonly unsent: number;
  readonly isSent: boolean;
  readonly isUnknown: boolean;
}

/**
 * Begins the mail of a job, whose read models must be caught up. As with calls to the service, an attempt is an entry
 * before the mail server gets the mail, and its outcome another one. If an attempt has no outcome, because the process
 * ended or the connection broke, whether the mail was sent is unknown: throws JobRefused, and nothing is ever sent again
 * unless somebody asks for it. `isSent`: an earlier attempt of this job sent it, so only what follows may be missing.
 * `isRecorded`: there is another entry that says so.
 */
export async function beginMail(deps: MailOnceDeps, mail: CaseMail, isRecorded = false) {
  const past = await loadPast(deps, mail);
  const isSent = past.isSent || isRecorded;
  const open = past.attempts > past.unsent && !isSent;
  if (open && !past.isUnknown)
    await note(deps, mail, {
      action: 'mail.unknown',
      attempt: past.attempts,
      reason: 'the process ended before the outcome was recorded',
    });
  if (open) throw new JobRefused(unknownOutcome(mail));
  return {
    isSent,
    /**
     * Sends it once. `send` calls `attempting` right before it gives the mail to the server, and rejects with SendError
     * if it was not accepted. `record`: the entry that says that it was sent, if there is a better one than `mail.sent`.
     * `allowedIf` decides in the transaction that records the attempt, the last moment before it is sent.
     */
    async send(
      send: (attempting: () => Promise<void>) => Promise<void>,
      record?: () => Promise<unknown>,
      allowedIf?: Condition,
    ): Promise<void> {
      const attempt = past.attempts + 1;
      let attempted = false;
      try {
        await sendInJob(() =>
          send(async () => {
            // Another worker has taken the job over, and is ahead.
            const noted = await unlessRefused(async () => ({
              outcome: await note(deps, mail, { action: 'mail.attempted', attempt }, allowedIf),
            }));
            if (noted.outcome === 'refused') throw new JobRefused(`It was not sent: ${noted.problem}`);
            if (noted.outcome === 'duplicate') throw new JobRefused(unknownOutcome(mail));
            attempted = true;
          }),
        );
      } catch (error) {
        if (!attempted) throw error;
        const why = error instanceof Error ? error.message : String(error);
        if (isCertain(error)) {
          await note(deps, mail, { action: 'mail.unsent', attempt, reason: why });
          throw error;
        }
        await note(deps, mail, { action: 'mail.unknown', attempt, reason: why });
        throw new JobRefused(unknownOutcome(mail), { cause: error });
      }
      if (record === undefined) await note(deps, mail, { action: 'mail.sent', attempt });
      else await record();
    },
  };
}

/** Whether the server certainly did not accept the mail. A stop of the worker that came earlier is passed on as it is. */
function isCertain(error: unknown): boolean {
  const sent = error instanceof JobRefused ? error.cause : error;
  return sent instanceof SendError ? !sent.isUnknown : error instanceof DOMException && error.name === 'AbortError';
}

const nouns = { letter: 'letter', task: 'task', request: 'confirmation', reply: 'notice of the reply' } as const;

function unknownOutcome({ mail }: CaseMail): string {
  const noun = nouns[mail];
  const again = mail === 'reply' ? 'write again' : 'send it again';
  return `It is not known whether the ${noun} was sent: the connection to the mail server broke, or the process ended, after the mail had been handed over. Ask the recipient, or look at the log of the mail server. If it did not arrive, ${again}.`;
}

async function note(
  { ledger, clock }: MailOnceDeps,
  { source, jobId, ...mail }: CaseMail,
  {
    action,
    attempt,
    reason,
  }: { readonly action: MailAction['action']; readonly attempt: number; readonly reason?: string },
  allowedIf: Condition = () => Promise.resolve(null),
): Promise<'stored' | 'duplicate'> {
  const { outcome } = await appendAction(
    ledger,
    source,
    { action, ...mail, mailId: jobId, attempt, ...(reason === undefined ? {} : { reason }) },
    [action, jobId, String(attempt)],
    isoNow(clock),
    async (tx, [recorded]) => {
      if (recorded !== undefined) await assertAllowed(allowedIf, tx, recorded);
    },
  );
  return outcome;
}

async function loadPast({ store }: MailOnceDeps, { source, caseId, jobId }: CaseMail): Promise<Past> {
  const rows = await store.read
    .selectFrom('action_history')
    .select(['action', 'details'])
    .where('object', '=', caseId)
    .where('source', '=', source)
    .where('action', 'in', ['mail.attempted', 'mail.unsent', 'mail.sent', 'mail.unknown'])
    .execute();
  const ours = rows.filter(({ details }) => (JSON.parse(details) as { readonly mailId?: string }).mailId === jobId);
  const count = (action: string) => ours.filter((row) => row.action === action).length;
  return {
    attempts: count('mail.attempted'),
    unsent: count('mail.unsent'),
    isSent: count('mail.sent') > 0,
    isUnknown: count('mail.unknown') > 0,
  };
}
