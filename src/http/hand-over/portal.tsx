import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JSX } from 'preact';
import { dateIn, fixedSpaces, joined } from '../../../reports/letters/letter.ts';
import { type ChosenLanguage, chooseLanguage, letterLanguages } from '../../../reports/letters/languages.ts';
import { messageKinds } from '../../cases/moves.ts';
import type { Context } from '../../context.ts';
import { addressGroup } from '../../core/address.ts';
import { CodedError, errorCodes } from '../../core/errors.ts';
import { dateIn as dayIn } from '../../core/zoned-days.ts';
import { hmacSha256 } from '../../crypto/hash.ts';
import type { HandOverRow } from '../../hand-over/hand-over.ts';
import {
  findHandOver,
  isVisiting,
  messagesOf,
  noteDownload,
  openWithCode,
  sendMessage,
} from '../../hand-over/visit.ts';
import { codeOf } from '../errors.tsx';
import { sendRegistered } from '../pages/documents.tsx';
import { formOf, html, untilProjected } from '../pages/frame.ts';
import { renderPage } from '../pages/layout.tsx';
import { requireCsrf } from '../auth/sessions.ts';
import { CodePage, MessagePage, PackPage, portalStyleHash, type Say } from './portal-pages.tsx';

/** What the pages of data subjects work with. */
export type PortalContext = Pick<
  Context,
  | 'store'
  | 'ledger'
  | 'clock'
  | 'keys'
  | 'cases'
  | 'documents'
  | 'sources'
  | 'projector'
  | 'config'
  | 'instance'
  | 'loadProfile'
  | 'log'
>;

/** Requests of one address in a minute: a page and a download are a handful, and a proxy that hides addresses should not lock everyone out. */
const REQUESTS_PER_MINUTE = 60;
const FORM_BYTES = 65_536;
/** A HEAD of a mail scanner opens and downloads nothing. */
const onlyGet = { exposeHeadRoute: false };

interface Params {
  readonly Params: { readonly token: string };
}

/**
 * The page on which a data subject opens and downloads their pack: `/h/<token>` of the public listener, a scope of its own. Whatever is wrong with a link, the
 * answer is the same as for one that never was. Addresses in it are relative, so that a proxy may serve it under a path.
 */
export async function handOverPortal(app: FastifyInstance, context: PortalContext): Promise<void> {
  const { config, keys, store } = context;
  const folder = config.publicUrl === null ? '' : new URL(config.publicUrl).pathname.replace(/\/$/, '');
  const visitCookie = `consent_ledger_hand_over_${context.instance}`;
  answerErrorsInWords(app, config.timeZone);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: [portalStyleHash],
        imgSrc: ['data:'],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // TLS ends at the proxy in front: whether this host is to be HTTPS for good is its decision.
    strictTransportSecurity: false,
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    void reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex, nofollow, noarchive');
    return payload;
  });
  await app.register(rateLimit, {
    max: REQUESTS_PER_MINUTE,
    timeWindow: '1 minute',
    keyGenerator: (request) => addressGroup(request.ip),
  });
  await app.register(cookie);
  await app.register(formbody, { bodyLimit: FORM_BYTES });
  const formCookie = { path: `${folder}/h`, httpOnly: true, sameSite: 'strict' } as const;
  const visitOf = (request: FastifyRequest) => request.cookies[visitCookie] ?? '';
  // Of a visitor without the code it is what every such visitor has: the cookie tells them apart.
  const formOwner = (request: FastifyRequest) => visitOf(request) || 'nobody';
  await app.register(csrf, {
    sessionPlugin: '@fastify/cookie',
    cookieKey: `consent_ledger_hand_over_form_${context.instance}`,
    cookieOpts: formCookie,
    csrfOpts: {
      hmacKey: hmacSha256(keys.instance.session, Buffer.from('hand-over forms')).toString('base64'),
      userInfo: true,
    },
    getUserInfo: formOwner,
    getToken: (request) => (request.body as { _csrf?: string } | null)?._csrf,
  });
  requireCsrf(app);

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
      return sendPack(request, reply, row, { problem: 'empty', written: { about: kind, text } }, 422);
    if (sent.outcome === 'too-many') return sendPack(request, reply, row, { problem: 'tooMany' }, 429);
    await untilProjected(context, sent.seq);
    return again(request, reply, '#write');
  });

  app.get<Params>('/:token/pack', onlyGet, async (request, reply) => {
    const { token } = request.params;
    const row = await openLink(token);
    if (!isVisiting(context, row, visitOf(request))) return reply.redirect(`../${token}`, 303);
    return sendRegistered(context, reply, row.document_id, () => noteDownload(context, row));
  });

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
      path: `${folder}/h/${token}`,
      httpOnly: true,
      sameSite: 'strict',
      secure: request.protocol === 'https' || config.publicUrl?.startsWith('https:') === true,
    } as const;
  }

  /** Back to the page, relative to it. */
  function again(request: FastifyRequest<Params>, reply: FastifyReply, part = ''): FastifyReply {
    const { language = '' } = formOf(request.query);
    const query = language === '' ? '' : `?${new URLSearchParams({ language }).toString()}`;
    return reply.redirect(`${request.params.token}${query}${part}`, 303);
  }

  async function controllerOf({ source: slug }: HandOverRow): Promise<string> {
    const source = context.sources.findAny(slug);
    return (await context.loadProfile(source))?.name ?? source?.name ?? slug;
  }

  async function sendCode(request: FastifyRequest, reply: FastifyReply, row: HandOverRow, attemptsLeft?: number) {
    const say = sayIn(chosenFor(request, row.language), config.timeZone);
    const page = (
      <CodePage
        say={say}
        controller={await controllerOf(row)}
        csrf={reply.generateCsrf({ ...formCookie, userInfo: formOwner(request) })}
        attemptsLeft={attemptsLeft ?? null}
      />
    );
    return html(reply, renderPage(page), attemptsLeft === undefined ? 200 : 403);
  }

  async function sendPack(
    request: FastifyRequest<Params>,
    reply: FastifyReply,
    row: HandOverRow,
    shown: Pick<Parameters<typeof PackPage>[0], 'problem' | 'written'> = {},
    status = 200,
  ) {
    const say = sayIn(chosenFor(request, row.language), config.timeZone);
    const [found, document] = await Promise.all([
      store.read
        .selectFrom('cases')
        .select(['kind', 'receipt_at'])
        .where('case_id', '=', row.case_id)
        .executeTakeFirstOrThrow(),
      store.read
        .selectFrom('documents')
        .select('bytes')
        .where('document_id', '=', row.document_id)
        .executeTakeFirstOrThrow(),
    ]);
    const page = (
      <PackPage
        say={say}
        controller={await controllerOf(row)}
        csrf={reply.generateCsrf({ ...formCookie, userInfo: formOwner(request) })}
        handOver={row}
        token={request.params.token}
        kind={found.kind}
        receivedAt={found.receipt_at}
        bytes={Number(document.bytes)}
        keyAddress={config.publicUrl === null ? null : `${config.publicUrl}/.well-known/consent-ledger/log.vkey`}
        messages={await messagesOf(context, row)}
        {...shown}
      />
    );
    return html(reply, renderPage(page), status);
  }
}

