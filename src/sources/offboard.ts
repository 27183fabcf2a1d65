import type { Jobs } from '../jobs/jobs.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { Query } from '../store/store.ts';
import type { Sources } from './sources.ts';

/** What letting a source go works with. */
interface OffboardDeps {
  readonly read: Query;
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

/** What stays of a source that left. */
interface Remains {
  readonly entries: number;
  readonly documents: number;
  readonly cases: number;
  readonly openCases: readonly string[];
  /** Refused deliveries that were destroyed: they never became evidence. */
  readonly rejectedDestroyed: number;
  /** Jobs that were cancelled, or asked to stop. */
  readonly jobsStopped: number;
}

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
  const { read, sources, rejected, jobs } = deps;
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
  const jobsStopped = await stopJobs(jobs, slug);
  const refused = await rejected.list({ source: slug });
  await rejected.remove(refused.map(({ id }) => id));
  await deps.catchUp();
  await deps.seal();
  await deps.compact();
  const count = async (table: 'entries' | 'documents' | 'cases') => {
    const { n } = await read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll().as('n'))
      .where('source', '=', slug)
      .executeTakeFirstOrThrow();
    return Number(n);
  };
  const remains: Remains = {
    entries: await count('entries'),
    documents: await count('documents'),
    cases: await count('cases'),
    openCases,
    rejectedDestroyed: refused.length,
    jobsStopped,
  };
  return { outcome: 'done', seq: left.seq, remains };
}

async function stopJobs(jobs: OffboardDeps['jobs'], slug: string): Promise<number> {
  let stopped = 0;
  for (const state of ['waiting', 'running'] as const) {
    for (const { id, kind, payload } of await jobs.list({ state, limit: 10_000 })) {
      // Documents about it can still be made.
      if (kind === 'document') continue;
      if (typeof payload !== 'object' || payload === null || !('source' in payload) || payload['source'] !== slug)
        continue;
      const outcome = await jobs.cancel(id);
      if (outcome === 'cancelled' || outcome === 'requested') stopped += 1;
    }
  }
  return stopped;
}
