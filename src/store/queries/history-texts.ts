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
  | 'body_sha256'
  | 'body_seq'
  | 'origin_from'
  | 'origin_to'
  | 'phase'
  | 'content_type'
>;

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
          .selectFrom('snapshot_history')
          .select([
            'seq',
            'target',
            'policy_type',
            'policy_id',
            'text_sha256',
            'body_sha256',
            'body_seq',
            'origin_from',
            'origin_to',
            'phase',
            'content_type',
          ])
          .where('source', '=', source)
          .where('what', '=', 'policy')
          .where('seq', '<=', asOf)
          .$if(ofPolicies !== undefined, (page) =>
            page.where(
              'target',
              'in',
              [...(ofPolicies ?? [])].map((id) => `hosted:${id}`),
            ),
          )
          .$if(after !== null, (page) =>
            page.where((eb) =>
              eb.or([
                eb('target', '>', after?.target ?? ''),
                eb.and([eb('target', '=', after?.target ?? ''), eb('seq', '>', after?.seq ?? 0)]),
              ]),
            ),
          )
          .orderBy('target')
          .orderBy('seq')
          .limit(limit)
          .execute(),
      ),
  };
}
