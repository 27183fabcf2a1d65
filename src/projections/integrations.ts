import { factsOf, joinKey, KeysBySource, occurredColumns, partColumns } from './columns.ts';
import { appendTo, type Projection, type Row, replaceIn } from './projection.ts';

/** Integrations: every connection and disconnection, and the latest one of each integration by time. */
export const integrations: Projection = {
  name: 'integrations',
  tables: ['integration_history', 'integrations'],
  async fold(state, batch) {
    const history: Row<'integration_history'>[] = [];
    const keys = new KeysBySource();
    for (const { entry, part, fact } of factsOf(batch, 'integration')) {
      const row = {
        ...partColumns(entry, part),
        ...occurredColumns(fact.occurred, entry.receivedAt),
        integration_id: fact.integrationId,
        name: fact.name,
        site: fact.site,
        change: fact.change,
        error: fact.error,
      };
      history.push(row);
      keys.add(entry.source, integrationKey(row));
    }
    if (history.length === 0) return [];
    const known = new Map<string, Row<'integrations'>>();
    for (const row of await state
      .selectFrom('integrations')
      .selectAll()
      .where(keys.where('integration_key'))
      .execute()) {
      known.set(joinKey(row.source, row.integration_key), row);
    }
    const touched = new Map<string, Row<'integrations'>>();
    for (const row of history) {
      const key = joinKey(row.source, integrationKey(row));
      touched.set(key, foldIntegration(touched.get(key) ?? known.get(key), row));
    }
    return [appendTo('integration_history', history), replaceIn('integrations', [...touched.values()])];
  },
};

/** The service's id, or the name, or ''. */
export function integrationKey(row: Pick<Row<'integration_history'>, 'integration_id' | 'name'>): string {
  return row.integration_id ?? row.name ?? '';
}

/** An integration after one more change; a late one only fills in what is unknown. */
export function foldIntegration(
  before: Row<'integrations'> | undefined,
  change: Row<'integration_history'>,
): Row<'integrations'> {
  if (before !== undefined && change.at < before.at) {
    return { ...before, name: before.name ?? change.name, site: before.site ?? change.site };
  }
  return {
    source: change.source,
    integration_key: integrationKey(change),
    integration_id: change.integration_id,
    name: change.name ?? before?.name ?? null,
    site: change.site ?? before?.site ?? null,
    status: change.change,
    error: change.error,
    last_seq: change.seq,
    at: change.at,
  };
}
