import { z } from 'zod';
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

/**
 * All published policies of the account, in both documented forms (docs/service.md §4.3).
 * Errors: ServiceError; `unreadable` for any other form or a cursor that comes twice.
 */
export async function listPolicies(transport: Transport, signal?: AbortSignal): Promise<readonly ListedPolicy[]> {
  const all: ListedPolicy[] = [];
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list: z.infer<typeof listSchema> = await transport.request({
      path: '/policies',
      query: { cursor },
      signal,
      read: ({ bytes }) => parseList(bytes),
    });
    all.push(...list.policies);
    if (list.nextCursor === null) return all;
    if (seen.has(list.nextCursor)) break;
    seen.add(list.nextCursor);
    cursor = list.nextCursor;
  }
  throw new ServiceError('unreadable', { detail: 'the list of policies gives the same cursor again and again' });
}

function parseList(bytes: Buffer): z.infer<typeof listSchema> {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new ServiceError('unreadable', { detail: 'no JSON' });
  }
  const parsed = listSchema.safeParse(json);
  if (!parsed.success)
    throw new ServiceError('unreadable', { detail: 'neither documented form of the list of policies' });
  return parsed.data;
}
