import type { Source } from '../core/source.ts';
import type { PublishedPolicy } from '../service/publish.ts';
import { callOnce, type CallFailure, type CallOutcome, type Send } from './call.ts';
import { isCallable, type PolicyDeps, whyNotCallable } from './deps.ts';
import { callPatiently, type Patience } from './patient.ts';

/** PUBLISH_TIMEOUT_MS of src/service/publish.ts. */
const PUBLISH_TIMEOUT_MS = 60_000;

export interface PublishRequest extends Patience {
  readonly source: Source;
  readonly policyId: string;
  readonly actor: string;
}

export type PublishOutcome =
  | { readonly outcome: 'done'; readonly requestId: string; readonly published: PublishedPolicy; readonly seq: number }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | Exclude<CallOutcome<never>, { outcome: 'done' | 'refused' | 'unknown' }>
  | { readonly outcome: 'not-configured'; readonly reason: string };

/** Publishes a policy (docs/service.md §4.4). No rate is documented for it, so none is kept here; what the service asks to wait is waited. */
export async function publishPolicy(deps: PolicyDeps, request: PublishRequest): Promise<PublishOutcome> {
  const { source, policyId, actor } = request;
  if (!isCallable(source)) return { outcome: 'not-configured', reason: whyNotCallable(source) ?? '' };
  const client = deps.clientFor(source);
  const send: Send = ({ signal, timeoutMs }) => client.publishPolicy(policyId, { signal, timeoutMs });
  const order = {
    source,
    actor,
    operation: 'publish',
    via: 'rest',
    path: `/policies/${encodeURIComponent(policyId)}/publish`,
    body: Buffer.alloc(0),
    timeoutMs: PUBLISH_TIMEOUT_MS,
    about: { policyId },
  } as const;
  const read = (bytes: Buffer) => {
    const value = deps.read.published(bytes, policyId);
    return { value, facts: { policyId, hostedUrl: value.hostedUrl, webhooksQueued: value.webhooksQueued } };
  };
  const ended = await callPatiently(deps, () => callOnce(deps, order, send, read, request), request);
  if (ended.outcome !== 'done') return ended;
  return { outcome: 'done', requestId: ended.requestId, published: ended.value, seq: ended.seq };
}

/** A delivery about the publishing that arrived here. */
export interface Arrival {
  readonly seq: number;
  readonly receivedAt: string;
}

/**
 * Waits until as many policy.published deliveries of this policy have arrived here as the service queued, at most `waitMs`. Resolves with those that came:
 * fewer where the account has other endpoints, too.
 */
export async function awaitWebhooks(
  deps: Pick<PolicyDeps, 'store' | 'catchUp' | 'sleep'>,
  published: {
    readonly source: string;
    readonly policyId: string;
    readonly requestId: string;
    readonly queued: number;
  },
  waiting: {
    readonly waitMs: number;
    readonly signal?: AbortSignal | undefined;
    readonly onArrival?: (arrived: number) => void;
  },
): Promise<readonly Arrival[]> {
  const step = 250;
  for (let waited = 0; ; waited += step) {
    await deps.catchUp();
    const arrivals = await loadArrivals(deps, published);
    waiting.onArrival?.(arrivals.length);
    if (arrivals.length >= published.queued || waited >= waiting.waitMs || waiting.signal?.aborted) return arrivals;
    await deps.sleep(step, waiting.signal);
  }
}

async function loadArrivals(
  deps: Pick<PolicyDeps, 'store'>,
  { source, policyId, requestId }: { source: string; policyId: string; requestId: string },
): Promise<Arrival[]> {
  const rows = await deps.store.read
    .selectFrom('policy_history as history')
    .innerJoin('calls as call', 'call.source', 'history.source')
    .select(['history.seq', 'history.received_at'])
    .where('call.request_id', '=', requestId)
    .where('history.source', '=', source)
    .where('history.policy_id', '=', policyId)
    .where('history.change', '=', 'published')
    .whereRef('history.seq', '>', 'call.intent_seq')
    .orderBy('history.seq')
    .execute();
  return rows.map(({ seq, received_at: receivedAt }) => ({ seq, receivedAt }));
}
