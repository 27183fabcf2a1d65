import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { letterLanguages } from '../../../../reports/letters/languages.ts';
import { readAssignee } from '../../../cases/assignee.ts';
import { findCase } from '../../../cases/list-cases.ts';
import { moveCase, type OpenCaseInput, openCase, openCaseForm } from '../../../cases/move-case.ts';
import { isMoveName, type MoveName, moves, replyMoves, taskMoves } from '../../../cases/moves.ts';
import type { Context } from '../../../context/context.ts';
import { publicUrlOf } from '../../../core/address.ts';
import { CodedError } from '../../../core/errors.ts';
import { languageTag, languageText, likelyLanguage } from '../../../core/language.ts';
import type { Source } from '../../../core/source.ts';
import { requestKinds } from '../../../core/vocabulary.ts';
import { ATTACHMENT_BYTES, ATTACHMENTS_TOO_LARGE, addAttachment } from '../../../documents/attachments.ts';
import { packJob } from '../../../documents/document-jobs.ts';
import { rememberLanguage } from '../../../documents/letter-language.ts';
import { checkLetterMail, letterMailJob, withEarlierRecord } from '../../../documents/mail-letter.ts';
import { packProblem } from '../../../documents/produce-pack.ts';
import { createHandOver, listHandOvers, revokeHandOver } from '../../../hand-over/hand-over.ts';
import { problemOfTaskMail, taskMailJob } from '../../../hand-over/mail-task.ts';
import { findTask } from '../../../hand-over/task-link.ts';
import { jurisdictionText } from '../../../law/jurisdictions.ts';
import { listWorkers } from '../../../people/people.ts';
import { pagesWith, type Said, smallNumber, text, type Visit } from '../parts/define-page.ts';
import {
  FieldInput,
  type FormField,
  fieldsOf,
  languageChoices,
  placeChoices,
  readFields,
  typedIn,
} from '../parts/fields.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { NoSources, Panel, Problems, sourceOptions } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { kindText } from '../parts/words.ts';
import { CasePage } from './case-view.tsx';
import type { NewHandOver } from './hand-over-panel.tsx';
import { recordedWith } from './letter-record.tsx';
import { type CaseNeeds, loadCase } from './load-case.ts';

type Needs = CaseNeeds | 'ledger' | 'projector' | 'documents' | 'instance' | 'loadProfile';
const { page, form, upload } = pagesWith<Needs>();

/** What the page of a case says about a form that led to it. */
interface CaseSaid {
  /** A refused move. */
  readonly refused: { readonly move: string; readonly form: Readonly<Record<string, string>> };
  readonly handedOver: NewHandOver;
  /** A refused form for a link. */
  readonly refusedLink: Readonly<Record<string, string>>;
  readonly refusedMail: { readonly documentId: string; readonly attachments: readonly string[] };
}

/** The form for a request that came by letter, mail, telephone or in person. */
const newRequest = page({
  path: '/cases/new',
  rule: { who: 'work', source: 'installation' },
  async load({ context, permitted, by }, { form: typed }) {
    const sources = permitted.list();
    const source =
      permitted.findAny(typed['source'] ?? by.current ?? '') ?? (sources.length === 1 ? sources[0] : null) ?? null;
    const profile = source === null ? null : await context.loadProfile(source);
    return {
      sources,
      reference: typed['reference'] ?? randomUUID(),
      proposal: proposedLanguage(typed['jurisdiction'] ?? null, profile?.language ?? null),
    };
  },
  show: (data, { frame, said }) => <NewRequestPage frame={frame} {...data} form={said.form} problems={said.problems} />,
});

const record = form({
  path: '/cases',
  rule: { who: 'work', source: 'form', isWritten: true },
  body: z.object({ reference: text }),
  async act(visit) {
    const { context, by, fields, typed } = visit;
    const read = readFields(openCaseForm, typed, context.config.timeZone);
    const unconfirmed = problemOfProposal(typed);
    const unread = [
      ...(read.outcome === 'refused' ? read.problems : []),
      ...(unconfirmed === null ? [] : [unconfirmed]),
    ];
    if (read.outcome === 'refused' || unread.length > 0)
      return newRequest.again(visit, { fields: {}, said: { problems: unread } });
    const reference = fields.reference.trim() || undefined;
    // The use case validates it with its schema.
    const input = { ...read.values, actor: by.officer, ...(reference && { reference }) } as OpenCaseInput;
    const opened = await openCase(context.cases, input);
    if (opened.outcome === 'refused')
      return newRequest.again(visit, { fields: {}, said: { problems: opened.problems } });
    await visit.projected(opened.seq);
    return visit.goTo(caseAddress(opened.caseId, 'opened'));
  },
});

