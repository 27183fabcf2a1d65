import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorForm } from '../dialect.ts';

/** A refusal by the service (docs/service.md §7). */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The values of `code` are not documented; these are the sandbox's own. */
export const invalidRequest = (message: string): AnswerError => new AnswerError(400, 'invalid_request', message);
export const unauthorized = (message: string): AnswerError => new AnswerError(401, 'unauthorized', message);
export const forbidden = (message: string): AnswerError => new AnswerError(403, 'forbidden', message);
export const notFound = (message: string): AnswerError => new AnswerError(404, 'not_found', message);

/** Address of the sandbox's own controls, which always answer with the envelope. */
export const CONTROLS = '/_sandbox';

/** Makes every error and every unknown address answer in the form of the dialect. */
export function answerErrors(app: FastifyInstance, form: ErrorForm): void {
  const answer = (request: FastifyRequest, reply: FastifyReply, error: AnswerError): FastifyReply => {
    const used = request.url.startsWith(`${CONTROLS}/`) ? 'object' : form;
    const body = errorBody(used, error);
    // A handler may have set a serializer for its own responses.
    reply.serializer(String);
    return typeof body === 'string'
      ? reply.code(error.status).type('text/plain; charset=utf-8').send(body)
      : reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(body));
  };
  app.setNotFoundHandler(async (request, reply) => answer(request, reply, notFound('No such resource.')));
  app.setErrorHandler(async (error, request, reply) => {
    if (error instanceof AnswerError) return answer(request, reply, error);
    return answer(
      request,
      reply,
      isClientError(error) ? invalidRequest(error.message) : new AnswerError(500, 'server_error', 'Internal error.'),
    );
  });
}

/** A refusal in one of the forms; text is plain text. */
function errorBody(form: ErrorForm, { status, code, message }: AnswerError): object | string {
  switch (form) {
    case 'object':
      return { error: { code, message } };
    case 'numbered':
      return { error: { code: status, message } };
    case 'string':
      return { error: message };
    case 'text':
      return `${message}\n`;
  }
}

function isClientError(error: unknown): error is Error & { statusCode: number } {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  );
}
