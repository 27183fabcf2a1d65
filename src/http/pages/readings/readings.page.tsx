import { counted } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import {
  adoptReadingJob,
  compareReadingsJob,
  phrasesOf,
  type ReadingsResult,
  readingsOf,
} from '../../../context/readings-job.ts';
import { can } from '../../../core/roles.ts';
import type { Job } from '../../../jobs/job.ts';
import type { Jobs } from '../../../jobs/jobs.ts';
import { pagesWith } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { type Column, Notice, Panel, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

const { page, form } = pagesWith<'readings' | 'jobs'>();

/** What this version of the program reads differently from an earlier one, before its reading is put in force. */
const differences = page({
  path: '/readings',
  rule: { who: 'read', source: 'installation' },
  async load({ context: { readings, jobs }, permitted: { slugs }, reply }) {
    const pending = await readings.pending();
    const compared = await newest(jobs, 'compare-readings');
    const found = readingsOf(compared?.result);
    // A list that an earlier upgrade left behind says nothing about this one.
    const isOutdated = compared?.finishedAt != null && found !== null && found.now !== pending?.now;
    if (pending !== null && (compared === null || isOutdated)) await jobs.enqueue(compareReadingsJob());
    const both = [await newest(jobs, 'adopt-reading'), compared];
    const running = both.find((job) => job !== null && job.finishedAt === null) ?? null;
    if (running !== null) allowLive(reply);
    return {
      isPending: pending !== null,
      running,
      failed: both.find((job) => job?.state === 'failed') ?? null,
      found: found === null || isOutdated ? null : ofSources(found, slugs),
    };
  },
  show: (data, { frame }) => <ReadingsPage frame={frame} {...data} />,
});

const adopt = form({
  path: '/readings/adopt',
  rule: { who: 'administer', source: 'installation' },
  async act({ context, by, doneSoon, goTo }) {
    const { id } = await context.jobs.enqueue(adoptReadingJob(by.officer));
    await doneSoon(id);
    return goTo('/readings');
  },
});

export const routes = [differences, adopt];

async function newest(jobs: Pick<Jobs, 'list'>, kind: string): Promise<Job | null> {
  const [job = null] = await jobs.list({ kind, key: 'readings', limit: 1 });
  return job;
}

/** What concerns these sources; null: all. */
function ofSources(found: ReadingsResult, slugs: readonly string[] | null): ReadingsResult {
  if (slugs === null) return found;
  const records = found.records.filter(({ source }) => slugs.includes(source));
  return {
    ...found,
    total: records.length,
    sources: found.sources.filter(({ source }) => slugs.includes(source)),
    records,
  };
}

interface ReadingsProps {
  readonly frame: PageFrame;
  readonly isPending: boolean;
  /** The comparison or the adoption, if one is under way. */
  readonly running: Job | null;
  readonly failed: Job | null;
  readonly found: ReadingsResult | null;
}

type ChangedRow = ReadingsResult['records'][number];

const columns: readonly Column<ChangedRow>[] = [
  {
    title: 'Entry',
    cell: ({ seq, part }) => <a href={`/entries/${seq}`}>{part === 0 ? seq : `${seq}, event ${part + 1}`}</a>,
  },
  { title: 'Source', cell: ({ source }) => source },
  { title: 'Read until now', cell: ({ before }) => <bdi class="outside">{visibleText(before)}</bdi> },
  { title: 'Read by this version', cell: ({ after }) => <bdi class="outside">{visibleText(after)}</bdi> },
];

function ReadingsPage({ frame, isPending, running, failed, found }: ReadingsProps) {
  return (
    <Page title="Earlier records" frame={frame} within="sources">
      <h1>Earlier records</h1>
      <p class="lead">
        {isPending
          ? 'This version of the program reads some earlier records differently. Until somebody has looked at the list and put the new reading in force, they are shown as before, and no document is made.'
          : 'All earlier records are read with this version of the program.'}
      </p>
      {running !== null ? (
        <JobProgress
          job={running}
          what={running.kind === 'adopt-reading' ? 'Reading every record again' : 'Comparing both readings'}
          again="/readings"
        />
      ) : failed !== null ? (
        <Notice tone="bad">
          <p>
            It failed: {failed.error} It is tried again when the server starts;{' '}
            <code>consent-ledger ledger readings</code> does the same on the command line.
          </p>
        </Notice>
      ) : null}
      {isPending && found !== null && running === null ? <Differences frame={frame} found={found} /> : null}
    </Page>
  );
}

function Differences({ frame, found }: { readonly frame: PageFrame; readonly found: ReadingsResult }) {
  const { sources, records, total } = found;
  return (
    <>
      <Panel id="differences" title="What changes">
        <ul>
          {sources.map(({ source, changes }) => (
            <li key={source}>
              <strong>{source}</strong>: {phrasesOf(changes)}
            </li>
          ))}
        </ul>
        <p>
          Putting it in force is recorded with your name and the list of entries. Documents that were made before keep
          their bytes; audits and packs made afterwards name them and say which records differ.
        </p>
        {can(frame.role, 'administer') ? (
          <PostForm frame={frame} action="/readings/adopt" class="buttons">
            <button type="submit">Put the new reading in force</button>
          </PostForm>
        ) : (
          <p>Only an owner or admin can put it in force.</p>
        )}
      </Panel>
      <Panel id="records" title={counted(total, 'record', 'records')}>
        <Table caption={null} columns={columns} rows={records} />
        {total > records.length ? (
          <p class="small">
            The first {records.length} are shown. <code>consent-ledger ledger readings --all</code> lists every one.
          </p>
        ) : null}
      </Panel>
    </>
  );
}
