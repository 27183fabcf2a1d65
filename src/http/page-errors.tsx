import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { CodedError, errorCodes, StoreUnavailable, UsageError } from '../core/errors.ts';
import { renderPage, Csrf, Page } from './pages/layout.tsx';
import { codeOf } from './errors.ts';
import { html } from './pages/frame.ts';

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
function sendErrorPage(reply: FastifyReply, code: keyof typeof errorCodes, sentence?: string): FastifyReply {
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

/** The page behind a one-time link. Opening it uses nothing up, so that a mail program's preview does not either. */
export function SignInPage({ officer, token, csrf }: { officer: string; token: string; csrf: string }) {
  return (
    <Page title="Sign in" frame={null}>
      <div class="panel narrow">
        <h1>Sign in</h1>
        <p>This link signs you in as {officer}. It works once.</p>
        <form method="post" action="/sign-in">
          <Csrf token={csrf} />
          <input type="hidden" name="token" value={token} />
          <button type="submit">Sign in as {officer}</button>
        </form>
      </div>
    </Page>
  );
}

/** After signing out. */
export function SignedOutPage() {
  return (
    <Page title="Signed out" frame={null}>
      <div class="panel narrow">
        <h1>Signed out</h1>
        <p>
          To sign in again, ask the operator for a new link: <span class="mono">consent-ledger token create</span>
        </p>
      </div>
    </Page>
  );
}

/** What went wrong and what to do about it. `home`: a way back for who is signed in. */
function ErrorPage({
  title,
  sentences,
  home = false,
}: {
  title: string;
  sentences: readonly string[];
  home?: boolean;
}) {
  return (
    <Page title={title} frame={null}>
      <div class="panel narrow">
        <h1>{title}</h1>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {home ? (
          <p>
            <a href="/">To Today</a>
          </p>
        ) : null}
      </div>
    </Page>
  );
}
