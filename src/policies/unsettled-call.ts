import type { Source } from '../core/source.ts';
import type { Query } from '../store/store.ts';
import type { PolicyDeps } from './callable-source.ts';
import type { CallRow, ItemRow } from './settle-calls.ts';

/** What is requested, in terms of form A; `en` is the documented default language. */
export interface WantedPolicy {
  readonly policyType: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly businessName: string | null;
}

/** A call whose outcome is still unknown. */
export interface UnsettledCall {
  readonly requestId: string;
  /** The item's position in a batch, from 0; null: the call is about this policy only. */
  readonly position: number | null;
  readonly state: 'sent' | 'unknown';
  readonly askedAt: string;
  /** When a `sent` call starts to count as unknown. */
  readonly dueAt: string;
  readonly error: string | null;
}
/** Whether a call was about the same policy. */
export function isTwin(
  call: Pick<CallRow, 'policy_type' | 'jurisdiction' | 'language' | 'business_name'>,
  asked: WantedPolicy,
): boolean {
  return (
    call.policy_type === asked.policyType &&
    call.jurisdiction === asked.jurisdiction &&
    (call.language ?? 'en') === asked.language &&
    call.business_name === asked.businessName
  );
}

/** How often the same was requested singly, whatever the outcome. */
export async function countGenerations(
  deps: Pick<PolicyDeps, 'store' | 'catchUp'>,
  { slug }: Pick<Source, 'slug'>,
  asked: WantedPolicy,
): Promise<number> {
  await deps.catchUp();
  const { count } = await deps.store.read
    .selectFrom('calls')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('source', '=', slug)
    .where('operation', '=', 'generate')
    .where('policy_type', '=', asked.policyType)
    .where('jurisdiction', '=', asked.jurisdiction)
    .where('language', '=', asked.language)
    .where('business_name', asked.businessName === null ? 'is' : '=', asked.businessName)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Single generations of a source without an outcome yet, newest first. */
export function loadOpenGenerations(read: Query, source: string): Promise<CallRow[]> {
  return read
    .selectFrom('calls')
    .selectAll()
    .where('source', '=', source)
    .where('operation', '=', 'generate')
    .where('state', 'in', ['sent', 'unknown'])
    .orderBy('intent_seq', 'desc')
    .execute();
}

/**
 * A generation of the same, single or in a batch, that has no outcome yet: unknown, or sent by a process that waits for
 * the response or has ended.
 */
export async function findUnsettledTwin(
  { store: { read } }: Pick<PolicyDeps, 'store'>,
  { slug }: Pick<Source, 'slug'>,
  asked: WantedPolicy,
): Promise<UnsettledCall | null> {
  const single = await loadOpenGenerations(read, slug);
  const twin = single.find((call) => isTwin(call, asked));
  if (twin !== undefined) return unsettledOf(twin, twin.state, null);
  const items = await read
    .selectFrom('call_items')
    .selectAll()
    .where('source', '=', slug)
    .where('state', 'in', ['sent', 'unknown'])
    .execute();
  const item = items.find((row) => isTwin(askedOf(row), asked));
  if (item === undefined) return null;
  const batch = await read
    .selectFrom('calls')
    .selectAll()
    .where('request_id', '=', item.request_id)
    .executeTakeFirstOrThrow();
  return unsettledOf(batch, item.state, item.position);
}

function unsettledOf(call: CallRow, state: string, position: number | null): UnsettledCall {
  const { request_id: requestId, asked_at: askedAt, due_at: dueAt, error } = call;
  return { requestId, position, state: state === 'sent' ? state : 'unknown', askedAt, dueAt, error };
}

/** What an item of a plan requests, in terms of a call. */
export function askedOf({
  item,
}: Pick<ItemRow, 'item'>): Pick<CallRow, 'policy_type' | 'jurisdiction' | 'language' | 'business_name'> {
  const asked = JSON.parse(item) as Record<string, string | undefined>;
  return {
    policy_type: asked['policy_type'] ?? null,
    jurisdiction: asked['jurisdiction'] ?? null,
    language: asked['language'] ?? 'en',
    business_name: asked['business_name'] ?? null,
  };
}