/** One request: everything about it, and the officers' moves. `again`: the entry of a task that pre-fills a new one; `record`: the letter that fills in the form of its move. */
const oneCase = page({
  path: '/cases/:caseId',
  rule: { who: 'read', source: 'case', views: 'object' },
  query: z.object({ again: text, record: text }),
  done: {
    opened: 'The request has been recorded.',
    moved: 'Recorded in the ledger.',
    reply: 'The reply is recorded. Under Messages you see whether the requester is told of it.',
    'no-reply': 'It is recorded that no reply is needed.',
    letter: 'The letter has been created. Download it under Letters.',
    recorded: 'The letter has been created, and that you send it is recorded. Download it under Letters to print it.',
    sending: 'The letter has been created and is being sent. The step is recorded once it has gone out.',
    'letter-approval':
      'The letter has been created. A second person has to approve the refusal with it; then send it and record it.',
    'letter-unrecorded': 'The letter has been created, but it is not recorded that it was sent: see Letters.',
    mail: 'The letter is being sent. Once it has gone out, record the step that it belongs to: see Letters.',
    attachment:
      'The file has been added. Tick it next to the letter that it should go with, or in the form for a hand-over link.',
    pack: 'The pack is being created. It will appear under Response pack.',
    task: 'The task is being sent to its owner.',
    'handed-over':
      'The link was created before, and link and code are shown only once. If you did not note them, revoke the link and create another one.',
    revoked: 'The link is revoked and no longer works.',
  },
  async load({ context, by, params: { caseId }, reply }, _: Said<CaseSaid>) {
    const data = await loadCase(context, caseId, by.officer);
    if (data === null) throw unknownCase();
    allowLive(reply);
    return data;
  },
  show: (data, { frame, fields, said }) => (
    <CasePage frame={frame} data={data} again={fields.again} refused={recordedWith(data, fields.record)} {...said} />
  ),
});

type CaseVisit<F = unknown> = Visit<Needs, F, { readonly caseId: string }>;

const showAgain = (visit: CaseVisit, said: Partial<Said<CaseSaid>>, status = 422) =>
  oneCase.again(visit, { fields: { again: '', record: '' }, said, status });

const move = form({
  path: '/cases/:caseId/moves',
  rule: { who: 'work', source: 'case', isWritten: true },
  body: z.object({ move: text, basedOn: smallNumber, filter: text }),
  async act(visit) {
    const { context, params, fields, by, typed } = visit;
    const { caseId } = params;
    const { move: name, basedOn } = fields;
    if (!isMoveName(name) || basedOn === null) throw new CodedError('invalid_request');
    const refused = { move: name, form: typed };
    const read = readFields(moves[name].details, typed, context.config.timeZone);
    if (read.outcome === 'refused') return showAgain(visit, { problems: read.problems, refused });
    const moved = await moveCase(context.cases, {
      caseId,
      basedOn,
      move: name,
      details: name === 'assign' ? await assigneeIn(context, caseId, read.values) : read.values,
      actor: by.officer,
    });
    switch (moved.outcome) {
      case 'moved':
        await visit.projected(moved.seq);
        if (name === 'assign' && typed['list'] !== undefined)
          return visit.goTo(listAddress(typed['list'], fields.filter));
        return visit.goTo(caseAddress(caseId, doneAfter(name)));
      case 'refused':
        return showAgain(visit, { problems: moved.problems, refused });
      case 'conflict': {
        const problems = [
          moved.unseen ??
            'Someone else changed this case in the meantime. This is its current state; review it and submit the form again.',
        ];
        return showAgain(visit, { problems, refused }, 409);
      }
      case 'not-found':
        throw unknownCase();
      default:
        return moved satisfies never;
    }
  },
});

const makePack = form({
  path: '/cases/:caseId/pack',
  rule: { who: 'work', source: 'case' },
  body: z.object({ language: text }),
  async act(visit) {
    const { context, by, params, fields } = visit;
    const { caseId } = params;
    const row = await findCase(context.store.read, caseId);
    if (row === null) throw unknownCase();
    const language = fields.language || null;
    const problem = await packProblem(context.documents, row, language);
    if (problem !== null) return showAgain(visit, { problems: [problem] });
    if (language !== null) await rememberLanguage(context, { caseId, language, actor: by.officer });
    const { id } = await context.jobs.enqueue(packJob(caseId, by.officer, language));
    await visit.doneSoon(id);
    return visit.goTo(caseAddress(caseId, 'pack'));
  },
});

const mailLetter = form({
  path: '/cases/:caseId/letters/:documentId/mail',
  rule: { who: 'work', source: 'case' },
  async act(visit) {
    const { context, params, by, typed } = visit;
    const { caseId, documentId } = params;
    const attachments = chosenFiles(typed);
    const asked = { caseId, documentId, actor: by.officer, attachments };
    const wanted = await withEarlierRecord(context.jobs, asked);
    const found = await checkLetterMail(context, wanted);
    if (found.outcome === 'unknown') throw new CodedError('not_found', 'Unknown letter.');
    if (found.outcome === 'refused')
      return showAgain(visit, { problems: found.problems, refusedMail: { documentId, attachments } });
    const { id } = await context.jobs.enqueue(letterMailJob(wanted));
    await visit.doneSoon(id);
    return visit.goTo(caseAddress(caseId, 'mail#letters'));
  },
});

