import { z } from 'zod';
import { idSchema, countOrNull, readJson, slugOf, textOrNull, withoutToken } from './answer-json.ts';
import { ServiceError } from './service-error.ts';
import type { ServiceAnswer, Transport } from './transport.ts';

/** A generation takes up to 120 s (docs/service.md §8), and the answer has to come back, too. */
export const GENERATE_TIMEOUT_MS = 150_000;

/** How a call that changes something is sent. It is sent once; what came back are bytes, read by whoever keeps them. */
export interface Sending {
  readonly signal?: AbortSignal | undefined;
  /** Longest time, milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * POST /policies/generate (docs/service.md §4.1) with these exact bytes. Never tried again.
 * Errors: ServiceError; the signal's reason when aborted, which leaves open whether the policy was made.
 */
export function generatePolicy(transport: Transport, body: Buffer, sending: Sending = {}): Promise<ServiceAnswer> {
  return transport.request({
    method: 'POST',
    path: '/policies/generate',
    body,
    about: 'policies',
    signal: sending.signal,
    timeoutMs: sending.timeoutMs ?? GENERATE_TIMEOUT_MS,
    read: (answer) => answer,
  });
}

/** A generated policy in the words of form A, whichever form the service answered in (docs/service.md §2.1, §4.1). */
export interface GeneratedPolicy {
  readonly id: string;
  readonly policyType: string | null;
  /** Several codes are joined by commas. */
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly version: string | null;
  /** Without its token. */
  readonly hostedUrl: string | null;
  /** The text in Markdown, where there is one. */
  readonly markdown: string | null;
  readonly html: string | null;
  /** As given. */
  readonly createdAt: string | null;
  /** What is left of the quota, where the service says it. */
  readonly remaining: number | null;
}

const generatedSchema = z.looseObject({
  id: idSchema,
  policy_type: textOrNull,
  type: textOrNull,
  jurisdiction: z
    .union([z.string(), z.array(z.string()).transform((codes) => codes.join(','))])
    .nullish()
    .catch(null),
  language: textOrNull,
  version: z.union([z.string(), z.number()]).transform(String).nullish().catch(null),
  hosted_url: textOrNull,
  content: textOrNull,
  markdown: textOrNull,
  html: textOrNull,
  created_at: textOrNull,
  policies_remaining: countOrNull,
});

/**
 * Reads the answer to a generation: form A, form B, or either of them inside `data` or `policy`. Nothing but the id is required.
 * Errors: ServiceError `unreadable`.
 */
export function readGenerated(bytes: Buffer): GeneratedPolicy {
  const json = readJson(bytes, 'policies');
  const found = [json, memberOf(json, 'data'), memberOf(json, 'policy')].map((one) => generatedSchema.safeParse(one));
  const parsed = found.find(({ success }) => success)?.data;
  if (parsed === undefined)
    throw new ServiceError('unreadable', { detail: 'no policy with an id in it', about: 'policies' });
  return {
    id: parsed.id,
    policyType: slugOf(parsed.policy_type ?? parsed.type),
    jurisdiction: parsed.jurisdiction ?? null,
    language: parsed.language,
    version: parsed.version ?? null,
    hostedUrl: withoutToken(parsed.hosted_url),
    markdown: parsed.markdown ?? parsed.content,
    html: parsed.html,
    createdAt: parsed.created_at,
    remaining: parsed.policies_remaining,
  };
}

function memberOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? (json as Record<string, unknown>)[name]
    : undefined;
}
