import { SqliteAdapter, sql } from 'kysely';
import type { Query } from '../store.ts';
import { amongFew, contradicted, type DecisionPlace, decisionsIn, firstDecisionsIn, hasRow } from './decisions-in.ts';
import type { DecisionRow } from './history-decisions.ts';
import { type Period, pageByKey, type Scope, SOURCES_TOGETHER } from './scope.ts';
import { isDecisionSettled } from './settled-findings.ts';

/** How deliveries and the pulled log agree. `both + onlyWebhook + onlyPulled = decisions`; these include `conflicting`. */
export interface Reconciliation {
  readonly decisions: number;
  readonly both: number;
  /** Delivered, but not in the pulled log: not pulled yet, removed upstream, or never recorded there. */
  readonly onlyWebhook: number;
  /** In the pulled log but never delivered: the endpoint was down, or the event is not subscribed. */
  readonly onlyPulled: number;
  /** Decisions whose rows contradict each other. */
  readonly conflicting: number;
  /**
   * Of those seen on one side only: decisions with neither a record id nor a time, so that no row of the other side can
   * be matched with them. A delivery and the log row of the same choice then count as two decisions.
   */
  readonly unmatchableDelivered: number;
  readonly unmatchablePulled: number;
}

export interface BannerReconciliation extends Reconciliation {
  readonly bannerId: string | null;
  /** Of those only delivered: the ones in the windows that could be matched with a row of the log. */
  readonly missingFromLog: number;
}

/** A period of one banner (null: decisions that name none). ISO 8601 UTC, `to` exclusive. */
export interface BannerWindow {
  readonly bannerId: string | null;
  readonly from: string;
  readonly to: string;
}

export type ReconciliationFinding = 'only-webhook' | 'only-pulled' | 'conflicting';

/** A decision with all its records up to asOf, in ledger order. */
export interface ReconciledDecision {
  readonly decisionId: string;
  readonly rows: readonly DecisionRow[];
}

/** Decisions per statement. */
const DECISIONS = 500;

type Found = Pick<DecisionRow, 'at' | 'seq' | 'part' | 'decision_id'>;

/** A decision `d` with neither an id nor a time: no row of the other side can be matched with it. */
const NAMELESS = `d.record_id is null and d.occurred_basis = 'received'`;

/**
 * Whether `d` was delivered, can be matched, and is in a window of its banner. All windows are one parameter, since a
 * source may have more banners than a statement can have parameters. Both databases find a banner's windows without
 * reading the others: SQLite in the index that it makes for a materialised table, PostgreSQL by the key of the object.
 */
function isMissing(query: Query, windows: readonly BannerWindow[]) {
  if (windows.length === 0) return sql<boolean>`1 = 0`;
  return sql<boolean>`d.via = 'webhook' and not (${sql.raw(NAMELESS)}) and exists (${
    query.getExecutor().adapter instanceof SqliteAdapter ? inSqlite(windows) : inPostgres(windows)
  })`;
}

function inSqlite(windows: readonly BannerWindow[]) {
  const rows = JSON.stringify(windows.map(({ bannerId, from, to }) => [bannerId, from, to]));
  return sql`with w as materialized (select value ->> 0 as banner_id, value ->> 1 as since, value ->> 2 as until from json_each(${rows}))
    select 1 from w where w.banner_id is d.banner_id and d.at >= w.since and d.at < w.until`;
}

function inPostgres(windows: readonly BannerWindow[]) {
  const ofBanner = new Map<string, [string, string][]>();
  for (const { bannerId, from, to } of windows) {
    const key = bannerId === null ? 'none' : `id ${bannerId}`;
    ofBanner.set(key, [...(ofBanner.get(key) ?? []), [from, to]]);
  }
  const object = JSON.stringify(Object.fromEntries(ofBanner));
  return sql`select 1 from jsonb_array_elements(${object}::jsonb -> coalesce('id ' || d.banner_id, 'none')) as w(span)
    where d.at >= w.span ->> 0 and d.at < w.span ->> 1`;
}

/**
 * The first row of each decision of the period. Excludes withdrawals that an officer recorded on request: they are
 * neither delivered nor in the log.
 */
