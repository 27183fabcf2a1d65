import type { CallSettled } from '../core/call.ts';
import { appendCall } from './append-call.ts';
import type { PolicyDeps } from './callable.ts';
import { findEvidence } from './evidence.ts';
import type { CallRow } from './evidence.ts';

/** Clocks of processes that share a database differ by less, milliseconds. */
const WRONG_CLOCK_MS = 3_600_000;

/** Who settles what the program can tell by itself. */
const PROGRAM = 'consent-ledger';

type SettleDeps = Pick<PolicyDeps, 'store' | 'ledger' | 'clock' | 'catchUp'>;

/**
 * Brings calls without an outcome further: one whose process ended before it wrote a result becomes `unknown` once its time is over, and an
 * unknown one is settled where a delivery or a list of the service tells (see {@link findEvidence}). Harmless to repeat and from several processes at once.
 */
export async function settleCalls(deps: SettleDeps): Promise<{ lost: number; settled: number }> {
  await deps.catchUp();
  const now = deps.clock();
  // Asked for in the future: by a clock that was wrong, and its time would come too late.
  const future = new Date(now.getTime() + WRONG_CLOCK_MS).toISOString();
  const overdue = await deps.store.read
    .selectFrom('calls')
    .select(['request_id', 'source'])
    .where('state', '=', 'sent')
    .where((eb) => eb.or([eb('due_at', '<', now.toISOString()), eb('asked_at', '>', future)]))
    .orderBy('intent_seq')
    .execute();
  for (const { request_id: requestId, source } of overdue)
    await appendCall(deps, source, { call: 'lost', requestId }, [requestId, 'lost'], Buffer.alloc(0));
  if (overdue.length > 0) await deps.catchUp();
  const versions = await loadVersions(deps);
  const found = await findEvidence(deps.store.read);
  for (const { call, ...evidence } of found) {
    const meta: CallSettled = { call: 'settled', requestId: call.request_id, actor: PROGRAM, ...evidence };
    await appendCall(deps, call.source, meta, settledKey(call, versions), Buffer.alloc(0));
  }
  if (found.length > 0) await deps.catchUp();
  return { lost: overdue.length, settled: found.length };
}

/**
 * The last entry about the items of each batch that has open ones: what an answer left open is settled item by item, while the call itself stays
 * as the answer said. To be read before what is settled by it.
 */
async function loadVersions(deps: Pick<PolicyDeps, 'store'>): Promise<ReadonlyMap<string, number>> {
  const rows = await deps.store.read
    .selectFrom('call_items')
    .select((eb) => ['request_id', eb.fn.max('last_seq').as('last_seq')])
    .where('request_id', 'in', (eb) => eb.selectFrom('call_items').select('request_id').where('state', '=', 'unknown'))
    .groupBy('request_id')
    .execute();
  return new Map(rows.map(({ request_id: id, last_seq: seq }) => [id ?? '', Number(seq)]));
}

/** Two who settle the same version of a call at once meet at one key. */
function settledKey(call: CallRow, versions: ReadonlyMap<string, number>): readonly string[] {
  return [call.request_id, 'settled', String(Math.max(call.last_seq, versions.get(call.request_id) ?? 0))];
}

export interface SettleRequest {
  readonly requestId: string;
  readonly happened: boolean;
  readonly actor: string;
  /** The id of the policy, where the officer found it. */
  readonly policyId?: string | undefined;
  /** Of a batch: only these items, by their position from 0; default: all that are still unknown. */
  readonly positions?: readonly number[] | undefined;
}

/** `not-open`: its outcome is known, or its answer is still waited for. `no-such-item`: these positions are not unknown in it. */
export type SettleOutcome =
  | { readonly outcome: 'settled'; readonly seq: number; readonly left: number }
  | { readonly outcome: 'unknown-call' | 'conflict' }
  | { readonly outcome: 'not-open'; readonly state: CallRow['state']; readonly dueAt: string }
  | { readonly outcome: 'no-such-item'; readonly positions: readonly number[] };

/** An officer says what came of a call: he has looked it up in the service's dashboard. */
export async function settleByOfficer(deps: SettleDeps, request: SettleRequest): Promise<SettleOutcome> {
  await settleCalls(deps);
  const versions = await loadVersions(deps);
  const call = await deps.store.read
    .selectFrom('calls')
    .selectAll()
    .where('request_id', '=', request.requestId)
    .executeTakeFirst();
  if (call === undefined) return { outcome: 'unknown-call' };
  const open = call.plan_id === null ? [] : await unknownItems(deps, call);
  if (call.state !== 'unknown' && open.length === 0)
    return { outcome: 'not-open', state: call.state, dueAt: call.due_at };
  const wanted = request.positions ?? open;
  const strangers = wanted.filter((position) => !open.includes(position));
  if (strangers.length > 0) return { outcome: 'no-such-item', positions: strangers };
  const left = open.length - wanted.length;
  const { happened, requestId, actor, policyId = null } = request;
  const meta: CallSettled = {
    call: 'settled',
    requestId,
    actor,
    basis: 'officer',
    evidence: null,
    happened: left > 0 ? null : happened,
    policyId,
    items: wanted.map((position) => ({
      position,
      happened,
      policyId: wanted.length === 1 ? policyId : null,
      evidence: null,
    })),
  };
  const { outcome, seq } = await appendCall(deps, call.source, meta, settledKey(call, versions), Buffer.alloc(0));
  await deps.catchUp();
  return outcome === 'duplicate' ? { outcome: 'conflict' } : { outcome: 'settled', seq, left };
}

async function unknownItems(deps: Pick<PolicyDeps, 'store'>, call: CallRow): Promise<number[]> {
  const rows = await deps.store.read
    .selectFrom('call_items')
    .select('position')
    .where('plan_id', '=', call.plan_id)
    .where('request_id', '=', call.request_id)
    .where('state', '=', 'unknown')
    .orderBy('position')
    .execute();
  return rows.map(({ position }) => position);
}
