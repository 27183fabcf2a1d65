import { type RawBuilder, sql } from 'kysely';
import type { Judged } from '../../core/consent-judgement.ts';
import { type HeldConsents, holdsOf } from '../../core/consent-timeline.ts';
import type { ConsentState } from '../../core/vocabulary.ts';
import type { Query } from '../store.ts';
import {
  amongFew,
  contradicted,
  type DecisionBuilder,
  decisionsIn,
  firstDecisionsIn,
  type JudgedAt,
  judgedAt,
} from './decisions-in.ts';
import type { DecisionRow } from './history-decisions.ts';
import { type AgreementGroup, agreementOf, type BannerWindow } from './history-reconciliation.ts';
import { nullsFirst, type Period } from './scope.ts';

/** Decisions of a period that are equal in everything that reports count. */
export interface DecisionGroup extends AgreementGroup {
  /** The judgement at asOf. */
  readonly judged: Judged;
  /** As stated by their first records. */
  readonly stated: ConsentState;
  /** The choice and state according to all their records, and which purposes they withdraw. */
  readonly purposes: string;
  readonly state: ConsentState;
  readonly withdraws: string;
  readonly region: string | null;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** Each has a record that names a subject. */
  readonly owned: boolean;
  readonly timeBasis: DecisionRow['occurred_basis'];
  readonly timeCounts: boolean;
}

export interface RecordTotals {
  /** All rows: a decision that was both delivered and pulled has two. */
  readonly rows: number;
  /** Distinct subjects among the decisions. */
  readonly subjects: number;
  /** Rows that contradict an earlier row of the same decision. */
  readonly conflicts: number;
}

export interface DecisionTotals extends RecordTotals {
  /** Distinct decisions: rows that are the first of their decision. */
  readonly decisions: number;
  readonly withoutSubject: number;
  /** Decisions whose claimed time does not count, so that the time of receipt is used. */
  readonly timesNotCounted: number;
  /** Decisions without a time, counted at the time of receipt. */
  readonly timedByReceipt: number;
  /** Decisions whose time had no UTC offset. */
  readonly offsetAssumed: number;
}

/** Counts the decisions of a period by `at`, each at its first row (`is_first`). */
export function createDecisionCounts(query: Query) {
  const first = (period: Period) => firstDecisionsIn(query, period);
  const count = (eb: DecisionBuilder) => eb.fn.countAll().as('decisions');

  return {
    async recordTotals(period: Period): Promise<RecordTotals> {
      const { together } = await judgedAt(query, period);
      const { rows } = await decisionsIn(query, period)
        .select((eb) => eb.fn.countAll().as('rows'))
        .executeTakeFirstOrThrow();
      const { conflicts } = await query
        .selectFrom('decision_history as d')
        .where('d.seq', 'in', contradicted(query, period).clearSelect().select('o.seq'))
        .where(sql<boolean>`d.conflicts + 0 = 1`)
        .where(amongFew(period))
        .select((eb) => eb.fn.countAll().as('conflicts'))
        .executeTakeFirstOrThrow();
      // A subquery with group by, because SQLite counts `count(distinct …)` in a tree with a look-up per decision,
      // which takes three times as long.
      const { subjects } = await query
        .selectFrom(first(period).select(together('subject').as('owner')).groupBy(sql.ref('owner')).as('s'))
        .select((eb) => eb.fn.count('s.owner').as('subjects'))
        .executeTakeFirstOrThrow();
      return { rows: Number(rows), conflicts: Number(conflicts), subjects: Number(subjects) };
    },

    /**
     * Every count of decisions that reports need, in one walk; each of their tables adds up some of these groups. Call
     * it with about a day at a time: SQLite sorts the decisions, and sorts small sets faster. `windows`: as for
     * `reconciliationByBanner`.
     */
    async decisionGroups(period: Period, windows: readonly BannerWindow[] = []): Promise<readonly DecisionGroup[]> {
      const { column, together, judged } = await judgedAt(query, period);
      const { nameless, way } = agreementOf(query, period, windows);
      // Columns that distinguish most come first, long texts last.
      const keys = [
        ...['ofRegion', 'ofVersion', 'ofBanner', 'cameBy', 'way', 'judged', 'stated', 'saidState', 'ofPolicy'],
        ...['nameless', 'basis', 'counts', 'owned', 'withdrawn', 'chosen'],
      ];
      const rows = await first(period)
        .select(['d.region as ofRegion', 'd.policy_version as ofVersion', 'd.banner_id as ofBanner', 'd.via as cameBy'])
        .select([way.as('way'), judged.as('judged'), 'd.state as stated', column('state').as('saidState')])
        .select(['d.policy_id as ofPolicy', nameless.as('nameless'), 'd.occurred_basis as basis'])
        .select([
          'd.occurred_counts as counts',
          sql`case when ${together('subject')} is null then 0 else 1 end`.as('owned'),
        ])
        .select([column('withdraws').as('withdrawn'), column('purposes').as('chosen')])
        .select(count)
        .groupBy(keys.map((key) => sql.ref(key)))
        .execute();
      return rows.map((row) => ({
        judged: row.judged,
        stated: row.stated,
        disputed: row.judged === 'disputed',
        purposes: row.chosen,
        state: row.saidState as ConsentState,
        withdraws: row.withdrawn,
        region: row.ofRegion,
        bannerId: row.ofBanner,
        policyId: row.ofPolicy,
        policyVersion: row.ofVersion,
        owned: Number(row.owned) === 1,
        timeBasis: row.basis,
        timeCounts: Number(row.counts) === 1,
        via: row.cameBy,
        nameless: Number(row.nameless) === 1,
        way: row.way,
        decisions: Number(row.decisions),
      }));
    },

    async decisionsByBanner(period: Period): Promise<readonly { bannerId: string | null; decisions: number }[]> {
      const rows = await first(period)
        .select('d.banner_id as bannerId')
        .select(count)
        .groupBy('d.banner_id')
        .orderBy('d.banner_id', nullsFirst)
        .execute();
      return rows.map((row) => ({ ...row, decisions: Number(row.decisions) }));
    },
  };
}

