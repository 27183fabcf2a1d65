import { z } from 'zod';
import { INSTALLATION, TEST_EVENT } from '../core/vocabulary.ts';
import { type Job, type JobHandler, JobRefused, readPayload } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import { sourceProblems } from '../sources/refusals.ts';
import type { Query } from '../store/store.ts';
import type { Context } from './context.ts';

const payloadSchema = z.object({ source: z.string(), actor: z.string() });

const countSchema = z.object({ deliveries: z.number(), rows: z.number() });

const resultSchema = z.object({
  /** The entry that records it. */
  seq: z.number(),
  /** Deliveries, and rows of the consent log, that could not be read before and now can. */
  nowRead: countSchema,
  /** Those that could be read before and now cannot. */
  noLongerRead: countSchema,
  /** Those that cannot be read now. */
  unread: countSchema,
  /** Rows of the read models that changed. */
  changed: z.number(),
});

type Count = z.infer<typeof countSchema>;

/** The result of reading a source's earlier entries again. */
export type RereadResult = z.infer<typeof resultSchema>;

/**
 * A job that reads all earlier deliveries and rows of a source with its current settings, like `ledger rebuild
 * --reread`. Enqueuing it again while one is pending or running gives the same job.
 */
export function rereadJob(source: string, actor: string): NewJob {
  return { kind: 'reread', key: source, payload: { source, actor }, priority: 1, maxAttempts: 3 };
}

/** The result of such a job; null if it has none. */
export function rereadOf(result: unknown): RereadResult | null {
  return resultSchema.safeParse(result).data ?? null;
}

/** The job that reads earlier entries again. After a crash, the next run finishes it and records nothing twice. */
export function createRereadJobs(context: Pick<Context, 'store' | 'sources' | 'projector' | 'rebuildInTurn'>) {
  const { store, projector } = context;
  return {
    async reread(payload, { job, signal, progress }) {
      const { source, actor } = readPayload(payloadSchema, payload);
      const seq = await recordOnce(context, source, actor, job);
      await projector.catchUp();
      const before = await loadUnread(store.read, source, seq);
      const { counts } = await context.rebuildInTurn(
        (done, total) => {
          signal.throwIfAborted();
          progress({ done, total, message: 'entries read again' });
        },
        {
          signal,
          onWait: () =>
            progress({ done: 0, total: null, message: 'Waiting: the read models are being rebuilt elsewhere.' }),
        },
      );
      const after = await loadUnread(store.read, source, seq);
      return {
        seq,
        nowRead: countBeyond(before, after),
        noLongerRead: countBeyond(after, before),
        unread: { deliveries: after.deliveries.size, rows: after.rows.size },
        changed: Object.values(counts).reduce((sum, count) => sum + count, 0),
      } satisfies RereadResult;
    },
  } satisfies Record<string, JobHandler>;
}

/** Attempts while others are changing the source at the same time. */
const TRIES = 5;

/**
 * Records the `source.reread`, unless an earlier run of this job did; resolves with its seq. Recorded here and not when
 * it is requested: until the rebuild has finished, the read models differ from the ledger.
 */
async function recordOnce(
  { store, sources, projector }: Pick<Context, 'store' | 'sources' | 'projector'>,
  slug: string,
  actor: string,
  { attempts, createdAt }: Pick<Job, 'attempts' | 'createdAt'>,
): Promise<number> {
  if (attempts > 1) {
    await projector.catchUp();
    const recorded = await store.read
      .selectFrom('action_history')
      .select('seq')
      .where('source', '=', INSTALLATION)
      .where('action', '=', 'source.reread')
      .where('object', '=', slug)
      .where('received_at', '>=', createdAt)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (recorded !== undefined) return recorded.seq;
  }
  for (let tries = 1; ; tries += 1) {
    const recorded = await sources.reread(slug, actor);
    if (recorded.outcome === 'done') return recorded.seq;
    if (recorded.outcome === 'unknown') throw new JobRefused(`Unknown source ${slug}.`);
    const problem = sourceProblems(recorded).join(' ');
    if (recorded.outcome !== 'conflict') throw new JobRefused(problem);
    if (tries >= TRIES) throw new Error(problem);
  }
}

interface Unread {
  readonly deliveries: ReadonlySet<number>;
  readonly rows: ReadonlySet<number>;
}

/** What could not be read of a source up to an entry. Test events are left out: they contain nothing to read. */
async function loadUnread(read: Query, source: string, upTo: number): Promise<Unread> {
  const deliveries = await read
    .selectFrom('delivery_history')
    .select('seq')
    .where('source', '=', source)
    .where('outcome', '!=', 'read')
    .where((eb) => eb.or([eb('event', 'is', null), eb('event', '!=', TEST_EVENT)]))
    .where('seq', '<=', upTo)
    .execute();
  const rows = await read
    .selectFrom('quarantine')
    .innerJoin('entries', 'entries.seq', 'quarantine.seq')
    .select('quarantine.seq')
    .where('quarantine.source', '=', source)
    .where('quarantine.seq', '<=', upTo)
    .where('entries.kind', '=', 'consent-log')
    .execute();
  const seqsOf = (found: readonly { readonly seq: number }[]) => new Set(found.map(({ seq }) => seq));
  return { deliveries: seqsOf(deliveries), rows: seqsOf(rows) };
}

/** How many of `some` are not among the others. */
function countBeyond(some: Unread, others: Unread): Count {
  const beyond = (seqs: ReadonlySet<number>, known: ReadonlySet<number>) =>
    [...seqs].filter((seq) => !known.has(seq)).length;
  return { deliveries: beyond(some.deliveries, others.deliveries), rows: beyond(some.rows, others.rows) };
}
