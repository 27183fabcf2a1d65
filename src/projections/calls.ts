import {
  type CallIntent,
  type CallList,
  type CallMeta,
  type CallResult,
  type CallSettled,
  callSchema,
  LOST_AFTER_MS,
} from '../core/call.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { Query } from '../store/store.ts';
import { joinKey, storableFact } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, type Row, replaceIn } from './projection.ts';

type Call = Row<'calls'>;
type Item = Row<'call_items'>;

/** Calls to the service and their outcomes; the plans of bulk files and each of their items. */
export const calls: Projection = {
  name: 'calls',
  tables: ['calls', 'call_plans', 'call_items'],
  async fold(state, batch) {
    const entries = callsOf(batch);
    if (entries.length === 0) return [];
    const known = await loadCalls(state, entries);
    const items = await loadItems(state, entries, known);
    const plans: Row<'call_plans'>[] = [];
    const touchedCalls = new Set<string>();
    const touchedItems = new Set<Item>();
    const planned: Item[] = [];

    for (const { entry, meta } of entries) {
      if (meta.call === 'list') continue;
      if (meta.call === 'plan') {
        plans.push(planRow(meta, entry));
        const rows = itemRows(meta.planId, entry);
        planned.push(...rows);
        items.set(meta.planId, new Map(rows.map((row) => [row.position, row])));
        continue;
      }
      const before = known.get(meta.requestId);
      const call = meta.call === 'intent' ? newCall(meta, entry) : before && foldCall(before, meta, entry);
      // The intent may have been erased; without it, the result means nothing.
      if (call === undefined || (meta.call === 'intent' && before !== undefined)) continue;
      known.set(meta.requestId, call);
      touchedCalls.add(meta.requestId);
      for (const { position, only, ...change } of itemChanges(call, meta)) {
        const item = call.plan_id === null ? undefined : items.get(call.plan_id)?.get(position);
        if (item === undefined || (meta.call !== 'intent' && item.request_id !== call.request_id)) continue;
        if (only !== undefined && !only.includes(item.state)) continue;
        Object.assign(item, change, {
          request_id: call.request_id,
          attempts: item.attempts + (meta.call === 'intent' ? 1 : 0),
          last_seq: entry.seq,
        });
        touchedItems.add(item);
      }
    }
    const fresh = new Set(planned);
    return [
      appendTo('call_plans', plans),
      appendTo('call_items', planned),
      replaceIn(
        'call_items',
        [...touchedItems].filter((item) => !fresh.has(item)),
      ),
      replaceIn(
        'calls',
        [...touchedCalls].map((id) => known.get(id)).filter((call) => call !== undefined),
      ),
    ];
  },
};

