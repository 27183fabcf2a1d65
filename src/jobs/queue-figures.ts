import type { Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { queueNames, queueOf } from './job.ts';

export type Outcome = Tables['job_counts']['outcome'];

/** Counts jobs that ended, in the transaction that ends them. */
export async function countIn(query: Query, kind: string, outcome: Outcome, count = 1): Promise<void> {
  await query
    .insertInto('job_counts')
    .values({ kind, outcome, count })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'outcome']).doUpdateSet((eb) => ({ count: eb('job_counts.count', '+', count) })),
    )
    .execute();
}

/** The state of a queue over all processes. */
export interface QueueFigures {
  readonly queue: string;
  /** Due but not claimed yet. */
  readonly waiting: number;
  /** Due later: a retry, or scheduled for a later time. */
  readonly delayed: number;
  readonly running: number;
  /** Failed for good, and still listed. */
  readonly failed: number;
  /** Seconds since the oldest waiting job became due; 0 if none is waiting. */
  readonly oldestDueSeconds: number;
  /** All jobs that have ever ended. */
  readonly ended: Readonly<Record<Outcome, number>>;
}

/** The figures of every queue. */
export async function loadQueueFigures(query: Query, now: Date): Promise<readonly QueueFigures[]> {
  const moment = now.toISOString();
  const unfinished = query
    .selectFrom('jobs')
    .select((eb) => [
      'kind',
      'state',
      'run_at',
      eb.case().when('run_at', '>', moment).then(1).else(0).end().as('later'),
    ])
    .where('state', 'in', ['waiting', 'running', 'failed'])
    .as('unfinished');
  const groups = await query
    .selectFrom(unfinished)
    .select((eb) => ['kind', 'state', 'later', eb.fn.countAll().as('count'), eb.fn.min('run_at').as('oldest')])
    .groupBy(['kind', 'state', 'later'])
    .execute();
  const ends = await query.selectFrom('job_counts').selectAll().execute();
  return queueNames.map((queue) => {
    const mine = groups.filter(({ kind }) => queueOf(kind) === queue);
    const sum = (rows: readonly { readonly count: unknown }[]) =>
      rows.reduce((total, { count }) => total + Number(count), 0);
    const due = mine.filter(({ state, later }) => state === 'waiting' && Number(later) === 0);
    const oldest = due.map(({ oldest }) => Date.parse(oldest)).sort((a, b) => a - b)[0];
    const endedAs = (wanted: Outcome) =>
      sum(ends.filter(({ kind, outcome }) => queueOf(kind) === queue && outcome === wanted));
    return {
      queue,
      waiting: sum(due),
      delayed: sum(mine.filter(({ state, later }) => state === 'waiting' && Number(later) === 1)),
      running: sum(mine.filter(({ state }) => state === 'running')),
      failed: sum(mine.filter(({ state }) => state === 'failed')),
      oldestDueSeconds: oldest === undefined ? 0 : (now.getTime() - oldest) / 1000,
      ended: { done: endedAs('done'), failed: endedAs('failed'), cancelled: endedAs('cancelled') },
    };
  });
}
