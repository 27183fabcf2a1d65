import { findReport } from '../../../../reports/index.ts';
import { type Job, payloadText } from '../../../jobs/job.ts';
import type { PageFrame } from './layout.tsx';
import { Badge, ErrorText, Moment } from './parts.tsx';
import type { Worded } from './words.ts';

/** Requested jobs and their progress. The page does not reload by itself; it has a link for that. */
export function JobList({ frame, jobs, again }: { frame: PageFrame; jobs: readonly Job[]; again: string }) {
  const nameOf = (job: Job) => jobName(job, frame.sourceName);
  return (
    <>
      <ul class="jobs">
        {jobs.map((job) => (
          <li key={job.id}>
            {nameOf(job)} <Badge {...stateOf(job)} />
            <br />
            <span class="soft small">
              requested <Moment iso={job.createdAt} timeZone={frame.timeZone} />
              {payloadText(job, 'actor') === null ? '' : ` by ${payloadText(job, 'actor')}`}
            </span>
            <Progress job={job} name={nameOf(job)} />
            {job.error !== null && job.state !== 'done' ? (
              <p class="hint">
                <ErrorText text={job.error} frame={frame} />
              </p>
            ) : null}
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

function Progress({ job, name }: { job: Job; name: string }) {
  if (job.state !== 'running' || job.progress === null) return null;
  const { done, total, message } = job.progress;
  return (
    <p class="hint">
      {total === null ? null : <progress aria-label={`Progress of ${name}`} value={done} max={Math.max(total, 1)} />}{' '}
      {message}
    </p>
  );
}

function jobName(job: Job, sourceName: PageFrame['sourceName']): string {
  const source = payloadText(job, 'source');
  if (job.kind === 'sync') return `Sync of ${source === null ? 'all sources' : sourceName(source)}`;
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