/**
 * The consents that subjects hold on a banner at the end of a period, as far as the latest decision alone determines
 * them: one row per policy version and set of purposes. Consents from earlier decisions, and disputed ones, come from
 * `heldConsents`.
 */
export interface StandingConsents {
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** Canonical JSON array of the purposes that are granted. */
  readonly stands: string;
  readonly consents: number;
  readonly withoutExpiry: number;
  /** Expiring by the end of the period, within 30 days after it, and from 30 to 90 days after it. */
  readonly expired: number;
  readonly within30Days: number;
  readonly within90Days: number;
}

/** The consents that subjects hold on a banner at the end of a period. */
export function createStandingQueries(query: Query) {
  return {
    /**
     * The consents by policy version and purposes, if the latest decision alone determines them; for other subjects the
     * places of their latest decisions, for {@link heldConsents}. Both come from one sort of all decisions.
     */
    async standingConsents(
      period: Period,
      in30Days: string,
      in90Days: string,
    ): Promise<{ readonly consents: readonly StandingConsents[]; readonly held: readonly number[] }> {
      const { column, together } = await judgedAt(query, period);
      const decisions = query
        .selectFrom('decision_history as d')
        .where('d.source', '=', period.source)
        .where('d.seq', '<=', period.asOf)
        .where('d.at', '<', period.to)
        .where('d.is_first', '=', 1)
        .select([together('subject').as('owner'), sql`coalesce(d.banner_id, '')`.as('banner')])
        .select(placedHolds(period, { column, together }, in30Days, in90Days).as('holds'))
        // No real limit, but it keeps SQLite from sorting the columns instead of the expressions, which takes twice as
        // long.
        .limit(Number.MAX_SAFE_INTEGER);
      const latest = query
        .selectFrom(decisions.as('d'))
        .where('d.owner', 'is not', null)
        .select((eb) => eb.fn.max('d.holds').as('holds'))
        .groupBy(['d.owner', 'd.banner']);
      const rows = await query
        .selectFrom(latest.as('p'))
        .where(sql<boolean>`length(p.holds) > ${sql.lit(PLACE)}`)
        .select(sql<string>`substr(p.holds, ${sql.lit(PLACE + 1)})`.as('what'))
        .select((eb) => eb.fn.countAll().as('consents'))
        .groupBy(sql.ref('what'))
        .execute();
      const found = new Map<string, Mutable<StandingConsents>>();
      const held: number[] = [];
      for (const row of rows) {
        const { place, expiry, ...what } = readHolds(row.what);
        if (place > 0) {
          held.push(place);
          continue;
        }
        const key = JSON.stringify(what);
        const none = { consents: 0, withoutExpiry: 0, expired: 0, within30Days: 0, within90Days: 0 };
        const known = found.get(key) ?? { ...what, ...none };
        found.set(key, known);
        known.consents += Number(row.consents);
        if (expiry !== 'later') known[expiry] += Number(row.consents);
      }
      return { consents: [...found.values()], held: held.sort((x, y) => x - y) };
    },

    /**
     * The consents of subjects whose latest decision does not determine them alone; `places` as found by
     * {@link standingConsents}.
     */
    async *heldConsents(period: Period, places: readonly number[]): AsyncIterable<HeldConsents> {
      const { column, together } = await judgedAt(query, period);
      for (let start = 0; start < places.length; start += AT_ONCE) {
        const some = places.slice(start, start + AT_ONCE);
        const rows = await query
          .selectFrom('decision_history as d')
          .where('d.seq', 'in', [...new Set(some.map((place) => Math.floor(place / PARTS)))])
          .where(sql`d.seq * ${sql.lit(PARTS)} + d.part`, 'in', some)
          .select(['d.decision_id', 'd.at', column('stands').as('stands'), column('held').as('held')])
          .select([together('policy_id').as('policy_id'), together('policy_version').as('policy_version')])
          .select(together('expires_at').as('expires_at'))
          .orderBy('d.seq')
          .orderBy('d.part')
          .execute();
        for (const row of rows) yield holdsOf(row);
      }
    },
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** When a consent expires; the index is stored as one digit. */
const expiries = ['withoutExpiry', 'expired', 'within30Days', 'within90Days', 'later'] as const;
/** More than the events of an entry that are read (receivers/batch.ts), so that one number stands for seq and part. */
const PARTS = 1000;
/** Characters of a time, a seq and a part. */
const PLACE = 24 + 17 + 4;

/**
 * What a decision `d` leaves standing, as a text that begins with its place in the order of time, seq and part. The maximum
 * over several decisions is then the latest one's. If nothing stands, nothing follows the place. So one sort by subject
 * finds each one's latest: numbering them in a window costs more, and a correlated `not exists` is quadratic if many
 * rows share a subject.
 */
function placedHolds(
  period: Period,
  { column, together }: Pick<JudgedAt, 'column' | 'together'>,
  in30Days: string,
  in90Days: string,
): RawBuilder<string> {
  const [stands, held, expires] = [column('stands'), column('held'), together('expires_at')];
  const [policy, version] = [together('policy_id'), together('policy_version')];
  return sql<string>`d.at || (10000000000000000 + d.seq) || (${sql.lit(PARTS)} + d.part) || case when ${stands} = '[]' and ${held} = '[]' then '' else
      case when ${expires} is null then '0' when ${expires} <= ${period.to} then '1' when ${expires} < ${in30Days} then '2'
        when ${expires} < ${in90Days} then '3' else '4' end
      || case when ${held} = '[]' then 0 else d.seq * ${sql.lit(PARTS)} + d.part end || ' ' || ${stands} || ${'\n'}
      || coalesce(length(${policy}) || ' ' || ${policy}, '-') || coalesce('+' || ${version}, '') end`;
}

function readHolds(text: string): Pick<StandingConsents, 'policyId' | 'policyVersion' | 'stands'> & {
  /** Seq and part in one number; 0: the decision determines everything. */
  readonly place: number;
  readonly expiry: (typeof expiries)[number];
} {
  const [, expiry, place, stands = '', length, rest = ''] = /^(\d)(\d+) ([^\n]*)\n(?:-|(\d+) )(.*)$/s.exec(text) ?? [];
  const policyId = length === undefined ? null : [...rest].slice(0, Number(length)).join('');
  const version = rest.slice(policyId?.length ?? 0);
  return {
    policyId,
    policyVersion: version === '' ? null : version.slice(1),
    stands,
    place: Number(place),
    expiry: expiries[Number(expiry)] ?? 'later',
  };
}

/** Decisions read in one statement. */
const AT_ONCE = 1000;
