import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { unknownSource } from '../core/errors.ts';
import { momentText } from '../core/time-words.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import {
  type Job,
  type JobContext,
  JobEnded,
  type JobHandlers,
  JobRefused,
  type Json,
  payloadText,
  readPayload,
} from '../jobs/job.ts';
import type { Jobs, NewJob } from '../jobs/jobs.ts';
import { MAX_BATCH_ITEMS } from '../service/policies.ts';
import type { Sources } from '../sources/sources.ts';
import { type BulkEnd, countBatches, loadPlanItems, runBulk } from './bulk.ts';
import { type NoSlotFacts, notSentText } from './call-once.ts';
import type { PolicyDeps } from './callable-source.ts';
import { aboutOf, formASchema, generatePolicy } from './generate.ts';
import { publishPolicy } from './publish.ts';
import { settleCalls } from './settle-calls.ts';

const bulkPayload = z.object({
  source: z.string(),
  planId: z.string(),
  actor: z.string(),
  batchSize: z.number().int().positive(),
  retryFailed: z.boolean(),
  /** How many consecutive runs ended with a failed batch. */
  misses: z.number().int().nonnegative().default(0),
  /** Number of the plan's batches before the first of these runs. */
  began: z.number().int().nonnegative().optional(),
});

/** Longest time a worker waits for a free slot of a rate limit, milliseconds; if it takes longer, the job is rescheduled. */
const LONGEST_WAIT_MS = 90_000;

const MINUTE = 60_000;
/** Consecutive runs that may fail: an unknown batch may have cost quota, a batch refused for now has not. */
const MOST_MISSES = { unknown: 3, refused: 8 } as const;

/**
 * When to try the rest of a file again after its last batch failed; null: it would not help, or has been tried often
 * enough.
 */
function pauseAfterMiss(ended: Extract<BulkEnd, { outcome: 'refused' | 'unknown' }>, misses: number): number | null {
  const mayPass = ended.outcome === 'unknown' || ['network', 'rate-limited'].includes(ended.error.kind);
  if (!mayPass || misses + 1 >= MOST_MISSES[ended.outcome]) return null;
  return Math.max(Math.min(10 * 2 ** misses, 360) * MINUTE, ended.error.retryAfterMs ?? 0);
}

const generatePayload = z.object({
  source: z.string(),
  actor: z.string(),
  form: formASchema,
  /** Send it even if the outcome of an identical request is still unknown. */
  again: z.boolean(),
});
const publishPayload = z.object({
  source: z.string(),
  actor: z.string(),
  policyId: z.string(),
  /** What the person was shown before the button. */
  shown: z
    .object({ textSha256: z.string().nullable(), seq: z.number().int().nullable(), readInService: z.boolean() })
    .optional(),
});

/**
 * A job that generates one policy. It counts against the quota, so there is only one attempt: if the process ends
 * during it, the outcome is unknown and is settled like any other. Enqueuing the same again while one is pending or
 * running gives the same job.
 */
export function generateJob(request: z.input<typeof generatePayload>): NewJob {
  const key = `${request.source} ${canonicalJson(aboutOf(formASchema.parse(request.form))).toString('utf8')}`;
  return { kind: 'policy-generate', key, payload: request as Json, maxAttempts: 1 };
}

/** A job that publishes a policy. */
export function publishJob(request: z.infer<typeof publishPayload>): NewJob {
  return {
    kind: 'policy-publish',
    key: `${request.source} ${request.policyId}`,
    payload: request as Json,
    maxAttempts: 1,
  };
}

/** A job that sends the rest of a bulk plan. */
export function bulkJob({
  planId,
  ...request
}: Omit<z.input<typeof bulkPayload>, 'batchSize' | 'misses' | 'began'>): NewJob {
  const payload = { ...request, planId, batchSize: MAX_BATCH_ITEMS };
  return { kind: 'policy-bulk', key: planId, payload };
}

/** The current job of a plan: waiting and running ones come before ended ones. Null: none is known any more. */
export async function findBulkJob(jobs: Pick<Jobs, 'list'>, planId: string): Promise<Job | null> {
  const found = (await jobs.list({ kind: 'policy-bulk', limit: 200 })).filter(
    (job) => payloadText(job, 'planId') === planId,
  );
  return found.find(({ finishedAt }) => finishedAt === null) ?? found[0] ?? null;
}

