import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { CodedError, type ErrorCode, errorCodes, UsageError } from '../../core/errors.ts';
import { errorCodeOf } from '../error-pages.tsx';
import { RefusedRequest } from './route.ts';

/** Makes a scope answer every error as a problem document (RFC 9457). 5xx texts reveal no internals. */
export function answerErrorsAsProblems(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = error instanceof UsageError ? 'internal' : errorCodeOf(error);
    const { status } = errorCodes[code];
    if (status >= 500) request.log.error({ err: error }, 'a request of the API failed');
    const detail = error instanceof CodedError ? error.message : (bodyErrors[error.code] ?? errorCodes[code].text);
    return sendProblem(reply, code, detail, error instanceof RefusedRequest ? error.problems : []);
  });
}

/** What is wrong with a body that Fastify could not parse. */
const bodyErrors: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty, but its content type is application/json.',
};

const titles: Partial<Record<ErrorCode, string>> = {
  sign_in_required: 'A token is required',
  not_allowed: 'Not allowed',
  not_found: 'Not found',
  invalid_request: 'The request is not valid',
  refused: 'Refused',
  conflict: 'Conflict',
  too_many_requests: 'Too many requests',
};

/** The envelope of every error: `type` links to its meaning in the reference, `code` is for programs. */
function problemOf(code: ErrorCode, detail: string, problems: readonly string[] = []) {
  const { status } = errorCodes[code];
  return {
    type: `/api#error-${code}`,
    title: titles[code] ?? 'The request failed',
    status,
    code,
    detail: code === 'sign_in_required' ? TOKEN_NEEDED : detail,
    ...(problems.length === 0 ? {} : { problems }),
  };
}

const TOKEN_NEEDED =
  'Send a valid API token as `Authorization: Bearer clt_…`. Create tokens under “Your account”, or with `consent-ledger token api`.';

/** Answers with a problem. */
export function sendProblem(
  reply: FastifyReply,
  code: ErrorCode,
  detail: string,
  problems: readonly string[] = [],
): FastifyReply {
  const { status } = errorCodes[code];
  if (status === 503) void reply.header('retry-after', '5');
  if (code === 'sign_in_required') void reply.header('www-authenticate', 'Bearer realm="consent-ledger"');
  return reply
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemOf(code, detail, problems)));
}