const firstTold = (query: Query, period: Period, after: DecisionPlace | null = null) =>
  firstDecisionsIn(query, period, after).where('d.via', '<>', 'request');

/**
 * Decisions that came first from the log, along the partial index for them: SQLite uses it only if both conditions are
 * literally in the statement.
 */
const firstPulled = (query: Query, period: Period, after: DecisionPlace | null = null) =>
  decisionsIn(query, period, after).where(sql<boolean>`d.via = 'pull' and d.is_first = 1`);

/** 1 if the decision `d` came both ways. */
const bothWays = (scope: Pick<Scope, 'asOf'>) => hasRow(scope, 'o.via <> d.via');

/**
 * Like bothWays, for periods in which most decisions came both ways: the other row usually has the same time, and is
 * then next to `d`, which was just read. A look-up by id reads another page of a large index for each decision.
 */
const mostlyBothWays = (period: Period) =>
  sql<number>`case when exists (select 1 from (select o.decision_id, o.via from decision_history as o where o.source = d.source
      and o.at = d.at and o.seq > d.seq and o.seq <= ${period.asOf} order by o.seq limit ${sql.lit(NEIGHBOURS)}) as o
    where o.decision_id = d.decision_id and o.via <> d.via) then 1 else ${bothWays(period)} end`;

/** Rows with the same time that are checked before looking up the id. */
const NEIGHBOURS = 4;

/** The columns by which the first row `d` of a decision is grouped, to show how deliveries and log agree on it. */
export function agreementOf(query: Query, period: Period, windows: readonly BannerWindow[]) {
  return {
    nameless: sql<number>`case when ${sql.raw(NAMELESS)} then 1 else 0 end`,
    way: sql<
      AgreementGroup['way']
    >`case when ${mostlyBothWays(period)} = 1 then 'both' when ${isMissing(query, windows)} then 'missing' else 'one' end`,
  };
}

/** Each decision of the period with its group. */
const matched = (query: Query, period: Period, windows: readonly BannerWindow[]) => {
  const { nameless, way } = agreementOf(query, period, windows);
  return firstDecisionsIn(query, period)
    .select(['d.banner_id as banner_id', 'd.via as via', nameless.as('nameless'), way.as('way')])
    .select(sql<number>`case when d.decision_id in ${contradicted(query, period)} then 1 else 0 end`.as('conflicting'));
};

/**
 * Deliveries matched with pulled rows by decision id. A decision belongs to the period of its first row. The database
 * does the matching, along the index on (source, decision_id, seq, via, conflicts).
 */