interface Needs {
  readonly policies: PolicyDeps;
  readonly sources: Pick<Sources, 'find'>;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly clock: Clock;
  readonly config: { readonly timeZone: string };
}

/** Jobs that call the service. */
export function createPolicyJobs(context: Needs): JobHandlers {
  return {
    'policy-generate': (payload, job) => generate(context, readPayload(generatePayload, payload), job),
    'policy-publish': (payload, job) => publish(context, readPayload(publishPayload, payload), job),
    'policy-bulk': (payload, job) => sendRest(context, readPayload(bulkPayload, payload), job),
    /** Settles calls without an outcome, if there is evidence by now. */
    'settle-calls': () => settleCalls(context.policies),
  };
}

async function generate(
  context: Needs,
  { source: slug, actor, form, again }: z.infer<typeof generatePayload>,
  { signal }: JobContext,
): Promise<Json> {
  const source = context.sources.find(slug);
  if (source === null) throw new JobRefused(unknownSource(slug));
  const ended = await generatePolicy(context.policies, {
    source,
    actor,
    form,
    again,
    signal,
    giveUp: signalOfStopping(signal),
    maxWaitMs: LONGEST_WAIT_MS,
  });
  switch (ended.outcome) {
    case 'done': {
      const { id: policyId, remaining } = ended.policy;
      return { policyId, remaining, seq: ended.seq, requestId: ended.requestId };
    }
    case 'unsettled':
      throw new JobRefused(
        `Not sent: an identical request was sent on ${momentText(ended.call.askedAt, context.config.timeZone)}, and its outcome is still unknown. Settle that call first.`,
      );
    case 'refused':
      throw new JobRefused(`Not generated: ${ended.error.message}`);
    case 'unknown':
      throw new JobRefused(`${OUTCOME_UNKNOWN}: the service may or may not have done it. ${ended.error.message}`);
    default:
      throw new JobRefused(notSentText(ended, (slot) => noSlotText(slot, context.config.timeZone)));
  }
}

/** The beginning of the error of a job whose call got no response. */
export const OUTCOME_UNKNOWN = 'Outcome unknown';

async function publish(
  context: Needs,
  { source: slug, actor, policyId, shown }: z.infer<typeof publishPayload>,
  { signal }: JobContext,
): Promise<Json> {
  const source = context.sources.find(slug);
  if (source === null) throw new JobRefused(unknownSource(slug));
  await settleCalls(context.policies);
  const patience = { signal, giveUp: signalOfStopping(signal), maxWaitMs: LONGEST_WAIT_MS };
  const ended = await publishPolicy(context.policies, { source, policyId, actor, shown, ...patience });
  switch (ended.outcome) {
    case 'done': {
      // Without the token that the link in the service's response may contain.
      const { hostedUrl, webhooksQueued } = ended.published;
      return { policyId, address: hostedUrl, webhooksQueued, seq: ended.seq };
    }
    case 'refused':
      throw new JobRefused(`Not published: ${ended.error.message}`);
    case 'unknown':
      throw new JobRefused(
        `${OUTCOME_UNKNOWN}: the policy may or may not be public now. Publish it again: that is safe. ${ended.error.message}`,
      );
    default:
      throw new JobRefused(notSentText(ended, (slot) => noSlotText(slot, context.config.timeZone)));
  }
}

function noSlotText({ freeAt, limit }: NoSlotFacts, timeZone: string): string {
  return `Not sent: the rate limit allows nothing before ${momentText(freeAt.toISOString(), timeZone)} (${limit}). Ask again then.`;
}

/** Sends the rest of a bulk file. Idempotent: what was sent is in the ledger and is not sent again. */
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
    // A different key, because this job is not finished yet.
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

/** The number of a plan's items in each state. */
async function countItems(policies: PolicyDeps, planId: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { state } of await loadPlanItems(policies, planId)) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/**
 * A batch in flight is aborted only if the process ends: aborting leaves up to twenty items unknown, while a cancelled
 * or taken-over job can still wait for the response and send nothing after it.
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
