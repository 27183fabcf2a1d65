import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context/context.ts';
import { isoNow } from '../../core/clock.ts';
import { canonicalJson } from '../../crypto/canonical.ts';
import { equalBytes, hmacSha256 } from '../../crypto/hash.ts';
import { openSealed, sealBytes } from '../../crypto/keys.ts';
import { releaseKey, removeExpiredKeys, storeAnswer, takeKey } from '../../store/queries/idempotency-keys.ts';
import { officerOf } from '../auth/sessions.ts';
import { RefusedRequest } from './route.ts';

const KEY = /^[\x21-\x7e]{1,200}$/;
const SEAL = 'answer of the API';

declare module 'fastify' {
  interface FastifyRequest {
    /** Hash of the key that this request holds; null: it has none, or its response is a repeated one. */
    idempotencyHash: Buffer | null;
  }
}

/**
 * The stored response to this Idempotency-Key, so that a POST sent again has no second effect
 * (draft-ietf-httpapi-idempotency-key-header); null: there is none, proceed. Keys belong to their token and are stored
 * in the database, so they survive restarts and apply to all processes. A different request with the same key is
 * refused, and so is a repeat while the first is in progress.
 */
export async function answeredBefore(
  context: Pick<Context, 'store' | 'keys' | 'clock'>,
  request: FastifyRequest,
): Promise<{ readonly status: number; readonly body: Buffer } | null> {
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || key === undefined) return null;
  if (typeof key !== 'string' || !KEY.test(key))
    throw new RefusedRequest('invalid_request', ['Idempotency-Key: 1 to 200 printable ASCII characters']);
  const { store, keys, clock } = context;
  const hash = (text: Uint8Array | string) => hmacSha256(keys.instance.session, Buffer.from(text));
  const keyHash = hash(`idempotency ${officerOf(request).handle} ${key}`);
  const requestHash = hash(canonicalJson({ url: request.url, body: (request.body ?? null) as never }));
  const now = isoNow(clock);
  const before = await takeKey(store, { keyHash, requestHash }, now);
  if (before === null) {
    request.idempotencyHash = keyHash;
    return null;
  }
  if (!equalBytes(before.request_hash, requestHash))
    throw new RefusedRequest('refused', ['This Idempotency-Key was sent with another request: use a new one.']);
  const body = before.answer === null ? null : openSealed(keys.instance.rest, before.answer, SEAL);
  if (before.status === null || body === null)
    throw new RefusedRequest('conflict', [
      'A request with this Idempotency-Key is still being processed: try again later.',
    ]);
  return { status: before.status, body };
}

/** Removes expired responses: they may contain personal data, and perhaps no later request would remove them. */
export async function forgetAnswers({ store, clock, log }: Pick<Context, 'store' | 'clock' | 'log'>): Promise<void> {
  await removeExpiredKeys(store, isoNow(clock)).catch((error: unknown) =>
    log.warn({ err: error }, 'old responses of the API could not be removed'),
  );
}

/** Stores the response, or releases the key if the request failed through no fault of its own. */
export async function keepAnswer(
  { store, keys, log }: Pick<Context, 'store' | 'keys' | 'log'>,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<void> {
  const { idempotencyHash } = request;
  if (idempotencyHash === null) return;
  const keeps = reply.statusCode < 500 && reply.statusCode !== 429 && typeof payload === 'string';
  const done = keeps
    ? storeAnswer(store, idempotencyHash, {
        status: reply.statusCode,
        answer: sealBytes(keys.instance.rest, Buffer.from(payload), SEAL),
      })
    : releaseKey(store, idempotencyHash);
  await done.catch((error: unknown) =>
    log.warn({ err: error }, 'the response for an Idempotency-Key could not be kept'),
  );
}