export function createReconciliationQueries(query: Query) {
  return {
    /**
     * Of all these sources together, for a page that is opened often: walks only the indexes of the few decisions that
     * came first from the log or were contradicted. Without those that an officer has settled.
     */
    async disagreement(
      sources: readonly string[],
      period: Omit<Period, 'source'>,
    ): Promise<Pick<Reconciliation, 'onlyPulled' | 'conflicting'>> {
      const sum = { onlyPulled: 0, conflicting: 0 };
      for (let from = 0; from < sources.length; from += SOURCES_TOGETHER) {
        const some = sources.slice(from, from + SOURCES_TOGETHER);
        const [pulled, disputed] = await Promise.all([
          query
            .selectFrom('decision_history as d')
            .where('d.source', 'in', some)
            .where('d.at', '>=', period.from)
            .where('d.at', '<', period.to)
            .where('d.seq', '<=', period.asOf)
            .where(sql<boolean>`d.via = 'pull' and d.is_first = 1`)
            .where(bothWays(period), '=', 0)
            .where(sql<boolean>`not ${isDecisionSettled('only-pulled')}`)
            .select((eb) => eb.fn.countAll().as('n'))
            .executeTakeFirstOrThrow(),
          query
            .selectFrom((db) =>
              db
                .selectFrom('decision_history as o')
                .select(['o.source', 'o.decision_id'])
                .distinct()
                .where('o.source', 'in', some)
                .where(sql<boolean>`o.conflicts = 1`)
                .where('o.seq', '<=', period.asOf)
                .as('c'),
            )
            .innerJoin('decision_history as d', (join) =>
              join.onRef('d.source', '=', 'c.source').onRef('d.decision_id', '=', 'c.decision_id'),
            )
            .where('d.is_first', '=', 1)
            .where('d.via', '<>', 'request')
            .where(amongFew(period))
            .where(sql<boolean>`not ${isDecisionSettled('conflicting')}`)
            .select((eb) => eb.fn.countAll().as('n'))
            .executeTakeFirstOrThrow(),
        ]);
        sum.onlyPulled += Number(pulled.n);
        sum.conflicting += Number(disputed.n);
      }
      return sum;
    },

    /**
     * By banner id; null: decisions that name none. `windows`: the periods pulled of each banner, in which the log
     * should have every delivered decision. Windows of one banner must not overlap.
     */
    async reconciliationByBanner(
      period: Period,
      windows: readonly BannerWindow[] = [],
    ): Promise<readonly BannerReconciliation[]> {
      const groups = await query
        .selectFrom(matched(query, period, windows).as('m'))
        .select(['m.banner_id', 'm.via', 'm.nameless', 'm.conflicting', 'm.way'])
        .select((eb) => eb.fn.countAll().as('n'))
        .groupBy(['m.banner_id', 'm.via', 'm.nameless', 'm.conflicting', 'm.way'])
        .execute();
      return agreementByBanner(
        groups.map((group) => ({
          bannerId: group.banner_id,
          via: group.via,
          nameless: Number(group.nameless) === 1,
          disputed: Number(group.conflicting) === 1,
          way: group.way,
          decisions: Number(group.n),
        })),
      );
    },

    /** The earliest time that counts in a pulled row; null if there is none. */
    async earliestPulled({ source, asOf }: Scope): Promise<string | null> {
      const row = await query
        .selectFrom('decision_history')
        .select('at')
        .where('source', '=', source)
        .where('via', '=', 'pull')
        .where('occurred_counts', '=', 1)
        .where('occurred_basis', '!=', 'received')
        .where('seq', '<=', asOf)
        .orderBy('at')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst();
      return row?.at ?? null;
    },

    /** Which of these entries are records of a decision of the period, by seq. */
    async decisionsAmong(period: Period, seqs: readonly number[]): Promise<readonly number[]> {
      const found: number[] = [];
      for (let start = 0; start < seqs.length; start += DECISIONS) {
        const rows = await query
          .selectFrom('decision_history')
          .select('seq')
          .distinct()
          .where('source', '=', period.source)
          .where('seq', 'in', seqs.slice(start, start + DECISIONS))
          .where('seq', '<=', period.asOf)
          .where('at', '>=', period.from)
          .where('at', '<', period.to)
          .execute();
        found.push(...rows.map(({ seq }) => Number(seq)));
      }
      return found.sort((a, b) => a - b);
    },
  };
}

/** The decisions behind the counts of a reconciliation. */
export function createReconciledLists(query: Query) {
  return {
    /** Sources with any decision that was contradicted or came first from the log; the others need not be searched. */
    async sourcesWith(finding: 'conflicting' | 'only-pulled'): Promise<ReadonlySet<string>> {
      const few = finding === 'conflicting' ? sql<boolean>`conflicts = 1` : sql<boolean>`via = 'pull' and is_first = 1`;
      const rows = await query.selectFrom('decision_history').select('source').distinct().where(few).execute();
      return new Set(rows.map(({ source }) => source));
    },

    /**
     * Decisions with one finding, by time, whether or not it is settled: all of them, page by page, or the first `most`
     * (at most 500).
     */
    async *reconciledDecisions(
      period: Period,
      finding: ReconciliationFinding,
      most?: number,
    ): AsyncIterable<ReconciledDecision> {
      const load = (after: DecisionPlace | null, limit: number): Promise<readonly Found[]> =>
        withFinding(query, period, finding, after).limit(limit).execute();
      if (most !== undefined) {
        yield* await rowsOf(query, period, idsOf(await load(null, Math.min(most, DECISIONS))));
        return;
      }
      let waiting: string[] = [];
      for await (const { decision_id } of pageByKey<Found>(load)) {
        waiting.push(decision_id);
        if (waiting.length < DECISIONS) continue;
        yield* await rowsOf(query, period, waiting);
        waiting = [];
      }
      yield* await rowsOf(query, period, waiting);
    },

    /** The first `most` (at most 500) decisions after a place whose finding an officer has settled, or has not. */
    async findingsToSettle(
      period: Period,
      finding: 'conflicting' | 'only-pulled',
      {
        isSettled,
        most,
        after,
      }: { readonly isSettled: boolean; readonly most: number; readonly after: DecisionPlace | null },
    ): Promise<readonly ReconciledDecision[]> {
      const settled = isDecisionSettled(finding);
      const some = await withFinding(query, period, finding, after)
        .where(isSettled ? settled : sql<boolean>`not ${settled}`)
        .limit(Math.min(most, DECISIONS))
        .execute();
      return rowsOf(query, period, idsOf(some));
    },
  };
}

