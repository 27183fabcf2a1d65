import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findCase } from '../../cases/list-cases.ts';
import { messageKinds } from '../../cases/moves.ts';
import { CodedError } from '../../core/errors.ts';
import { listGivenFiles } from '../../hand-over/given-files.ts';
import { type HandOverRow, loadHandedPack } from '../../hand-over/hand-over.ts';
import {
  findHandOver,
  isVisiting,
  messagesOf,
  noteDownload,
  noteFileDownload,
  openWithCode,
  sendMessage,
} from '../../hand-over/visit.ts';
import { normaliseJurisdiction } from '../../law/regime-table.ts';
import { formOf } from '../form-of.ts';
import { sendRegistered } from '../pages/documents/send-document.ts';
import { renderPage } from '../pages/parts/layout.tsx';
import { html, untilProjected } from '../pages/parts/page-frame.ts';
import { CodePage, PackPage } from './hand-over-pages.tsx';
import {
  chosenFor,
  FORM_BYTES,
  folderOf,
  protectForms,
  type Say,
  type SubjectContext,
  sayIn,
  subjectScope,
} from './subject-page.tsx';

/** A HEAD request of a mail scanner opens and downloads nothing. */
const onlyGet = { exposeHeadRoute: false };

interface Params {
  readonly Params: { readonly token: string };
}

/**
 * The page on which a data subject opens and downloads their pack: `/h/<token>` on the public listener, in its own
 * scope. The response is the same for every link that does not work, whatever the reason. Addresses in the page are
 * relative, so a proxy may serve it under a path.
 */
