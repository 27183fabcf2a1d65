import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { chooseLanguage, textsIn } from '../../reports/letters/languages.ts';
import { isLetterStep, type LetterStep } from '../../reports/letters/texts.ts';
import { fill } from '../../reports/letters/wording.ts';
import { checkMove, problemsOfSecondPerson } from '../cases/check-move.ts';
import { type ShownCase, showCase } from '../cases/list-cases.ts';
import { moveLatest } from '../cases/move-case.ts';
import { type CheckedMove, readMove } from '../cases/moves.ts';
import type { CaseWriting } from '../cases/view.ts';
import type { Action } from '../core/action.ts';
import { isoNow } from '../core/clock.ts';
import { momentText } from '../core/time-words.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { type JobHandlers, JobRefused, payloadText, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import { appendAction } from '../ledger/append-action.ts';
import { isOneAddress, type MailSettings, sendMail } from '../outside/mail.ts';
import type { Query } from '../store/store.ts';
import { chooseFiles } from './attachments.ts';
import type { DocumentDeps } from './begin-document.ts';
import { faultOfCaseFiles } from './check.ts';
import { type CaseDocument, problemsOfLeaving, stillApproved } from './leaving.ts';
import { beginMail } from './mail-once.ts';
import { answerSteps } from './produce-pack.ts';
import { documentPath } from './register.ts';

/** The job that mails a letter to the requester. */
export const LETTER_MAIL = 'letter-mail';
const payloadSchema = z.object({
  caseId: z.string(),
  documentId: z.string(),
  actor: z.string(),
  /** Ids of documents: files of the case that are sent with it. */
  attachments: z.array(z.string()).default([]),
  /** The move that is recorded once it has been sent. */
  record: z.object({ move: z.string(), details: z.record(z.string(), z.json()) }).exactOptional(),
});
type LetterMailing = z.infer<typeof payloadSchema>;
/** Enough attempts to outlast a mail server outage of half a day. */
const MAIL_ATTEMPTS = 80;

export interface MailLetterDeps {
  readonly cases: CaseWriting;
  readonly documents: Pick<DocumentDeps, 'folder' | 'proofs' | 'readModelsFault'>;
  readonly config: { readonly mail: MailSettings | null };
  readonly projector: { catchUp(): Promise<unknown> };
}

/** A job that mails a letter; there is one for each letter, however often it is requested. */
export function letterMailJob(wanted: z.infer<typeof payloadSchema>): NewJob {
  const { documentId } = wanted;
  return {
    kind: LETTER_MAIL,
    key: documentId,
    payload: wanted,
    maxAttempts: MAIL_ATTEMPTS,
  };
}

/**
 * The same letter, asked for again after its mail failed: with the move that was to be recorded with it, which the
 * button for a letter that exists does not ask for.
 */
export async function withEarlierRecord(jobs: Pick<Jobs, 'list'>, wanted: LetterMailing): Promise<LetterMailing> {
  const earlier = (await jobs.list({ kind: LETTER_MAIL, limit: 100 })).find(
    (job) => payloadText(job, 'documentId') === wanted.documentId,
  );
  const { record } = earlier === undefined ? {} : readPayload(payloadSchema, earlier.payload);
  return record === undefined ? wanted : { ...wanted, record };
}

