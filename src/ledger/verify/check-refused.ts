import { type Action, actionSchema } from '../../core/action.ts';
import { MOST_REFUSED, oldestCount } from '../../core/vocabulary.ts';
import type { Entry } from '../../crypto/entry.ts';
import type { Checking, Run } from './check-types.ts';

/** Refused deliveries that an entry says there were: in these minutes, for this reason, at least so many. */
interface Observed {
  readonly seq: number;
  readonly source: string;
  readonly reason: string;
  /** YYYY-MM-DDTHH:MM; `to` exclusive. */
  readonly from: string;
  readonly to: string;
  readonly least: number;
}

const DAY_MS = 86_400_000;
const minuteOf = (at: Date) => at.toISOString().slice(0, 16);

/**
 * Refused deliveries are counted outside the ledger, and only ever more. So each report that observed them says how many
 * there are at least; rows that could keep others from being counted or kept are impossible ones.
 */
export function beginRefused({ store: { read }, now, report }: Run): Checking {
  const observed = new Map<string, Observed>();
  // Counts of a day more than are kept may be gone already.
  const horizon = oldestCount(new Date(now.getTime() + DAY_MS));
  return {
    entry(entry) {
      for (const one of observedIn(entry)) {
        const key = JSON.stringify([one.source, one.reason, one.from, one.to]);
        if (one.from >= horizon && one.least > (observed.get(key)?.least ?? 0)) observed.set(key, one);
      }
    },
    async end() {
      const fault = (seq: number | null, sentence: string) => report({ seq, fault: 'refused-altered', sentence });
      for (const { seq, source, reason, from, to, least } of observed.values()) {
        const { n } = await read
          .selectFrom('rejected_counts')
          .select((eb) => eb.fn.sum('count').as('n'))
          .where('source', '=', source)
          .where('reason', '=', reason)
          .where('minute', '>=', from)
          .where('minute', '<', to)
          .executeTakeFirstOrThrow();
        if (Number(n ?? 0) < least)
          fault(
            seq,
            `it observed ${least} refused deliveries of ${JSON.stringify(source)} (${reason}) from ${from} to ${to} UTC, but the database counts ${Number(n ?? 0)}`,
          );
      }
      const tomorrow = minuteOf(new Date(now.getTime() + DAY_MS));
      const counts = await read
        .selectFrom('rejected_counts')
        .select((eb) => eb.fn.countAll().as('n'))
        .where((eb) => eb.or([eb('count', '<', 1), eb('count', '>', MOST_REFUSED / 2), eb('minute', '>', tomorrow)]))
        .executeTakeFirstOrThrow();
      if (Number(counts.n) > 0)
        fault(
          null,
          `${Number(counts.n)} counts of refused deliveries in the database are impossible: their number or minute`,
        );
      const kept = await read
        .selectFrom('rejected_deliveries')
        .select((eb) => eb.fn.countAll().as('n'))
        .where((eb) =>
          eb.or([
            eb('received_at', '>', tomorrow),
            eb('id', '>', Number.MAX_SAFE_INTEGER),
            // The sealed content has the body in base64.
            eb('bytes', '>', eb.fn<number>('length', ['sealed'])),
          ]),
        )
        .executeTakeFirstOrThrow();
      if (Number(kept.n) > 0)
        fault(null, `${Number(kept.n)} refused deliveries in the database are impossible: their time, number or size`);
    },
  };
}

function observedIn({ seq, source, kind, body }: Entry): readonly Observed[] {
  if (kind !== 'action' || !Buffer.isBuffer(body) || !body.includes('"counters.observed"')) return [];
  let action: Action | undefined;
  try {
    action = actionSchema.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return [];
  }
  if (action?.action !== 'counters.observed') return [];
  const { per, until, counts } = action.refused;
  const [first, last] = [action.from.slice(0, 16), until.slice(0, 16)];
  return counts.map(([span, reason, least]) => {
    const start = `${span}${'T00:00'.slice(span.length - DAY_LENGTH)}`;
    const end = minuteOf(new Date(Date.parse(`${start}Z`) + lengths[per]));
    return { seq, source, reason, from: first > start ? first : start, to: end < last ? end : last, least };
  });
}

/** Of `YYYY-MM-DD`. */
const DAY_LENGTH = 10;
/** Milliseconds. */
const lengths = { minute: 60_000, hour: 3_600_000, day: DAY_MS };
