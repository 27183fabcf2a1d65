import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { listCases } from '../../cases/list-cases.ts';
import { moveCase } from '../../cases/move-case.ts';
import { isMoveName } from '../../cases/move-details.ts';
import { openCase, type OpenCaseInput } from '../../cases/open-case.ts';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import { momentAt } from '../../core/zoned-days.ts';
import { CasePage } from '../../dashboard/case-page.tsx';
import { renderPage } from '../../dashboard/layout.tsx';
import { loadCase } from '../../dashboard/load-case.ts';
import { readDetails } from '../../dashboard/move-fields.ts';
import { NewRequestPage } from '../../dashboard/new-request-page.tsx';
import { RequestsPage } from '../../dashboard/requests-page.tsx';
import { officerOf } from '../auth/guard.ts';
import { formOf, html } from '../html.ts';
import { frameOf, untilDoneSoon, untilProjected } from './frame.ts';

/** What an address may say was just done. */
const doneTexts: Readonly<Record<string, string>> = {
  opened: 'The request has been recorded.',
  moved: 'Recorded in the ledger.',
  letter: 'The letter has been created. Download it under Letters.',
  pack: 'The pack is being created. It will appear under Response pack.',
};

/** Of the settled requests, the latest; the register of requests (a report) has them all. */
const SETTLED_SHOWN = 200;

interface CaseParams {
  readonly Params: { readonly caseId: string };
}

/** The pages of requests, and the moves that officers make. */
export async function caseRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/cases', async (request, reply) => {
    const { source = '' } = formOf(request.query);
    const known = context.sources.find(source)?.slug ?? null;
    const filter = {
      now: context.clock().toISOString(),
      limit: SETTLED_SHOWN,
      ...(known === null ? {} : { source: known }),
    };
    const props = { cases: await listCases(context.cases, filter), sources: context.sources.list(), source: known };
    return html(reply, renderPage(<RequestsPage frame={frameOf(context, request, reply)} {...props} />));
  });

  app.get('/cases/new', (request, reply) => sendNewRequest(request, reply, {}, []));

  app.post('/cases', async (request, reply) => {
    const form = formOf(request.body);
    const actor = officerOf(request).officer;
    const receivedAt = momentOf(form['receivedAt'] ?? '');
    if (receivedAt === null) return sendNewRequest(request, reply, form, ['Enter when the request was received.']);
    const opened = await openCase(context.cases, inputOf(form, actor, receivedAt));
    if (opened.outcome === 'refused') return sendNewRequest(request, reply, form, opened.problems);
    await untilProjected(context, opened.seq);
    return reply.redirect(`/cases/${encodeURIComponent(opened.caseId)}?done=opened`, 303);
  });

  app.get<CaseParams>('/cases/:caseId', (request, reply) => {
    const { done = '' } = formOf(request.query);
    return sendCase(request, reply, request.params.caseId, { done: doneTexts[done] ?? null });
  });

  app.post<CaseParams>('/cases/:caseId/moves', async (request, reply) => {
    const { caseId } = request.params;
    const form = formOf(request.body);
    const { move = '', basedOn = '' } = form;
    if (!isMoveName(move) || !/^\d{1,9}$/.test(basedOn)) throw new CodedError('invalid_request');
    const refused = { move, form };
    const read = readDetails(move, form, context.config.timeZone);
    if (read.outcome === 'refused') return sendCase(request, reply, caseId, { problems: read.problems, refused }, 422);
    const actor = officerOf(request).officer;
    const moved = await moveCase(context.cases, {
      caseId,
      basedOn: Number(basedOn),
      move,
      details: read.details,
      actor,
    });
    switch (moved.outcome) {
      case 'moved':
        await untilProjected(context, moved.seq);
        return reply.redirect(`/cases/${encodeURIComponent(caseId)}?done=moved`, 303);
      case 'refused':
        return sendCase(request, reply, caseId, { problems: moved.problems, refused }, 422);
      case 'conflict': {
        const problems = [
          'Someone else changed this case in the meantime. This is its current state; review it and submit the form again.',
        ];
        return sendCase(request, reply, caseId, { problems, refused }, 409);
      }
      case 'not-found':
        throw new CodedError('not_found', 'Unknown case.');
      default:
        return moved satisfies never;
    }
  });

  app.post<CaseParams>('/cases/:caseId/pack', async (request, reply) => {
    const { caseId } = request.params;
    if ((await loadCase(context, caseId)) === null) throw new CodedError('not_found', 'Unknown case.');
    const payload = { type: 'pack', caseId, actor: officerOf(request).officer };
    const { id } = await context.jobs.enqueue({ kind: 'document', key: `pack ${caseId}`, payload, priority: 1 });
    await untilDoneSoon(context, id);
    return reply.redirect(`/cases/${encodeURIComponent(caseId)}?done=pack`, 303);
  });

  interface Shown {
    readonly problems?: readonly string[];
    readonly refused?: { readonly move: string; readonly form: Readonly<Record<string, string>> } | null;
    readonly done?: string | null;
  }

  async function sendCase(
    request: FastifyRequest,
    reply: FastifyReply,
    caseId: string,
    shown: Shown,
    status = 200,
  ): Promise<FastifyReply> {
    const data = await loadCase(context, caseId);
    if (data === null) throw new CodedError('not_found', 'Unknown case.');
    return html(
      reply,
      renderPage(<CasePage frame={frameOf(context, request, reply)} data={data} {...shown} />),
      status,
    );
  }

  function sendNewRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    form: Readonly<Record<string, string>>,
    problems: readonly string[],
  ): FastifyReply {
    const reference = form['reference'] ?? randomUUID();
    const props = { sources: context.sources.list(), reference, form, problems };
    return html(
      reply,
      renderPage(<NewRequestPage frame={frameOf(context, request, reply)} {...props} />),
      problems.length > 0 ? 422 : 200,
    );
  }

  function momentOf(local: string): string | null {
    try {
      return momentAt(local, context.config.timeZone);
    } catch {
      return null;
    }
  }

  function inputOf(form: Readonly<Record<string, string>>, actor: string, receivedAt: string): OpenCaseInput {
    const text = (name: string) => form[name]?.trim() || null;
    const reference = text('reference');
    return {
      source: form['source'] ?? '',
      actor,
      receivedAt,
      // The schema of the use-case judges it; the type only knows the right ones.
      kind: (form['kind'] ?? '') as OpenCaseInput['kind'],
      channel: form['channel'] ?? '',
      requesterName: text('requesterName'),
      requesterEmail: text('requesterEmail'),
      subject: text('subject'),
      jurisdiction: text('jurisdiction'),
      message: text('message'),
      ...(reference === null ? {} : { reference }),
    };
  }
}
