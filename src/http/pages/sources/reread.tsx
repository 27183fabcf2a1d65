import { counted } from '../../../../reports/format.ts';
import { type RereadResult, rereadOf } from '../../../context/reread-job.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import type { Job } from '../../../jobs/job.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import type { PageFrame } from '../parts/layout.tsx';
import { AskAdmin, Moment, Notice } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

interface RereadProps {
  readonly frame: PageFrame;
  readonly source: Pick<Source, 'slug' | 'name' | 'options'>;
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
}

/** Whether the source's settings name fields or events of their own. Otherwise reading again changes nothing. */
export function hasOwnNames({ options: { fieldNames, eventNames = {} } }: Pick<Source, 'options'>): boolean {
  return Object.keys(fieldNames).length + Object.keys(eventNames).length > 0;
}

/** The button that reads earlier deliveries again; others can ask an admin. */
export function RereadForm({ frame, source: { slug, name }, admins }: RereadProps) {
  return can(frame.role, 'administer') ? (
    <PostForm frame={frame} class="buttons" action={`/sources/${slug}/reread`}>
      <button class="quiet" type="submit">
        Read earlier deliveries again
      </button>
    </PostForm>
  ) : (
    <AskAdmin
      admins={admins}
      subject={`Source ${name}: read earlier deliveries again`}
      text={`Please read the earlier deliveries of the source “${name}” (${slug}) again with its current settings: open its page under Sources and press “Read earlier deliveries again” under “How fields are read”.`}
    />
  );
}

/** On the page of a source: the button, the progress, and what came of it. */
export function RereadState({ frame, source, admins, job }: RereadProps & { readonly job: Job | null }) {
  if (job?.finishedAt === null)
    return <JobProgress job={job} what="Reading earlier deliveries again" again={`/sources/${source.slug}#reading`} />;
  const result = rereadOf(job?.result);
  return (
    <>
      {job === null ? null : job.state === 'failed' ? (
        <Notice tone="bad">
          <p>Earlier deliveries were not all read again: {job.error} Try again.</p>
        </Notice>
      ) : result === null ? null : (
        <Result frame={frame} source={source} result={result} at={job.finishedAt} />
      )}
      {can(frame.role, 'administer') || hasOwnNames(source) ? (
        <>
          <p class="small">
            New names apply to what arrives from then on. Earlier deliveries, and rows of the consent log, can be read
            again with them. Nothing is lost, and the pages stay usable in the meantime.
          </p>
          <RereadForm frame={frame} source={source} admins={admins} />
        </>
      ) : (
        <p>Once other names are accepted, they also apply to earlier deliveries when these are read again.</p>
      )}
    </>
  );
}

function Result(props: Pick<RereadProps, 'frame' | 'source'> & { result: RereadResult; at: string }) {
  const { frame, source, result, at } = props;
  const { nowRead, noLongerRead, unread, changed } = result;
  const lines = [
    total(nowRead) > 0 ? `${what(nowRead)} that could not be read ${be(nowRead)} now read.` : null,
    total(noLongerRead) > 0
      ? `${what(noLongerRead)} that could be read before cannot be read with the current settings: check the names of fields and events.`
      : null,
    total(nowRead) + total(noLongerRead) > 0
      ? null
      : changed > 0
        ? 'No more of them can be read than before, but some of their details are read differently.'
        : 'Nothing changed: everything is read as before.',
  ].filter((line) => line !== null);
  return (
    <Notice tone={total(noLongerRead) > 0 ? 'bad' : 'good'}>
      <p>
        Read again <Moment iso={at} timeZone={frame.timeZone} />. {lines.join(' ')}
        {total(unread) === 0 ? null : (
          <>
            {' '}
            <a href={`/deliveries?source=${source.slug}`}>{what(unread)} still cannot be read</a>.
          </>
        )}
      </p>
    </Notice>
  );
}

type Count = RereadResult['unread'];

const total = ({ deliveries, rows }: Count) => deliveries + rows;

const be = (count: Count) => (total(count) === 1 ? 'is' : 'are');

/** `3 deliveries and 1 row of the consent log`. */
function what({ deliveries, rows }: Count): string {
  return [
    deliveries > 0 ? counted(deliveries, 'delivery', 'deliveries') : null,
    rows > 0 ? counted(rows, 'row of the consent log', 'rows of the consent log') : null,
  ]
    .filter((part) => part !== null)
    .join(' and ');
}
