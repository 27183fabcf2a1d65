import { formatCount } from '../../../../reports/format.ts';
import type { Job } from '../../../jobs/job.ts';
import { Badge } from './parts.tsx';

/** A job's progress in words. */
export function progressText({ progress, state }: Pick<Job, 'progress' | 'state'>): string {
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