const mailTask = form({
  path: '/cases/:caseId/tasks/mail',
  rule: { who: 'work', source: 'case' },
  body: z.object({ task: text }),
  async act(visit) {
    const { context, params, by, fields } = visit;
    const { caseId } = params;
    const found = await findTask(context.cases, caseId, fields.task);
    if (found === null) throw new CodedError('not_found', 'Unknown task.');
    const problem = problemOfTaskMail(context, found);
    if (problem !== null) return showAgain(visit, { problems: [problem] });
    const { id } = await context.jobs.enqueue(taskMailJob(found, by.officer));
    await visit.doneSoon(id);
    return visit.goTo(caseAddress(caseId, 'task#tasks'));
  },
});

const handOver = form({
  path: '/cases/:caseId/hand-overs',
  rule: { who: 'work', source: 'case' },
  body: z.object({ days: smallNumber, document: text, approvedBy: text, reference: text }),
  async act(visit) {
    const { context, params, by, fields, typed } = visit;
    const { caseId } = params;
    const { days, document, approvedBy, reference } = fields;
    const { config } = context;
    const created = await createHandOver(context, {
      caseId,
      actor: by.officer,
      publicUrl: publicUrlOf(config, config.port),
      days: days ?? NaN,
      ...(document === '' ? {} : { documentId: document }),
      attachments: chosenFiles(typed),
      ...(approvedBy.trim() === '' ? {} : { approvedBy }),
      ...(reference === '' ? {} : { reference: reference.slice(0, 200) }),
    });
    if (created.outcome === 'unknown-case') throw unknownCase();
    if (created.outcome === 'refused') return showAgain(visit, { problems: created.problems, refusedLink: typed });
    if (created.outcome === 'repeated') return visit.goTo(caseAddress(caseId, 'handed-over#hand-over'));
    await visit.projected(created.seq);
    // Does not redirect, because the link and the code can be shown only in this response. A reload sends the form
    // again, but its reference prevents a second link.
    const { link, code, handOver: made } = created;
    const localOnly = config.publicUrl === null;
    return showAgain(visit, { handedOver: { link, code, localOnly, expiresAt: made.expires_at } }, 200);
  },
});

const revoke = form({
  path: '/cases/:caseId/hand-overs/revoke',
  rule: { who: 'work', source: 'case' },
  body: z.object({ handOver: text }),
  async act(visit) {
    const { context, params, by, fields } = visit;
    const { caseId } = params;
    const { handOver: id } = fields;
    // Only a hand-over of this case, since the officer's access was checked for its source.
    const found = (await listHandOvers(context, { caseId })).some(({ row }) => row.hand_over_id === id);
    if (!found || !(await revokeHandOver(context, id, by.officer)))
      return showAgain(visit, { problems: ['This link is unknown, or has already been revoked.'] });
    return visit.goTo(caseAddress(caseId, 'revoked#hand-over'));
  },
});

/** A file that is sent with a letter. */
const attach = upload({
  path: '/cases/:caseId/attachments',
  rule: { who: 'work', source: 'case' },
  bytes: ATTACHMENT_BYTES,
  tooLarge: (visit) => showAgain(visit, { problems: [ATTACHMENTS_TOO_LARGE] }, 413),
  async act(visit, file) {
    const { context, params, by } = visit;
    const { caseId } = params;
    if (file === null) return showAgain(visit, { problems: ['Choose a file.'] });
    const added = await addAttachment(context.documents, { caseId, actor: by.officer, ...file });
    switch (added.outcome) {
      case 'added':
        await visit.projected(added.seq);
        return visit.goTo(caseAddress(caseId, 'attachment#letters'));
      case 'refused':
        return showAgain(visit, { problems: [added.problem] });
      case 'unknown-case':
        throw unknownCase();
      default:
        return added satisfies never;
    }
  },
});

export const routes = [newRequest, record, oneCase, move, makePack, mailLetter, mailTask, handOver, revoke, attach];

function unknownCase(): CodedError {
  return new CodedError('not_found', 'Unknown case.');
}

/** `done`: a key of the sentences of the page, and the part of it to show. */
function caseAddress(caseId: string, done: string): string {
  return `/cases/${encodeURIComponent(caseId)}?done=${done}`;
}

/** What a page says after a move, and the part of it that shows the result. */
function doneAfter(move: MoveName): string {
  if (replyMoves.includes(move)) return `${move}#messages`;
  return taskMoves.includes(move) ? 'moved#tasks' : 'moved';
}

