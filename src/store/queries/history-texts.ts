import type { Selectable } from 'kysely';
import type { SnapshotHistoryTable } from '../schema.ts';
import type { Query } from '../store.ts';
import type { Scope } from './history.ts';
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
>;

/** Texts of policies as they were fetched. */
export interface TextQueries {
  /** Every look of a source, target by target, each in order of seq. */
  textLooks(scope: Scope): AsyncIterable<TextLookRow>;
}

export function createTextQueries(query: Query): TextQueries {
  return {
    textLooks: ({ source, asOf }) =>
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
          ])
          .where('source', '=', source)
          .where('what', '=', 'policy')
          .where('seq', '<=', asOf)
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
