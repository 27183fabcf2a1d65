import { randomUUID } from 'node:crypto';
import { formatCount } from '../../../../reports/format.ts';
import {
  EXPORT_HOURS,
  type ExportFile,
  exportJob,
  exportOf,
  isThere,
  openExport,
} from '../../../backup/export-file.ts';
import type { Context } from '../../../context/context.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Job } from '../../../jobs/job.ts';
import { attachment } from '../parts/attachment.ts';
import { pagesWith } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import { Facts, Moment, Notice, Panel } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { sizeText } from '../parts/words.ts';

const { page, form, file } = pagesWith<'jobs' | 'config' | 'ledger' | 'clock'>();

/** Exports everything as a file, for admins and owners, because it includes every source. */
const rule = { who: 'administer', source: 'installation' } as const;

const everything = page({
  path: '/documents/export',
  rule,
  async load({ context, reply }) {
    const last = await lastExport(context);
    if (last.job?.finishedAt === null) allowLive(reply);
    return last;
  },
  show: (data, { frame }) => <ExportPage frame={frame} {...data} />,
});

const make = form({
  path: '/documents/export',
  rule,
  async act(visit) {
    const { id } = await visit.context.jobs.enqueue(exportJob(visit.by.officer));
    await visit.doneSoon(id);
    return visit.goTo('/documents/export');
  },
});

const download = file({
  path: '/documents/export/download',
  rule,
  async send({ context, reply, by }) {
    const { made } = await lastExport(context);
    const opened = made === null ? null : await openExport(context, made, by.officer, randomUUID());
    if (made === null || opened === null) throw new CodedError('not_found', 'No export yet: make one first.');
    return reply
      .header('content-disposition', attachment(made.file))
      .header('content-length', made.bytes)
      .type('application/zip')
      .send(opened.createReadStream());
  },
});

export const routes = [everything, make, download];

/** The last requested export, with its file while it exists. */
async function lastExport({
  jobs,
  config,
}: Pick<Context, 'jobs' | 'config'>): Promise<{ readonly job: Job | null; readonly made: ExportFile | null }> {
  const [job = null] = await jobs.list({ kind: 'export', limit: 1 });
  const made = exportOf(job?.result);
  return { job, made: made !== null && (await isThere(config.dataDir, made)) ? made : null };
}

interface ExportProps {
  readonly frame: PageFrame;
  readonly job: Job | null;
  readonly made: ExportFile | null;
}

function ExportPage({ frame, job, made }: ExportProps) {
  const isRunning = job?.finishedAt === null;
  return (
    <Page title="Export everything" frame={frame} current="export" {...(isRunning ? { script: liveScriptPath } : {})}>
      <h1>Export everything</h1>
      <p class="lead">
        Every entry, table, document and proof of every source, in open formats, with an independent program that checks
        it. It contains no passwords, keys or secrets.
      </p>
      <Notice tone="warn">
        <p>
          The file is not encrypted and contains personal data. It is kept here for {EXPORT_HOURS} hours, or until
          something is erased. Each download is recorded in the ledger.
        </p>
      </Notice>
      <Panel id="export" title="The export">
        {made === null || job === null ? null : (
          <>
            <Facts
              rows={[
                [
                  'File',
                  <a href="/documents/export/download" download>
                    {made.file} <span class="soft">({sizeText(made.bytes)})</span>
                  </a>,
                ],
                ['Made', <Moment iso={job.finishedAt ?? job.createdAt} timeZone={frame.timeZone} />],
                ['Holds', `every entry up to ${formatCount(made.upTo)}, in ${formatCount(made.files)} files`],
                ['SHA-256', <span class="mono">{made.sha256}</span>],
              ]}
            />
            {made.faults.length === 0 ? null : (
              <Notice tone="bad">
                <p>Something that the ledger refers to is missing:</p>
                <ul>
                  {made.faults.map((fault) => (
                    <li key={fault}>{fault}</li>
                  ))}
                </ul>
              </Notice>
            )}
          </>
        )}
        {job?.state === 'failed' ? (
          <Notice tone="bad">
            <p>The last export did not finish: {job.error}</p>
          </Notice>
        ) : null}
        {isRunning ? (
          <JobProgress job={job} what="Export" again="/documents/export" />
        ) : (
          <PostForm frame={frame} class="buttons" action="/documents/export">
            <button type="submit">{made === null ? 'Make an export' : 'Make a new export'}</button>
          </PostForm>
        )}
      </Panel>
    </Page>
  );
}
