import { z } from 'zod';
import { readJson, withoutToken } from './answer-json.ts';
import { ServiceError } from './service-error.ts';
import type { Transport } from './transport.ts';

/** A listed policy (docs/service.md §2.2): nothing but the id is required, unknown fields are kept. */
const listedPolicySchema = z.looseObject({
  id: z.union([z.string(), z.number()]).transform(String),
  policy_type: z.string().nullish(),
  title: z.string().nullish(),
  jurisdiction: z.string().nullish(),
  language: z.string().nullish(),
  updated_at: z.string().nullish(),
  /** Carries a token in its query: strip it before it is shown or kept. */
  url: z.string().nullish(),
});
export type ListedPolicy = z.infer<typeof listedPolicySchema>;

/** Form A: `{count, policies}`; form B: `{data, next_cursor}` (docs/service.md §4.3). */
const listSchema = z.union([
  z
    .looseObject({ policies: z.array(listedPolicySchema) })
    .transform(({ policies }) => ({ policies, nextCursor: null })),
  z
    .looseObject({ data: z.array(listedPolicySchema), next_cursor: z.string().nullish() })
    .transform(({ data, next_cursor }) => ({ policies: data, nextCursor: next_cursor || null })),
]);

/** More pages than any account has; a service that goes on beyond it is looping. */
const MAX_PAGES = 1000;

/** One answer of the list: what it lists, and its exact bytes. */
export interface PolicyListPage {
  readonly policies: readonly ListedPolicy[];
  readonly bytes: Buffer;
}

/** All published policies of the account. Errors as {@link fetchPolicyPages}. */
export async function listPolicies(transport: Transport, signal?: AbortSignal): Promise<readonly ListedPolicy[]> {
  return (await fetchPolicyPages(transport, signal)).flatMap(({ policies }) => policies);
}

/**
 * All published policies of the account, in both documented forms (docs/service.md §4.3); form A has one page.
 * Errors: ServiceError; `unreadable` for any other form or a cursor that comes twice.
 */
export async function fetchPolicyPages(transport: Transport, signal?: AbortSignal): Promise<readonly PolicyListPage[]> {
  const pages: PolicyListPage[] = [];
  const seen = new Set<string>();
  let cursor: string | null = null;
  while (pages.length < MAX_PAGES) {
    const answer: z.infer<typeof listSchema> & { bytes: Buffer } = await transport.request({
      path: '/policies',
      query: { cursor },
      about: 'policy-list',
      signal,
      read: ({ bytes }) => ({ ...parseList(bytes), bytes }),
    });
    pages.push({ policies: answer.policies, bytes: answer.bytes });
    if (answer.nextCursor === null) return pages;
    if (seen.has(answer.nextCursor)) break;
    seen.add(answer.nextCursor);
    cursor = answer.nextCursor;
  }
  throw new ServiceError('unreadable', {
    detail: 'the list of policies gives the same cursor again and again',
    about: 'policy-list',
  });
}

/** The hosted address of a listed policy without its token. */
export function addressOf(policy: ListedPolicy): string | null {
  return withoutToken(policy.url ?? null);
}

function parseList(bytes: Buffer): z.infer<typeof listSchema> {
  const parsed = listSchema.safeParse(readJson(bytes, 'policy-list'));
  if (!parsed.success)
    throw new ServiceError('unreadable', {
      detail: 'neither documented form of the list of policies',
      about: 'policy-list',
    });
  return parsed.data;
}
