import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readAssignee } from '../../../cases/assignee.ts';
import { moveCase, openCase, openCaseForm, type OpenCaseInput } from '../../../cases/move-case.ts';
import { isMoveName, moves, taskMoves } from '../../../cases/moves.ts';
import type { Context } from '../../../context.ts';
import { publicUrlOf } from '../../../core/address.ts';
import { CodedError } from '../../../core/errors.ts';
import { createHandOver, listHandOvers, revokeHandOver } from '../../../hand-over/hand-over.ts';
import { problemOfTaskMail, taskMailJob } from '../../../hand-over/mail-task.ts';
import { findTask } from '../../../hand-over/task-link.ts';
import { addAttachment, ATTACHMENT_BYTES, ATTACHMENTS_TOO_LARGE } from '../../../documents/attachments.ts';
import { packJob } from '../../../documents/jobs.ts';
import { CasePage } from './case-view.tsx';
import { allowLive } from '../parts/live-script.ts';
import type { NewHandOver } from './hand-over-panel.tsx';
import { renderPage, Page, type PageFrame } from '../parts/layout.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { loadCase } from './load-case.ts';
import { FieldInput, fieldsOf, placeChoices, readFields } from '../parts/fields.tsx';
import { checkLetterMail, letterMailJob } from '../../../documents/mail-letter.ts';
import { listWorkers } from '../../../people/people.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { type Exchange, formOf, html, pageFrame, untilDoneSoon, untilProjected } from '../parts/page-frame.ts';
import { uploadForm } from '../parts/upload.ts';
import type { Source } from '../../../core/source.ts';
import { Panel, Problems, sourceOptions, NoSources } from '../parts/parts.tsx';

/** Confirmations that an address may refer to. */
const doneTexts: Readonly<Record<string, string>> = {
  opened: 'The request has been recorded.',
  moved: 'Recorded in the ledger.',
  letter: 'The letter has been created. Download it under Letters.',
  mail: 'The letter is being sent. Record the step that it belongs to once it has gone out.',
  attachment:
    'The file has been added. Tick it next to the letter that it should go with, or in the form for a hand-over link.',
  pack: 'The pack is being created. It will appear under Response pack.',
  task: 'The task is being sent to its owner.',
  'handed-over':
    'The link was created before, and link and code are shown only once. If you did not note them, revoke the link and create another one.',
  revoked: 'The link is revoked and no longer works.',
};

interface CaseParams {
  readonly Params: { readonly caseId: string };
}

interface LetterParams {
  readonly Params: { readonly caseId: string; readonly documentId: string };
}

/** The pages of requests, and the officers' moves. */
export async function caseRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/cases/new', (request, reply) => sendNewRequest({ context, request, reply }, {}, []));
  app.post('/cases', (request, reply) => recordRequest({ context, request, reply }));
  app.get<CaseParams>('/cases/:caseId', (request, reply) => {
    const { done = '', again = '' } = formOf(request.query);
    const shown = { done: doneTexts[done] ?? null, again };
    return sendCase({ context, request, reply }, request.params.caseId, shown);
  });
  const post = (path: string, handle: (exchange: Exchange, caseId: string) => Promise<FastifyReply>) =>
    app.post<CaseParams>(path, (request, reply) => handle({ context, request, reply }, request.params.caseId));
  post('/cases/:caseId/moves', makeMove);
  post('/cases/:caseId/pack', makePack);
  post('/cases/:caseId/tasks/mail', mailTask);
  post('/cases/:caseId/hand-overs', handOver);
  post('/cases/:caseId/hand-overs/revoke', revokeLink);
  app.post<LetterParams>('/cases/:caseId/letters/:documentId/mail', (request, reply) =>
    mailLetter({ context, request, reply }, request.params),
  );
}

/** The upload of a file that is sent with a letter. */
export async function attachmentUploadRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const caseIdOf = (request: FastifyRequest) => (request.params as CaseParams['Params']).caseId;
  await uploadForm(app, {
    path: '/cases/:caseId/attachments',
    bytes: ATTACHMENT_BYTES,
    tooLarge: (request, reply) =>
      sendCase({ context, request, reply }, caseIdOf(request), { problems: [ATTACHMENTS_TOO_LARGE] }, 413),
    async handler(request, reply, file) {
      const exchange = { context, request, reply };
      const caseId = caseIdOf(request);
      if (file === null) return sendCase(exchange, caseId, { problems: ['Choose a file.'] }, 422);
      const added = await addAttachment(context.documents, { caseId, actor: officerOf(request).officer, ...file });
      switch (added.outcome) {
        case 'added':
          await untilProjected(context, added.seq);
          return backTo(exchange, caseId, 'attachment#letters');
        case 'refused':
          return sendCase(exchange, caseId, { problems: [added.problem] }, 422);
        case 'unknown-case':
          throw new CodedError('not_found', 'Unknown case.');
        default:
          return added satisfies never;
      }
    },
  });
}

