import { chooseLanguage, letterLanguages } from '../../reports/letters/languages.ts';
import { dateInWords, fill } from '../../reports/letters/wording.ts';
import { findCase } from '../cases/list-cases.ts';
import { REPLY_MAIL, replyMailSchema } from '../cases/messages.ts';
import type { CaseWriting } from '../cases/view.ts';
import type { Clock } from '../core/clock.ts';
import { dateText } from '../core/time-words.ts';
import { dateIn as dayIn } from '../core/zoned-days.ts';
import { beginMail } from '../documents/mail-once.ts';
import { type JobHandlers, readPayload } from '../jobs/job.ts';
import { isOneAddress, type MailSettings, sendMail } from '../outside/mail.ts';
import type { Query, Store } from '../store/store.ts';
import { type ListedHandOver, listHandOvers } from './hand-over.ts';

/*
 * The requester reads a reply on the page of their link. A mail says that there is one, without its text, because e-mail
 * is not a safe way to send it, and without the link, because the ledger keeps only its HMAC.
 */

interface ReplyMailDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly cases: CaseWriting;
  readonly config: { readonly mail: MailSettings | null };
  readonly projector: { catchUp(): Promise<unknown> };
}

/** How a reply reaches a requester. */
export interface ReplyReach {
  /** Until when they can read it through a link, ISO 8601 UTC; null: no link of theirs can be opened. */
  readonly readableUntil: string | null;
  /** The address to which a mail goes; null: they are not told by e-mail. */
  readonly mailTo: string | null;
  /** Both in one or two sentences for the officer, with what to do if it does not reach them. */
  readonly says: string;
}

interface ReachInput {
  readonly handOvers: readonly ListedHandOver[];
  readonly email: string | null;
  readonly canMail: boolean;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
}

/** How a reply would reach a requester with these links. Pure. */
export function replyReachOf({ handOvers, email, canMail, timeZone }: ReachInput): ReplyReach {
  if (handOvers.length === 0)
    return {
      readableUntil: null,
      mailTo: null,
      says: 'They will not be told and cannot read it: they have no link. Send a letter, or create a link under Hand over.',
    };
  const readableUntil = readableUntilOf(handOvers);
  const isWithheld = handOvers.some(({ state }) => state === 'withheld');
  const why =
    email === null
      ? 'the request has no e-mail address'
      : !isOneAddress(email)
        ? 'the e-mail address of the request is not a single valid address'
        : canMail
          ? null
          : 'no mail server is set up here';
  const told =
    why === null
      ? `They are told by e-mail (${email}) that there is a reply, without its text.`
      : `They will not be told: ${why}. Send a letter.`;
  const read =
    readableUntil === null
      ? `Their link ${isWithheld ? 'cannot be opened while the request is worked on' : 'cannot be opened any more'}${why === null ? ', and the e-mail says so' : ''}: create a new one under Hand over${isWithheld ? ' once it is ready' : ''}.`
      : `They can read it through their link until ${dateText(dayIn(readableUntil, timeZone))}.`;
  return { readableUntil, mailTo: why === null ? email : null, says: `${told} ${read}` };
}

/** When the last link that can be opened expires; null: there is none. */
function readableUntilOf(handOvers: readonly ListedHandOver[]): string | null {
  const open = handOvers.filter(({ state }) => state === 'open').map(({ row }) => row.expires_at);
  return open.sort().at(-1) ?? null;
}

/** How a reply to this case would reach its requester now. */
export async function loadReplyReach(
  deps: Pick<ReplyMailDeps, 'store' | 'clock' | 'cases' | 'config'>,
  { caseId, email }: { readonly caseId: string; readonly email: string | null },
): Promise<ReplyReach> {
  const handOvers = await listHandOvers(deps, { caseId });
  return replyReachOf({ handOvers, email, canMail: deps.config.mail !== null, timeZone: deps.cases.timeZone });
}

/** The job that tells a requester by mail that there is a reply, without its text. */
export function createReplyMailJobs(deps: ReplyMailDeps): JobHandlers {
  return {
    async [REPLY_MAIL](payload, { job, signal }) {
      const { caseId, version, actor } = readPayload(replyMailSchema, payload);
      await deps.projector.catchUp();
      const { read } = deps.store;
      const row = await findCase(read, caseId);
      // The case may have been erased meanwhile.
      if (row === null || !(await isReply(read, caseId, version))) return { sent: false };
      const mailing = await beginMail(deps.cases, {
        ...{ mail: 'reply', caseId, about: String(version), actor, source: row.source, jobId: job.id },
      });
      if (mailing.isSent) return { sent: true };
      const reach = await loadReplyReach(deps, { caseId, email: row.requester_email });
      const { mail } = deps.config;
      if (reach.mailTo === null || mail === null) return { sent: false, because: reach.says };
      const profile = await deps.cases.profileOf(row.source);
      const { language, locale } = chooseLanguage([row.language, profile?.language], row.jurisdiction);
      const texts = letterLanguages[language];
      if (texts === undefined) throw new Error(`there are no texts in ${language}`);
      const t = texts.messages;
      const controller = profile?.name ?? mail.from.name ?? mail.from.address;
      const { readableUntil, mailTo } = reach;
      const until = readableUntil === null ? '' : dateInWords(dayIn(readableUntil, deps.cases.timeZone), locale);
      await mailing.send((attempting) =>
        sendMail(
          mail,
          {
            to: [mailTo],
            replyTo: profile?.email ?? null,
            subject: `${t.mailTitle} (${caseId})`,
            text: [
              fill(t.mailLead, { controller }),
              '',
              readableUntil === null ? t.mailNoLink : fill(t.mailLink, { until }),
              '',
              fill(texts.frame.reference, { reference: caseId }),
              '',
              controller,
              '',
            ].join('\n'),
            id: `reply.${job.id}`,
          },
          signal,
          attempting,
        ),
      );
      return { sent: true };
    },
  };
}

/** Whether this version of a case was a reply: a job may have been written by anyone who can write into the database. */
async function isReply(read: Query, caseId: string, version: number): Promise<boolean> {
  const found = await read
    .selectFrom('case_history')
    .select('seq')
    .where('case_id', '=', caseId)
    .where('version', '=', version)
    .where('move', '=', 'reply')
    .executeTakeFirst();
  return found !== undefined;
}

/** What became of the mail about a reply. */
export interface ReplyMail {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** False: the mail server got it, and whether it was sent is not known. */
  readonly isSent: boolean;
}

/** What became of the mail about each reply of a case, by the version of the case that the reply made; absent: none was sent. */
export async function listReplyMails(
  read: Query,
  { source, caseId }: { readonly source: string; readonly caseId: string },
): Promise<ReadonlyMap<number, ReplyMail>> {
  const rows = await read
    .selectFrom('action_history')
    .select(['received_at', 'action', 'details'])
    .where('object', '=', caseId)
    .where('source', '=', source)
    .where('action', 'in', ['mail.sent', 'mail.unknown'])
    .orderBy('seq')
    .execute();
  return new Map(
    rows.flatMap(({ received_at: at, action, details }) => {
      const { mail, about } = JSON.parse(details) as { readonly mail: string; readonly about: string | null };
      return mail === 'reply' ? [[Number(about), { at, isSent: action === 'mail.sent' }] as const] : [];
    }),
  );
}
