import type { Selectable } from 'kysely';
import type { CallSettled } from '../core/call.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { appendCall } from './call-once.ts';
import type { PolicyDeps } from './callable-source.ts';

/** The clocks of processes that share a database are assumed to differ by less than this, in milliseconds. */
const WRONG_CLOCK_MS = 3_600_000;

/** The actor when the program settles a call from evidence. */
const PROGRAM = 'consent-ledger';

type SettleDeps = Pick<PolicyDeps, 'store' | 'ledger' | 'clock' | 'catchUp'>;

/**
 * Updates calls without an outcome: if the process ended before writing a result, the call becomes `unknown` once its
 * time is over; an unknown one is settled if a delivery or a list of the service shows what happened (see {@link
 * findEvidence}). Idempotent, and safe to run from several processes at once.
 */
export async function settleCalls(deps: SettleDeps): Promise<{ lost: number; settled: number }> {
  await deps.catchUp();
  const now = deps.clock();
  // A due time further ahead than this was written by a wrong clock, and waiting for it would take too long.
  const future = new Date(now.getTime() + WRONG_CLOCK_MS).toISOString();
  const overdue = await deps.store.read
    .selectFrom('calls')
    .select(['request_id', 'source'])
    .where('state', '=', 'sent')
    .where((eb) => eb.or([eb('due_at', '<', now.toISOString()), eb('asked_at', '>', future)]))
    .orderBy('intent_seq')
    .execute();
  for (const { request_id: requestId, source } of overdue)
    await appendCall(deps, source, {
      meta: { call: 'lost', requestId },
      keyParts: [requestId, 'lost'],
      body: Buffer.alloc(0),
    });
  if (overdue.length > 0) await deps.catchUp();
  const versions = await loadVersions(deps);
  const found = await findEvidence(deps.store.read);
  for (const { call, ...evidence } of found) {
    const meta: CallSettled = { call: 'settled', requestId: call.request_id, actor: PROGRAM, ...evidence };
    await appendCall(deps, call.source, { meta, keyParts: settledKey(call, versions), body: Buffer.alloc(0) });
  }
  if (found.length > 0) await deps.catchUp();
  return { lost: overdue.length, settled: found.length };
}

/**
 * The last entry about the items of each batch with open ones: what a response left open is settled item by item, while
 * the call itself keeps the state given in the response. Read it before settling.
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

/** Two concurrent settlements of the same version of a call share one key, so only one is stored. */
function settledKey(call: CallRow, versions: ReadonlyMap<string, number>): readonly string[] {
  return [call.request_id, 'settled', String(Math.max(call.last_seq, versions.get(call.request_id) ?? 0))];
}

interface SettleRequest {
  readonly requestId: string;
  readonly happened: boolean;
  readonly actor: string;
  /** The policy's id, if the officer found it. */
  readonly policyId?: string | undefined;
  /** For a batch: only these items, by position from 0; default: all that are still unknown. */
  readonly positions?: readonly number[] | undefined;
}

/**
 * `not-open`: its outcome is known, or its response is still awaited. `no-such-item`: it has no unknown items at these
 * positions.
 */
export type SettleOutcome =
  | { readonly outcome: 'settled'; readonly seq: number; readonly left: number }
  | { readonly outcome: 'unknown-call' | 'conflict' }
  | { readonly outcome: 'not-open'; readonly state: CallRow['state']; readonly dueAt: string }
  | { readonly outcome: 'no-such-item'; readonly positions: readonly number[] };

/** Why a call was not settled, in a sentence. */
export function settleProblem(outcome: Exclude<SettleOutcome, { outcome: 'settled' }>): string {
  switch (outcome.outcome) {
    case 'unknown-call':
      return 'Unknown call.';
    case 'conflict':
      return 'Someone else settled this call at the same time.';
    case 'not-open':
      return outcome.state === 'sent'
        ? 'The response may still arrive: settle the call when its outcome counts as unknown.'
        : 'The outcome of this call is already known.';
    case 'no-such-item':
      return 'The outcome of these items is already known.';
    default:
      return outcome satisfies never;
  }
}

/** A call; `source`: only if it is one of this source. Null: there is none. */
export async function findCall(read: Query, requestId: string, source?: string): Promise<CallRow | null> {
  let query = read.selectFrom('calls').selectAll().where('request_id', '=', requestId);
  if (source !== undefined) query = query.where('source', '=', source);
  return (await query.executeTakeFirst()) ?? null;
}

