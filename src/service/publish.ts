import { z } from 'zod';
import { countOrNull, idSchema, linkOf, readJson, textOrNull, withoutToken } from './answer-json.ts';
import type { Sending } from './generate.ts';
import { ServiceError } from './service-error.ts';
import type { ServiceAnswer, Transport } from './transport.ts';

export const PUBLISH_TIMEOUT_MS = 60_000;

/** POST /policies/{id}/publish (docs/service.md §4.4). An empty body is not sent. Never tried again. Errors as {@link generatePolicy}. */
export function publishPolicy(
  transport: Transport,
  policyId: string,
  body: Buffer,
  sending: Sending = {},
): Promise<ServiceAnswer> {
  return transport.request({
    method: 'POST',
    path: publishPath(policyId),
    ...(body.length === 0 ? {} : { body }),
    about: 'policies',
    signal: sending.signal,
    timeoutMs: sending.timeoutMs ?? PUBLISH_TIMEOUT_MS,
    read: (answer) => answer,
  });
}

/** Below the API root. */
export function publishPath(policyId: string): string {
  return `/policies/${encodeURIComponent(policyId)}/publish`;
}

/** A publish result (docs/service.md §2.3). */
export interface PublishedPolicy {
  readonly id: string | null;
  /** Without its token. */
  readonly hostedUrl: string | null;
  /** With its token: the address that works. For people; it is kept nowhere but in the bytes of the answer. */
  readonly link: string | null;
  /** As given. */
  readonly publishedAt: string | null;
  /** Null where the service does not say. */
  readonly webhooksQueued: number | null;
}

const publishedSchema = z.looseObject({
  id: idSchema.nullish().catch(null),
  hosted_url: textOrNull,
  published_at: textOrNull,
  webhook_deliveries_queued: countOrNull,
});

/**
 * Reads the answer to the publish of this policy; any JSON object with a success status will do that names no other policy.
 * Errors: ServiceError `unreadable`.
 */
export function readPublished(bytes: Buffer, policyId: string): PublishedPolicy {
  const parsed = publishedSchema.safeParse(readJson(bytes, 'policies'));
  if (!parsed.success) throw new ServiceError('unreadable', { detail: 'no result of publishing', about: 'policies' });
  const { id = null, hosted_url: url, published_at: publishedAt, webhook_deliveries_queued: queued } = parsed.data;
  if (id !== null && id !== policyId)
    throw new ServiceError('unreadable', {
      detail: 'it concerns a different policy than the one to be published',
      about: 'policies',
    });
  return { id, hostedUrl: withoutToken(url), link: linkOf(url), publishedAt, webhooksQueued: queued };
}