async function recordRequest(exchange: Exchange): Promise<FastifyReply> {
  const { context, request } = exchange;
  const form = formOf(request.body);
  const actor = officerOf(request).officer;
  const read = readFields(openCaseForm, form, context.config.timeZone);
  if (read.outcome === 'refused') return sendNewRequest(exchange, form, read.problems);
  const reference = form['reference']?.trim() || undefined;
  // The use case validates it with its schema.
  const input = { ...read.values, actor, ...(reference && { reference }) } as OpenCaseInput;
  const opened = await openCase(context.cases, input);
  if (opened.outcome === 'refused') return sendNewRequest(exchange, form, opened.problems);
  await untilProjected(context, opened.seq);
  return backTo(exchange, opened.caseId, 'opened');
}

async function makeMove(exchange: Exchange, caseId: string): Promise<FastifyReply> {
  const { context, request } = exchange;
  const form = formOf(request.body);
  const { move = '', basedOn = '' } = form;
  if (!isMoveName(move) || !/^\d{1,9}$/.test(basedOn)) throw new CodedError('invalid_request');
  const refused = { move, form };
  const read = readFields(moves[move].details, form, context.config.timeZone);
  if (read.outcome === 'refused') return sendCase(exchange, caseId, { problems: read.problems, refused }, 422);
  const actor = officerOf(request).officer;
  const moved = await moveCase(context.cases, {
    caseId,
    basedOn: Number(basedOn),
    move,
    details: move === 'assign' ? await assigneeIn(exchange, caseId, read.values) : read.values,
    actor,
  });
  switch (moved.outcome) {
    case 'moved':
      await untilProjected(context, moved.seq);
      if (move === 'assign' && form['list'] !== undefined) return backToList(exchange, form);
      return backTo(exchange, caseId, taskMoves.includes(move) ? 'moved#tasks' : 'moved');
    case 'refused':
      return sendCase(exchange, caseId, { problems: moved.problems, refused }, 422);
    case 'conflict': {
      const problems = [
        moved.unseen ??
          'Someone else changed this case in the meantime. This is its current state; review it and submit the form again.',
      ];
      return sendCase(exchange, caseId, { problems, refused }, 409);
    }
    case 'not-found':
      throw new CodedError('not_found', 'Unknown case.');
    default:
      return moved satisfies never;
  }
}

/** The details of an assignment; a typed name of an account becomes that account. */
async function assigneeIn({ context }: Exchange, caseId: string, details: Readonly<Record<string, unknown>>) {
  const { assignee } = details;
  const row = await context.store.read
    .selectFrom('cases')
    .select('source')
    .where('case_id', '=', caseId)
    .executeTakeFirst();
  if (typeof assignee !== 'string' || row === undefined) return details;
  return { ...details, assignee: readAssignee(assignee, await listWorkers(context, [row.source])) };
}

async function makePack(exchange: Exchange, caseId: string): Promise<FastifyReply> {
  const { context, request } = exchange;
  if ((await loadCase(context, caseId, officerOf(request).officer)) === null)
    throw new CodedError('not_found', 'Unknown case.');
  const { id } = await context.jobs.enqueue(packJob(caseId, officerOf(request).officer));
  await untilDoneSoon(context, id);
  return backTo(exchange, caseId, 'pack');
}

async function mailLetter(exchange: Exchange, { caseId, documentId }: LetterParams['Params']): Promise<FastifyReply> {
  const { context, request } = exchange;
  const actor = officerOf(request).officer;
  const attachments = chosenFiles(formOf(request.body));
  const wanted = { caseId, documentId, actor, attachments };
  const found = await checkLetterMail(context, wanted);
  if (found.outcome === 'unknown') throw new CodedError('not_found', 'Unknown letter.');
  if (found.outcome === 'refused')
    return sendCase(exchange, caseId, { problems: found.problems, refusedMail: { documentId, attachments } }, 422);
  const { id } = await context.jobs.enqueue(letterMailJob(wanted));
  await untilDoneSoon(context, id);
  return backTo(exchange, caseId, 'mail#letters');
}

/** The ids of the ticked files. */
function chosenFiles(form: Readonly<Record<string, string>>): string[] {
  return Object.keys(form).flatMap((name) => /^file-(.+)$/.exec(name)?.[1] ?? []);
}

async function mailTask(exchange: Exchange, caseId: string): Promise<FastifyReply> {
  const { context, request } = exchange;
  const found = await findTask(context.cases, caseId, formOf(request.body)['task'] ?? '');
  if (found === null) throw new CodedError('not_found', 'Unknown task.');
  const problem = problemOfTaskMail(context, found);
  if (problem !== null) return sendCase(exchange, caseId, { problems: [problem] }, 422);
  const { id } = await context.jobs.enqueue(taskMailJob(found, officerOf(request).officer));
  await untilDoneSoon(context, id);
  return backTo(exchange, caseId, 'task#tasks');
}

