import type { Selectable } from 'kysely';
import type { CallPlan, CallResult } from '../core/call.ts';
import type { Source } from '../core/source.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { sha256Hex } from '../crypto/hash.ts';
import { BULK_TIMEOUT_MS, type BulkItemResult, MAX_BATCH_ITEMS, readBulkResult } from '../service/policies.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import {
  appendCall,
  type CallFailure,
  type CallOutcome,
  callOnce,
  hasCallBetween,
  Overtaken,
  type Patience,
  retryPause,
  type Send,
  waitUntil,
} from './call-once.ts';
import { type CallableSource, isCallable, type PolicyDeps, whyNotCallable } from './callable-source.ts';
import { aboutOf, type FormA } from './generate.ts';
import { SERVICE_ASKED } from './limits.ts';
import { type ItemRow, settleCalls } from './settle-calls.ts';
import { isTwin, loadOpenGenerations } from './unsettled-call.ts';

export type PlanRow = Selectable<Tables['call_plans']>;

/**
 * `exists`: a plan with the same items was begun before; continue it, or begin `again` to send all of them a second
 * time. `sent-before`: some items, by position from 0, were or may have been created with another file or one by one, or
 * wait to be sent with one; `first` is the plan or call of the first of them.
 */
type PlanOutcome =
  | { readonly outcome: 'planned'; readonly planId: string }
  | { readonly outcome: 'exists'; readonly plan: PlanRow }
  | ({ readonly outcome: 'sent-before' } & SentBefore);

/**
 * Records what is going to be sent, so that anyone with the same file can resume it. The plan's id follows from source
 * and items.
 */
export async function planBulk(
  deps: PolicyDeps,
  request: {
    readonly source: Source;
    readonly actor: string;
    /** The file's name, for people. */
    readonly file: string | null;
    readonly items: readonly FormA[];
    readonly again?: boolean | undefined;
  },
): Promise<PlanOutcome> {
  for (;;) {
    const planned = await planUnlessOvertaken(deps, request);
    if (planned !== null) return planned;
  }
}

/** The first item that is the same as an earlier one of a list, by position from 0; null: none, as {@link planBulk} requires. */
export function findRepeated(items: readonly FormA[]): { readonly position: number; readonly first: number } | null {
  const places = new Map<string, number>();
  for (const [position, item] of items.entries()) {
    const name = canonicalJson(item).toString('utf8');
    const first = places.get(name);
    if (first !== undefined) return { position, first };
    places.set(name, position);
  }
  return null;
}

/** Null: a call of this source was recorded after the comparison with earlier ones, so that it has to be made again. */
async function planUnlessOvertaken(
  deps: PolicyDeps,
  { source, actor, file, items, again }: Parameters<typeof planBulk>[1],
): Promise<PlanOutcome | null> {
  const asOf = await deps.catchUp();
  const body = canonicalJson(items);
  const digest = sha256Hex(body);
  const before = await findPlans(deps, source.slug, digest);
  const last = before.at(-1);
  if (again !== true) {
    if (last !== undefined) return { outcome: 'exists', plan: last };
    const sentBefore = await findSentBefore(deps.store.read, source.slug, items);
    if (sentBefore !== null) return { outcome: 'sent-before', ...sentBefore };
  }
  // Different sources never share a plan, even with equal items.
  const name = sha256Hex(Buffer.from(`${source.slug}\n${digest}`)).slice(0, 12);
  const planId = before.length === 0 ? `bulk-${name}` : `bulk-${name}-${before.length + 1}`;
  const meta: CallPlan = { call: 'plan', planId, actor, file, digest, items: items.length };
  try {
    await appendCall(deps, source.slug, { meta, keyParts: [planId, 'plan'], body }, async (tx, [recorded]) => {
      if (recorded?.outcome === 'stored' && (await hasCallBetween(tx, source.slug, asOf, recorded.seq)))
        throw new Overtaken();
    });
  } catch (error) {
    if (error instanceof Overtaken) return null;
    throw error;
  }
  await deps.catchUp();
  return { outcome: 'planned', planId };
}

/** The most recent plan for these items; null if there is none. */
export async function findPlan(deps: PolicyDeps, source: string, items: readonly FormA[]): Promise<PlanRow | null> {
  await deps.catchUp();
  return (await findPlans(deps, source, sha256Hex(canonicalJson(items)))).at(-1) ?? null;
}

