import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fill } from '../../../reports/letters/wording.ts';
import type { taskOutcomes } from '../../cases/moves.ts';
import { CodedError } from '../../core/errors.ts';
import { type FoundTask, finishTask, openTask, TASK_NOTE_LENGTH } from '../../hand-over/task-link.ts';
import { formOf } from '../form-of.ts';
import { Csrf, renderPage } from '../pages/parts/layout.tsx';
import { html, untilProjected } from '../pages/parts/page-frame.ts';
import {
  chosenFor,
  FORM_BYTES,
  Heading,
  Notice,
  protectForms,
  type Say,
  type SubjectContext,
  SubjectPage,
  sayIn,
  subjectScope,
} from './subject-page.tsx';

/** A HEAD request of a mail scanner opens nothing. */
const onlyGet = { exposeHeadRoute: false };

interface Params {
  readonly Params: { readonly caseId: string; readonly key: string };
}

/**
 * The page where the owner of another system finishes one task: `/t/<case>/<key>` on the public listener, in its own
 * scope. It shows what the officer wrote into the task, and nothing else about the request. The response is the same
 * for every link that does not work, whatever the reason.
 */
export async function taskPages(app: FastifyInstance, context: SubjectContext): Promise<void> {
  const { config } = context;
  await subjectScope(app, config.timeZone, (texts) => texts.task.title);
  const csrfOf = await protectForms(app, context, {
    cookieName: 'task_form',
    keyName: 'task forms',
    path: '/t',
    // Each form is bound to its link.
    ownerOf: (request) => (request.params as Params['Params']).key,
  });

  app.get<Params>('/:caseId/:key', onlyGet, async (request, reply) => send(request, reply, await openLink(request)));

  app.post<Params>('/:caseId/:key', { bodyLimit: FORM_BYTES }, async (request, reply) => {
    const found = await openLink(request);
    const { outcome = '', note = '' } = formOf(request.body);
    const wanted = outcome === 'done' ? 'done' : 'not-done';
    const finished = await finishTask(context, found, wanted, note);
    // Loads it again: if the same form is sent twice, the response shows what was recorded.
    if (finished.outcome === 'refused')
      return found.task.outcome === wanted
        ? again(request, reply)
        : send(request, reply, await openLink(request), { outcome: wanted, note });
    await untilProjected(context, finished.seq);
    return again(request, reply);
  });

  async function openLink(request: FastifyRequest<Params>): Promise<FoundTask> {
    const found = await openTask(context, request.params.caseId, request.params.key);
    if (found === null) throw new CodedError('not_found');
    return found;
  }

  /** Redirects back to the page, with a relative address. */
  function again(request: FastifyRequest<Params>, reply: FastifyReply): FastifyReply {
    const { language = '' } = formOf(request.query);
    const query = language === '' ? '' : `?${new URLSearchParams({ language }).toString()}`;
    return reply.redirect(`${request.params.key}${query}`, 303);
  }

  async function send(
    request: FastifyRequest<Params>,
    reply: FastifyReply,
    found: FoundTask,
    written: TaskProps['written'] = null,
  ) {
    const source = context.sources.findAny(found.row.source);
    const profile = await context.loadProfile(source);
    const props: TaskProps = {
      // Not in the requester's language: the owner of another system is somebody else.
      say: sayIn(chosenFor(request, { ofController: profile?.language ?? null }), config.timeZone),
      controller: profile?.name ?? source?.name ?? found.row.source,
      csrf: csrfOf(request, reply),
      found,
      written,
    };
    return html(reply, renderPage(<TaskPage {...props} />), written === null ? 200 : 422);
  }
}

interface TaskProps {
  readonly say: Say;
  readonly controller: string;
  readonly csrf: string;
  readonly found: FoundTask;
  /** The refused input, to be corrected. */
  readonly written: { readonly outcome: (typeof taskOutcomes)[number]; readonly note: string } | null;
}

function TaskPage(props: TaskProps) {
  const { say, controller, found } = props;
  const { task, row } = found;
  const { texts, fix } = say;
  const t = texts.task;
  return (
    <SubjectPage say={say} title={`${t.title} · ${controller}`}>
      <Heading controller={controller} text={t.title} />
      <p>
        {fix(fill(t.lead, { controller }))}
        <br />
        {fix(fill(texts.frame.reference, { reference: row.case_id }))}
      </p>
      <section aria-labelledby="what">
        <h2 id="what">
          <bdi>{task.what}</bdi>
        </h2>
        {task.instructions === null ? null : (
          <p class="written">
            <bdi>{task.instructions}</bdi>
          </p>
        )}
        <p>{fix(fill(t.due, { due: say.date(task.due) }))}</p>
      </section>
      {task.outcome === null || task.finishedAt === null ? null : (
        <Notice
          text={fix(
            fill(task.outcome === 'done' ? t.reportedDone : t.reportedNotDone, { at: say.moment(task.finishedAt) }),
          )}
        />
      )}
      {task.outcome === 'done' ? null : <OutcomeForm {...props} />}
    </SubjectPage>
  );
}

function OutcomeForm({ say, csrf, found, written }: TaskProps) {
  const { texts, fix } = say;
  const t = texts.task;
  const reported = found.task.outcome === 'not-done';
  return (
    <section aria-labelledby="outcome">
      <h2 id="outcome">{t.outcome}</h2>
      {written === null ? null : <Notice bad text={fix(t.noteMissing)} />}
      <form method="post">
        <Csrf token={csrf} />
        <fieldset aria-labelledby="outcome">
          <label>
            <input type="radio" name="outcome" value="done" required checked={reported} /> {t.done}
          </label>
          {reported ? null : (
            <label>
              <input type="radio" name="outcome" value="not-done" checked={written?.outcome === 'not-done'} />{' '}
              {t.notDone}
            </label>
          )}
        </fieldset>
        <label for="note">{t.note}</label>
        <p class="hint" id="note-hint">
          {fix(t.noteHint)}
        </p>
        <textarea id="note" name="note" maxLength={TASK_NOTE_LENGTH} aria-describedby="note-hint">
          {`\n${written?.note ?? ''}`}
        </textarea>
        <button type="submit">{texts.handOver.send}</button>
      </form>
      <p class="hint">{fix(fill(texts.handOver.until, { until: say.moment(found.task.linkUntil ?? '') }))}</p>
    </section>
  );
}
