import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { formatCount } from '../../../../reports/format.ts';
import type { Context } from '../../../context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Job } from '../../../jobs/job.ts';
import { sendEvents } from '../../event-stream.ts';
import { Badge } from '../parts/parts.tsx';

/** Milliseconds between polls of a job. */
const LOOK_EVERY_MS = 500;

/** Progress of jobs as server-sent events. */
export async function jobRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  app.get<{ Params: { jobId: string } }>('/jobs/:jobId/events', (request, reply) =>
    sendJobEvents(context, reply, request.params.jobId, closing.signal),
  );
}

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

/** A job's progress in words. */
function progressText({ progress, state }: Pick<Job, 'progress' | 'state'>): string {
  if (progress === null) return state === 'waiting' ? 'Waiting for a worker.' : 'Started.';
  const { done, total, message } = progress;
  const count = total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
  if (message === null) return count;
  return total === null && done === 0 ? message : `${count}: ${message}`;
}

/** An unfinished job: its description, progress, and a link that reloads. */
export function JobProgress({
  job,
  what,
  again,
}: {
  readonly job: Pick<Job, 'id' | 'state' | 'progress'>;
  readonly what: string;
  /** Address of the page. */
  readonly again: string;
}) {
  const { done = 0, total = null } = job.progress ?? {};
  const bar = total === null ? {} : { value: done, max: Math.max(total, 1) };
  return (
    <div data-job={job.id}>
      <p>
        {what} <Badge text={job.state === 'waiting' ? 'waiting' : 'running'} tone="calm" />
      </p>
      <p>
        <progress aria-label={`Progress: ${what}`} {...bar} />{' '}
        <span class="soft small" data-message="">
          {progressText(job)}
        </span>{' '}
        <a href={again}>Refresh</a>
      </p>
    </div>
  );
}