/** The first rows of the decisions with a finding, after a place, by time. */
function withFinding(query: Query, period: Period, finding: ReconciliationFinding, after: DecisionPlace | null) {
  const rows = (finding === 'only-pulled' ? firstPulled : firstTold)(query, period, after);
  let page = rows.select(['d.at', 'd.seq', 'd.part', 'd.decision_id']);
  if (finding === 'conflicting') page = page.where('d.decision_id', 'in', contradicted(query, period));
  else page = page.where((finding === 'only-pulled' ? bothWays : mostlyBothWays)(period), '=', 0);
  if (finding === 'only-webhook') page = page.where('d.via', '=', 'webhook');
  return page.orderBy('d.at').orderBy('d.seq').orderBy('d.part');
}

const idsOf = (found: readonly Found[]) => found.map(({ decision_id }) => decision_id);

async function rowsOf(query: Query, period: Period, ids: readonly string[]): Promise<ReconciledDecision[]> {
  if (ids.length === 0) return [];
  const rows = await query
    .selectFrom('decision_history')
    .selectAll()
    .where('source', '=', period.source)
    .where('decision_id', 'in', ids)
    .where('seq', '<=', period.asOf)
    .orderBy('seq')
    .orderBy('part')
    .execute();
  const byId = new Map<string, DecisionRow[]>(ids.map((id) => [id, []]));
  for (const row of rows) byId.get(row.decision_id)?.push(row);
  return [...byId].map(([decisionId, told]) => ({ decisionId, rows: told }));
}

/** A decision `d` that came first from the log, with a time that counts. */
const TIMED_PULL = `d.via = 'pull' and d.occurred_counts = 1 and d.occurred_basis <> 'received'`;

/** Whether the decision `d` was delivered and its time is known. */
const isDelivered = (period: Period) =>
  sql<boolean>`(d.via = 'webhook' or (${sql.raw(TIMED_PULL)} and ${hasRow(period, DELIVERED)} = 1))`;
const DELIVERED = `o.via = 'webhook'`;

/** The empty agreement, to which groups are added. */
export const noDecisions: Reconciliation = {
  decisions: 0,
  both: 0,
  onlyWebhook: 0,
  onlyPulled: 0,
  conflicting: 0,
  unmatchableDelivered: 0,
  unmatchablePulled: 0,
};

/** Decisions that agree in how deliveries and the log report them. */
export interface AgreementGroup {
  readonly bannerId: string | null;
  /** How the first row came. Withdrawals recorded on request are neither delivered nor in the log, and not counted. */
  readonly via: 'webhook' | 'pull' | 'request';
  /** With neither id nor time. */
  readonly nameless: boolean;
  /** Rows contradict each other. */
  readonly disputed: boolean;
  /** `missing`: one way only, although the log was pulled for it. */
  readonly way: 'both' | 'one' | 'missing';
  readonly decisions: number;
}

/** Adds up groups by banner id. A banner that only withdrawals by request name is included with zero counts. */
export function agreementByBanner(groups: readonly AgreementGroup[]): readonly BannerReconciliation[] {
  const banners = new Map<string | null, Omit<BannerReconciliation, 'bannerId'>>();
  for (const group of groups) {
    const known = banners.get(group.bannerId) ?? { ...noDecisions, missingFromLog: 0 };
    banners.set(group.bannerId, group.via === 'request' ? known : added(known, group));
  }
  return [...banners]
    .map(([bannerId, counts]) => ({ bannerId, ...counts }))
    .sort((a, b) => compareIds(a.bannerId, b.bannerId));
}

