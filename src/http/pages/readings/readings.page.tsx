import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import type { Context } from '../../../context.ts';
import {
  adoptReadingJob,
  compareReadingsJob,
  phrasesOf,
  readingsOf,
  type ReadingsResult,
} from '../../../context/readings-job.ts';
import { can } from '../../../core/roles.ts';
import type { Job } from '../../../jobs/job.ts';
import { sourcesOf } from '../../auth/access.ts';
import { officerOf } from '../../auth/sessions.ts';
import { html, pageFrame, untilDoneSoon } from '../parts/page-frame.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Csrf, Page, type PageFrame, renderPage } from '../parts/layout.tsx';
import { allowLive } from '../parts/live-script.ts';
import { type Column, Notice, Panel, Table } from '../parts/parts.tsx';

/** What this version of the program reads differently from an earlier one, before its reading is put in force. */
export async function readingRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/readings', send);

  app.post('/readings/adopt', async (request, reply) => {
    const { id } = await context.jobs.enqueue(adoptReadingJob(officerOf(request).officer));
    await untilDoneSoon(context, id);
    return reply.redirect('/readings', 303);
  });

  async function send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const pending = await context.readings.pending();
    const isPending = pending !== null;
    const compared = await newest('compare-readings');
    const found = readingsOf(compared?.result);
    // A list that an earlier upgrade left behind says nothing about this one.
    const isOutdated = compared?.finishedAt != null && found !== null && found.now !== pending?.now;
    if (isPending && (compared === null || isOutdated)) await context.jobs.enqueue(compareReadingsJob());
    const adopting = await newest('adopt-reading');
    const permitted = sourcesOf(context, request);
    const isPermitted = (source: string) => permitted.slugs === null || permitted.slugs.includes(source);
    const frame = pageFrame(context, request, reply);
    const running = [adopting, compared].find((job) => job !== null && job.finishedAt === null) ?? null;
    if (running !== null) allowLive(reply);
    return html(
      reply,
      renderPage(
        <ReadingsPage
          frame={frame}
          isPending={isPending}
          running={running}
          failed={[adopting, compared].find((job) => job?.state === 'failed') ?? null}
          found={
            found === null || isOutdated
              ? null
              : {
                  ...found,
                  total:
                    permitted.slugs === null
                      ? found.total
                      : found.records.filter(({ source }) => isPermitted(source)).length,
                  sources: found.sources.filter(({ source }) => isPermitted(source)),
                  records: found.records.filter(({ source }) => isPermitted(source)),
                }
          }
        />,
      ),
    );
  }

  async function newest(kind: string): Promise<Job | null> {
    const [job = null] = await context.jobs.list({ kind, key: 'readings', limit: 1 });
    return job;
  }
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
          <form class="buttons" method="post" action="/readings/adopt">
            <Csrf token={frame.csrf} />
            <button type="submit">Put the new reading in force</button>
          </form>
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
