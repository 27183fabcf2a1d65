import type { Selectable } from 'kysely';
import { isMadeHere } from '../store/queries/scope.ts';
import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { type ListedRow, listedPolicyKey } from './list.ts';

/** A policy according to deliveries and the service's list, with the texts of its public page. */
export interface CatalogueRow {
  readonly source: string;
  readonly policyId: string;
  readonly policyType: string | null;
  readonly title: string | null;
  readonly jurisdiction: string | null;
  readonly language: string | null;
  /** As last reported by deliveries; null: none did. */
  readonly status: Selectable<Tables['policies']>['status'] | null;
  /** When the service's list first contained it, and when it no longer did; null: it was never listed. */
  readonly listed: Pick<ListedRow, 'first_listed_at' | 'gone_at'> | null;
  /** Null: its page was never fetched. `changedAt`: when the newest text was first seen. */
  readonly texts: { readonly count: number; readonly changedAt: string; readonly seenAt: string } | null;
}

export interface CatalogueFilter {
  /** Null: all sources. */
  readonly sources: readonly string[] | null;
  /**
   * Sources whose API key is also that of others, so that the service's list names the policies of all: of these, only
   * policies reported by deliveries to the source or made from here.
   */
  readonly keyShared: readonly string[];
  readonly policyType?: string | undefined;
  /** Only policies after this one. */
  readonly after?: { readonly source: string; readonly policyId: string } | undefined;
  readonly limit: number;
}

/** A page of policies by source and id: those reported by deliveries and those listed. */
export async function loadCataloguePage(read: Query, filter: CatalogueFilter): Promise<readonly CatalogueRow[]> {
  const { sources, keyShared, policyType, after, limit } = filter;
  const keysOf = (table: 'policies' | 'listed_policies') => {
    let query = read.selectFrom(table).select(['source', 'policy_id']);
    if (table === 'listed_policies' && keyShared.length > 0)
      query = query.where((eb) => eb.or([eb('source', 'not in', [...keyShared]), isMadeHere]));
    if (sources !== null) query = query.where('source', 'in', [...sources]);
    if (policyType !== undefined) query = query.where('policy_type', '=', policyType);
    if (after !== undefined)
      query = query.where((eb) =>
        eb.or([
          eb('source', '>', after.source),
          eb.and([eb('source', '=', after.source), eb('policy_id', '>', after.policyId)]),
        ]),
      );
    return query;
  };
  const keys = await keysOf('policies')
    .union(keysOf('listed_policies'))
    .orderBy('source')
    .orderBy('policy_id')
    .limit(limit)
    .execute();
  if (keys.length === 0) return [];
  const slugs = [...new Set(keys.map(({ source }) => source))];
  const ids = [...new Set(keys.map((key) => key.policy_id))];
  const [told, listed, texts] = await Promise.all([
    read.selectFrom('policies').selectAll().where('source', 'in', slugs).where('policy_id', 'in', ids).execute(),
    read.selectFrom('listed_policies').selectAll().where('source', 'in', slugs).where('policy_id', 'in', ids).execute(),
    read
      .selectFrom('policy_texts')
      .select((eb) => [
        'source',
        'target',
        eb.fn.max('version').as('count'),
        eb.fn.max('first_seen').as('changed_at'),
        eb.fn.max('last_seen').as('seen_at'),
      ])
      .where('source', 'in', slugs)
      .where(
        'target',
        'in',
        ids.map((id) => `hosted:${id}`),
      )
      .groupBy(['source', 'target'])
      .execute(),
  ]);
  const byKey = <T extends { source: string; policy_id: string }>(rows: readonly T[]) =>
    new Map(rows.map((row) => [listedPolicyKey(row.source, row.policy_id), row]));
  const [toldOf, listedOf] = [byKey(told), byKey(listed)];
  const textsOf = new Map(texts.map((row) => [listedPolicyKey(row.source, row.target), row]));
  return keys.map(({ source, policy_id: policyId }) => {
    const policy = toldOf.get(listedPolicyKey(source, policyId));
    const row = listedOf.get(listedPolicyKey(source, policyId));
    const seen = textsOf.get(listedPolicyKey(source, `hosted:${policyId}`));
    return {
      source,
      policyId,
      policyType: policy?.policy_type ?? row?.policy_type ?? null,
      title: policy?.title ?? row?.title ?? null,
      jurisdiction: policy?.jurisdiction ?? row?.jurisdiction ?? null,
      language: policy?.language ?? row?.language ?? null,
      status: policy?.status ?? null,
      listed: row ?? null,
      texts:
        seen === undefined
          ? null
          : {
              count: seen.count,
              changedAt: seen.changed_at,
              seenAt: seen.seen_at > seen.changed_at ? seen.seen_at : seen.changed_at,
            },
    };
  });
}

/** The policy types known at some sources (null: at all), by name. */
export async function listPolicyTypes(read: Query, sources: readonly string[] | null): Promise<readonly string[]> {
  const typesOf = (table: 'policies' | 'listed_policies') =>
    read
      .selectFrom(table)
      .select('policy_type')
      .where('policy_type', 'is not', null)
      .$if(sources !== null, (query) => query.where('source', 'in', [...(sources ?? [])]))
      .distinct();
  const rows = await typesOf('policies').union(typesOf('listed_policies')).orderBy('policy_type').limit(200).execute();
  return rows.flatMap(({ policy_type: type }) => type ?? []);
}