/** Records the outcome of a call as stated by an officer, who has looked it up in the service's dashboard. */
export async function settleByOfficer(deps: SettleDeps, request: SettleRequest): Promise<SettleOutcome> {
  await settleCalls(deps);
  const versions = await loadVersions(deps);
  const call = await findCall(deps.store.read, request.requestId);
  if (call === null) return { outcome: 'unknown-call' };
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
  const { outcome, seq } = await appendCall(deps, call.source, {
    meta,
    keyParts: settledKey(call, versions),
    body: Buffer.alloc(0),
  });
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

/** A call to the service, as in the read models. */
export type CallRow = Selectable<Tables['calls']>;
/** One item of a bulk plan. */
export type ItemRow = Selectable<Tables['call_items']>;

/** What settles a call, as recorded. */
interface Evidence extends Pick<CallSettled, 'basis' | 'evidence' | 'happened' | 'policyId' | 'items'> {
  readonly call: CallRow;
}

/** A policy that may have been created: a generation, or one item of a batch. */
interface Unit {
  readonly call: CallRow;
  /** Null: the call itself. */
  readonly position: number | null;
  readonly policyType: string;
  readonly jurisdiction: string;
  readonly language: string;
  readonly businessName: string | null;
}

type Change = Selectable<Tables['policy_history']>;

/** How far the service's clock may be off, and how long after we gave up a policy may still be created. Milliseconds. */
const MARGIN_MS = 300_000;

/**
 * What deliveries, lists and later responses of the service reveal about calls with an unknown outcome. A generation or
 * item was processed if a policy.created arrived for the same type, jurisdiction, language and business, dated within
 * the time of the call, whose policy belongs to no other call, and which fits no other open call; if it fits several,
 * an officer has to decide. A publish succeeded if policy.published arrived for its policy, or if the policy has been
 * newly listed since. It also counts as succeeded if the policy has been published from here since: publishing again
 * gives the same result, so there is nothing left to find out.
 */
async function findEvidence(read: Query): Promise<Evidence[]> {
  const unknown = await read
    .selectFrom('calls')
    .selectAll()
    .where('state', '=', 'unknown')
    .orderBy('intent_seq')
    .execute();
  const openItems = await read.selectFrom('call_items').selectAll().where('state', 'in', ['unknown', 'sent']).execute();
  if (unknown.length === 0 && openItems.every(({ state }) => state === 'sent')) return [];
  const itemCalls = await loadCallsOf(read, openItems);
  const sent = await read.selectFrom('calls').selectAll().where('state', '=', 'sent').execute();
  const units = [
    ...[...unknown, ...sent].flatMap(unitOfCall),
    ...openItems.flatMap((item) => unitOfItem(item, itemCalls.get(item.request_id ?? ''))),
  ];
  const found = await assign(read, units);
  const evidence: Evidence[] = [];
  for (const call of new Map([...unknown, ...itemCalls.values()].map((one) => [one.request_id, one])).values()) {
    if (call.state === 'sent' || call.state === 'refused') continue;
    const made = found.filter(({ unit }) => unit.call.request_id === call.request_id);
    if (call.operation === 'publish') evidence.push(...(await findPublished(read, call)));
    else if (made.length > 0) evidence.push(evidenceOf(call, made, openItems));
  }
  return evidence;
}

async function loadCallsOf(read: Query, items: readonly ItemRow[]): Promise<Map<string, CallRow>> {
  const ids = new Set(items.flatMap(({ request_id: id }) => (id === null ? [] : [id])));
  if (ids.size === 0) return new Map();
  const rows = await read
    .selectFrom('calls')
    .selectAll()
    .where('request_id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.request_id, row]));
}

function unitOfCall(call: CallRow): Unit[] {
  const { operation, policy_type: policyType, jurisdiction, language, business_name: businessName } = call;
  if (operation !== 'generate' || policyType === null || jurisdiction === null) return [];
  return [{ call, position: null, policyType, jurisdiction, language: language ?? 'en', businessName }];
}

function unitOfItem(item: ItemRow, call: CallRow | undefined): Unit[] {
  if (call === undefined) return [];
  const asked = JSON.parse(item.item) as Record<string, string | undefined>;
  const { policy_type: policyType, jurisdiction, language = 'en', business_name: businessName = null } = asked;
  if (policyType === undefined || jurisdiction === undefined) return [];
  return [{ call, position: item.position, policyType, jurisdiction, language, businessName }];
}

interface Assigned {
  readonly unit: Unit;
  readonly change: Change;
}

async function assign(read: Query, units: readonly Unit[]): Promise<Assigned[]> {
  const [first] = units.map(({ call }) => call.intent_seq).sort((a, b) => a - b);
  if (first === undefined) return [];
  const sources = [...new Set(units.map(({ call }) => call.source))];
  const changes = await read
    .selectFrom('policy_history')
    .selectAll()
    .where('change', '=', 'created')
    .where('seq', '>', first)
    .where('source', 'in', sources)
    .orderBy('seq')
    .orderBy('part')
    .execute();
  const claimed = await loadClaimed(read, sources);
  const free = new Set(units);
  const assigned: Assigned[] = [];
  for (const change of changes) {
    const key = `${change.source} ${change.policy_id}`;
    if (claimed.has(key)) continue;
    const fitting = [...free].filter((unit) => fits(unit, change));
    const [unit] = fitting;
    // Equal items of one batch are interchangeable.
    if (unit === undefined || fitting.some((other) => !isInterchangeable(unit, other))) continue;
    claimed.add(key);
    free.delete(unit);
    if (unit.call.state !== 'sent') assigned.push({ unit, change });
  }
  return assigned;
}

/** Policies known to result from some call. */
async function loadClaimed(read: Query, sources: readonly string[]): Promise<Set<string>> {
  const calls = await read
    .selectFrom('calls')
    .select(['source', 'policy_id'])
    .where('operation', '=', 'generate')
    .where('source', 'in', sources)
    .where('policy_id', 'is not', null)
    .execute();
  const items = await read
    .selectFrom('call_items')
    .select(['source', 'policy_id'])
    .where('source', 'in', sources)
    .where('policy_id', 'is not', null)
    .execute();
  return new Set([...calls, ...items].map((row) => `${row.source} ${row.policy_id}`));
}

function fits(unit: Unit, change: Change): boolean {
  const { call } = unit;
  const at = Date.parse(change.at);
  return (
    change.source === call.source &&
    change.seq > call.intent_seq &&
    at >= Date.parse(call.asked_at) - MARGIN_MS &&
    at <= Date.parse(call.due_at) + MARGIN_MS &&
    change.policy_type === unit.policyType &&
    (change.jurisdiction === null || change.jurisdiction === unit.jurisdiction) &&
    (change.language === null || change.language === unit.language) &&
    (change.brand_name === null || unit.businessName === null || change.brand_name === unit.businessName)
  );
}

function isInterchangeable(a: Unit, b: Unit): boolean {
  return (
    a.call.request_id === b.call.request_id &&
    a.policyType === b.policyType &&
    a.jurisdiction === b.jurisdiction &&
    a.language === b.language &&
    a.businessName === b.businessName
  );
}

function evidenceOf(call: CallRow, made: readonly Assigned[], openItems: readonly ItemRow[]): Evidence {
  const [first] = made;
  const items = made.flatMap(({ unit, change }) =>
    unit.position === null
      ? []
      : [{ position: unit.position, happened: true, policyId: change.policy_id, evidence: change.seq }],
  );
  const open = openItems.filter(({ request_id: id, state }) => id === call.request_id && state === 'unknown').length;
  return {
    call,
    basis: 'webhook',
    evidence: first?.change.seq ?? null,
    happened: items.length < open ? null : true,
    policyId: call.operation === 'generate' ? (first?.change.policy_id ?? null) : null,
    items,
  };
}

async function findPublished(read: Query, call: CallRow): Promise<Evidence[]> {
  if (call.policy_id === null) return [];
  const settled = (basis: Evidence['basis'], seq: number): Evidence[] => [
    { call, basis, evidence: seq, happened: true, policyId: call.policy_id, items: [] },
  ];
  const since = new Date(Date.parse(call.asked_at) - MARGIN_MS).toISOString();
  const change = await read
    .selectFrom('policy_history')
    .select('seq')
    .where('source', '=', call.source)
    .where('policy_id', '=', call.policy_id)
    .where('change', '=', 'published')
    .where('seq', '>', call.intent_seq)
    .where('at', '>=', since)
    .orderBy('seq')
    .executeTakeFirst();
  if (change !== undefined) return settled('webhook', change.seq);
  const again = await read
    .selectFrom('calls')
    .select('last_seq')
    .where('operation', '=', 'publish')
    .where('source', '=', call.source)
    .where('policy_id', '=', call.policy_id)
    .where('state', '=', 'done')
    .where('intent_seq', '>', call.intent_seq)
    .orderBy('intent_seq')
    .executeTakeFirst();
  if (again !== undefined) return settled('call', again.last_seq);
  const listed = await read
    .selectFrom('listed_policies')
    .select('first_seq')
    .where('source', '=', call.source)
    .where('policy_id', '=', call.policy_id)
    .where('first_seq', '>', call.intent_seq)
    .executeTakeFirst();
  return listed === undefined ? [] : settled('list', listed.first_seq);
}
