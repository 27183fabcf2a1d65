import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { isoNow } from '../../core/clock.ts';
import { canonicalJson } from '../../crypto/canonical.ts';
import { equalBytes, hmacSha256 } from '../../crypto/hash.ts';
import { openSealed, sealBytes } from '../../crypto/keys.ts';
import { officerOf } from '../auth/sessions.ts';
import { RefusedRequest } from './route.ts';

/** Hours for which a stored response is returned to repeated requests. */
const KEPT_HOURS = 24;
/** A request that has no response after this long was lost with its process, so its key may be used again. */
const LOST_MS = 120_000;
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
  context: Context,
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
  const old = new Date(Date.parse(now) - KEPT_HOURS * 3_600_000).toISOString();
  const lost = new Date(Date.parse(now) - LOST_MS).toISOString();
  const before = await store.transaction(async ({ query, insertMany }) => {
    await query.deleteFrom('idempotency_keys').where('created_at', '<', old).execute();
    await query
      .deleteFrom('idempotency_keys')
      .where('key_hash', '=', keyHash)
      .where('status', 'is', null)
      .where('created_at', '<', lost)
      .execute();
    const row = await query
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('key_hash', '=', keyHash)
      .executeTakeFirst();
    if (row !== undefined) return row;
    await insertMany('idempotency_keys', [
      { key_hash: keyHash, request_hash: requestHash, created_at: now, status: null, answer: null },
    ]);
    return null;
  });
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
  const old = new Date(clock().getTime() - KEPT_HOURS * 3_600_000).toISOString();
  await store
    .transaction(({ query }) => query.deleteFrom('idempotency_keys').where('created_at', '<', old).execute())
    .catch((error: unknown) => log.warn({ err: error }, 'old responses of the API could not be removed'));
}

/** Stores the response, or releases the key if the request failed through no fault of its own. */
export async function keepAnswer(
  { store, keys, log }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<void> {
  const { idempotencyHash } = request;
  if (idempotencyHash === null) return;
  const keeps = reply.statusCode < 500 && reply.statusCode !== 429 && typeof payload === 'string';
  await store
    .transaction(async ({ query }) => {
      if (keeps)
        await query
          .updateTable('idempotency_keys')
          .set({ status: reply.statusCode, answer: sealBytes(keys.instance.rest, Buffer.from(payload), SEAL) })
          .where('key_hash', '=', idempotencyHash)
          .execute();
      else await query.deleteFrom('idempotency_keys').where('key_hash', '=', idempotencyHash).execute();
    })
    .catch((error: unknown) => log.warn({ err: error }, 'the response for an Idempotency-Key could not be kept'));
}
