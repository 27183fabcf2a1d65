import type { FastifyInstance } from 'fastify';

/** A refusal in the service's error envelope (docs/service.md §7). */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The words in `code` are not documented; these are the sandbox's own. */
export const invalidRequest = (message: string): ServiceError => new ServiceError(400, 'invalid_request', message);
export const unauthorized = (message: string): ServiceError => new ServiceError(401, 'unauthorized', message);
export const forbidden = (message: string): ServiceError => new ServiceError(403, 'forbidden', message);
export const notFound = (message: string): ServiceError => new ServiceError(404, 'not_found', message);

/** Makes every error and every unknown address answer in the envelope. */
export function answerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send(envelope('not_found', 'No such resource.')));
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof ServiceError) return reply.code(error.status).send(envelope(error.code, error.message));
    const status = isClientError(error) ? 400 : 500;
    const message = isClientError(error) ? error.message : 'Internal error.';
    return reply.code(status).send(envelope(status === 400 ? 'invalid_request' : 'server_error', message));
  });
}

function envelope(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
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
