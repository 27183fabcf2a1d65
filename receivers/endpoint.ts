import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodedError, type ErrorCode, errorCodes, StoreUnavailable } from '../src/core/errors.ts';
import { createBodyReader, type InFlightLimits } from './in-flight.ts';
import { type SigningSecret, verifySignature } from './signature-node.ts';

/** A delivery with a valid signature. `headers` are unsigned: record them, but never base decisions on them. */
export interface VerifiedDelivery {
  readonly source: string;
  readonly rawBody: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly secretId: string;
  readonly verdict: 'verified' | 'verified-headers-disagree';
  /** The Content-Type as sent; null if there was none. */
  readonly contentType: string | null;
}

/** A delivery answered with 401. */
export interface RejectedDelivery {
  readonly source: string;
  readonly reason: 'missing' | 'mismatch';
  readonly rawBody: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** The sender's address as Fastify sees it (its trustProxy decides). */
  readonly address: string;
}

export interface WebhookEndpointOptions {
  /** Largest body in bytes; a longer one is answered with 413. */
  readonly bodyLimit: number;
  /**
   * Memory for bodies that have not fully arrived; default 128 MiB in total and 64 MiB per address. At least one body
   * always fits.
   */
  readonly inFlight?: InFlightLimits;
  /** The secrets of a source, or null if there is no such source. Called for each request before its body is read. */
  readonly findSource: (slug: string) => { readonly secrets: readonly SigningSecret[] } | null;
  /**
   * The same, read afresh where `findSource` answers from memory: called if that knows no such source, or if a signature
   * fits none of its secrets. If it rejects, an unknown source is answered with 503.
   */
  readonly findSourceAgain?: (slug: string) => Promise<{ readonly secrets: readonly SigningSecret[] } | null>;
  /**
   * Stores a delivery durably; the response is sent when it resolves. Reject with StoreUnavailable, or CodedError
   * `overloaded` or `shutting_down`, for 503 with Retry-After; any other rejection gives 500.
   */
  readonly accept: (
    delivery: VerifiedDelivery,
  ) => Promise<{ readonly outcome: 'stored' | 'duplicate'; readonly seq: number }>;
  /** Called for each delivery refused for its signature. An error thrown here is logged and does not affect the sender. */
  readonly onRejected?: (rejected: RejectedDelivery) => void;
  /** Called for each delivery refused for its length. */
  readonly onTooLarge?: (refused: RefusedUnread) => void;
  /** Called for each delivery dropped before it had fully arrived because too much was in flight. */
  readonly onCrowdedOut?: (refused: RefusedUnread) => void;
  /** Called for each delivery to an unknown source. `source` is the slug in the address. */
  readonly onUnknownSource?: (refused: RefusedUnread) => void;
}

/** A delivery whose body was not read. */
export interface RefusedUnread {
  readonly source: string;
  /** The sender's address as Fastify sees it (its trustProxy decides). */
  readonly address: string;
}

type WebhookRequest = FastifyRequest<{ Params: { source: string } }> & {
  webhookSecrets: readonly SigningSecret[];
  webhookContentType: string | undefined;
};

/** Seconds after which a sender that received 503 may retry. */
const RETRY_AFTER = '5';
const JSON_TYPE = 'application/json; charset=utf-8';
const EMPTY = Buffer.alloc(0);
const IN_FLIGHT = { bytes: 128 * 1024 ** 2, bytesPerAddress: 64 * 1024 ** 2 };

/**
 * Fastify plugin: `POST /webhooks/:source` (docs/service.md §6), or PUT, since the method is not documented. Register
 * it without fastify-plugin: it replaces the content-type parsers of its own scope, so that with any Content-Type, or
 * none, the exact bytes sent reach the signature check.
 *
 * Answers: 200 `{"status":"stored"|"duplicate","seq":n}` once `accept` has resolved; 401 for a missing or wrong
 * signature; 404 for an unknown source; 413 over the limit; 503 with Retry-After if nothing can be stored or too much
 * is in flight. GET and HEAD get 200 and store nothing. Errors have the envelope `{"error":{"code","message"}}`.
 */
