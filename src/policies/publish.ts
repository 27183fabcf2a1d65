import type { Source } from '../core/source.ts';
import { PUBLISH_TIMEOUT_MS, type PublishedPolicy, publishPath, readPublished } from '../service/policies.ts';
import type { ShownText } from './before-publishing.ts';
import {
  type CallFailure,
  type CallOrder,
  type CallOutcome,
  callOnce,
  callPatiently,
  type Patience,
  type Send,
} from './call-once.ts';
import { isCallable, type PolicyDeps, whyNotCallable } from './callable-source.ts';

interface PublishRequest extends Patience {
  readonly source: Source;
  readonly policyId: string;
  readonly actor: string;
  /** What the person who asked for it was shown; undefined: nothing. */
  readonly shown?: ShownText | undefined;
}

export type PublishOutcome =
  | { readonly outcome: 'done'; readonly requestId: string; readonly published: PublishedPolicy; readonly seq: number }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | Exclude<CallOutcome<never>, { outcome: 'done' | 'refused' | 'unknown' }>
  | { readonly outcome: 'not-configured'; readonly reason: string };

/** The required body of a publish is not documented: nothing, or a JSON object. */
const BODIES = [Buffer.alloc(0), Buffer.from('{}')] as const;
/** Statuses that a service uses to ask for a different body; nothing was published then. */
const ANOTHER_BODY: readonly (number | null)[] = [400, 411, 415, 422];

/**
 * Publishes a policy (docs/service.md §4.4): with the kind of body that the source accepted last, and once more with
 * the other if that is refused. No rate is documented, so none is applied here, except for pauses requested by the
 * service.
 */
export async function publishPolicy(deps: PolicyDeps, request: PublishRequest): Promise<PublishOutcome> {
  const { source, policyId, actor, shown } = request;
  if (!isCallable(source)) return { outcome: 'not-configured', reason: whyNotCallable(source) ?? '' };
  const client = deps.clientFor(source);
  const send: Send = ({ body, signal, timeoutMs }) => client.publishPolicy(policyId, body, { signal, timeoutMs });
  const orderOf = (body: Buffer): CallOrder => ({
    source,
    actor,
    operation: 'publish',
    via: 'rest',
    path: publishPath(policyId),
    body,
    timeoutMs: PUBLISH_TIMEOUT_MS,
    about: { policyId, ...(shown === undefined ? {} : { shown }) },
  });
  const read = (bytes: Buffer) => {
    const value = readPublished(bytes, policyId);
    return { value, facts: { policyId, hostedUrl: value.hostedUrl, webhooksQueued: value.webhooksQueued } };
  };
  const publish = (body: Buffer) =>
    callPatiently(deps, () => callOnce(deps, orderOf(body), { send, read }, request), request);
  const [none, object] = BODIES;
  const first = (await tookBody(deps, source.slug)) ? object : none;
  let ended = await publish(first);
  if (ended.outcome === 'refused' && ANOTHER_BODY.includes(ended.error.status))
    ended = await publish(first === none ? object : none);
  if (ended.outcome !== 'done') return ended;
  return { outcome: 'done', requestId: ended.requestId, published: ended.value, seq: ended.seq };
}

/** Whether the last successful publish of this source had a body. */
async function tookBody({ store, catchUp }: Pick<PolicyDeps, 'store' | 'catchUp'>, source: string): Promise<boolean> {
  await catchUp();
  const last = await store.read
    .selectFrom('calls as call')
    .innerJoin('entries as entry', 'entry.seq', 'call.intent_seq')
    .select('entry.body')
    .where('call.source', '=', source)
    .where('call.operation', '=', 'publish')
    .where('call.state', '=', 'done')
    .orderBy('call.intent_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return (last?.body?.length ?? 0) > 0;
}

/** A delivery received about the publication. */
export interface Arrival {
  readonly seq: number;
  readonly receivedAt: string;
}

/**
 * Waits until as many policy.published deliveries of this policy have arrived as the service queued, at most `waitMs`.
 * Resolves with those that came: fewer if the account also has other endpoints.
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
    .distinct()
    .where('call.request_id', '=', requestId)
    .where('history.source', '=', source)
    .where('history.policy_id', '=', policyId)
    .where('history.change', '=', 'published')
    .whereRef('history.seq', '>', 'call.intent_seq')
    .orderBy('history.seq')
    .execute();
  return rows.map(({ seq, received_at: receivedAt }) => ({ seq, receivedAt }));
}
