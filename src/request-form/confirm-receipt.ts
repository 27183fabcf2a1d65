import { textsIn } from '../../reports/letters/languages.ts';
import { dateInWords, fill } from '../../reports/letters/wording.ts';
import { renderPlain } from '../../reports/render/plain.ts';
import { parseFolded } from '../cases/folded.ts';
import { moveLatest } from '../cases/move-case.ts';
import { isOpen } from '../cases/moves.ts';
import { isoNow } from '../core/clock.ts';
import { dateIn as dayIn } from '../core/zoned-days.ts';
import type { DocumentDeps } from '../documents/begin-document.ts';
import { beginMail } from '../documents/mail-once.ts';
import { draftLetter } from '../documents/produce-letter.ts';
import { type JobHandlers, JobRefused, readPayload } from '../jobs/job.ts';
import { type MailSettings, sendMail } from '../outside/mail.ts';
import type { Store } from '../store/store.ts';
import {
  codeExpires,
  codeOfRequest,
  REQUEST_MAIL,
  type RequestFormDeps,
  receiptToken,
  requestMailSchema,
} from './request-form.ts';

interface MailDeps extends Omit<RequestFormDeps, 'catchUp'> {
  readonly documents: DocumentDeps;
  readonly config: { readonly mail: MailSettings | null; readonly publicUrl: string | null };
  readonly projector: { catchUp(): Promise<unknown> };
}

/** The most requests per day and address that are answered by mail, because someone else may have typed the address. */
const MAILS_PER_DAY = 3;
const ACTOR = 'request form';

/** The job that confirms receipt of a request by mail, with the code for its address. */
export function createRequestFormJobs(deps: MailDeps): JobHandlers {
  return {
    async [REQUEST_MAIL](payload, { signal, job }) {
      const { caseId } = readPayload(requestMailSchema, payload);
      const { mail, publicUrl } = deps.config;
      const catchUp = () => deps.projector.catchUp();
      if (mail === null) throw new JobRefused('No mail was sent: SMTP_URL is not set for this worker.');
      await catchUp();
      const row = await deps.store.read
        .selectFrom('cases')
        .selectAll()
        .where('case_id', '=', caseId)
        .executeTakeFirst();
      const email = row?.requester_email ?? null;
      if (row === undefined) return { outcome: 'settled' };
      const { source } = row;
      const about = { mail: 'request', caseId, about: null, actor: ACTOR, source, jobId: job.id } as const;
      const mailing = await beginMail(deps.cases, about);
      const acknowledge = async (at: string) => {
        if (parseFolded(row.folded).acknowledgedAt === null)
          await moveLatest(
            deps.cases,
            { caseId, move: 'acknowledge', details: { at, channel: 'e-mail' }, actor: ACTOR },
            catchUp,
          );
        return { outcome: 'sent' };
      };
      if (mailing.isSent) return acknowledge(isoNow(deps.clock));
      if (email === null || !isOpen(row.state)) return { outcome: 'settled' };
      const now = isoNow(deps.clock);
      if (codeExpires(row) <= now) throw new JobRefused('No mail was sent: its code has expired.');
      // In the order of the ledger, made under its write lock: requests at once are counted as one after the other.
      const before = (await requestsOfDay(deps.store, row.receipt_at)).filter(
        (one) =>
          one.requester_email?.toLowerCase() === email.toLowerCase() && Number(one.opened_seq) < Number(row.opened_seq),
      );
      if (before.length >= MAILS_PER_DAY) return { outcome: 'too-many' };
      // The address may be someone else's, so the mail contains nothing that was typed into the form.
      const draft = await draftLetter(
        { ...deps.documents, cases: deps.cases },
        { caseId, step: 'acknowledgement', anonymous: true },
      );
      if (draft.outcome === 'invalid') throw new JobRefused(`No mail was sent: ${draft.problem}`);
      if (draft.outcome !== 'drafted') return { outcome: 'settled' };
      const { letter } = draft;
      const texts = textsIn(letter.locale);
      if (texts === undefined) throw new Error(`there are no texts in ${letter.language}`);
      const until = dateInWords(dayIn(codeExpires(row), deps.cases.timeZone), letter.locale);
      const code = codeOfRequest(deps, row);
      const t = texts.requestForm;
      const said = fill(t.mailCode, { code: `${code.slice(0, 4)} ${code.slice(4)}`, until });
      const profile = await deps.cases.profileOf(row.source);
      const page = publicUrl === null ? null : `${publicUrl}/r/${row.source}/${receiptToken(deps, row.source, caseId)}`;
      await mailing.send((attempting) =>
        sendMail(
          mail,
          {
            to: [email],
            replyTo: profile?.email ?? null,
            subject: `${texts.titles.acknowledgement} (${caseId})`,
            text: [
              // The text ends with a colon, for the address of the page.
              ...(page === null ? [said.replace(/\s*:$/, '.')] : [said, page]),
              '',
              Buffer.from(renderPlain({ ...draft.frame, footer: draft.frame.owner }, draft.blocks)).toString('utf8'),
            ].join('\n'),
            id: `request.${job.id}`,
          },
          signal,
          attempting,
        ),
      );
      return acknowledge(now);
    },
  };
}

/**
 * Requests sent through all sources' forms in the day before: an agency's many forms mail one address no more often
 * than one form does.
 */
async function requestsOfDay(store: Store, until: string) {
  return store.read
    .selectFrom('cases')
    .select(['requester_email', 'opened_seq'])
    .where('receipt_basis', '=', 'form')
    .where('receipt_at', '>', new Date(Date.parse(until) - 24 * 3_600_000).toISOString())
    .execute();
}
