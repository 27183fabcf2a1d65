import type { Selectable } from 'kysely';
import type { SnapshotHistoryTable } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Scope } from './scope.ts';
import { pageByKey } from './pages.ts';

/** One look at a text of a policy. */
export type TextLookRow = Pick<
  Selectable<SnapshotHistoryTable>,
  | 'seq'
  | 'target'
  | 'policy_type'
  | 'policy_id'
  | 'text_sha256'
  | 'body_seq'
  | 'origin_from'
  | 'origin_to'
  | 'phase'
  | 'content_type'
> & {
  /** Of the entry that holds the answer. */
  readonly commitment: Buffer | null;
};

/** Texts of policies as they were fetched. */
export interface TextQueries {
  /** Every look of a source (at the public pages of some policies only), target by target, each in order of seq. */
  textLooks(scope: Scope, ofPolicies?: ReadonlySet<string>): AsyncIterable<TextLookRow>;
}

export function createTextQueries(query: Query): TextQueries {
  return {
    textLooks: ({ source, asOf }, ofPolicies) =>
      pageByKey<TextLookRow>((after, limit) =>
        query
          .selectFrom('snapshot_history as s')
          .leftJoin('entries as e', 'e.seq', 's.body_seq')
          .select([
            's.seq',
            's.target',
            's.policy_type',
            's.policy_id',
            's.text_sha256',
            's.body_seq',
            's.origin_from',
            's.origin_to',
            's.phase',
            's.content_type',
            'e.commitment',
          ])
          .where('s.source', '=', source)
          .where('s.what', '=', 'policy')
          .where('s.seq', '<=', asOf)
          .$if(ofPolicies !== undefined, (page) =>
            page.where(
              's.target',
              'in',
              [...(ofPolicies ?? [])].map((id) => `hosted:${id}`),
            ),
          )
          .$if(after !== null, (page) =>
            page.where((eb) =>
              eb.or([
                eb('s.target', '>', after?.target ?? ''),
                eb.and([eb('s.target', '=', after?.target ?? ''), eb('s.seq', '>', after?.seq ?? 0)]),
              ]),
            ),
          )
          .orderBy('s.target')
          .orderBy('s.seq')
          .limit(limit)
          .execute(),
      ),
  };
}
