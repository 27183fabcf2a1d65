import { type NotNull, type RawBuilder, sql } from 'kysely';
import { ALL_PURPOSES, type Judged, parsePurposes, purposeKey } from '../../core/consent-judgement.ts';
import { judgeDecision } from '../../core/consent-timeline.ts';
import type { Query } from '../store.ts';
import { contradicted, firstDecisionsIn, judgedAt } from './decisions-in.ts';
import { type DecisionRow, namesOwner, recordsOf } from './history-decisions.ts';
import { nullsFirst, type Period, pageByKey } from './scope.ts';

export interface WithdrawalTime
  extends Pick<DecisionRow, 'seq' | 'part' | 'at' | 'received_at' | 'occurred_basis' | 'occurred_counts' | 'via'> {
  readonly judged: Judged;
}

/** A consent recorded after the same subject's consent was withdrawn by request. */
export interface ConsentAfterWithdrawal {
  readonly caseId: string;
  readonly subject: string;
  readonly bannerId: string | null;
  /** Withdrawn purposes that are granted again; `*`: the decision names none. */
  readonly purposes: readonly string[];
  readonly withdrawnAt: string;
  readonly withdrawnSeq: number;
  readonly at: string;
  readonly seq: number;
}

/** A withdrawal by request, and a banner that it does not cover although the same subject decided on it before. */
export interface UncoveredBanner {
  /** Seq and body of the first `consent.withdrawn-by-request` entry of the answer. */
  readonly seq: number;
  readonly body: Buffer;
  readonly bannerId: string | null;
}

/** Withdrawals: when they happened, and what followed those made by request. */
export function createWithdrawalQueries(query: Query) {
  return {
    /** When each full or partial withdrawal of the period happened and was received, by time; reads nothing else. */
    async *withdrawalTimes(period: Period): AsyncIterable<WithdrawalTime> {
      const { column } = await judgedAt(query, period);
      const label = column('label') as RawBuilder<Judged>;
      yield* pageByKey<WithdrawalTime>((after, limit) =>
        firstDecisionsIn(query, period, after)
          .where(sql<boolean>`${label} in ('withdrawn', 'partly-withdrawn')`)
          // Checked for withdrawals only.
          .where('d.decision_id', 'not in', contradicted(query, period))
          .select(['d.seq', 'd.part', 'd.at', 'd.received_at', 'd.occurred_basis', 'd.occurred_counts', 'd.via'])
          .select(label.as('judged'))
          .orderBy('d.at')
          .orderBy('d.seq')
          .orderBy('d.part')
          .limit(limit)
          .execute(),
      );
    },

    /**
     * Consents recorded after a withdrawal by request, in ledger order, the first 500. Can be limited to sources, to a
     * case, and by time (ISO 8601 UTC).
     */
    async consentsAfterWithdrawal({
      source,
      sources,
      asOf,
      caseId,
      from,
      receivedFrom,
    }: {
      readonly source?: string;
      /** Only these sources; absent: all. */
      readonly sources?: readonly string[];
      readonly asOf: number;
      readonly caseId?: string;
      /** Only consents given from this time on, ISO 8601 UTC. */
      readonly from?: string;
      /** Only consents received from this time on, whatever time they claim. */
      readonly receivedFrom?: string;
    }): Promise<readonly ConsentAfterWithdrawal[]> {
      const rows = await query
        .selectFrom(withdrawalsByRequest(query, source === undefined ? sources : [source]).as('r'))
        // `o` names the subject to whom decision `d` belongs; it is usually the first record.
        .innerJoin('decision_history as o', (join) =>
          join.onRef('o.source', '=', 'r.source').onRef('o.subject', '=', 'r.subject').on(namesOwner),
        )
        .innerJoin('decision_history as d', (join) =>
          join
            .onRef('d.source', '=', 'o.source')
            .onRef('d.decision_id', '=', 'o.decision_id')
            // Expressions, because SQLite has no row counts and would begin with all decisions instead of the few
            // withdrawals.
            .on(sql<boolean>`d.is_first + 0 = 1`)
            .on(sql<boolean>`(${timeOfDecision} > r.at or (d.at = r.at and d.seq > r.seq))`),
        )
        .where('r.seq', '<=', asOf)
        .$if(caseId !== undefined, (some) => some.where('r.case_id', '=', caseId ?? ''))
        .$if(from !== undefined, (some) => some.where('d.at', '>=', from ?? ''))
        .$if(receivedFrom !== undefined, (some) => some.where('o.received_at', '>=', receivedFrom ?? ''))
        .where('o.seq', '<=', asOf)
        .where(sql<boolean>`d.via || '' <> 'request'`)
        .where('d.state', 'in', ['given', 'renewed-given', 'refused', 'withdrawn', 'unknown'])
        .select(['r.case_id as caseId', 'r.seq as withdrawnSeq', 'r.at as withdrawnAt', 'r.purposes as withdrawn'])
        .select(['o.subject', 'd.banner_id as bannerId', 'd.seq', 'd.at', 'd.source', 'd.decision_id as decisionId'])
        .orderBy('d.seq')
        .orderBy('d.part')
        .orderBy('r.seq', 'desc')
        .limit(CONSENTS_AFTER)
        .execute();
      const records = await recordsOf(query, rows, asOf);
      const found = new Map<string, ConsentAfterWithdrawal>();
      for (const { withdrawn, source: slug, decisionId, ...row } of rows) {
        const { caseId: id, subject } = row;
        const key = `${id} ${decisionId}`;
        const told = records.get(`${slug} ${decisionId}`);
        if (id === null || subject === null || told === undefined || found.has(key)) continue;
        const purposes = grantedAgain(told, Object.keys(parsePurposes(withdrawn)));
        if (purposes.length > 0) found.set(key, { ...row, caseId: id, subject, purposes });
      }
      return [...found.values()];
    },

    /** A source's withdrawals by request that lack a banner known by now, in ledger order, without erased entries. */
    withdrawalsToExtend: (source: string): Promise<readonly UncoveredBanner[]> =>
      query
        .selectFrom(withdrawalsByRequest(query, [source]).as('r'))
        .innerJoin('decision_history as o', (join) =>
          join.onRef('o.source', '=', 'r.source').onRef('o.subject', '=', 'r.subject').on(namesOwner),
        )
        .innerJoin('decision_history as d', (join) =>
          join
            .onRef('d.source', '=', 'o.source')
            .onRef('d.decision_id', '=', 'o.decision_id')
            .on('d.is_first', '=', 1)
            .on('d.via', '<>', 'request')
            .on(sql<boolean>`${timeOfDecision} <= r.at`),
        )
        .innerJoin('entries as e', 'e.seq', 'r.seq')
        // An expression, so that SQLite does not look for the lowest seq along the time index.
        .where(sql<boolean>`r.seq = (select min(f.seq + 0) from decision_history as f where ${sameAnswer('f')})`)
        .where(
          sql<boolean>`not exists (select 1 from decision_history as k
            where ${sameAnswer('k')} and coalesce(k.banner_id, '') = coalesce(d.banner_id, ''))`,
        )
        .where('e.body', 'is not', null)
        .select(['r.seq', 'e.body', 'd.banner_id as bannerId'])
        .distinct()
        .orderBy('r.seq')
        .orderBy('d.banner_id', nullsFirst)
        .$narrowType<{ body: NotNull }>()
        .execute(),

    /** The cases whose answers withdrew consent, as a query. */
    casesThatWithdrew: (source: string) =>
      query
        .selectFrom(withdrawalsByRequest(query, [source]).as('r'))
        .select('r.case_id')
        .where('r.case_id', 'is not', null),
  };
}