/** The list from which a request was taken, with its filter. */
function listAddress(list: string, filter: string): string {
  const query = new URLSearchParams(filter.slice(0, 2000));
  query.set('done', 'taken');
  return `${list === 'requests' ? '/cases' : '/'}?${query.toString()}`;
}

/** The ids of the ticked files. */
function chosenFiles(form: Readonly<Record<string, string>>): string[] {
  return Object.keys(form).flatMap((name) => /^file-(.+)$/.exec(name)?.[1] ?? []);
}

/** The details of an assignment; a typed name of an account becomes that account. */
async function assigneeIn(
  { store }: Pick<Context, 'store'>,
  caseId: string,
  details: Readonly<Record<string, unknown>>,
) {
  const { assignee } = details;
  const row = await findCase(store.read, caseId);
  if (typeof assignee !== 'string' || row === null) return details;
  return { ...details, assignee: readAssignee(assignee, await listWorkers({ store }, [row.source])) };
}

/** A language that the form proposes; the person who sends the form chooses it. */
interface LanguageProposal {
  readonly language: string;
  /** What it follows from, in words. */
  readonly because: string;
}

/** The language that most people read at a place, otherwise that of the controller; null: letters exist in neither. */
function proposedLanguage(place: string | null, ofController: string | null): LanguageProposal | null {
  const likely = likelyLanguage(place);
  if (likely !== null && Object.hasOwn(letterLanguages, likely))
    return { language: likely, because: `the place ${jurisdictionText(place ?? '')}` };
  const own = languageTag(ofController ?? '')?.split('-')[0] ?? '';
  return Object.hasOwn(letterLanguages, own) ? { language: own, because: 'the controller’s own language' } : null;
}

/** Why the language in a sent form cannot be taken as chosen; null: it can. */
function problemOfProposal(typed: Readonly<Record<string, string>>): string | null {
  const { language = '', proposed = '', jurisdiction = null } = typed;
  if (language === '') return 'Choose the language of the requester, or “Not known”.';
  const atPlace = proposedLanguage(jurisdiction, null);
  // The proposal was made before the place was entered.
  return atPlace === null || language !== proposed || atPlace.language === proposed
    ? null
    : `Most people in ${jurisdictionText(jurisdiction ?? '')} read ${languageText(atPlace.language)}, and the form proposed ${languageText(proposed)}: check the language, then record the request.`;
}

interface NewRequestProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** If the form is sent twice, only one case is opened. */
  readonly reference: string;
  readonly proposal: LanguageProposal | null;
  readonly form: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

function NewRequestPage({ frame, sources, reference, proposal, form, problems }: NewRequestProps) {
  // What the person changed stays; a proposal that they left is made again, from what is known now.
  const chosen = form['language'] === form['proposed'] ? '' : (form['language'] ?? '');
  const value = (name: string) => (name === 'language' ? chosen || (proposal?.language ?? '') : (form[name] ?? ''));
  const valueOf = (field: FormField) => (field.type === 'moment' ? typedIn(form, field) : value(field.name));
  const fields = fieldsOf(openCaseForm, {
    source: [...(sources.length > 1 ? [['', 'Choose …'] as const] : []), ...sourceOptions(sources)],
    jurisdiction: placeChoices(value('jurisdiction')),
    language: languageChoices(value('language')),
    kind: [['', 'Choose …'] as const, ...requestKinds.map((kind) => [kind, kindText(kind)] as const)],
  }).map((field) =>
    field.name === 'language'
      ? {
          ...field,
          required: true,
          choices: [['', 'Choose …'] as const, ...field.choices.slice(1)],
          hint:
            proposal === null || chosen !== ''
              ? field.hint
              : `Proposed from ${proposal.because}: check it. ${field.hint}`,
        }
      : field,
  );
  return (
    <Page title="Record a request" frame={frame} current="new-request">
      <h1>Record a request</h1>
      <p class="lead">
        For a request received by letter, e-mail, phone or in person. Requests reported by the service are recorded
        automatically.
      </p>
      <Problems title="This was not recorded:" problems={problems} />
      <Panel id="request" title="The request">
        {sources.length === 0 ? (
          <NoSources frame={frame} />
        ) : (
          <PostForm frame={frame} action="/cases">
            <input type="hidden" name="reference" value={reference} />
            <input type="hidden" name="proposed" value={chosen === '' ? (proposal?.language ?? '') : ''} />
            <div class="pair">
              {fields.map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={valueOf(field) || (field.name === 'source' ? (frame.current ?? '') : '')}
                  timeZone={frame.timeZone}
                />
              ))}
            </div>
            <button type="submit">Record the request</button>
          </PostForm>
        )}
      </Panel>
    </Page>
  );
}