/** The plans of these sources, newest first; null: of all. */
export function listPlans(
  read: Query,
  { sources, limit }: { readonly sources: readonly string[] | null; readonly limit: number },
): Promise<PlanRow[]> {
  return read
    .selectFrom('call_plans')
    .selectAll()
    .$if(sources !== null, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

/** One plan of a source; null if it has no such plan. */
export async function loadPlan(read: Query, source: string, planId: string): Promise<PlanRow | null> {
  const plan = await read
    .selectFrom('call_plans')
    .selectAll()
    .where('plan_id', '=', planId)
    .where('source', '=', source)
    .executeTakeFirst();
  return plan ?? null;
}

/** The policies that the items of a plan created and that neither a delivery nor a call from here says were published. */
export async function listUnpublished(
  read: Query,
  source: string,
  items: readonly Pick<ItemRow, 'policy_id'>[],
): Promise<readonly string[]> {
  const created = items.flatMap(({ policy_id: policyId }) => policyId ?? []);
  if (created.length === 0) return [];
  const [told, called] = await Promise.all([
    read
      .selectFrom('policies')
      .select('policy_id')
      .where('source', '=', source)
      .where('published_at', 'is not', null)
      .execute(),
    read
      .selectFrom('calls')
      .select('policy_id')
      .where('source', '=', source)
      .where('operation', '=', 'publish')
      .where('state', 'in', ['done', 'happened'])
      .execute(),
  ]);
  const published = new Set([...told, ...called].map(({ policy_id: policyId }) => policyId));
  return created.filter((policyId) => !published.has(policyId));
}

function findPlans(deps: Pick<PolicyDeps, 'store'>, source: string, digest: string): Promise<PlanRow[]> {
  return deps.store.read
    .selectFrom('call_plans')
    .selectAll()
    .where('source', '=', source)
    .where('digest', '=', digest)
    .orderBy('seq')
    .execute();
}

interface BulkRequest extends Patience {
  readonly source: Source;
  readonly planId: string;
  readonly actor: string;
  /** Default and maximum: 20. */
  readonly batchSize?: number | undefined;
  /** Also send items that failed before, unless a later plan has them. */
  readonly retryFailed?: boolean | undefined;
  /** Items skipped or failed in a batch later than this one are not sent again; default: in this run. */
  readonly began?: number | undefined;
  /** Called before the first batch and after each. */
  readonly onProgress?: ((progress: BulkProgress) => void) | undefined;
  /** Called when the service has answered a batch. */
  readonly onBatch?: (() => void) | undefined;
}

interface BulkProgress {
  readonly done: number;
  readonly total: number;
}

/**
 * How a run ended. `finished`: everything that may be sent was sent. `quota`: the plan's quota is used up, the rest was
 * not tried. `waiting`: no slot becomes free within the allowed time. `refused`, `unknown`: the outcome of the last
 * batch; the rest was not tried.
 */
export type BulkEnd =
  | { readonly outcome: 'finished' | 'quota' | 'stopped' }
  | { readonly outcome: 'waiting'; readonly until: Date; readonly limit: string }
  | { readonly outcome: 'refused' | 'unknown'; readonly requestId: string; readonly error: CallFailure }
  | { readonly outcome: 'not-configured'; readonly reason: string };

/**
 * Sends the rest of a plan in batches (docs/service.md §4.2), paced by the key's limits. No item is sent twice unless
 * the service said that it did not process it: each batch is an intent whose id counts the batches of the plan, so of
 * two processes only one gets it, and both choose from the entries that came before it.
 */
export async function runBulk(deps: PolicyDeps, request: BulkRequest): Promise<BulkEnd> {
  const { source } = request;
  if (!isCallable(source)) return { outcome: 'not-configured', reason: whyNotCallable(source) ?? '' };
  const ended = await sendBatches(deps, { ...request, source });
  await deps.catchUp();
  return ended;
}

type Callable = BulkRequest & { readonly source: CallableSource };

async function sendBatches(deps: PolicyDeps, request: Callable): Promise<BulkEnd> {
  const { planId, signal } = request;
  const began = request.began ?? (await countBatches(deps, planId));
  let failures = 0;
  for (;;) {
    if (signal?.aborted) return { outcome: 'stopped' };
    await settleCalls(deps);
    // Counted before the items are read: if another batch comes in between, this number is taken.
    const number = (await countBatches(deps, planId)) + 1;
    const asOf = await deps.catchUp();
    const items = await loadPlanItems(deps, planId);
    const elsewhere = request.retryFailed === true ? await loadPlannedLater(deps, request.source, planId) : new Set();
    const batch = items
      .filter((item) => mayBeSent(item, planId, began, request.retryFailed === true && !elsewhere.has(item.item)))
      .slice(0, Math.min(request.batchSize ?? MAX_BATCH_ITEMS, MAX_BATCH_ITEMS));
    request.onProgress?.({ done: items.filter(({ state }) => state !== 'planned').length, total: items.length });
    if (batch.length === 0) return { outcome: 'finished' };
    const ended = await sendBatch(deps, request, batch, { requestId: batchId(planId, number), asOf });
    switch (ended.outcome) {
      case 'done':
        failures = 0;
        request.onBatch?.();
        if (ended.value.some(({ status }) => status === 'skipped')) return { outcome: 'quota' };
        break;
      case 'taken':
        break;
      case 'stopped':
        return { outcome: 'stopped' };
      case 'no-slot':
        if (!(await waitUntil(deps, ended.freeAt, ended.limit, request)) && !signal?.aborted)
          return { outcome: 'waiting', until: ended.freeAt, limit: ended.limit };
        break;
      case 'refused': {
        const pause = failures < 3 ? retryPause(ended.error, failures) : null;
        failures += 1;
        if (pause === null) return ended;
        const until = new Date(deps.clock().getTime() + pause);
        if ((await waitUntil(deps, until, ended.error.message, request)) || signal?.aborted) break;
        return ended.error.kind === 'rate-limited' ? { outcome: 'waiting', until, limit: SERVICE_ASKED } : ended;
      }
      case 'unknown':
        return ended;
    }
  }
}

function batchId(planId: string, number: number): string {
  return `${planId}.${number}`;
}

/** The items of a plan, in the order of the file. */
export function loadPlanItems(deps: Pick<PolicyDeps, 'store'>, planId: string): Promise<ItemRow[]> {
  return deps.store.read
    .selectFrom('call_items')
    .selectAll()
    .where('plan_id', '=', planId)
    .orderBy('position')
    .execute();
}

/** Items that later plans of the source send: one that failed in this plan may be in another file since. */
async function loadPlannedLater(
  { store: { read } }: Pick<PolicyDeps, 'store'>,
  { slug }: Source,
  planId: string,
): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom('call_items as item')
    .innerJoin('call_plans as plan', 'plan.plan_id', 'item.plan_id')
    .innerJoin('call_plans as own', (join) => join.on('own.plan_id', '=', planId))
    .select('item.item')
    .where('item.source', '=', slug)
    .where('item.state', 'in', [...SENDING])
    .whereRef('plan.seq', '>', 'own.seq')
    .execute();
  return new Set(rows.map(({ item }) => item));
}

/** A batch that has no response yet. */
export interface SentBatch {
  readonly requestId: string;
  readonly askedAt: string;
  /** When it starts to count as unknown. */
  readonly dueAt: string;
  readonly items: number;
}

/** Batches of a plan that are still awaited, or whose process has ended. */
export async function loadSentBatches(deps: Pick<PolicyDeps, 'store'>, planId: string): Promise<readonly SentBatch[]> {
  const rows = await deps.store.read
    .selectFrom('calls')
    .select(['request_id', 'asked_at', 'due_at', 'positions'])
    .where('plan_id', '=', planId)
    .where('state', '=', 'sent')
    .orderBy('intent_seq')
    .execute();
  return rows.map(({ request_id: requestId, asked_at: askedAt, due_at: dueAt, positions }) => ({
    requestId,
    askedAt,
    dueAt,
    items: (JSON.parse(positions) as number[]).length,
  }));
}

/** The number of batches of a plan sent so far. */
export async function countBatches(deps: Pick<PolicyDeps, 'store' | 'catchUp'>, planId: string): Promise<number> {
  await deps.catchUp();
  const { count } = await deps.store.read
    .selectFrom('calls')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('plan_id', '=', planId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Items skipped or failed in an earlier run may be sent again; those of this run would only be skipped or fail once
 * more.
 */
function mayBeSent(item: ItemRow, planId: string, began: number, retryFailed: boolean): boolean {
  if (item.state === 'planned') return true;
  if (item.state !== 'skipped' && !(retryFailed && item.state === 'failed')) return false;
  const batch = Number(item.request_id?.slice(planId.length + 1) ?? 0);
  return batch <= began;
}

function sendBatch(
  deps: PolicyDeps,
  request: Callable,
  batch: readonly ItemRow[],
  { requestId, asOf }: { readonly requestId: string; readonly asOf: number },
): Promise<CallOutcome<ItemResult[]>> {
  const { source, actor, planId, signal, giveUp } = request;
  const items = batch.map(({ item }) => JSON.parse(item) as FormA);
  const client = deps.clientFor(source);
  const send: Send = (sending) =>
    client.generateBulk(sending.body, { signal: sending.signal, timeoutMs: sending.timeoutMs });
  const sent = batch.map(({ position }, at) => ({ position, policyType: items[at]?.policy_type ?? '' }));
  const order = {
    source,
    actor,
    requestId,
    operation: 'bulk',
    via: 'rest',
    path: '/policies/bulk',
    body: canonicalJson({ items }),
    timeoutMs: BULK_TIMEOUT_MS,
    about: { planId, positions: batch.map(({ position }) => position) },
    // A failed item may be in a list that is planned just now.
    ...(request.retryFailed === true ? { nothingSince: asOf } : {}),
  } as const;
  return callOnce(
    deps,
    order,
    {
      send,
      read: (bytes) => {
        const { batchId: id, results } = readBulkResult(bytes);
        const value = assignResults(sent, results);
        return { value, facts: { batchId: id, items: value } };
      },
    },
    { signal, giveUp },
  );
}

type ItemResult = CallResult['items'][number];

/** An item as sent in a batch. */
interface SentItem {
  readonly position: number;
  readonly policyType: string;
}

/**
 * Assigns results to items. The service returns one result per item with id, type and status (docs/service.md §2.4);
 * whether they are in the order of the items is not documented. So the results of a type are assigned to its items in
 * order if there are equally many; otherwise they cannot be assigned, and the items of that type are `unknown`.
 */
export function assignResults(items: readonly SentItem[], results: readonly BulkItemResult[]): ItemResult[] {
  const inOrder = items.length === results.length && items.every((item, at) => isOfType(results[at], item.policyType));
  if (inOrder) return items.map((item, at) => resultOf(item, results[at]));
  return items.map((item) => {
    const alike = items.filter(({ policyType }) => policyType === item.policyType);
    const told = results.filter((result) => result.policyType === item.policyType);
    return resultOf(item, told.length === alike.length ? told[alike.indexOf(item)] : undefined);
  });
}

function isOfType(result: BulkItemResult | undefined, policyType: string): boolean {
  return result !== undefined && (result.policyType === null || result.policyType === policyType);
}

function resultOf({ position }: SentItem, result: BulkItemResult | undefined): ItemResult {
  return { position, status: result?.status ?? 'unknown', policyId: result?.id ?? null };
}

/** Items that were, may have been or will be created, by position from 0, and what the first of them is sent with. */
export interface SentBefore {
  readonly positions: readonly number[];
  readonly first: SentWith;
}

/** A plan or a single call that sent items. */
interface SentWith {
  readonly id: string;
  /** The name of a plan's file, for people. */
  readonly file: string | null;
  readonly at: string;
  /** None of the items was sent yet. */
  readonly waiting: boolean;
}

/** What keeps items from being sent, without the remedy, which differs between page, command and API. */
export function sentBeforeText(
  { positions, first }: SentBefore,
  total: number,
  atText: (iso: string) => string,
): string {
  const numbers = positions.slice(0, SHOWN_ITEMS).map((position) => position + 1);
  const named = `${numbers.length === 1 ? 'item' : 'items'} ${numbers.join(', ')}${positions.length > SHOWN_ITEMS ? ', …' : ''}`;
  const one = positions.length === 1;
  const has = first.waiting
    ? `${one ? 'is' : 'are'} in a list already that is still to be sent`
    : `${one ? 'was' : 'were'} already sent`;
  const of = total === 1 ? 'The only item' : `${positions.length} of ${total} items (${named})`;
  return `${of} ${has}, the first ${first.waiting ? 'in' : 'with'} ${first.file ?? first.id} of ${atText(first.at)}.`;
}

const SHOWN_ITEMS = 10;

/** States of an item that was, may have been or will be created. */
const SENDING = ['planned', 'skipped', 'sent', 'unknown', 'created'] as const;

/**
 * Which items were or may have been created with other files of the source or one by one, or wait to be sent with one,
 * so that an extended file is not sent again as a whole. An item that failed may be sent with another file.
 */
async function findSentBefore(read: Query, source: string, items: readonly FormA[]): Promise<SentBefore | null> {
  const planned = await read
    .selectFrom('call_items as item')
    .innerJoin('call_plans as plan', 'plan.plan_id', 'item.plan_id')
    .select(['item.item', 'item.state', 'plan.plan_id', 'plan.file', 'plan.created_at'])
    .where('item.source', '=', source)
    .where('item.state', 'in', [...SENDING])
    .execute();
  const single = await loadOpenGenerations(read, source);
  const byItem = new Map<string, SentWith>();
  for (const { item, state, plan_id: id, file, created_at: at } of planned) {
    const waiting = state === 'planned' || state === 'skipped';
    if (!waiting || !byItem.has(item)) byItem.set(item, { id, file, at, waiting });
  }
  const found = items.flatMap((item, position) => {
    const twin = single.find((call) => isTwin(call, aboutOf(item)));
    const first =
      byItem.get(canonicalJson(item).toString('utf8')) ??
      (twin === undefined ? undefined : { id: twin.request_id, file: null, at: twin.asked_at, waiting: false });
    return first === undefined ? [] : [{ position, first }];
  });
  const [one] = found;
  if (one === undefined) return null;
  return { positions: found.map(({ position }) => position), first: one.first };
}
