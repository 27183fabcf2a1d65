import { z } from 'zod';
import { listCases } from '../cases/list-cases.ts';
import { type JobHandler, JobRefused, readPayload } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import type { Context } from './context.ts';

type Needs = Pick<Context, 'store' | 'sources' | 'rejected' | 'jobs' | 'projector' | 'clock' | 'cases' | 'seal'>;

interface OffboardRequest {
  readonly slug: string;
  readonly actor: string;
  /** Offboard it even if requests are open; the reason is recorded. */
  readonly force?: { readonly reason: string } | undefined;
  readonly reason?: string | undefined;
}

const remainsSchema = z.object({
  entries: z.number(),
  documents: z.number(),
  cases: z.number(),
  openCases: z.array(z.string()).readonly(),
  /** Refused deliveries that were destroyed; they were never evidence. */
  rejectedDestroyed: z.number(),
  /** Jobs that were cancelled or asked to stop. */
  jobsStopped: z.number(),
});

/** What remains of an offboarded source. */
type Remains = z.infer<typeof remainsSchema>;

/**
 * `open-cases`: requests are open, nothing was done. `left`: already offboarded; what an interrupted run left undone is
 * done. Others: as `Sources.offboard`.
 */
type OffboardOutcome =
  | { readonly outcome: 'done'; readonly seq: number; readonly remains: Remains }
  | { readonly outcome: 'open-cases'; readonly cases: readonly string[] }
  | { readonly outcome: 'left'; readonly remains: Remains }
  | { readonly outcome: 'unknown' | 'configured' | 'conflict' };

/** Ids of a source's open requests, including one that has just arrived. */
export async function openCasesOf(
  { projector, cases, clock }: Pick<Needs, 'projector' | 'cases' | 'clock'>,
  source: string,
): Promise<readonly string[]> {
  await projector.catchUp();
  const open = await listCases(cases, { open: true, source, now: clock().toISOString() });
  return open.map(({ row }) => row.case_id);
}

/**
 * Offboards a source: destroys its credentials, and stops pulling and accepting (its webhook address returns 404, as
 * for an unknown source). Its entries, documents and requests stay, sealed. Errors: those of the store and the ledger.
 */
export async function offboardSource(context: Needs, request: OffboardRequest): Promise<OffboardOutcome> {
  const { sources } = context;
  const { slug, actor, force } = request;
  if (sources.findAny(slug) === null) return { outcome: 'unknown' };
  const openCases = await openCasesOf(context, slug);
  if (sources.find(slug) === null)
    return { outcome: 'left', remains: await finishOffboarding(context, slug, openCases) };
  if (openCases.length > 0 && force === undefined) return { outcome: 'open-cases', cases: openCases };
  const reason = force?.reason ?? request.reason ?? null;
  const left = await sources.offboard(slug, { reason, openCases: openCases.length }, actor);
  switch (left.outcome) {
    case 'done':
      break;
    case 'configured':
    case 'unknown':
    case 'conflict':
      return { outcome: left.outcome };
    default:
      throw new Error(`offboarding ${slug} ended as ${left.outcome}`);
  }
  return { outcome: 'done', seq: left.seq, remains: await finishOffboarding(context, slug, openCases) };
}

/**
 * The steps after the entry: stops the source's jobs, destroys its refused deliveries, seals the ledger, removes
 * remains of the secrets from the files. Idempotent.
 */
async function finishOffboarding(
  { store, rejected, jobs, projector, seal }: Needs,
  slug: string,
  openCases: readonly string[],
): Promise<Remains> {
  const jobsStopped = await stopJobs(jobs, slug);
  const refused = await rejected.list({ source: slug });
  await rejected.remove(refused.map(({ id }) => id));
  await projector.catchUp();
  await seal();
  await store.compact();
  const count = async (table: 'entries' | 'documents' | 'cases') => {
    const { n } = await store.read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll().as('n'))
      .where('source', '=', slug)
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  return {
    entries: await count('entries'),
    documents: await count('documents'),
    cases: await count('cases'),
    openCases,
    rejectedDestroyed: refused.length,
    jobsStopped,
  };
}

const payloadSchema = z.object({
  source: z.string(),
  actor: z.string(),
  reason: z.string().nullable(),
  /** Proceed even while requests are open. */
  force: z.boolean(),
});
const resultSchema = z.object({
  /** The entry; null: recorded by an earlier run, which was interrupted. */
  seq: z.number().nullable(),
  remains: remainsSchema,
});

/** The job that offboards a source. */
export function offboardJob(payload: z.infer<typeof payloadSchema>): NewJob {
  return { kind: 'offboard', key: payload.source, payload, maxAttempts: 3 };
}

/** The result of an offboarding job; null if it has none yet. */
export function offboardedOf(result: unknown): z.infer<typeof resultSchema> | null {
  return resultSchema.safeParse(result).data ?? null;
}

/** Offboarding as a job, because rewriting the database takes a while. After a crash, the next run finishes it. */
export function createOffboardJobs(context: Needs) {
  return {
    async offboard(payload, { progress }) {
      const { source: slug, actor, reason, force } = readPayload(payloadSchema, payload);
      progress({
        done: 0,
        total: null,
        message: 'offboarding the source, then rewriting the database without its credentials',
      });
      const left = await offboardSource(context, {
        ...{ slug, actor },
        ...(reason === null ? {} : { reason }),
        ...(force && reason !== null ? { force: { reason } } : {}),
      });
      switch (left.outcome) {
        case 'done':
          return { seq: left.seq, remains: left.remains };
        case 'left':
          return { seq: null, remains: left.remains };
        case 'open-cases':
          throw new JobRefused(
            `Nothing was changed: a new request is waiting for an answer (${left.cases.slice(0, 10).join(', ')}).`,
          );
        case 'unknown':
        case 'configured':
        case 'conflict':
          throw new JobRefused('Nothing was changed: someone else changed the source at the same time. Try again.');
        default:
          return left satisfies never;
      }
    },
  } satisfies Record<string, JobHandler>;
}

async function stopJobs(jobs: Needs['jobs'], slug: string): Promise<number> {
  let stopped = 0;
  for (const state of ['waiting', 'running'] as const) {
    for (const { id, kind, payload } of await jobs.list({ state, limit: 10_000 })) {
      // These jobs continue: documents can still be made and content erased, and one of them may be the offboarding job
      // itself.
      if (kind === 'document' || kind === 'erase' || kind === 'offboard') continue;
      if (typeof payload !== 'object' || payload === null || !('source' in payload) || payload['source'] !== slug)
        continue;
      const outcome = await jobs.cancel(id);
      if (outcome === 'cancelled' || outcome === 'requested') stopped += 1;
    }
  }
  return stopped;
}