function added(
  total: Omit<BannerReconciliation, 'bannerId'>,
  { via, nameless, disputed, way, decisions: n }: AgreementGroup,
): Omit<BannerReconciliation, 'bannerId'> {
  const both = way === 'both';
  const unmatchable = !both && nameless ? n : 0;
  return {
    decisions: total.decisions + n,
    both: total.both + (both ? n : 0),
    onlyWebhook: total.onlyWebhook + (!both && via === 'webhook' ? n : 0),
    onlyPulled: total.onlyPulled + (!both && via === 'pull' ? n : 0),
    conflicting: total.conflicting + (disputed ? n : 0),
    unmatchableDelivered: total.unmatchableDelivered + (via === 'webhook' ? unmatchable : 0),
    unmatchablePulled: total.unmatchablePulled + (via === 'pull' ? unmatchable : 0),
    missingFromLog: total.missingFromLog + (way === 'missing' ? n : 0),
  };
}

function compareIds(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}

/**
 * A sequence of decisions without a delivery: the endpoint was down, refused deliveries, or was not called. Log rows
 * without a time that counts are left out, since their place in time is unknown. ISO 8601 UTC.
 */
export interface UndeliveredStretch {
  /** Consecutive decisions that only the pulled log has. */
  readonly decisions: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Entries of the first and the last decision. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Times of the delivered decisions before and after, within the period; null if there is none. */
  readonly deliveredBefore: string | null;
  readonly deliveredAfter: string | null;
}

/** Finds where deliveries are missing, in order of time. */
export function createStretchQueries(query: Query) {
  return {
    /**
     * The number of stretches, the number with more than one decision, the decisions in the latter, and the longest
     * stretches (by number of decisions, then by time), at most `limit`.
     */
    async undelivered(
      period: Period,
      limit: number,
    ): Promise<{
      readonly stretches: number;
      readonly longer: number;
      readonly inLonger: number;
      readonly longest: readonly UndeliveredStretch[];
    }> {
      const all = (sum: string) => sql<number>`sum(${sql.raw(sum)}) over ()`;
      const rows = await query
        .selectFrom(stretchesIn(query, period).as('s'))
        .selectAll()
        .select([
          all('1').as('stretches'),
          all('case when s.decisions > 1 then 1 else 0 end').as('longer'),
          all('case when s.decisions > 1 then s.decisions else 0 end').as('inLonger'),
        ])
        .orderBy('s.decisions', 'desc')
        .orderBy('s.firstAt')
        .orderBy('s.firstSeq')
        .limit(limit)
        .execute();
      const [any] = rows;
      return {
        stretches: Number(any?.stretches ?? 0),
        longer: Number(any?.longer ?? 0),
        inLonger: Number(any?.inLonger ?? 0),
        longest: await Promise.all(
          rows.map(async ({ decisions, firstAt, lastAt, firstSeq, lastSeq, begin }) => ({
            decisions: Number(decisions),
            firstAt,
            lastAt,
            firstSeq: Number(firstSeq),
            lastSeq: Number(lastSeq),
            ...(await deliveredAround(query, period, { firstAt, lastAt, begin: Number(begin) })),
          })),
        ),
      };
    },

    /** For each period, both ends included: the number of stored deliveries of any event, by our clock. */
    async keptBetween(
      period: Period,
      between: readonly { readonly from: string; readonly to: string }[],
    ): Promise<readonly number[]> {
      const reached = between.map(() => 0);
      if (between.length === 0) return reached;
      const values = sql.join(between.map(({ from, to }, place) => sql`(${String(place)}, ${from}, ${to})`));
      const bounds = {
        from: between.map(({ from }) => from).sort()[0],
        to: between
          .map(({ to }) => to)
          .sort()
          .at(-1),
      };
      // `cross join` keeps the order on SQLite: reads the deliveries once, and for each the few stretches.
      const kept = await sql<{ place: string; n: number }>`
        select w.column1 as place, count(*) as n
        from delivery_history as h cross join (values ${values}) as w
        where h.source = ${period.source} and h.seq <= ${period.asOf}
          and h.received_at >= ${bounds.from} and h.received_at <= ${bounds.to}
          and h.received_at >= w.column2 and h.received_at <= w.column3
        group by w.column1`.execute(query);
      for (const { place, n } of kept.rows) reached[Number(place)] = Number(n);
      return reached;
    },
  };
}

