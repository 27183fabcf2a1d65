import { findReport } from '../../reports/index.ts';
import type { Job } from '../jobs/job.ts';
import { payloadText } from './load-today.ts';
import { Badge, Moment } from './parts.tsx';
import type { Worded } from './words.ts';

/** What was asked for and how far it is. The page does not reload by itself: a link does. */
export function JobList({ jobs, timeZone, again }: { jobs: readonly Job[]; timeZone: string; again: string }) {
  return (
    <>
      <ul class="jobs">
        {jobs.map((job) => (
          <li key={job.id}>
            {nameOf(job)} <Badge {...stateOf(job)} />
            <br />
            <span class="soft small">
              requested <Moment iso={job.createdAt} timeZone={timeZone} />
              {payloadText(job, 'actor') === null ? '' : ` by ${payloadText(job, 'actor')}`}
            </span>
            <Progress job={job} />
            {job.error !== null && job.state !== 'done' ? <p class="hint">{job.error}</p> : null}
          </li>
        ))}
      </ul>
      {jobs.some((job) => job.finishedAt === null) ? (
        <p>
          <a href={again}>Refresh</a>
        </p>
      ) : null}
    </>
  );
}

function Progress({ job }: { job: Job }) {
  if (job.state !== 'running' || job.progress === null) return null;
  const { done, total, message } = job.progress;
  return (
    <p class="hint">
      {total === null ? null : (
        <progress aria-label={`Progress of ${nameOf(job)}`} value={done} max={Math.max(total, 1)} />
      )}{' '}
      {message}
    </p>
  );
}

function nameOf(job: Job): string {
  const source = payloadText(job, 'source');
  if (job.kind === 'sync') return `Sync of ${source ?? 'all sources'}`;
  const caseId = payloadText(job, 'caseId');
  if (caseId !== null) return `Response pack for ${caseId}`;
  const name = payloadText(job, 'name') ?? 'document';
  return `${findReport(name)?.title ?? name} (${(payloadText(job, 'format') ?? '').toUpperCase()})`;
}

function stateOf(job: Job): Worded {
  switch (job.state) {
    case 'waiting':
      return job.attempts > 0 ? { text: 'failed, will be retried', tone: 'warn' } : { text: 'waiting', tone: 'calm' };
    case 'running':
      return { text: 'running', tone: 'calm' };
    case 'done':
      return failedBanners(job) > 0
        ? { text: 'completed with failures', tone: 'warn' }
        : { text: 'done', tone: 'good' };
    case 'failed':
      return { text: 'failed', tone: 'bad' };
    case 'cancelled':
      return { text: 'cancelled', tone: 'calm' };
  }
}

function failedBanners({ result }: Job): number {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return 0;
  const { failed } = result as { failed?: unknown };
  return typeof failed === 'number' ? failed : 0;
}
