import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify';
import { CodedError, type ErrorCode, errorCodes, StoreUnavailable } from '../core/errors.ts';

/** The error code that an exception is answered with. What is nobody's fault but ours stays `internal`. */
export function codeOf(error: unknown): ErrorCode {
  if (error instanceof CodedError) return error.code;
  if (error instanceof StoreUnavailable) return 'store_unavailable';
  const { statusCode, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'body_too_large';
  if (typeof code === 'string' && code.startsWith('FST_CSRF')) return 'forbidden';
  if (statusCode === 429) return 'too_many_requests';
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? 'invalid_request' : 'internal';
}

/** Answers with the envelope `{"error":{"code","message"}}` (docs/service.md §7); the text never names internals. */
function sendError(reply: FastifyReply, code: ErrorCode): FastifyReply {
  const { status, text } = errorCodes[code];
  if (status === 503) void reply.header('retry-after', '5');
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send({ error: { code, message: text } });
}

/** Makes an app answer every error and every unknown address in the envelope. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const code = codeOf(error);
    if (errorCodes[code].status >= 500) request.log.error({ err: error }, 'a request failed');
    return sendError(reply, code);
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, 'not_found'));
}

/** Answers in the envelope to requests that reach no route: not HTTP, too slow, or with an invalid path. */
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
    // After an answer that has begun, another one would be taken for its end.
    const begun = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
    if (socket.writable && !begun) {
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
    socket.destroy();
  },
  frameworkErrors(error: FastifyError, _request: unknown, reply: FastifyReply): void {
    void sendError(reply, error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'not_found' : codeOf(error));
  },
} satisfies Pick<FastifyServerOptions, 'clientErrorHandler' | 'frameworkErrors'>;
