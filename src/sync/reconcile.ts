import type { Query } from '../store/store.ts';

/** A period of one source's decisions. Times ISO 8601 UTC; a decision belongs to the period in which its first row lies. */
export interface ReconcilePeriod {
  readonly source: string;
  /** Inclusive. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  /** Only what the ledger held up to this seq. */
  readonly asOf?: number;
}

/** How the two ways in agree. `both + onlyWebhook + onlyPulled = decisions`; `conflicting` are counted among these too. */
export interface Reconciliation {
  readonly decisions: number;
  readonly both: number;
  /** Delivered, but not in the pulled log: not pulled yet, removed upstream, or never recorded there. */
  readonly onlyWebhook: number;
  /** In the pulled log, but never delivered: the endpoint was away, or the event is not subscribed. */
  readonly onlyPulled: number;
  /** Rows of one decision that say different things. */
  readonly conflicting: number;
}

/** Matches delivered and pulled decisions by their decision id, in the database. */
export async function reconcile(read: Query, period: ReconcilePeriod): Promise<Reconciliation> {
  const asOf = period.asOf ?? Number.MAX_SAFE_INTEGER;
  const inPeriod = read
    .selectFrom('decision_history')
    .select('decision_id')
    .where('source', '=', period.source)
    .where('is_first', '=', 1)
    .where('at', '>=', period.from)
    .where('at', '<', period.to)
    .where('seq', '<=', asOf);
  const byDecision = read
    .selectFrom('decision_history')
    .select((eb) => [
      'decision_id',
      eb.fn.max(eb.case().when('via', '=', 'webhook').then(1).else(0).end()).as('delivered'),
      eb.fn.max(eb.case().when('via', '=', 'pull').then(1).else(0).end()).as('pulled'),
      eb.fn.max('conflicts').as('conflicts'),
    ])
    .where('source', '=', period.source)
    .where('seq', '<=', asOf)
    .where('decision_id', 'in', inPeriod)
    .groupBy('decision_id');
  const groups = await read
    .selectFrom(byDecision.as('by_decision'))
    .select((eb) => ['delivered', 'pulled', 'conflicts', eb.fn.countAll().as('count')])
    .groupBy(['delivered', 'pulled', 'conflicts'])
    .execute();

  const total = { decisions: 0, both: 0, onlyWebhook: 0, onlyPulled: 0, conflicting: 0 };
  for (const group of groups) {
    const count = Number(group.count);
    const [delivered, pulled] = [Number(group.delivered) === 1, Number(group.pulled) === 1];
    total.decisions += count;
    if (delivered && pulled) total.both += count;
    else if (delivered) total.onlyWebhook += count;
    else total.onlyPulled += count;
    if (Number(group.conflicts) === 1) total.conflicting += count;
  }
  return total;
}
