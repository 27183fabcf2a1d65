import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { CodedError, errorCodes, StoreUnavailable, UsageError } from '../core/errors.ts';
import { renderPage } from '../dashboard/layout.tsx';
import { ErrorPage } from '../dashboard/plain-pages.tsx';
import { codeOf } from './errors.ts';
import { html } from './html.ts';

const titles: Partial<Record<keyof typeof errorCodes, string>> = {
  sign_in_required: 'Please sign in',
  link_invalid: 'This link is not valid',
  forbidden: 'This form has expired',
  misdirected: 'Wrong address',
  not_found: 'Page not found',
  conflict: 'Changed in the meantime',
  too_many_requests: 'Too many requests',
  store_unavailable: 'Temporarily unavailable',
  overloaded: 'Temporarily unavailable',
};

/** Makes an app answer errors and unknown addresses with a page for people. */
export function answerErrorsWithPages(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof UsageError) {
      request.log.error({ err: error }, 'the configuration is not valid');
      return html(
        reply,
        renderPage(
          <ErrorPage title="The configuration is not valid" sentences={error.problems} home={isSignedIn(reply)} />,
        ),
        500,
      );
    }
    const code = codeOf(error);
    if (errorCodes[code].status >= 500) request.log.error({ err: error }, 'a request failed');
    return sendErrorPage(reply, code, sentenceOf(error));
  });
  app.setNotFoundHandler((_request, reply) => sendErrorPage(reply, 'not_found'));
}

/** A page for one of the error codes, with its status. */
export function sendErrorPage(reply: FastifyReply, code: keyof typeof errorCodes, sentence?: string): FastifyReply {
  const { status, text } = errorCodes[code];
  if (status === 503) void reply.header('retry-after', '5');
  return html(
    reply,
    renderPage(
      <ErrorPage title={titles[code] ?? 'Request failed'} sentences={[sentence ?? text]} home={isSignedIn(reply)} />,
    ),
    status,
  );
}

/** Outside the scope that knows sessions nobody is. */
function isSignedIn({ request }: FastifyReply): boolean {
  return (request.signedIn ?? null) !== null;
}

/** What an error says itself, where it was written for this page. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof StoreUnavailable)
    return 'The database is temporarily unavailable. Nothing was changed; try again in a moment.';
  return error instanceof CodedError ? error.message : undefined;
}
