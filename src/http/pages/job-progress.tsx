import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { formatCount } from '../../../reports/format.ts';
import type { Context } from '../../context.ts';
import { CodedError } from '../../core/errors.ts';
import type { Job } from '../../jobs/job.ts';
import { Badge } from './parts.tsx';

/** Milliseconds between two looks at a job, and how long one stream of events lasts: the browser then opens another, and is asked who it is again. */
const LOOK_EVERY_MS = 500;
const STREAM_MS = 60_000;
/** Streams at once in this process. */
const STREAMS = 100;

/** Progress of jobs as server-sent events. */
export async function jobRoutes(app: FastifyInstance, context: Context): Promise<void> {
  const closing = new AbortController();
  let streams = 0;
  app.addHook('preClose', async () => closing.abort());

  app.get<{ Params: { jobId: string } }>('/jobs/:jobId/events', async (request, reply) => {
    const { jobId } = request.params;
    if ((await context.jobs.find(jobId)) === null) throw new CodedError('not_found');
    if (streams >= STREAMS) throw new CodedError('too_many_requests');
    streams += 1;
    reply.hijack();
    const gone = new AbortController();
    const end = AbortSignal.any([closing.signal, gone.signal, AbortSignal.timeout(STREAM_MS)]);
    const { raw } = reply;
    raw.on('close', () => gone.abort());
    raw.on('error', () => gone.abort());
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    let last = '';
    try {
      while (!end.aborted) {
        const job = await context.jobs.find(jobId);
        if (job === null || job.finishedAt !== null) {
          raw.write(`event: end\ndata: ${JSON.stringify({ state: job?.state ?? 'unknown' })}\n\n`);
          break;
        }
        const { done = 0, total = null } = job.progress ?? {};
        const data = JSON.stringify({ done, total, text: progressText(job) });
        if (data !== last) raw.write(`event: progress\ndata: ${data}\n\n`);
        last = data;
        await delay(LOOK_EVERY_MS, undefined, { signal: end });
      }
    } catch (error) {
      if (!end.aborted) context.log.warn({ err: error, jobId }, 'the progress of a job could not be sent');
    } finally {
      streams -= 1;
      raw.end();
    }
  });
}

/** How far a job is, in words. */
function progressText({ progress, state }: Pick<Job, 'progress' | 'state'>): string {
  if (progress === null) return state === 'waiting' ? 'Waiting for a worker.' : 'Started.';
  const { done, total, message } = progress;
  const count = total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
  return message === null ? count : `${count}: ${message}`;
}

/** A job that has not ended: what it does, how far it is, and a link that looks again. */
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