/** Steps to the stretches of a period: the decisions that only the pulled log has, each with its predecessor. */
function undeliveredIn(query: Query, period: Period) {
  const over = sql`over (order by d.at, d.seq)`;
  return firstDecisionsIn(query, period)
    .where(sql<boolean>`${sql.raw(TIMED_PULL)}`)
    .where(hasRow(period, DELIVERED), '=', 0)
    .select(['d.source', 'd.at', 'd.seq'])
    .select([
      sql<string | null>`lag(d.at) ${over}`.as('before_at'),
      sql<number | null>`lag(d.seq) ${over}`.as('before_seq'),
    ]);
}

/**
 * Adds 1 where a stretch begins. What lies between two decisions is looked up in three parts, each of them a range of
 * the index on (source, at, seq): thousands of decisions may share a time.
 */
function withBeginnings(query: Query, period: Period) {
  // Stops at the first one.
  const delivered = (within: string) =>
    sql`exists (select 1 from decision_history as d where d.source = u.source and ${sql.raw(within)}
      and d.is_first = 1 and d.seq <= ${period.asOf} and ${isDelivered(period)})`;
  return query
    .selectFrom(undeliveredIn(query, period).as('u'))
    .select(['u.at', 'u.seq'])
    .select(
      sql<number>`case when u.before_at is not null
          and not ${delivered('d.at = u.at and d.seq < u.seq and d.seq > case when u.before_at = u.at then u.before_seq else 0 end')}
          and not (u.before_at < u.at and ${delivered('d.at = u.before_at and d.seq > u.before_seq')})
          and not ${delivered('d.at > u.before_at and d.at < u.at')} then 0 else 1 end`.as('begins'),
    );
}

function stretchesIn(query: Query, period: Period) {
  const numbered = query
    .selectFrom(withBeginnings(query, period).as('b'))
    .select(['b.at', 'b.seq', 'b.begins'])
    .select(
      sql<number>`sum(b.begins) over (order by b.at, b.seq rows between unbounded preceding and current row)`.as(
        'stretch',
      ),
    );
  return query
    .selectFrom(numbered.as('i'))
    .groupBy('i.stretch')
    .select((eb) => [
      eb.fn.countAll().as('decisions'),
      eb.fn.min('i.at').as('firstAt'),
      eb.fn.max('i.at').as('lastAt'),
      eb.fn.min('i.seq').as('firstSeq'),
      eb.fn.max('i.seq').as('lastSeq'),
      sql<number>`max(case when i.begins = 1 then i.seq end)`.as('begin'),
    ]);
}

/** Times of the nearest delivered decisions of the period around a stretch; null if there is none. */
async function deliveredAround(
  query: Query,
  period: Period,
  { firstAt, lastAt, begin }: { readonly firstAt: string; readonly lastAt: string; readonly begin: number },
): Promise<Pick<UndeliveredStretch, 'deliveredBefore' | 'deliveredAfter'>> {
  const next = (within: Period, order: 'asc' | 'desc') =>
    firstDecisionsIn(query, within)
      .where(isDelivered(period))
      .select('d.at')
      .orderBy('d.at', order)
      .orderBy('d.seq', order)
      .limit(1);
  // The appended digit makes `to` inclusive.
  const before = await next({ ...period, to: `${firstAt}0` }, 'desc')
    .where(sql<boolean>`(d.at, d.seq) < (${firstAt}, ${begin})`)
    .executeTakeFirst();
  // A delivered decision at the last time comes after the stretch, or it would have ended it, unless the whole stretch
  // has one time.
  const after = await next({ ...period, from: lastAt }, 'asc')
    .where(sql<boolean>`(d.at, d.seq) > (${lastAt}, ${lastAt > firstAt ? 0 : begin})`)
    .executeTakeFirst();
  return { deliveredBefore: before?.at ?? null, deliveredAfter: after?.at ?? null };
}
