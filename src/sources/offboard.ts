import { z } from 'zod';
import { type JobHandler, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { Query } from '../store/store.ts';
import type { Sources } from './sources.ts';

/** What letting a source go works with. */
export interface OffboardDeps {
  readonly store: { readonly read: Query };
  readonly sources: Pick<Sources, 'find' | 'findAny' | 'offboard'>;
  readonly rejected: Pick<RejectedRing, 'list' | 'remove'>;
  readonly jobs: Pick<Jobs, 'list' | 'cancel'>;
  /** Projects everything appended so far: an open case may have arrived a moment ago. */
  readonly catchUp: () => Promise<unknown>;
  /** Ids of cases of a source whose requester still waits. */
  readonly openCases: (slug: string) => Promise<readonly string[]>;
  /** Seals everything appended so far. */
  readonly seal: () => Promise<unknown>;
  /** Removes residue of what was destroyed from the files. */
  readonly compact: () => Promise<void>;
}

interface OffboardRequest {
  readonly slug: string;
  readonly actor: string;
  /** Lets it go although requests wait for an answer; the reason is recorded. */
  readonly force?: { readonly reason: string } | undefined;
  readonly reason?: string | undefined;
}

const remainsSchema = z.object({
  entries: z.number(),
  documents: z.number(),
  cases: z.number(),
  openCases: z.array(z.string()).readonly(),
  /** Refused deliveries that were destroyed: they never became evidence. */
  rejectedDestroyed: z.number(),
  /** Jobs that were cancelled, or asked to stop. */
  jobsStopped: z.number(),
});

/** What stays of a source that left. */
type Remains = z.infer<typeof remainsSchema>;

/**
 * `open-cases`: requests wait for an answer, nothing was done. `left`: it left before. Others: as {@link Sources.offboard}.
 */
type OffboardOutcome =
  | { readonly outcome: 'done'; readonly seq: number; readonly remains: Remains }
  | { readonly outcome: 'open-cases'; readonly cases: readonly string[] }
  | { readonly outcome: 'unknown' | 'left' | 'configured' | 'conflict' };

/**
 * Lets a source go: its credentials are destroyed and nothing is pulled or accepted any more (its webhook address answers 404, as for a
 * source that nobody knows), while its entries, documents and cases stay, sealed. Errors: as the store and the ledger.
 */
export async function offboardSource(deps: OffboardDeps, request: OffboardRequest): Promise<OffboardOutcome> {
  const { sources } = deps;
  const { slug, actor, force } = request;
  if (sources.find(slug) === null) return { outcome: sources.findAny(slug) === null ? 'unknown' : 'left' };
  await deps.catchUp();
  const openCases = await deps.openCases(slug);
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
  return { outcome: 'done', seq: left.seq, remains: await finishOffboarding(deps, slug, openCases) };
}

/** What comes after the source has left: its jobs end, refused deliveries go, everything is sealed, what was destroyed leaves the files. Harmless to repeat. */
async function finishOffboarding(
  { store, rejected, jobs, catchUp, seal, compact }: OffboardDeps,
  slug: string,
  openCases: readonly string[],
): Promise<Remains> {
  const jobsStopped = await stopJobs(jobs, slug);
  const refused = await rejected.list({ source: slug });
  await rejected.remove(refused.map(({ id }) => id));
  await catchUp();
  await seal();
  await compact();
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
  /** Also while requests wait for an answer. */
  force: z.boolean(),
});
const resultSchema = z.object({
  /** The entry; null: recorded by a run that was stopped before it had finished. */
  seq: z.number().nullable(),
  remains: remainsSchema,
});

/** Asks that a source is let go. */
export function offboardJob(payload: z.infer<typeof payloadSchema>): NewJob {
  return { kind: 'offboard', key: payload.source, payload, maxAttempts: 3 };
}

/** The result of a job that let a source go; null of one that has none. */
export function offboardedOf(result: unknown): z.infer<typeof resultSchema> | null {
  return resultSchema.safeParse(result).data ?? null;
}

/** The job that lets a source go: rewriting the database takes its time. A run after a crash does what is left. */
export function createOffboardJobs(deps: OffboardDeps) {
  return {
    async offboard(payload, { progress }) {
      const { source: slug, actor, reason, force } = readPayload(payloadSchema, payload);
      progress({
        done: 0,
        total: null,
        message: 'letting the source go, then rewriting the database without its credentials',
      });
      const left = await offboardSource(deps, {
        ...{ slug, actor },
        ...(reason === null ? {} : { reason }),
        ...(force && reason !== null ? { force: { reason } } : {}),
      });
      switch (left.outcome) {
        case 'done':
          return { seq: left.seq, remains: left.remains };
        case 'left':
          return { seq: null, remains: await finishOffboarding(deps, slug, await deps.openCases(slug)) };
        case 'open-cases':
          throw new JobRefused(
            `Nothing was changed: a request arrived that waits for an answer (${left.cases.slice(0, 10).join(', ')}).`,
          );
        case 'unknown':
        case 'configured':
        case 'conflict':
          throw new JobRefused('Nothing was changed: somebody else changed the source at the same time. Try again.');
        default:
          return left satisfies never;
      }
    },
  } satisfies Record<string, JobHandler>;
}

async function stopJobs(jobs: OffboardDeps['jobs'], slug: string): Promise<number> {
  let stopped = 0;
  for (const state of ['waiting', 'running'] as const) {
    for (const { id, kind, payload } of await jobs.list({ state, limit: 10_000 })) {
      // Documents about it can still be made, and content erased; and this may be the job that lets it go.
      if (kind === 'document' || kind === 'erase' || kind === 'offboard') continue;
      if (typeof payload !== 'object' || payload === null || !('source' in payload) || payload['source'] !== slug)
        continue;
      const outcome = await jobs.cancel(id);
      if (outcome === 'cancelled' || outcome === 'requested') stopped += 1;
    }
  }
  return stopped;
}
