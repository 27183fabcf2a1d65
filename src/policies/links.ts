import { readLinks } from '../service/policies.ts';
import { readPublished } from '../service/publish.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Query } from '../store/store.ts';
import type { ListedRow } from './list.ts';
import type { CallRow } from './evidence.ts';

/** Names a policy of a source in the maps of this file. */
export function linkKey(source: string, policyId: string): string {
  return `${source}\n${policyId}`;
}

/**
 * The addresses of listed policies with their tokens, without which they answer 404 (docs/service.md §2.2). Read models hold none; they are read
 * out of the lists as they came.
 */
export async function loadListedLinks(
  read: Query,
  rows: readonly Pick<ListedRow, 'source' | 'policy_id' | 'last_seq'>[],
): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  for (const seq of new Set(rows.map(({ last_seq }) => last_seq))) {
    const body = await loadBody(read, seq);
    if (body === null) continue;
    const named = readLinks(body);
    for (const { source, policy_id: policyId, last_seq: lastSeq } of rows) {
      const link = lastSeq === seq ? named.get(policyId) : undefined;
      if (link !== undefined) links.set(linkKey(source, policyId), link);
    }
  }
  return links;
}

/** The same out of the answer to a publish that was done; null where it holds none. */
export async function loadPublishedLink(
  read: Query,
  call: Pick<CallRow, 'answer_seq' | 'policy_id'> | undefined,
): Promise<string | null> {
  if (call?.answer_seq == null || call.policy_id === null) return null;
  const body = await loadBody(read, call.answer_seq);
  try {
    return body === null ? null : readPublished(body, call.policy_id).link;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function loadBody(read: Query, seq: number): Promise<Buffer | null> {
  const row = await read.selectFrom('entries').select('body').where('seq', '=', seq).executeTakeFirst();
  return row?.body ?? null;
}