async function handOver(exchange: Exchange, caseId: string): Promise<FastifyReply> {
  const { context, request } = exchange;
  const form = formOf(request.body);
  const { days = '', document = '', approvedBy = '', reference = '' } = form;
  const { config } = context;
  const created = await createHandOver(context, {
    caseId,
    actor: officerOf(request).officer,
    publicUrl: publicUrlOf(config, config.port),
    days: /^\d{1,3}$/.test(days) ? Number(days) : NaN,
    ...(document === '' ? {} : { documentId: document }),
    attachments: chosenFiles(form),
    ...(approvedBy.trim() === '' ? {} : { approvedBy }),
    ...(reference === '' ? {} : { reference: reference.slice(0, 200) }),
  });
  if (created.outcome === 'unknown-case') throw new CodedError('not_found', 'Unknown case.');
  if (created.outcome === 'refused')
    return sendCase(exchange, caseId, { problems: created.problems, refusedLink: form }, 422);
  if (created.outcome === 'repeated') return backTo(exchange, caseId, 'handed-over#hand-over');
  await untilProjected(context, created.seq);
  // Does not redirect, because the link and the code can be shown only in this response. A reload sends the form again,
  // but its reference prevents a second link.
  const { link, code, handOver } = created;
  const localOnly = config.publicUrl === null;
  return sendCase(exchange, caseId, { handedOver: { link, code, localOnly, expiresAt: handOver.expires_at } });
}

async function revokeLink(exchange: Exchange, caseId: string): Promise<FastifyReply> {
  const { context, request } = exchange;
  const { handOver = '' } = formOf(request.body);
  // Only a hand-over of this case, since the officer's access was checked for its source.
  const found = (await listHandOvers(context, { caseId })).some(({ row }) => row.hand_over_id === handOver);
  if (!found || !(await revokeHandOver(context, handOver, officerOf(request).officer)))
    return sendCase(exchange, caseId, { problems: ['This link is unknown, or has already been revoked.'] }, 422);
  return backTo(exchange, caseId, 'revoked#hand-over');
}

/** `done`: a key of {@link doneTexts}, and the part of the page to show. */
function backTo({ reply }: Exchange, caseId: string, done: string): FastifyReply {
  return reply.redirect(`/cases/${encodeURIComponent(caseId)}?done=${done}`, 303);
}

/** The list from which a request was taken, with its filter. */
function backToList({ reply }: Exchange, { list = '', filter = '' }: Readonly<Record<string, string>>): FastifyReply {
  const query = new URLSearchParams(filter.slice(0, 2000));
  query.set('done', 'taken');
  return reply.redirect(`${list === 'requests' ? '/cases' : '/'}?${query.toString()}`, 303);
}

interface Shown {
  readonly problems?: readonly string[];
  readonly refused?: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
  readonly done?: string | null;
  readonly again?: string;
  readonly handedOver?: NewHandOver;
  /** A refused form for a link. */
  readonly refusedLink?: Readonly<Record<string, string>>;
  readonly refusedMail?: { readonly documentId: string; readonly attachments: readonly string[] };
}

async function sendCase(
  { context, request, reply }: Exchange,
  caseId: string,
  shown: Shown,
  status = 200,
): Promise<FastifyReply> {
  const data = await loadCase(context, caseId, officerOf(request).officer);
  if (data === null) throw new CodedError('not_found', 'Unknown case.');
  allowLive(reply);
  return html(
    reply,
    renderPage(<CasePage frame={pageFrame(context, request, reply)} data={data} {...shown} />),
    status,
  );
}

function sendNewRequest(
  { context, request, reply }: Exchange,
  form: Readonly<Record<string, string>>,
  problems: readonly string[],
): FastifyReply {
  const reference = form['reference'] ?? randomUUID();
  const props = { sources: sourcesOf(context, request).list(), reference, form, problems };
  return html(
    reply,
    renderPage(<NewRequestPage frame={pageFrame(context, request, reply)} {...props} />),
    problems.length > 0 ? 422 : 200,
  );
}

interface NewRequestProps {
  readonly frame: PageFrame;
  readonly sources: readonly Pick<Source, 'slug' | 'name'>[];
  /** If the form is sent twice, only one case is opened. */
  readonly reference: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly problems?: readonly string[];
}

/** The form for a request that came by letter, mail, telephone or in person. */
function NewRequestPage({ frame, sources, reference, form = {}, problems = [] }: NewRequestProps) {
  const value = (name: string) => form[name] ?? '';
  const fields = fieldsOf(openCaseForm, {
    source: sourceOptions(sources),
    jurisdiction: placeChoices(value('jurisdiction')),
  });
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
            <div class="pair">
              {fields.map((field) => (
                <FieldInput key={field.name} field={field} value={value(field.name)} timeZone={frame.timeZone} />
              ))}
            </div>
            <button type="submit">Record the request</button>
          </PostForm>
        )}
      </Panel>
    </Page>
  );
}