/** The language of a page: the one that was picked on it, else that of the request or, where nothing is known, of the browser. */
function chosenFor(request: FastifyRequest, language: string | null): ChosenLanguage {
  const picked = formOf(request.query)['language'];
  const accepted = language === null ? acceptedLanguages(request) : [language];
  return chooseLanguage([picked !== undefined && Object.hasOwn(letterLanguages, picked) ? picked : null, ...accepted]);
}

/** RFC 9110 §12.5.4, in the order given: browsers send the best first. */
function acceptedLanguages({ headers }: FastifyRequest): readonly string[] {
  const tags = (headers['accept-language'] ?? '').slice(0, 200).split(',');
  return tags.map((tag) => tag.split(';')[0]?.trim() ?? '').slice(0, 10);
}

/** What a page says in its language. */
function sayIn({ language, locale }: ChosenLanguage, timeZone: string): Say {
  const texts = letterLanguages[language];
  if (texts === undefined) throw new Error(`there are no texts in ${language}`);
  return {
    language,
    locale,
    texts,
    fix: (text) => fixedSpaces(joined(text, locale), language),
    moment(iso) {
      const time = new Intl.DateTimeFormat(locale, {
        hour: '2-digit',
        minute: '2-digit',
        timeZone,
        timeZoneName: 'short',
      }).format(new Date(iso));
      return `${dateIn(dayIn(iso, timeZone), locale)}, ${time}`;
    },
    day: (iso) => dateIn(dayIn(iso, timeZone), locale),
  };
}

function answerErrorsInWords(app: FastifyInstance, timeZone: string): void {
  const send = (request: FastifyRequest, reply: FastifyReply, status: number, page: (say: Say) => JSX.Element) =>
    html(reply, renderPage(page(sayIn(chosenFor(request, null), timeZone))), status);
  const sendInvalid = (request: FastifyRequest, reply: FastifyReply) =>
    send(request, reply, 404, (say) => (
      <MessagePage say={say} title={say.texts.handOver.invalidTitle} text={say.texts.handOver.invalid} />
    ));
  app.setNotFoundHandler(sendInvalid);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = codeOf(error);
    const { status } = errorCodes[code];
    if (code === 'not_found') return sendInvalid(request, reply);
    if (status >= 500 || code === 'conflict') request.log.error({ err: error }, 'a page of a hand-over failed');
    if (status === 503) void reply.header('retry-after', '5');
    const text =
      code === 'too_many_requests' ? 'wait' : status < 500 && code !== 'conflict' ? 'formExpired' : 'unavailable';
    return send(request, reply, status, (say) => (
      <MessagePage say={say} title={say.texts.handOver.title} text={say.texts.handOver[text]} />
    ));
  });
}
