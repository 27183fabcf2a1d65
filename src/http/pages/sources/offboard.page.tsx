import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { offboardedOf, offboardJob, openCasesOf } from '../../../context/offboard.ts';
import { CodedError } from '../../../core/errors.ts';
import type { Source } from '../../../core/source.ts';
import type { Job } from '../../../jobs/job.ts';
import { pagesWith, text, ticked } from '../parts/define-page.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { allowLive, liveScriptPath } from '../parts/live-script.ts';
import { Facts, Input, Notice, Panel, Problems } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';

const { page, form } = pagesWith<'sources' | 'config' | 'jobs' | 'cases' | 'clock' | 'projector'>();

const rule = { who: 'administer', source: 'address' } as const;

/** The most requests named on the page. */
const SHOWN = 20;

/** Offboarding a client: its effects, and the button. */
const offboarding = page({
  path: '/sources/:slug/offboard',
  rule,
  async load({ context, params: { slug }, reply }, { form: typed, problems }) {
    const { sources, config, jobs } = context;
    await sources.refresh();
    const source = sources.findAny(slug);
    if (source === null) throw new CodedError('not_found');
    const [job = null] = await jobs.list({ kind: 'offboard', key: slug, limit: 1 });
    const hasLeft = sources.find(slug) === null;
    if (job?.finishedAt === null) allowLive(reply);
    return {
      ...{ source, hasLeft, job, form: typed, problems },
      isConfigured: config.defaultSource?.slug === slug,
      openCases: hasLeft ? [] : await openCasesOf(context, slug),
    };
  },
  show: (data, { frame }) => <OffboardPage frame={frame} {...data} />,
});

const offboard = form({
  path: '/sources/:slug/offboard',
  rule,
  body: z.object({ slug: text, reason: text, force: ticked }),
  async act(visit) {
    const { context, params, fields, by } = visit;
    const { slug } = params;
    const here = `/sources/${slug}/offboard`;
    if (context.sources.find(slug) === null) return visit.goTo(here);
    const reason = fields.reason.trim();
    const open = await openCasesOf(context, slug);
    const problems = [
      ...(context.config.defaultSource?.slug === slug
        ? ['It is set by environment variables; remove them on the server.']
        : []),
      ...(fields.slug.trim() === slug ? [] : [`Enter the short name of the source, ${slug}.`]),
      ...(reason.length > 2000 ? ['The reason is longer than 2,000 characters.'] : []),
      ...(open.length > 0 && !fields.force
        ? [
            'Requests are still waiting for an answer: answer them first, or tick the box to offboard the source anyway.',
          ]
        : []),
      ...(open.length > 0 && reason === '' ? ['Say what happens to the requests still waiting for an answer.'] : []),
    ];
    if (problems.length > 0) return offboarding.again(visit, { fields: {}, params, said: { problems } });
    const { id } = await context.jobs.enqueue(
      offboardJob({
        ...{ source: slug, actor: by.officer },
        ...{ reason: reason === '' ? null : reason, force: open.length > 0 },
      }),
    );
    await visit.doneSoon(id);
    return visit.goTo(here);
  },
});

export const routes = [offboarding, offboard];

