import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Context } from '../context/context.ts';
import { CodedError } from '../core/errors.ts';
import { sendEvents } from './event-stream.ts';
import { progressText } from './pages/parts/job-progress.tsx';

/** Milliseconds between polls of a job. */
const LOOK_EVERY_MS = 500;

/** Sends a job's progress as `progress` events, and finally `end`. Errors: not_found, and those of sendEvents. */
export async function sendJobEvents(
  context: Pick<Context, 'jobs' | 'log'>,
  reply: FastifyReply,
  jobId: string,
  closing: AbortSignal,
): Promise<FastifyReply> {
  if ((await context.jobs.find(jobId)) === null) throw new CodedError('not_found');
  return sendEvents(context, reply, closing, async function* (end) {
    for (let last = ''; !end.aborted; ) {
      const job = await context.jobs.find(jobId);
      if (job === null || job.finishedAt !== null) {
        yield { event: 'end', data: { state: job?.state ?? 'unknown' } };
        return;
      }
      const { done = 0, total = null } = job.progress ?? {};
      const data = { done, total, text: progressText(job) };
      if (JSON.stringify(data) !== last) yield { event: 'progress', data };
      last = JSON.stringify(data);
      await delay(LOOK_EVERY_MS, undefined, { signal: end });
    }
  });
}
