import { z } from 'zod';
import type { Context } from '../context.ts';
import { type JobHandler, JobRefused } from '../jobs/handler.ts';
import { runBulk } from '../policies/bulk.ts';
import { settleCalls } from '../policies/settle.ts';

const bulkPayload = z.object({
  source: z.string(),
  planId: z.string(),
  actor: z.string(),
  batchSize: z.number().int().positive(),
  retryFailed: z.boolean(),
});

/** A worker is not kept waiting longer than this for a free slot of a rate limit, milliseconds: the job comes back when there is one. */
const LONGEST_WAIT_MS = 90_000;

/** Jobs that drive the service. */
export function createPolicyJobs(
  context: Pick<Context, 'policies' | 'sources' | 'jobs'>,
): Readonly<Record<string, JobHandler>> {
  return {
    /** Sends what is left of a bulk file. Harmless to repeat: what was sent is in the ledger, and is not sent again. */
    async 'policy-bulk'(payload, { job, signal, progress }) {
      const parsed = bulkPayload.safeParse(payload);
      if (!parsed.success) throw new JobRefused(`The job's payload is not valid: ${z.prettifyError(parsed.error)}`);
      const { source: slug, planId, ...request } = parsed.data;
      const source = context.sources.find(slug);
      if (source === null) throw new JobRefused(`There is no source ${slug}.`);
      const ended = await runBulk(context.policies, {
        ...request,
        source,
        planId,
        signal,
        giveUp: signal,
        maxWaitMs: LONGEST_WAIT_MS,
        onProgress: ({ done, total }) => progress({ done, total, message: `${done} of ${total} items` }),
      });
      switch (ended.outcome) {
        case 'waiting': {
          // Another key, because this job is not finished yet.
          const key = `${planId} after ${job.id}`;
          await context.jobs.enqueue({ kind: 'policy-bulk', key, payload, runAt: ended.until });
          return { outcome: ended.outcome, until: ended.until.toISOString() };
        }
        case 'refused':
        case 'unknown':
          throw new JobRefused(ended.error.message);
        case 'not-configured':
          throw new JobRefused(ended.reason);
        case 'stopped':
          signal.throwIfAborted();
          return { outcome: ended.outcome };
        case 'finished':
        case 'quota':
          return { outcome: ended.outcome };
      }
    },

    /** Settles calls without an outcome where that can be told by now. */
    'settle-calls': () => settleCalls(context.policies),
  };
}