/** A letter of a case that may be mailed to its requester, or why it may not. */
type Mailable =
  | {
      readonly outcome: 'mailable';
      readonly shown: ShownCase;
      readonly document: CaseDocument;
      /** Files that go with it. */
      readonly files: readonly CaseDocument[];
      readonly step: LetterStep;
      readonly email: string;
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  | { readonly outcome: 'unknown' };

/**
 * Checks whether a letter may be mailed now. The conditions for recording that it was sent apply: a letter that answers
 * or refuses needs everything that the answer or refusal needs, including a second person; one that extends the period
 * needs what the extension needs.
 */
export async function checkLetterMail(
  { cases, config: { mail } }: Pick<MailLetterDeps, 'cases' | 'config'>,
  { caseId, documentId, actor, attachments, record }: z.infer<typeof payloadSchema>,
): Promise<Mailable> {
  const now = isoNow(cases.clock);
  const shown = await showCase(cases, caseId, now);
  const document = await findLetter(cases, { caseId, documentId });
  if (shown === null || document === undefined) return { outcome: 'unknown' };
  const refused = (...problems: readonly string[]) => ({ outcome: 'refused' as const, problems });
  const step = stepOf(document);
  const email = shown.view.row.requester_email;
  const before = await findMailing(cases, document);
  if (before !== undefined)
    return refused(`The letter was already mailed on ${momentText(before.received_at, cases.timeZone)}.`);
  if (document.erased_at !== null) return refused('The letter was erased.');
  if (!isLetterStep(step) || step === 'notice')
    return refused('This letter is not for the requester: send it yourself.');
  const unmailable = problemOfMailing(shown, mail);
  if (unmailable !== null || email === null) return refused(unmailable ?? '');
  const { timeZone } = cases;
  const { view } = shown;
  const judge = (checked: CheckedMove) => checkMove(view, checked, { ...shown, timeZone, now, actor });
  const words = 'as the letter says';
  const read = record === undefined ? null : readMove(record.move, record.details);
  const problems =
    read !== null
      ? read.outcome === 'refused'
        ? read.problems
        : judge(read.checked)
      : step === 'refusal'
        ? view.row.state === 'refused'
          ? []
          : judge({ move: 'refuse', details: { reasons: words, basis: words, remedies: words } })
        : step === 'extension'
          ? view.folded.extension === null
            ? judge({ move: 'extend', details: { reasons: words } })
            : []
          : answerSteps.includes(step)
            ? problemsOfLeaving(shown, document, { channel: 'e-mail', actor, approvedBy: undefined, now, timeZone })
            : [];
  const files = await chooseFiles(cases.store.read, shown, attachments);
  if (typeof files === 'string') return refused(files);
  const unapproved = problemsOfEnclosing(shown, { document, files, step, actor });
  if (unapproved.length > 0 && problems.length === 0) return refused(...unapproved);
  return problems.length > 0 ? refused(...problems) : { outcome: 'mailable', shown, document, files, step, email };
}

/** Whether what a letter of this step says has to be approved where the controller requires a second person. */
function leavesAsAnswer(step: LetterStep): boolean {
  return step === 'refusal' || answerSteps.includes(step);
}

/**
 * Where a second person has to approve: no refusal leaves that was written after the recorded one, and no file with
 * another letter unless the answer is approved.
 */
function problemsOfEnclosing(
  shown: ShownCase,
  {
    document,
    files,
    step,
    actor,
  }: Pick<Extract<Mailable, { step: LetterStep }>, 'document' | 'files' | 'step'> & { actor: string },
): readonly string[] {
  const { view, profile, history } = shown;
  const { secondPersonFor = [] } = profile ?? {};
  if (step === 'refusal' && view.row.state === 'refused' && secondPersonFor.includes('refuse')) {
    const recorded = Number(history.findLast(({ move }) => move === 'refuse')?.seq ?? 0);
    return [document, ...files].every(({ seq }) => Number(seq) < recorded)
      ? []
      : [
          'It was added after the refusal was approved and recorded: reopen the request, then have the refusal approved with it.',
        ];
  }
  const isSettled = view.row.state === 'answered' || view.row.state === 'closed';
  // The files of a settled request are those that its answer names.
  if (files.length === 0 || isSettled || leavesAsAnswer(step)) return [];
  return problemsOfSecondPerson(view, 'answer', { ...shown, actor });
}

/**
 * The job that mails a letter. Whether it may be sent is checked again then; an entry without the address records that
 * it was sent.
 */
export function createLetterMailJobs(deps: MailLetterDeps): JobHandlers {
  return {
    async [LETTER_MAIL](payload, { job, signal }) {
      const wanted = readPayload(payloadSchema, payload);
      const { caseId, documentId, actor } = wanted;
      await deps.projector.catchUp();
      const registered = await findLetter(deps.cases, wanted);
      if (registered === undefined) throw new JobRefused('Unknown letter.');
      const { source } = registered;
      // First of all: what is known of an earlier attempt does not change with the case or its address.
      const letter = await beginMail(
        deps.cases,
        { mail: 'letter', caseId, about: documentId, actor, source, jobId: job.id },
        (await findMailing(deps.cases, registered)) !== undefined,
      );
      if (letter.isSent) return recordMove(deps, wanted, registered);
      const found = await checkLetterMail(deps, wanted);
      if (found.outcome === 'unknown') throw new JobRefused('Unknown letter.');
      if (found.outcome === 'refused') throw new JobRefused(`The letter was not sent: ${found.problems.join(' ')}`);
      const { document, files, step, email, shown } = found;
      // Address and files come from the read models, which somebody may have edited.
      const fault =
        (await deps.documents.readModelsFault()) ??
        (await faultOfCaseFiles(deps.documents.proofs, caseId, [document, ...files]));
      if (fault !== null) throw new JobRefused(`The letter was not sent: ${fault}`);
      const attachments = await Promise.all(
        [document, ...files].map(async (one) => ({
          filename: one.file_name,
          content: await readRegistered(deps.documents.folder, one),
          contentType: one.name === 'letter' ? (contentTypes[one.format] ?? 'text/plain') : 'application/octet-stream',
        })),
      );
      const { language: tag } = JSON.parse(document.parameters) as { readonly language?: string };
      const texts = textsIn(chooseLanguage([tag]).locale);
      const { mail } = deps.config;
      if (texts === undefined || mail === null) throw new Error('there are no texts, or there is no mail server');
      const reference = fill(texts.frame.reference, { reference: caseId });
      const controller = shown.profile?.name ?? '';
      const message = {
        to: [email],
        replyTo: shown.profile?.email ?? null,
        subject: `${texts.titles[step]} (${caseId})`,
        text: `${texts.titles[step]}\n${reference}\n\n${texts.frame.attached}\n\n${controller}\n`,
        id: `letter.${job.id}`,
        attachments,
      };
      const record = () =>
        appendAction(
          deps.cases.ledger,
          document.source,
          {
            ...{ action: 'document.mailed', actor, documentId, sha256: document.sha256, to: `requester of ${caseId}` },
            ...(files.length === 0
              ? {}
              : {
                  attachments: files.map((one) => ({
                    documentId: one.document_id,
                    sha256: one.sha256,
                    bytes: Number(one.bytes),
                  })),
                }),
          },
          ['document.mailed', documentId, caseId, job.id],
          isoNow(deps.cases.clock),
        );
      await letter.send(
        (attempting) => sendMail(mail, message, signal, attempting),
        record,
        leavesAsAnswer(step) || files.length > 0
          ? stillApproved(shown, step === 'refusal' ? 'refuse' : 'answer')
          : undefined,
      );
      return recordMove(deps, wanted, document);
    },
  };
}

function findLetter(
  { store }: Pick<CaseWriting, 'store'>,
  { caseId, documentId }: { caseId: string; documentId: string },
) {
  return store.read
    .selectFrom('documents')
    .selectAll()
    .where('document_id', '=', documentId)
    .where('case_id', '=', caseId)
    .where('name', '=', 'letter')
    .executeTakeFirst();
}

const stepOf = ({ parameters }: CaseDocument) => (JSON.parse(parameters) as { readonly step?: string }).step ?? '';

/** The entry that says that a letter was mailed; undefined: it was not. */
function findMailing({ store }: Pick<CaseWriting, 'store'>, { source, document_id: documentId }: CaseDocument) {
  return store.read
    .selectFrom('action_history')
    .select('received_at')
    .where('source', '=', source)
    .where('action', '=', 'document.mailed')
    .where('object', '=', documentId)
    .executeTakeFirst();
}

/**
 * Records the move of a letter that has been mailed: the one in the job, or the confirmation of receipt. Says why, if it
 * is no longer possible: the letter is then shown as sent and not recorded.
 */
async function recordMove(
  { cases, projector }: MailLetterDeps,
  { caseId, actor, record }: z.infer<typeof payloadSchema>,
  document: CaseDocument,
): Promise<{ readonly sent: true; readonly unrecorded?: string }> {
  await projector.catchUp();
  const shown = await showCase(cases, caseId, isoNow(cases.clock));
  const { sha256: documentSha256 } = document;
  if (shown === null || shown.history.some((row) => isMoveWith(row, documentSha256))) return { sent: true };
  const receipt = stepOf(document) === 'acknowledgement' && shown.view.folded.acknowledgedAt === null;
  const wanted = record ?? (receipt ? { move: 'acknowledge', details: {} } : null);
  if (wanted === null) return { sent: true };
  const at = (await findMailing(cases, document))?.received_at ?? isoNow(cases.clock);
  const details = { ...wanted.details, at, channel: 'e-mail', documentSha256 };
  const moved = await moveLatest(cases, { caseId, move: wanted.move, details, actor }, () => projector.catchUp());
  return moved.outcome === 'refused' ? { sent: true, unrecorded: moved.problems.join(' ') } : { sent: true };
}

/** Whether a recorded move names this document as the one that was sent. */
export function isMoveWith({ details }: { readonly details: string }, sha256: string): boolean {
  return (JSON.parse(details) as { readonly documentSha256?: string }).documentSha256 === sha256;
}

/** Why this installation cannot mail anything to the requester of a case; null: it can. */
export function problemOfMailing({ view }: Pick<ShownCase, 'view'>, mail: MailSettings | null): string | null {
  const { requester_email: email } = view.row;
  if (mail === null) return 'No mail server is set up here: download the letter and send it yourself.';
  if (email === null) return 'The request has no e-mail address: send the letter another way.';
  return isOneAddress(email)
    ? null
    : 'The e-mail address of the request is not a single valid address: correct it, or send the letter another way.';
}

/** Throws {@link JobRefused} if it is not byte for byte what was registered. */
async function readRegistered(folder: string, document: CaseDocument): Promise<Buffer> {
  const { document_id: documentId, format, sha256, file_name: name } = document;
  const content = await readFile(documentPath(folder, { documentId, format }));
  if (sha256Hex(content) !== sha256)
    throw new JobRefused(`The file ${name} differs from the registered one. Nothing was sent.`);
  return content;
}

const contentTypes: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  html: 'text/html; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** A letter that was mailed. */
export interface Mailing {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Ids of the files sent with it. */
  readonly attachments: readonly string[];
}

/** The last mailing of each letter of a case, by the id of its document. */
export async function listMailings(
  read: Query,
  { source, caseId }: { readonly source: string; readonly caseId: string },
): Promise<ReadonlyMap<string, Mailing>> {
  const rows = await read
    .selectFrom('action_history')
    .innerJoin('documents', 'documents.document_id', 'action_history.object')
    .select(['documents.document_id', 'action_history.received_at', 'action_history.details'])
    .where('documents.case_id', '=', caseId)
    .where('action_history.source', '=', source)
    .where('action_history.action', '=', 'document.mailed')
    .orderBy('action_history.seq')
    .execute();
  return new Map(
    rows.map((row) => {
      const { attachments = [] } = JSON.parse(row.details) as Extract<Action, { action: 'document.mailed' }>;
      return [row.document_id, { at: row.received_at, attachments: attachments.map(({ documentId }) => documentId) }];
    }),
  );
}