// Nothing is awaited, but a plugin must return a promise or call back.
export async function webhookEndpoint(app: FastifyInstance, options: WebhookEndpointOptions): Promise<void> {
  const { accept, bodyLimit, findSource, findSourceAgain, onRejected, onTooLarge, onCrowdedOut, onUnknownSource } =
    options;
  const { bytes, bytesPerAddress } = options.inFlight ?? IN_FLIGHT;
  const bodies = createBodyReader({
    bytes: Math.max(bytes, bodyLimit),
    bytesPerAddress: Math.max(bytesPerAddress, bodyLimit),
  });

  function refuseUnknown(request: FastifyRequest, reply: FastifyReply, source: string): FastifyReply {
    guard(request, () => onUnknownSource?.({ source, address: request.ip }));
    return refuse(reply, 'unknown_source');
  }

  app.decorateRequest('webhookSecrets', null as never);
  app.decorateRequest('webhookContentType', undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, stream, done) => {
    const from = { limit: bodyLimit, length: Number(request.headers['content-length'] ?? NaN), address: request.ip };
    bodies.read(stream, from, (reading) => {
      switch (reading.outcome) {
        case 'read':
          return done(null, reading.body);
        case 'too-large':
          return done(new BodyRefused('body_too_large'));
        case 'crowded-out':
          return done(new BodyRefused('overloaded'));
        case 'cut-off':
          return done(new BodyRefused('invalid_request'));
      }
    });
  });

  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof BodyRefused) {
      const refused = { source: (request as WebhookRequest).params.source, address: request.ip };
      if (error.code === 'body_too_large') guard(request, () => onTooLarge?.(refused));
      if (error.code === 'overloaded') guard(request, () => onCrowdedOut?.(refused));
      return refuse(reply, error.code);
    }
    const code = codeOf(error);
    if (errorCodes[code].status >= 500) request.log.error({ err: error }, 'could not store a delivery');
    return refuse(reply, code);
  });

  app.route<{ Params: { source: string } }>({
    method: ['POST', 'PUT'],
    url: '/webhooks/:source',
    bodyLimit,
    onRequest: (request, reply, done) => {
      const begin = (source: ReturnType<typeof findSource>) => {
        if (source === null) return void refuseUnknown(request, reply, request.params.source);
        const webhook = request as WebhookRequest;
        webhook.webhookSecrets = source.secrets;
        // Fastify would answer a missing or malformed Content-Type with 415 before any parser; a fixed type selects ours.
        const headers = request.headers;
        webhook.webhookContentType = headers['content-type'];
        headers['content-type'] = 'application/octet-stream';
        done();
      };
      const source = findSource(request.params.source);
      if (source !== null || findSourceAgain === undefined) return begin(source);
      void findSourceAgain(request.params.source).then(begin, done);
    },
    handler: async (request, reply) => {
      const webhook = request as WebhookRequest;
      const headers = request.headers;
      headers['content-type'] = webhook.webhookContentType;
      const rawBody = (request.body as Buffer | undefined) ?? EMPTY;
      const source = request.params.source;
      let verdict = verifySignature({ headers, rawBody, secrets: webhook.webhookSecrets });
      if (verdict.outcome === 'mismatch' && findSourceAgain !== undefined) {
        // Without an answer, the delivery is kept as refused, and can be verified again later.
        const again = await findSourceAgain(source).catch(() => null);
        if (again !== null) verdict = verifySignature({ headers, rawBody, secrets: again.secrets });
      }
      if (verdict.outcome !== 'verified') {
        const reason = verdict.outcome;
        guard(request, () => onRejected?.({ source, reason, rawBody, headers, address: request.ip }));
        return refuse(reply, reason === 'missing' ? 'signature_missing' : 'signature_mismatch');
      }
      const kept = await accept({
        source,
        rawBody,
        headers,
        secretId: verdict.secretId,
        verdict: verdict.headersAgree ? 'verified' : 'verified-headers-disagree',
        contentType: webhook.webhookContentType ?? null,
      });
      reply.header('content-type', JSON_TYPE);
      return reply.send(`{"status":"${kept.outcome}","seq":${kept.seq}}`);
    },
  });

  app.get<{ Params: { source: string } }>('/webhooks/:source', async (request, reply) => {
    const { source } = request.params;
    if ((findSource(source) ?? (await findSourceAgain?.(source)) ?? null) === null)
      return refuse(reply, 'unknown_source');
    reply.header('content-type', JSON_TYPE);
    return reply.send('{"status":"ready"}');
  });

  // Addresses that are nearly those of a source are counted and logged as well: a sender has one of them configured.
  for (const url of ['/webhooks', '/webhooks/*'])
    app.route<{ Params: { '*'?: string } }>({
      method: ['POST', 'PUT'],
      url,
      onRequest: (request, reply) => void refuseUnknown(request, reply, request.params['*'] ?? ''),
      handler: (_request, reply) => refuse(reply, 'unknown_source'),
    });

  app.route({
    method: ['PATCH', 'DELETE', 'OPTIONS'],
    url: '/webhooks/:source',
    onRequest: (_request, reply) => {
      reply.header('allow', 'POST, PUT, GET, HEAD');
      refuse(reply, 'method_not_allowed');
    },
    handler: (_request, reply) => refuse(reply, 'method_not_allowed'),
  });
}

/** The sender broke the body off: not our fault, and not worth logging each time. */
class BodyRefused extends CodedError {}

function codeOf(error: FastifyError): ErrorCode {
  if (error instanceof StoreUnavailable) return 'store_unavailable';
  if (error instanceof CodedError) return error.code;
  const status = error.statusCode;
  return status !== undefined && status >= 400 && status < 500 ? 'invalid_request' : 'internal';
}

// Uses the text from the table, never the error's own, which may name files, hosts or statements.
function refuse(reply: FastifyReply, code: ErrorCode): FastifyReply {
  const { status, text } = errorCodes[code];
  if (status === 503) reply.header('retry-after', RETRY_AFTER);
  reply.code(status).header('content-type', JSON_TYPE);
  return reply.send(JSON.stringify({ error: { code, message: text } }));
}

function guard(request: FastifyRequest, tell: () => void): void {
  try {
    tell();
  } catch (error) {
    request.log.error({ err: error }, 'could not record a refused delivery');
  }
}
