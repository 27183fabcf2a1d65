import { sql } from 'kysely';
import type { Query } from '../store.ts';
import { firstDecisionsIn, hasRow } from './decisions-in.ts';
import type { Period } from './scope.ts';

/**
 * Decisions that follow each other in time, none of which was delivered: the endpoint was away, refused, or was not told. Rows of the log
 * without a time that counts are left out, since nobody knows when they were made. ISO 8601 UTC.
 */
export interface UndeliveredStretch {
  /** Decisions, one after the other, that only the pulled log has. */
  readonly decisions: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Entries of the first and the last of them. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The delivered decisions before and after them, within the period; null where there is none. */
  readonly deliveredBefore: string | null;
  readonly deliveredAfter: string | null;
}

/** Where deliveries are missing, in order of time. */
export interface StretchQueries {
  /**
   * How many stretches there are, how many of more than one decision, how many decisions lie in these, and the longest of all stretches
   * (most decisions first, then by time), at most `limit`.
   */
  undelivered(
    period: Period,
    limit: number,
  ): Promise<{
    readonly stretches: number;
    readonly longer: number;
    readonly inLonger: number;
    readonly longest: readonly UndeliveredStretch[];
  }>;
  /** For each stretch of time, both ends included: deliveries of any event that were kept, by our clock. */
  keptBetween(
    period: Period,
    stretches: readonly { readonly from: string; readonly to: string }[],
  ): Promise<readonly number[]>;
}

export function createStretchQueries(query: Query): StretchQueries {
  const delivered = (period: Period) =>
    sql<number>`case when d.via = 'webhook' then 1 else ${hasRow(period, `o.via = 'webhook'`)} end`;

  /** Decisions in order of time, each with what is said of the one before and the one after. */
  const neighbours = (period: Period) => {
    const over = sql`over (order by m.at, m.seq)`;
    return query
      .selectFrom(
        firstDecisionsIn(query, period)
          .where(
            sql<boolean>`(d.via = 'webhook' or (d.via = 'pull' and d.occurred_counts = 1 and d.occurred_basis <> 'received'))`,
          )
          .select(['d.at', 'd.seq', delivered(period).as('delivered')])
          .as('m'),
      )
      .select(['m.at', 'm.seq', 'm.delivered'])
      .select([
        sql<number | null>`lag(m.delivered) ${over}`.as('before'),
        sql<string | null>`lag(m.at) ${over}`.as('before_at'),
        sql<number | null>`lead(m.delivered) ${over}`.as('after'),
        sql<string | null>`lead(m.at) ${over}`.as('after_at'),
      ]);
  };
  /** The undelivered ones alone, numbered so that those between two delivered ones share a number. */
  const numbered = (period: Period) =>
    query
      .selectFrom(neighbours(period).as('l'))
      .where('l.delivered', '=', 0)
      .select(['l.at', 'l.seq', 'l.before', 'l.before_at', 'l.after', 'l.after_at'])
      .select(
        sql<number>`sum(case when l.before = 0 then 0 else 1 end) over (order by l.at, l.seq rows between unbounded preceding and current row)`.as(
          'stretch',
        ),
      );
  const stretches = (period: Period) =>
    query
      .selectFrom(numbered(period).as('i'))
      .groupBy('i.stretch')
      .select((eb) => [
        sql<string | null>`max(case when i.before = 1 then i.before_at end)`.as('deliveredBefore'),
        sql<string | null>`max(case when i.after = 1 then i.after_at end)`.as('deliveredAfter'),
        eb.fn.countAll().as('decisions'),
        eb.fn.min('i.at').as('firstAt'),
        eb.fn.max('i.at').as('lastAt'),
        eb.fn.min('i.seq').as('firstSeq'),
        eb.fn.max('i.seq').as('lastSeq'),
      ]);

  return {
    async undelivered(period, limit) {
      const all = (sum: string) => sql<number>`sum(${sql.raw(sum)}) over ()`;
      const rows = await query
        .selectFrom(stretches(period).as('s'))
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
        longest: rows.map((row) => ({
          decisions: Number(row.decisions),
          firstAt: row.firstAt,
          lastAt: row.lastAt,
          firstSeq: Number(row.firstSeq),
          lastSeq: Number(row.lastSeq),
          deliveredBefore: row.deliveredBefore,
          deliveredAfter: row.deliveredAfter,
        })),
      };
    },

    async keptBetween(period, between) {
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
      // `cross join` keeps the order on SQLite: the deliveries once, the few stretches for each of them.
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
