import type { PolicyFact } from '../../receivers/policy.ts';
import { factsOf, joinKey, KeysBySource, occurredColumns, partColumns } from './columns.ts';
import { appendTo, type Projection, type Row, replaceIn } from './projection.ts';

/**
 * Policies as reported by deliveries. Deliveries may come out of order, so the current state is that of the change with
 * the latest time, or the later entry if times are equal. A field that a change does not mention keeps its last known
 * value; a late change only fills in what is unknown.
 */
export const policies: Projection = {
  name: 'policies',
  tables: ['policy_history', 'policies'],
  async fold(state, batch) {
    const history: Row<'policy_history'>[] = [];
    const keys = new KeysBySource();
    for (const { entry, part, event, fact } of factsOf(batch, 'policy')) {
      history.push({
        ...partColumns(entry, part),
        ...occurredColumns(fact.occurred, entry.receivedAt),
        ...describe(fact),
        event,
        change: fact.change,
        policy_id: fact.policyId,
      });
      keys.add(entry.source, fact.policyId);
    }
    if (history.length === 0) return [];
    const known = new Map<string, Row<'policies'>>();
    for (const row of await state.selectFrom('policies').selectAll().where(keys.where('policy_id')).execute()) {
      known.set(joinKey(row.source, row.policy_id), row);
    }
    const touched = new Map<string, Row<'policies'>>();
    for (const row of history) {
      const key = joinKey(row.source, row.policy_id);
      touched.set(key, foldPolicy(touched.get(key) ?? known.get(key), row));
    }
    return [appendTo('policy_history', history), replaceIn('policies', [...touched.values()])];
  },
};

type Description = Pick<Row<'policies'>, (typeof described)[number]>;
const described = [
  'policy_type',
  'title',
  'brand_name',
  'jurisdiction',
  'language',
  'version',
  'hosted_url',
] as const satisfies readonly (keyof Row<'policies'>)[];

function describe(fact: PolicyFact): Description {
  return {
    policy_type: fact.policyType,
    title: fact.title,
    brand_name: fact.brandName,
    jurisdiction: fact.jurisdiction,
    language: fact.language,
    version: fact.version,
    hosted_url: fact.hostedUrl,
  };
}

/** The policy after one more change. */
function foldPolicy(policy: Row<'policies'> | undefined, change: Row<'policy_history'>): Row<'policies'> {
  const isLatest = policy === undefined || change.at >= policy.last_at;
  const [newer, older] = isLatest ? [change, policy] : [policy, change];
  const description = {} as Record<(typeof described)[number], string | null>;
  for (const field of described) description[field] = newer[field] ?? older?.[field] ?? null;
  const published = change.change === 'published' ? change.at : null;
  const before = policy?.published_at ?? null;
  return {
    source: change.source,
    policy_id: change.policy_id,
    ...description,
    status: isLatest ? change.change : policy.status,
    first_seq: policy?.first_seq ?? change.seq,
    last_seq: isLatest ? change.seq : policy.last_seq,
    last_at: isLatest ? change.at : policy.last_at,
    published_at: published !== null && (before === null || published > before) ? published : before,
  };
}