/**
 * Withdrawals by request of some sources, or of all, along their own index. Without this order SQLite chooses an index
 * over all decisions, and without the limit it ignores the order. The sources are filtered in here, or SQLite would
 * begin with all their decisions.
 */
function withdrawalsByRequest(query: Query, sources: readonly string[] | undefined) {
  return query
    .selectFrom('decision_history')
    .select(['source', 'subject', 'at', 'seq', 'case_id', 'purposes'])
    .where(sql<boolean>`via = 'request'`)
    .$if(sources !== undefined, (some) => some.where('source', 'in', [...(sources ?? [])]))
    .orderBy('source')
    .orderBy('subject')
    .orderBy('at')
    .limit(Number.MAX_SAFE_INTEGER);
}

/** The most consents after a withdrawal to look at: more indicate a fault of the site and are not a list for an officer. */
const CONSENTS_AFTER = 500;

/** The withdrawn purposes (empty: all) that any record of a decision grants again. */
function grantedAgain(
  records: readonly [DecisionRow, ...DecisionRow[]],
  withdrawn: readonly string[],
): readonly string[] {
  const { outcomes } = judgeDecision(records, new Map());
  const granted = [...outcomes].flatMap(([purpose, state]) =>
    state === 'granted' || state === 'disputed' ? [purpose] : [],
  );
  const named = new Set([ALL_PURPOSES, ...withdrawn.map(purposeKey)]);
  return withdrawn.length === 0 ? granted : granted.filter((purpose) => named.has(purposeKey(purpose)));
}

/** An expression, so that SQLite finds `d` by its decision instead of along the time index. */
const timeOfDecision = sql`d.at || ''`;

/** The withdrawal `alias` follows from the same answer as `r`, or from another answer of its case with the same effect. */
function sameAnswer(alias: 'f' | 'k') {
  const same = ['source', 'subject', 'case_id', 'at', 'purposes'].map((name) => `${alias}.${name} = r.${name}`);
  return sql.raw(`${same.join(' and ')} and ${alias}.via = 'request'`);
}