interface OffboardProps {
  readonly frame: PageFrame;
  readonly source: Source;
  readonly isConfigured: boolean;
  readonly hasLeft: boolean;
  readonly openCases: readonly string[];
  /** The newest offboarding job of this source. */
  readonly job: Job | null;
  readonly form: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

function OffboardPage(props: OffboardProps) {
  const { frame, source, hasLeft, job, problems } = props;
  const isRunning = job !== null && job.finishedAt === null;
  const result = hasLeft && job?.state === 'done' ? offboardedOf(job.result) : null;
  return (
    <Page
      title={`Offboard ${source.name}`}
      frame={frame}
      within="sources"
      {...(isRunning ? { script: liveScriptPath } : {})}
    >
      <p>
        <a href={hasLeft ? '/sources' : `/sources/${source.slug}`}>{hasLeft ? 'Sources' : source.name}</a>
      </p>
      <h1>
        Offboard <bdi>{source.name}</bdi>
      </h1>
      <Problems title="Nothing was changed:" problems={problems} />
      {isRunning ? (
        <JobProgress job={job} what="Offboarding" again={`/sources/${source.slug}/offboard`} />
      ) : job?.state === 'failed' && !hasLeft ? (
        <Notice tone="bad">
          <p>{job.error ?? 'It was cancelled.'}</p>
        </Notice>
      ) : null}
      {isRunning ? null : hasLeft ? <Left frame={frame} source={source} result={result} /> : <Before {...props} />}
    </Page>
  );
}

function Before({ frame, source, isConfigured, openCases, form }: OffboardProps) {
  if (isConfigured)
    return (
      <Notice tone="calm">
        <p>
          This source is set by environment variables. To stop it, remove <code>WEBHOOK_SECRETS</code> and the{' '}
          <code>SERVICE_…</code> variables on the server, and restart it. If it is still listed afterwards, offboard it
          on this page. Its entries are kept.
        </p>
      </Notice>
    );
  return (
    <>
      <Panel id="what" title="What happens">
        <ul>
          <li>Its API key and signing secrets are destroyed. They cannot be restored.</li>
          <li>Its webhook address answers “not found”, and pulling stops.</li>
          <li>Its waiting syncs and other jobs are cancelled. Its refused deliveries are destroyed.</li>
          <li>
            Its entries, documents and requests are kept and sealed: reports, packs, look-ups and verification work as
            before.
          </li>
          <li>
            You can add it again under the same short name, with new credentials. To erase its content, use{' '}
            <a href="/settings/erasures">Erase</a>, or wait for the retention period to end.
          </li>
        </ul>
        <p>Afterwards, in the service’s dashboard: revoke its API key, and remove its webhook.</p>
      </Panel>
      {openCases.length === 0 ? null : (
        <Notice tone="warn">
          <p>{counted(openCases.length, 'request still waits', 'requests still wait')} for an answer:</p>
          <ul>
            {openCases.slice(0, SHOWN).map((caseId) => (
              <li key={caseId}>
                <a href={`/cases/${caseId}`}>{caseId}</a>
              </li>
            ))}
            {openCases.length > SHOWN ? <li>and {formatCount(openCases.length - SHOWN)} more</li> : null}
          </ul>
        </Notice>
      )}
      <Panel id="confirm" title="Offboard the source">
        <PostForm frame={frame} action={`/sources/${source.slug}/offboard`}>
          <Input
            id="reason"
            label="Reason"
            maxLength={2000}
            optional={openCases.length === 0}
            value={form['reason'] ?? ''}
            hint={
              openCases.length === 0
                ? 'Recorded in the ledger.'
                : 'Say who answers the requests from now on. Recorded in the ledger.'
            }
          />
          <Input
            id="slug"
            label="Short name of the source"
            maxLength={63}
            autocomplete="off"
            spellcheck={false}
            value={form['slug'] ?? ''}
            hint={`Enter ${source.slug} to confirm.`}
          />
          {openCases.length === 0 ? null : (
            <label class="box">
              <input type="checkbox" name="force" value="yes" checked={form['force'] === 'yes'} /> Offboard it although
              requests are waiting for an answer
            </label>
          )}
          <div class="buttons">
            <button type="submit">Offboard</button>
          </div>
        </PostForm>
      </Panel>
    </>
  );
}

function Left({
  frame,
  source,
  result,
}: {
  readonly frame: PageFrame;
  readonly source: Source;
  readonly result: ReturnType<typeof offboardedOf>;
}) {
  return (
    <>
      <Notice tone="good">
        <p>
          <bdi>{source.name}</bdi> has been offboarded. Its credentials are destroyed. In the service’s dashboard:
          revoke its API key, and remove its webhook.
        </p>
      </Notice>
      {result === null ? null : (
        <Panel id="kept" title="What is kept">
          <Facts
            rows={[
              ['Entries', formatCount(result.remains.entries)],
              ['Documents', formatCount(result.remains.documents)],
              ['Requests', formatCount(result.remains.cases)],
              result.remains.openCases.length === 0
                ? null
                : ['Still waiting for an answer', result.remains.openCases.slice(0, SHOWN).join(', ')],
              result.remains.rejectedDestroyed === 0
                ? null
                : ['Refused deliveries destroyed', formatCount(result.remains.rejectedDestroyed)],
              result.seq === null
                ? null
                : ['Recorded as', <a href={`/entries/${result.seq}`}>entry {formatCount(result.seq)}</a>],
            ]}
          />
        </Panel>
      )}
      <p>
        <a href={`/documents?source=${source.slug}`}>Documents of {frame.sourceName(source.slug)}</a>
      </p>
    </>
  );
}
