import { z } from 'zod';
import { countOrNull, idSchema, linkOf, readJson, withoutToken } from './answer-json.ts';
import { type JsonLimits, tooLarge, usualLimits } from './json-limits.ts';
import { ServiceError } from './service-error.ts';
import type { Transport } from './transport.ts';

/** A listed policy (docs/service.md §2.2): nothing but the id is required, unknown fields are kept. */
const listedPolicySchema = z.looseObject({
  id: idSchema,
  policy_type: z.string().nullish(),
  title: z.string().nullish(),
  jurisdiction: z.string().nullish(),
  language: z.string().nullish(),
  updated_at: z.string().nullish(),
  /** Carries a token in its query: strip it before it is shown or kept. */
  url: z.string().nullish(),
});
export type ListedPolicy = z.infer<typeof listedPolicySchema>;

/** What either form may say about how much there is. */
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

/** More pages than any account has; a service that goes on beyond it is looping. */
const MAX_PAGES = 1000;
/** In all pages together: of agencies with hundreds of clients, some thousand. */
const MAX_POLICIES = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** One answer is parsed in one go, while deliveries wait: this takes some 200 ms. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const limits: JsonLimits = { ...usualLimits, values: 200_000 };
const MAX_CURSOR = 8192;

/** One answer of the list: what it lists, and its exact bytes. */
export interface PolicyListPage {
  readonly policies: readonly ListedPolicy[];
  readonly bytes: Buffer;
}

/** The list as it came. */
export interface PolicyList {
  readonly pages: readonly PolicyListPage[];
  /** False: it says itself that there are more, by a count or by `has_more` without a cursor; what it leaves out may be public. */
  readonly whole: boolean;
}

/** The published policies of the account, as many as came. Errors as {@link fetchPolicyPages}. */
export async function listPolicies(transport: Transport, signal?: AbortSignal): Promise<readonly ListedPolicy[]> {
  return (await fetchPolicyPages(transport, signal)).pages.flatMap(({ policies }) => policies);
}

/**
 * All published policies of the account, in both documented forms (docs/service.md §4.3), over as many pages as it has.
 * Errors: ServiceError; `unreadable` for any other form or a cursor that comes twice.
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
    if (next.length > MAX_CURSOR)
      throw new ServiceError('unreadable', {
        detail: `a cursor of more than ${MAX_CURSOR} characters`,
        about: 'policy-list',
        remedy: 'The fault is in the pagination of the service: tell its support.',
      });
    if (seen.has(next)) throw endless(`page ${pages.length} gives the cursor of an earlier page again`);
    seen.add(next);
    cursor = next;
  }
  throw endless(`more than ${MAX_PAGES} pages, each with a cursor to another one`);
}

/** Nothing that the operator has set is the cause. */
function endless(detail: string): ServiceError {
  return new ServiceError('unreadable', {
    detail: `the list of policies does not end: ${detail}`,
    about: 'policy-list',
    remedy: 'The fault is in the pagination of the service: tell its support.',
  });
}

/** The hosted address of a listed policy without its token. */
export function addressOf(policy: ListedPolicy): string | null {
  return withoutToken(policy.url ?? null);
}

/** Id → the address that works, of one answer of the list; empty where it cannot be read. */
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
