import { type Selectable, sql } from 'kysely';
import type { ActionName } from '../../core/action.ts';
import { INSTALLATION } from '../../core/vocabulary.ts';
import { erasedSeqs } from '../../crypto/entry.ts';
import type { Tables } from '../schema.ts';
import type { Query } from '../store.ts';
import { periodKey } from './counters.ts';
import { afterRow, type Period, pageByKey, type Scope } from './scope.ts';

/** A policy change, with the commitment of the entry that reported it. */
export type PolicyRow = Selectable<Tables['policy_history']> & { readonly commitment: string | null };
type ActionRow = Selectable<Tables['action_history']>;
type RawEntry = Pick<
  Selectable<Tables['entries']>,
  'seq' | 'kind' | 'received_at' | 'meta' | 'body' | 'salt' | 'commitment'
>;

/** Entries per statement. */
const SEQS = 500;

/** Policies, actions and the entries themselves. Periods of actions refer to the time of receipt. */
export function createEvidenceQueries(query: Query) {
  return {
    /** When entry `asOf` was received; null for an empty ledger. */
    async receivedAtOf(asOf: number): Promise<string | null> {
      const row = await query.selectFrom('entries').select('received_at').where('seq', '=', asOf).executeTakeFirst();
      return row?.received_at ?? null;
    },

    /** Policy changes dated before `to`, however old, in ledger order. */
    policyRows: ({ source, asOf, to }: Scope & { readonly to: string }): AsyncIterable<PolicyRow> =>
      pageByKey<PolicyRow>((after, limit) =>
        query
          .selectFrom('policy_history as p')
          .leftJoin('delivery_history as h', 'h.seq', 'p.seq')
          .selectAll('p')
          .select('h.commitment')
          .where('p.source', '=', source)
          .where('p.seq', '<=', asOf)
          .where(afterRow('p', after))
          .where('p.at', '<', to)
          .orderBy('p.seq')
          .orderBy('p.part')
          .limit(limit)
          .execute(),
      ),

    /** Actions with these names on the source (or on several, with `sources`), in ledger order. */
    actionRows: (
      period: Period,
      names: readonly ActionName[],
      sources: readonly string[] = [period.source],
    ): AsyncIterable<ActionRow> =>
      pageByKey<ActionRow>((after, limit) =>
        query
          .selectFrom('action_history')
          .selectAll()
          .where('source', 'in', [...sources])
          .where('action', 'in', [...names])
          .where('seq', '<=', period.asOf)
          .where('seq', '>', after?.seq ?? 0)
          .where('received_at', '>=', period.from)
          .where('received_at', '<', period.to)
          .orderBy('seq')
          .limit(limit)
          .execute(),
      ),

    /** The latest observation of the counters for exactly this period (`counters.observed`); null if there is none up to asOf. */
    async observedCounters(period: Period): Promise<ActionRow | null> {
      const row = await query
        .selectFrom('action_history')
        .selectAll()
        .where('source', '=', period.source)
        .where('action', '=', 'counters.observed')
        .where('object', '=', periodKey(period))
        .where('seq', '<=', period.asOf)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },

    /** The number of the source's entries erased by erasures up to asOf. */
    async erasedEntries({ source, asOf }: Scope): Promise<number> {
      const erasures = await query
        .selectFrom('entries')
        .select('body')
        .where('source', 'in', [source, INSTALLATION])
        // A literal, so that SQLite uses its index of erasures.
        .where('kind', '=', sql.lit('erasure'))
        .where('seq', '<=', asOf)
        .execute();
      const seqs = [...new Set(erasures.flatMap(({ body }) => erasedSeqs(body)))];
      let erased = 0;
      for (let start = 0; start < seqs.length; start += SEQS) {
        const { n } = await query
          .selectFrom('entries')
          .select((eb) => eb.fn.countAll().as('n'))
          .where('source', '=', source)
          .where('seq', 'in', seqs.slice(start, start + SEQS))
          .where('body', 'is', null)
          .executeTakeFirstOrThrow();
        erased += Number(n);
      }
      return erased;
    },

    /** Exact bytes of entries; `meta`, `body` and `salt` are null after an erasure. */
    async rawEntries(scope: Scope, seqs: readonly number[]): Promise<readonly RawEntry[]> {
      const visible = seqs.filter((seq) => seq <= scope.asOf);
      if (visible.length === 0) return [];
      return query
        .selectFrom('entries')
        .select(['seq', 'kind', 'received_at', 'meta', 'body', 'salt', 'commitment'])
        .where('source', '=', scope.source)
        .where('seq', 'in', visible)
        .orderBy('seq')
        .execute();
    },
  };
}

/** One fetch of a policy text. */
export type TextLookRow = Pick<
  Selectable<Tables['snapshot_history']>,
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
  /** Commitment of the entry that holds the response. */
  readonly commitment: Buffer | null;
};

/** Policy texts as fetched. */
export function createTextQueries(query: Query) {
  return {
    /** Every fetch of a source (or only of some policies' public pages), by target, each in order of seq. */
    textLooks: ({ source, asOf }: Scope, ofPolicies?: ReadonlySet<string>): AsyncIterable<TextLookRow> =>
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
