import type { CallList } from '../core/call.ts';
import { callsOf } from './call-entries.ts';
import { joinKey } from './keys.ts';
import { type Projection, type ProjectedEntry, replaceIn, type Row } from './projection.ts';

type Listed = Row<'listed_policies'>;

/** The catalogue: what the service lists as published, and since when a policy is not listed any more. */
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
      // The last page: what none of them named is gone, unless the list says itself that it leaves something out.
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