export async function handOverPages(app: FastifyInstance, context: SubjectContext): Promise<void> {
  const { config, store } = context;
  const visitCookie = `consent_ledger_hand_over_${context.instance}`;
  const visitOf = (request: FastifyRequest) => request.cookies[visitCookie] ?? '';
  await subjectScope(app, config.timeZone, (texts) => texts.handOver.title);
  const csrfOf = await protectForms(app, context, {
    cookieName: 'hand_over_form',
    keyName: 'hand-over forms',
    path: '/h',
    // Visitors without the code share one owner; the cookie distinguishes them.
    ownerOf: (request) => visitOf(request) || 'nobody',
  });

  app.get<Params>('/:token', onlyGet, async (request, reply) => {
    const row = await openLink(request.params.token);
    return isVisiting(context, row, visitOf(request)) ? sendPack(request, reply, row) : sendCode(request, reply, row);
  });

  app.post<Params>('/:token', { bodyLimit: FORM_BYTES }, async (request, reply) => {
    const row = await openLink(request.params.token);
    const { do: wanted = '', code = '', about = '', text = '' } = formOf(request.body);
    if (wanted === 'leave') {
      void reply.clearCookie(visitCookie, visitOptions(request));
      return again(request, reply);
    }
    if (wanted !== 'message') return enterCode(request, reply, row, code);
    if (!isVisiting(context, row, visitOf(request))) return sendCode(request, reply, row);
    const kind = messageKinds.find((one) => one === about) ?? 'question';
    const deps = { ...context, catchUp: () => context.projector.catchUp() };
    const sent = await sendMessage(deps, row, kind, text);
    if (sent.outcome === 'refused')
      return sendPack(request, reply, row, { problem: 'empty', written: { about: kind, text }, status: 422 });
    if (sent.outcome === 'too-many') return sendPack(request, reply, row, { problem: 'tooMany', status: 429 });
    await untilProjected(context, sent.seq);
    return again(request, reply, '#write');
  });

  app.get<Params>('/:token/pack', onlyGet, async (request, reply) => {
    const { token } = request.params;
    const row = await openLink(token);
    if (!isVisiting(context, row, visitOf(request))) return reply.redirect(`../${token}`, 303);
    return sendRegistered(context, reply, row.document_id, () => noteDownload(context, row));
  });

  app.get<{ Params: { token: string; documentId: string } }>(
    '/:token/files/:documentId',
    onlyGet,
    async (request, reply) => {
      const { token, documentId } = request.params;
      const row = await openLink(token);
      if (!isVisiting(context, row, visitOf(request))) return reply.redirect(`../../${token}`, 303);
      const file = (await listGivenFiles(store.read, row)).find((one) => one.document_id === documentId);
      if (file === undefined) throw new CodedError('not_found');
      const { sha256 } = file;
      return sendRegistered(context, reply, documentId, () => noteFileDownload(context, row, { documentId, sha256 }));
    },
  );

  async function openLink(token: string): Promise<HandOverRow> {
    const row = await findHandOver(context, token);
    if (row === null) throw new CodedError('not_found');
    return row;
  }

  async function enterCode(request: FastifyRequest<Params>, reply: FastifyReply, row: HandOverRow, code: string) {
    const opened = await openWithCode(context, row, code);
    if (opened.outcome === 'gone') throw new CodedError('not_found');
    if (opened.outcome === 'refused') return sendCode(request, reply, row, opened.attemptsLeft);
    void reply.setCookie(visitCookie, opened.visit, visitOptions(request));
    return again(request, reply);
  }

  function visitOptions(request: FastifyRequest) {
    const { token } = request.params as Params['Params'];
    return {
      path: `${folderOf(config)}/h/${token}`,
      httpOnly: true,
      sameSite: 'strict',
      secure: request.protocol === 'https' || config.publicUrl?.startsWith('https:') === true,
    } as const;
  }

  /** Redirects back to the page, with a relative address. */
  function again(request: FastifyRequest<Params>, reply: FastifyReply, part = ''): FastifyReply {
    const { language = '' } = formOf(request.query);
    const query = language === '' ? '' : `?${new URLSearchParams({ language }).toString()}`;
    return reply.redirect(`${request.params.token}${query}${part}`, 303);
  }

  /** In the language of the case as it is now, which may have been corrected since the link was made. */
  async function sayTo(request: FastifyRequest, { source: slug, case_id: caseId }: HandOverRow): Promise<Say> {
    const [found, profile] = await Promise.all([
      findCase(store.read, caseId),
      context.loadProfile(context.sources.findAny(slug)),
    ]);
    const chosen = chosenFor(request, {
      own: found?.language ?? null,
      ofController: profile?.language ?? null,
      place: normaliseJurisdiction(found?.jurisdiction ?? null),
    });
    return sayIn(chosen, config.timeZone);
  }

  async function controllerOf({ source: slug }: HandOverRow): Promise<string> {
    const source = context.sources.findAny(slug);
    return (await context.loadProfile(source))?.name ?? source?.name ?? slug;
  }

  async function sendCode(request: FastifyRequest, reply: FastifyReply, row: HandOverRow, attemptsLeft?: number) {
    const say = await sayTo(request, row);
    const page = (
      <CodePage
        say={say}
        controller={await controllerOf(row)}
        csrf={csrfOf(request, reply)}
        attemptsLeft={attemptsLeft ?? null}
      />
    );
    return html(reply, renderPage(page), attemptsLeft === undefined ? 200 : 403);
  }

  async function sendPack(
    request: FastifyRequest<Params>,
    reply: FastifyReply,
    row: HandOverRow,
    {
      status = 200,
      ...shown
    }: Pick<Parameters<typeof PackPage>[0], 'problem' | 'written'> & { readonly status?: number } = {},
  ) {
    const say = await sayTo(request, row);
    const [pack, files] = await Promise.all([loadHandedPack(store.read, row), listGivenFiles(store.read, row)]);
    const page = (
      <PackPage
        say={say}
        controller={await controllerOf(row)}
        csrf={csrfOf(request, reply)}
        handOver={row}
        token={request.params.token}
        {...pack}
        files={files.map((one) => ({
          ...{ documentId: one.document_id, name: one.file_name },
          ...{ sha256: one.sha256, bytes: Number(one.bytes) },
        }))}
        keyAddress={config.publicUrl === null ? null : `${config.publicUrl}/.well-known/consent-ledger/log.vkey`}
        messages={await messagesOf(context, row)}
        {...shown}
      />
    );
    return html(reply, renderPage(page), status);
  }
}
