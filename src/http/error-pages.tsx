import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { CodedError, type ErrorCode, errorCodes, StoreUnavailable, UsageError } from '../core/errors.ts';
import { Page, renderPage } from './pages/parts/layout.tsx';
import { html } from './pages/parts/page-frame.ts';

/** The error code for an exception; bugs are `internal`. */
export function errorCodeOf(error: unknown): ErrorCode {
  if (error instanceof CodedError) return error.code;
  if (error instanceof StoreUnavailable) return 'store_unavailable';
  const { statusCode, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'body_too_large';
  if (typeof code === 'string' && code.startsWith('FST_CSRF')) return 'forbidden';
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'unsupported_media_type';
  if (statusCode === 429) return 'too_many_requests';
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? 'invalid_request' : 'internal';
}

/** Answers with the envelope `{"error":{"code","message"}}` (docs/service.md §7); the text never reveals internals. */
function sendError(reply: FastifyReply, code: ErrorCode, message: string = errorCodes[code].text): FastifyReply {
  const { status } = errorCodes[code];
  if (status === 503) void reply.header('retry-after', '5');
  return reply.code(status).type('application/json; charset=utf-8').send({ error: { code, message } });
}

/** Makes an app answer every error and every unknown address with the envelope. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = errorCodeOf(error);
    if (errorCodes[code].status >= 500) request.log.error({ err: error }, 'a request failed');
    return sendError(reply, code, error instanceof CodedError ? error.message : undefined);
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, 'not_found'));
}

/** Answers requests that reach no route (not HTTP, too slow, or with an invalid path) with the envelope. */
export const answersToMalformed = {
  clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    const code =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : error.code === 'HPE_HEADER_OVERFLOW'
          ? 'headers_too_large'
          : 'invalid_request';
    const { status, text } = errorCodes[code];
    const body = JSON.stringify({ error: { code, message: text } });
    // If a response has already begun, a second one would be read as part of it.
    const begun = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
    if (socket.writable && !begun) {
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
    socket.destroy();
  },
  frameworkErrors(error: FastifyError, _request: unknown, reply: FastifyReply): void {
    void sendError(reply, error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'not_found' : errorCodeOf(error));
  },
} satisfies Pick<FastifyServerOptions, 'clientErrorHandler' | 'frameworkErrors'>;

const titles: Partial<Record<keyof typeof errorCodes, string>> = {
  sign_in_required: 'Please sign in',
  link_invalid: 'This link is not valid',
  forbidden: 'This form has expired',
  not_allowed: 'Not allowed',
  misdirected: 'Wrong address',
  not_found: 'Page not found',
  conflict: 'Changed in the meantime',
  too_many_requests: 'Too many requests',
  store_unavailable: 'Temporarily unavailable',
  overloaded: 'Temporarily unavailable',
};

/** How a problem with a controller profile begins (config/settings-files.ts). */
const PROFILE = 'Controller profile ';

/** Links from error pages, with their texts. */
const ways = {
  home: ['/', 'Go to Today'],
  'sign-in': ['/sign-in', 'Go to the sign-in page'],
  profile: ['/settings/profile', 'See the controller profile, which an owner or admin corrects'],
} as const;

/** Makes an app answer errors and unknown addresses with a page. */
export function answerErrorsWithPages(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof UsageError) {
      request.log.error({ err: error }, 'the configuration is not valid');
      const isOfProfile = error.problems.some((problem) => problem.startsWith(PROFILE));
      const props = isOfProfile
        ? {
            title: 'The controller profile has problems',
            // Officers need not know where files are.
            sentences: error.problems.map((problem) => problem.replace(/^.*?[/\\]([^/\\]+?:? )/, `${PROFILE}$1`)),
            way: isSignedIn(reply) ? ('profile' as const) : null,
          }
        : {
            title: 'The configuration is not valid',
            sentences: error.problems,
            way: isSignedIn(reply) ? ('home' as const) : null,
          };
      return html(reply, renderPage(<ErrorPage {...props} />), 500);
    }
    const code = errorCodeOf(error);
    if (errorCodes[code].status >= 500) request.log.error({ err: error }, 'a request failed');
    return sendErrorPage(reply, code, (code === 'not_found' ? answerOnly(request) : undefined) ?? sentenceOf(error));
  });
  app.setNotFoundHandler((request, reply) => sendErrorPage(reply, 'not_found', answerOnly(request)));

  /** For people who open, from their history or a colleague's message, the address of a page that a form led to. */
  function answerOnly({ method, url }: FastifyRequest): string | undefined {
    const [path = ''] = url.split('?');
    return method === 'GET' &&
      app.hasRoute({ method: 'POST', url: path }) &&
      !app.hasRoute({ method: 'GET', url: path })
      ? 'This page only appears after a form was sent: fill in the form again.'
      : undefined;
  }
}

/** A page for one of the error codes, with its status. */
function sendErrorPage(reply: FastifyReply, code: keyof typeof errorCodes, sentence?: string): FastifyReply {
  const { status, text } = errorCodes[code];
  if (status === 503) void reply.header('retry-after', '5');
  const way = isSignedIn(reply) ? 'home' : code === 'sign_in_required' || code === 'link_invalid' ? 'sign-in' : null;
  const page = <ErrorPage title={titles[code] ?? 'Request failed'} sentences={[sentence ?? text]} way={way} />;
  return html(reply, renderPage(page), status);
}

/** Outside the scope with sessions, nobody is signed in. */
function isSignedIn({ request }: FastifyReply): boolean {
  return (request.signedIn ?? null) !== null;
}

/** The error's own message, if it was written for pages. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof StoreUnavailable)
    return 'The database is temporarily unavailable. Nothing was changed; try again in a moment.';
  return error instanceof CodedError ? error.message : undefined;
}

/** What went wrong and what to do about it. `way`: where to go next, if anywhere. */
function ErrorPage({
  title,
  sentences,
  way,
}: {
  title: string;
  sentences: readonly string[];
  way: keyof typeof ways | null;
}) {
  return (
    <Page title={title} frame={null}>
      <div class="panel narrow">
        <h1>{title}</h1>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {way === null ? null : (
          <p>
            <a href={ways[way][0]}>{ways[way][1]}</a>
          </p>
        )}
      </div>
    </Page>
  );
}
