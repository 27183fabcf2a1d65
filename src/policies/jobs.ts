import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type JobContext, JobEnded, type JobHandlers, JobRefused, type Json, readPayload } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Sources } from '../sources/sources.ts';
import { type BulkEnd, countBatches, loadPlanItems, runBulk } from './bulk.ts';
import type { PolicyDeps } from './callable.ts';
import { settleCalls } from './settle.ts';
import { unknownSource } from '../core/errors.ts';

const bulkPayload = z.object({
  source: z.string(),
  planId: z.string(),
  actor: z.string(),
  batchSize: z.number().int().positive(),
  retryFailed: z.boolean(),
  /** How many runs in a row ended with a batch that failed. */
  misses: z.number().int().nonnegative().default(0),
  /** Batches of the plan before the first of these runs. */
  began: z.number().int().nonnegative().optional(),
});

/** A worker is not kept waiting longer than this for a free slot of a rate limit, milliseconds: the job comes back when there is one. */
const LONGEST_WAIT_MS = 90_000;

const MINUTE = 60_000;
/** Runs in a row that may fail: an unknown batch may have cost quota, one that was refused for now has not. */
const MOST_MISSES = { unknown: 3, refused: 8 } as const;

/** After how long the rest of a file is tried again whose last batch failed; null: it would be of no use, or was tried often enough. */
function pauseAfterMiss(ended: Extract<BulkEnd, { outcome: 'refused' | 'unknown' }>, misses: number): number | null {
  const mayPass = ended.outcome === 'unknown' || ['network', 'rate-limited'].includes(ended.error.kind);
  if (!mayPass || misses + 1 >= MOST_MISSES[ended.outcome]) return null;
  return Math.max(Math.min(10 * 2 ** misses, 360) * MINUTE, ended.error.retryAfterMs ?? 0);
}

interface Needs {
  readonly policies: PolicyDeps;
  readonly sources: Pick<Sources, 'find'>;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly clock: Clock;
}

/** Jobs that drive the service. */
export function createPolicyJobs(context: Needs): JobHandlers {
  return {
    'policy-bulk': (payload, job) => sendRest(context, readPayload(bulkPayload, payload), job),
    /** Settles calls without an outcome where that can be told by now. */
    'settle-calls': () => settleCalls(context.policies),
  };
}

/** Sends what is left of a bulk file. Harmless to repeat: what was sent is in the ledger, and is not sent again. */
async function sendRest(
  context: Needs,
  request: z.infer<typeof bulkPayload>,
  { job, signal, progress }: JobContext,
): Promise<Json> {
  const { source: slug, misses, ...rest } = request;
  const source = context.sources.find(slug);
  if (source === null) throw new JobRefused(unknownSource(slug));
  const began = request.began ?? (await countBatches(context.policies, request.planId));
  let madeSome = false;
  const ended = await runBulk(context.policies, {
    ...rest,
    source,
    began,
    signal,
    giveUp: signalOfStopping(signal),
    maxWaitMs: LONGEST_WAIT_MS,
    onProgress: ({ done, total }) => progress({ done, total, message: `${done} of ${total} items` }),
    onBatch: () => {
      madeSome = true;
    },
  });
  // Cancelled, taken over or stopping: this process must not continue.
  if (ended.outcome !== 'finished' && ended.outcome !== 'quota') signal.throwIfAborted();
  const counts = await countItems(context.policies, request.planId);
  const goOnAt = async (runAt: Date, missed: number): Promise<Json> => {
    // Another key, because this job is not finished yet.
    const key = `${request.planId} after ${job.id}`;
    await context.jobs.enqueue({ kind: 'policy-bulk', key, payload: { ...request, misses: missed, began }, runAt });
    return { outcome: ended.outcome, until: runAt.toISOString(), ...counts };
  };
  switch (ended.outcome) {
    case 'waiting':
      return goOnAt(ended.until, 0);
    case 'refused':
    case 'unknown': {
      const before = madeSome ? 0 : misses;
      const pause = 'planned' in counts ? pauseAfterMiss(ended, before) : null;
      if (pause === null) throw new JobRefused(ended.error.message);
      return goOnAt(new Date(context.clock().getTime() + pause), before + 1);
    }
    case 'not-configured':
      throw new JobRefused(ended.reason);
    case 'finished':
    case 'quota':
    case 'stopped':
      return { outcome: ended.outcome, ...counts };
  }
}

/** Items of a plan by their state. */
async function countItems(policies: PolicyDeps, planId: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { state } of await loadPlanItems(policies, planId)) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/**
 * A batch under way is given up only by a process that ends: to give it up leaves up to twenty items unknown, while a job that was cancelled or
 * taken over can still wait for the answer, and sends nothing after it.
 */
function signalOfStopping(signal: AbortSignal): AbortSignal {
  const stopping = new AbortController();
  const follow = () => {
    const reason: unknown = signal.reason;
    if (reason instanceof JobEnded && reason.ending === 'stopping') stopping.abort(reason);
  };
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return stopping.signal;
}
