import { z } from 'zod';
import {
  countOrNull,
  idSchema,
  type JsonLimits,
  linkOf,
  readJson,
  slugOf,
  textOrNull,
  tooLarge,
  usualLimits,
  withoutToken,
} from './answer-json.ts';
import type { ServiceAnswer, Transport } from './api-transport.ts';
import { ServiceError } from './service-error.ts';

/** A generation takes up to 120 s (docs/service.md §8), plus the time to receive the response. */
export const GENERATE_TIMEOUT_MS = 150_000;

/**
 * Options of a call that changes something. It is sent once, and the response is returned as bytes for the caller to
 * store and read.
 */
export interface Sending {
  readonly signal?: AbortSignal | undefined;
  /** Maximum time in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * Sends one POST about policies with these exact bytes, never retried. Errors: ServiceError; the signal's reason if
 * aborted, which leaves open whether it was done.
 */
function post(
  transport: Transport,
  { path, body, longestMs }: { readonly path: string; readonly body: Buffer; readonly longestMs: number },
  { signal, timeoutMs = longestMs }: Sending = {},
): Promise<ServiceAnswer> {
  return transport.request({
    method: 'POST',
    path,
    ...(body.length === 0 ? {} : { body }),
    about: 'policies',
    signal,
    timeoutMs,
    read: (answer) => answer,
  });
}

/** Generates one policy (docs/service.md §4.1). */
export function sendGenerate(transport: Transport, body: Buffer, sending?: Sending): Promise<ServiceAnswer> {
  return post(transport, { path: '/policies/generate', body, longestMs: GENERATE_TIMEOUT_MS }, sending);
}

/** A generated policy in the terms of form A, whichever form the service answered in (docs/service.md §2.1, §4.1). */
export interface GeneratedPolicy {
  readonly id: string;
  readonly policyType: string | null;
  /** Several codes are separated by commas. */
  readonly jurisdiction: string | null;
  readonly language: string | null;
  readonly version: string | null;
  /** Without its token. */
  readonly hostedUrl: string | null;
  /** The Markdown text, if there is one. */
  readonly markdown: string | null;
  readonly html: string | null;
  /** As given. */
  readonly createdAt: string | null;
  /** What is left of the quota, if the service says so. */
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
 * Reads the response to a generation: form A, form B, or either of them inside `data` or `policy`. Only the id is
 * required. Errors: ServiceError `unreadable`.
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

/** A listed policy (docs/service.md §2.2). Only the id is required; unknown fields are kept. */
const listedPolicySchema = z.looseObject({
  id: idSchema,
  policy_type: z.string().nullish(),
  title: z.string().nullish(),
  jurisdiction: z.string().nullish(),
  language: z.string().nullish(),
  updated_at: z.string().nullish(),
  /** Has a token in its query: strip it before showing or storing it. */
  url: z.string().nullish(),
});
export type ListedPolicy = z.infer<typeof listedPolicySchema>;

/** What either form may say about the total. */
const extent = {
  count: countOrNull,
  next_cursor: z.union([z.string(), z.literal(false)]).nullish(),
  has_more: z.boolean().nullish().catch(null),
};
/** Form A: `{count, policies}`; form B: `{data, next_cursor}` (docs/service.md §4.3). */
const listSchema = z.union([
  z.looseObject({ policies: z.array(listedPolicySchema), ...extent }),
  z
    .looseObject({ data: z.array(listedPolicySchema), ...extent })
    .transform(({ data, ...rest }) => ({ ...rest, policies: data })),
]);

/** More pages than any account has; beyond this, the service is looping. */
const MAX_PAGES = 1000;
/** In all pages together; agencies with hundreds of clients have some thousands. */
const MAX_POLICIES = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Answers are parsed in one go while deliveries wait; this size takes about 200 ms. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const limits: JsonLimits = { ...usualLimits, values: 200_000 };
const MAX_CURSOR = 8192;

/** One answer of the list: the listed policies and its exact bytes. */
interface PolicyListPage {
  readonly policies: readonly ListedPolicy[];
  readonly bytes: Buffer;
}

/** The list, unchanged. */
export interface PolicyList {
  readonly pages: readonly PolicyListPage[];
  /**
   * False if the list itself says that there are more, by a count or by `has_more` without a cursor; policies that it
   * leaves out may be public.
   */
  readonly whole: boolean;
}

/** The published policies of the account, as many as were returned. Errors as {@link fetchPolicyPages}. */
export async function listPolicies(transport: Transport, signal?: AbortSignal): Promise<readonly ListedPolicy[]> {
  return (await fetchPolicyPages(transport, signal)).pages.flatMap(({ policies }) => policies);
}

/**
 * All published policies of the account, in both documented forms (docs/service.md §4.3) and over any number of pages.
 * Errors: ServiceError; `unreadable` for any other form or a repeated cursor.
 */
export async function fetchPolicyPages(transport: Transport, signal?: AbortSignal): Promise<PolicyList> {
  const pages: PolicyListPage[] = [];
  const named = new Set<string>();
  const seen = new Set<string>();
  let announced = 0;
  let listed = 0;
  let bytes = 0;
  let cursor: string | null = null;
  while (pages.length < MAX_PAGES) {
    const answer: z.infer<typeof listSchema> & { bytes: Buffer } = await transport.request({
      path: '/policies',
      query: { cursor },
      about: 'policy-list',
      signal,
      maxBytes: MAX_PAGE_BYTES,
      read: ({ bytes }) => ({ ...parseList(bytes), bytes }),
    });
    pages.push({ policies: answer.policies, bytes: answer.bytes });
    for (const { id } of answer.policies) named.add(id);
    listed += answer.policies.length;
    bytes += answer.bytes.length;
    if (listed > MAX_POLICIES) throw tooLarge(`more than ${MAX_POLICIES} policies`, 'policy-list');
    if (bytes > MAX_BYTES) throw tooLarge(`more than ${MAX_BYTES} bytes in all`, 'policy-list');
    announced = Math.max(announced, answer.count ?? 0);
    const next: string | null = answer.next_cursor || null;
    if (next === null) return { pages, whole: answer.has_more !== true && announced <= named.size };
    if (next.length > MAX_CURSOR) throw badPagination(`a cursor of more than ${MAX_CURSOR} characters`);
    if (seen.has(next)) throw endless(`page ${pages.length} returns the cursor of an earlier page`);
    seen.add(next);
    cursor = next;
  }
  throw endless(`more than ${MAX_PAGES} pages, each with a cursor to another one`);
}

function endless(detail: string): ServiceError {
  return badPagination(`the list of policies does not end: ${detail}`);
}

/** Not something that the operator could fix. */
function badPagination(detail: string): ServiceError {
  const remedy = 'The service’s pagination is faulty: contact its support.';
  return new ServiceError('unreadable', { detail, about: 'policy-list', remedy });
}

/** Maps ids to working links in one answer of the list; empty if it cannot be read. */
export function readLinks(bytes: Buffer): ReadonlyMap<string, string> {
  try {
    const links = parseList(bytes).policies.flatMap(({ id, url }): [string, string][] => {
      const link = linkOf(url);
      return link === null ? [] : [[id, link]];
    });
    return new Map(links);
  } catch (error) {
    if (error instanceof ServiceError) return new Map();
    throw error;
  }
}

function parseList(bytes: Buffer): z.infer<typeof listSchema> {
  const json = readJson(bytes, 'policy-list', limits);
  // Counted before the schema copies them.
  const { policies, data } = (json ?? {}) as Record<string, unknown>;
  for (const list of [policies, data])
    if (Array.isArray(list) && list.length > MAX_POLICIES)
      throw tooLarge(`more than ${MAX_POLICIES} policies`, 'policy-list');
  const parsed = listSchema.safeParse(json);
  if (!parsed.success)
    throw new ServiceError('unreadable', {
      detail: 'neither documented form of the list of policies',
      about: 'policy-list',
    });
  return parsed.data;
}

/** Maximum items per batch (docs/service.md §4.2, §8). */
export const MAX_BATCH_ITEMS = 20;

/** The maximum time of a batch is not documented; beyond 300 s the runtime gives up (docs/assumptions.md). */
export const BULK_TIMEOUT_MS = 290_000;

/** Generates a batch (docs/service.md §4.2). */
export function sendBulk(transport: Transport, body: Buffer, sending?: Sending): Promise<ServiceAnswer> {
  return post(transport, { path: '/policies/bulk', body, longestMs: BULK_TIMEOUT_MS }, sending);
}

/** The outcome of one item (docs/service.md §3); `unknown` for an undocumented status. */
type BulkStatus = 'created' | 'skipped' | 'failed' | 'unknown';

export interface BulkItemResult {
  readonly id: string | null;
  readonly policyType: string | null;
  readonly status: BulkStatus;
}

/** A batch result (docs/service.md §2.4). */
interface BulkResult {
  readonly batchId: string | null;
  /** In the order of the response. */
  readonly results: readonly BulkItemResult[];
}

const itemSchema = z.looseObject({
  id: idSchema.nullish().catch(null),
  policy_type: textOrNull,
  type: textOrNull,
  status: textOrNull,
});
const bulkSchema = z.looseObject({
  batch_id: idSchema.nullish().catch(null),
  total: countOrNull,
  results: z.array(z.unknown()),
});

/**
 * Reads the response to a batch. Items that cannot be understood count as `unknown`. Errors: ServiceError `unreadable`.
 */
export function readBulkResult(bytes: Buffer): BulkResult {
  const json = readJson(bytes, 'policies');
  const inner = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined;
  const parsed = [json, inner].map((one) => bulkSchema.safeParse(one)).find(({ success }) => success)?.data;
  if (parsed === undefined) throw new ServiceError('unreadable', { detail: 'no list of results', about: 'policies' });
  return { batchId: parsed.batch_id ?? null, results: parsed.results.map(readItem) };
}

function readItem(value: unknown): BulkItemResult {
  const item = itemSchema.safeParse(value);
  if (!item.success) return { id: null, policyType: null, status: 'unknown' };
  const { id = null, policy_type: policyType, type, status } = item.data;
  return { id, policyType: slugOf(policyType ?? type), status: statusOf(status) };
}

function statusOf(word: string | null): BulkStatus {
  switch (word?.toLowerCase()) {
    case 'created':
    case 'success':
    case 'ok':
      return 'created';
    case 'skipped':
      return 'skipped';
    case 'failed':
    case 'error':
      return 'failed';
    default:
      return 'unknown';
  }
}

export const PUBLISH_TIMEOUT_MS = 60_000;

/** Publishes a policy (docs/service.md §4.4); the body may be empty. */
export function sendPublish(
  transport: Transport,
  policyId: string,
  body: Buffer,
  sending?: Sending,
): Promise<ServiceAnswer> {
  return post(transport, { path: publishPath(policyId), body, longestMs: PUBLISH_TIMEOUT_MS }, sending);
}

/** Path below the API root. */
export function publishPath(policyId: string): string {
  return `/policies/${encodeURIComponent(policyId)}/publish`;
}

/** A publish result (docs/service.md §2.3). */
export interface PublishedPolicy {
  readonly id: string | null;
  /** Without its token. */
  readonly hostedUrl: string | null;
  /** With its token: the working link, for people. Stored only as part of the response's bytes. */
  readonly link: string | null;
  /** As given. */
  readonly publishedAt: string | null;
  /** Null if the service does not say. */
  readonly webhooksQueued: number | null;
}

const publishedSchema = z.looseObject({
  id: idSchema.nullish().catch(null),
  hosted_url: textOrNull,
  published_at: textOrNull,
  webhook_deliveries_queued: countOrNull,
});

/**
 * Reads the response to publishing this policy; accepts any JSON object with a success status that names no other
 * policy. Errors: ServiceError `unreadable`.
 */
export function readPublished(bytes: Buffer, policyId: string): PublishedPolicy {
  const parsed = publishedSchema.safeParse(readJson(bytes, 'policies'));
  if (!parsed.success)
    throw new ServiceError('unreadable', { detail: 'not the documented result of publishing', about: 'policies' });
  const { id = null, hosted_url: url, published_at: publishedAt, webhook_deliveries_queued: queued } = parsed.data;
  if (id !== null && id !== policyId)
    throw new ServiceError('unreadable', {
      detail: 'it concerns a different policy than the one to be published',
      about: 'policies',
    });
  return { id, hostedUrl: withoutToken(url), link: linkOf(url), publishedAt, webhooksQueued: queued };
}