async function loadCalls(state: Query, entries: readonly CallEntry[]): Promise<Map<string, Call>> {
  const ids = new Set(entries.flatMap(({ meta }) => ('requestId' in meta ? [meta.requestId] : [])));
  if (ids.size === 0) return new Map();
  const rows = await state
    .selectFrom('calls')
    .selectAll()
    .where('request_id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.request_id, row]));
}

/** The items of every plan to which one of the entries belongs. */
async function loadItems(
  state: Query,
  entries: readonly CallEntry[],
  known: ReadonlyMap<string, Call>,
): Promise<Map<string, Map<number, Item>>> {
  const plans = new Set<string>();
  for (const { meta } of entries) {
    if (meta.call === 'intent' && meta.planId !== null) plans.add(meta.planId);
    const plan = 'requestId' in meta ? known.get(meta.requestId)?.plan_id : undefined;
    if (plan) plans.add(plan);
  }
  const items = new Map<string, Map<number, Item>>();
  if (plans.size === 0) return items;
  const rows = await state
    .selectFrom('call_items')
    .selectAll()
    .where('plan_id', 'in', [...plans])
    .execute();
  for (const row of rows) {
    const plan = items.get(row.plan_id) ?? new Map<number, Item>();
    items.set(row.plan_id, plan.set(row.position, row));
  }
  return items;
}

function newCall(meta: CallIntent, entry: ProjectedEntry): Call {
  return {
    request_id: meta.requestId,
    source: entry.source,
    operation: meta.operation,
    via: meta.via,
    actor: meta.actor,
    key_id: meta.keyId,
    plan_id: meta.planId,
    positions: JSON.stringify(meta.positions),
    policy_type: meta.policyType,
    jurisdiction: meta.jurisdiction,
    language: meta.language,
    business_name: meta.businessName,
    state: 'sent',
    http_status: null,
    error_kind: null,
    error: null,
    policy_id: meta.policyId,
    version: null,
    hosted_url: null,
    remaining: null,
    webhooks_queued: null,
    batch_id: null,
    asked_at: entry.receivedAt,
    due_at: new Date(Date.parse(entry.receivedAt) + meta.timeoutMs + LOST_AFTER_MS).toISOString(),
    finished_at: null,
    settled_by: null,
    evidence: null,
    intent_seq: entry.seq,
    answer_seq: null,
    last_seq: entry.seq,
  };
}

/**
 * The call after one more entry. A late result counts even if the call had been given up as lost. A result with an
 * unknown outcome does not override a settlement made in the meantime.
 */
function foldCall(
  call: Call,
  meta: Exclude<CallMeta, { call: 'intent' | 'plan' | 'list' }>,
  entry: ProjectedEntry,
): Call {
  switch (meta.call) {
    case 'lost':
      if (call.state !== 'sent') return call;
      return {
        ...call,
        state: 'unknown',
        error_kind: 'lost',
        error: 'The program ended before the response was recorded.',
        finished_at: entry.receivedAt,
        last_seq: entry.seq,
      };
    case 'result':
      if (meta.outcome === 'unknown' && (call.state === 'happened' || call.state === 'not-happened')) return call;
      return {
        ...call,
        state: meta.outcome,
        http_status: meta.status,
        error_kind: meta.error?.kind ?? null,
        error: meta.error?.message ?? null,
        policy_id: meta.policyId ?? call.policy_id,
        version: meta.version,
        hosted_url: meta.hostedUrl,
        remaining: meta.remaining,
        webhooks_queued: meta.webhooksQueued,
        batch_id: meta.batchId,
        finished_at: entry.receivedAt,
        answer_seq: meta.status === null ? null : entry.seq,
        last_seq: entry.seq,
      };
    case 'settled':
      // What the service said is not overridden; items that its answer left open are settled one by one.
      if (call.state === 'done' || call.state === 'refused') return call;
      return {
        ...call,
        state: meta.happened === null ? call.state : meta.happened ? 'happened' : 'not-happened',
        policy_id: meta.policyId ?? call.policy_id,
        settled_by: meta.actor,
        evidence: meta.evidence,
        last_seq: entry.seq,
      };
  }
}

interface ItemChange extends Partial<Pick<Item, 'state' | 'policy_id'>> {
  readonly position: number;
  /** Apply only if the item is in one of these states; absent: always. */
  readonly only?: readonly Item['state'][];
}

/** States whose outcome is not known yet. */
const open: readonly Item['state'][] = ['sent', 'unknown'];

/**
 * The changes that a call's entry makes to the items of its batch. Items taken up by a later batch are left out: a
 * result may come after they were settled and sent again.
 */
function itemChanges(call: Call, meta: Exclude<CallMeta, { call: 'plan' | 'list' }>): readonly ItemChange[] {
  const positions = JSON.parse(call.positions) as number[];
  switch (meta.call) {
    case 'intent':
      return positions.map((position) => ({ position, state: 'sent' }));
    case 'lost':
      return positions.map((position) => ({ position, state: 'unknown', only: ['sent'] }));
    case 'result':
      return resultChanges(positions, meta);
    case 'settled':
      return settledChanges(meta);
  }
}

function resultChanges(positions: readonly number[], meta: CallResult): ItemChange[] {
  const told = new Map(meta.items.map((item) => [item.position, item]));
  const otherwise = meta.outcome === 'refused' ? 'planned' : 'unknown';
  return positions.map((position) => {
    const item = told.get(position);
    return item === undefined || item.status === 'unknown'
      ? { position, state: otherwise, only: open }
      : { position, state: item.status, policy_id: item.policyId };
  });
}

/** Items that were certainly not processed may be sent again. */
function settledChanges(meta: CallSettled): ItemChange[] {
  return meta.items.map(({ position, happened, policyId }) => ({
    position,
    state: happened ? 'created' : 'planned',
    policy_id: policyId,
    only: ['unknown'],
  }));
}

function planRow(meta: Extract<CallMeta, { call: 'plan' }>, entry: ProjectedEntry): Row<'call_plans'> {
  return {
    plan_id: meta.planId,
    source: entry.source,
    actor: meta.actor,
    file: meta.file,
    digest: meta.digest,
    items: meta.items,
    created_at: entry.receivedAt,
    seq: entry.seq,
  };
}

function itemRows(planId: string, entry: ProjectedEntry): Item[] {
  const items = JSON.parse(entry.body.toString('utf8')) as unknown[];
  return items.map((item, position) => ({
    plan_id: planId,
    position,
    source: entry.source,
    item: canonicalJson(item).toString('utf8'),
    state: 'planned',
    request_id: null,
    attempts: 0,
    policy_id: null,
    last_seq: entry.seq,
  }));
}

/** An entry of kind `call` with its parsed meta. */
interface CallEntry {
  readonly entry: ProjectedEntry;
  readonly meta: CallMeta;
}

/** The `call` entries of a batch that this version can read; others are ignored. */
function callsOf(batch: readonly ProjectedEntry[]): CallEntry[] {
  return batch.flatMap((entry) => {
    if (entry.kind !== 'call') return [];
    const parsed = callSchema.safeParse(entry.meta);
    return parsed.success ? [{ entry, meta: storableFact(parsed.data) }] : [];
  });
}

type Listed = Row<'listed_policies'>;

/** The catalogue: the policies that the service lists as published, and since when a policy is no longer listed. */
export const listedPolicies: Projection = {
  name: 'listed policies',
  tables: ['listed_policies', 'policy_lists'],
  async fold(state, batch) {
    const lists = callsOf(batch).flatMap(({ entry, meta }) => (meta.call === 'list' ? [{ entry, meta }] : []));
    if (lists.length === 0) return [];
    const sources = [...new Set(lists.map(({ entry }) => entry.source))];
    const rows = await state.selectFrom('listed_policies').selectAll().where('source', 'in', sources).execute();
    const known = new Map(rows.map((row) => [joinKey(row.source, row.policy_id), row]));
    const touched = new Map<string, Listed>();
    const last = new Map<string, Row<'policy_lists'>>();
    const put = (row: Listed) => {
      const key = joinKey(row.source, row.policy_id);
      known.set(key, row);
      touched.set(key, row);
    };
    for (const { entry, meta } of lists) {
      for (const policy of meta.policies) {
        put(listedRow(known.get(joinKey(entry.source, policy.id)), policy, meta.listId, entry));
      }
      if (meta.page < meta.pages - 1) continue;
      // On the last page: a policy that no page named is gone, unless the list itself says that it is partial.
      let count = 0;
      for (const row of [...known.values()]) {
        if (row.source !== entry.source) continue;
        if (row.list_id === meta.listId) count += 1;
        else if (meta.whole && row.gone_at === null) put({ ...row, gone_at: entry.receivedAt, last_seq: entry.seq });
      }
      last.set(entry.source, {
        source: entry.source,
        list_id: meta.listId,
        digest: meta.digest,
        policies: count,
        fetched_at: entry.receivedAt,
        seq: entry.seq,
      });
    }
    return [replaceIn('listed_policies', [...touched.values()]), replaceIn('policy_lists', [...last.values()])];
  },
};

function listedRow(
  before: Listed | undefined,
  policy: CallList['policies'][number],
  listId: string,
  entry: ProjectedEntry,
): Listed {
  return {
    source: entry.source,
    policy_id: policy.id,
    policy_type: policy.policyType,
    title: policy.title,
    jurisdiction: policy.jurisdiction,
    language: policy.language,
    updated_at: policy.updatedAt,
    url: policy.url,
    list_id: listId,
    first_seq: before?.first_seq ?? entry.seq,
    last_seq: entry.seq,
    first_listed_at: before?.first_listed_at ?? entry.receivedAt,
    gone_at: null,
  };
}
