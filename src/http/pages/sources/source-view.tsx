import { counted, formatCount, formatDuration } from '../../../../reports/format.ts';
import { visibleText } from '../../../../reports/render/text.ts';
import type { KeyCheck } from '../../../context/check-key.ts';
import { can } from '../../../core/roles.ts';
import type { SecretEncoding, Source } from '../../../core/source.ts';
import type { Job } from '../../../jobs/job.ts';
import type { requestFormState } from '../../../request-form/offered.ts';
import type { DoubtfulController } from '../../../sources/controller.ts';
import type { SourceFault } from '../../../sources/faults.ts';
import type { BannerNames } from '../../../store/queries/history-banners.ts';
import type { SyncRun } from '../../../sync/runs.ts';
import type { BannerStatus } from '../../../sync/status.ts';
import type { SyncJob } from '../../../sync/sync-jobs.ts';
import { JobProgress } from '../parts/job-progress.tsx';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { liveScriptPath } from '../parts/live-script.ts';
import {
  AskAdmin,
  Badge,
  BannerName,
  type Column,
  Done,
  Facts,
  Input,
  Moment,
  Notice,
  Panel,
  Problems,
  Table,
} from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { secretsText, syncText } from '../parts/words.ts';
import { ControllerNotice } from './controller-panel.tsx';
import { pullText } from './pull-text.ts';
import { RereadState } from './reread.tsx';
import { AccessForm, AskAboutSource, NewSecret, SecretForms } from './source-forms.tsx';

interface ShownSecret {
  readonly id: string;
  readonly encoding: SecretEncoding;
  /** ISO 8601 UTC; null for a secret from the environment. */
  readonly addedAt: string | null;
  /** Null: it does not expire. */
  readonly retireAt: string | null;
}

/** The state of a source. */
export interface SourceState {
  readonly source: Source;
  /** Whether it is configured by environment variables. */
  readonly isConfigured: boolean;
  readonly faults: readonly SourceFault[];
  /** Credentials that have ended but are still in the environment; for admins. */
  readonly leftovers: readonly string[];
  /** E-mail addresses of the admins. */
  readonly admins: readonly string[];
  readonly webhookUrl: string;
  readonly secrets: readonly ShownSecret[];
  readonly now: Date;
  readonly lastDelivery: string | null;
  /** Deliveries to it refused in the last 72 hours. */
  readonly refused: number;
  readonly banners: readonly BannerStatus[];
  /** Running or waiting syncs. */
  readonly jobs: readonly SyncJob[];
  /** The latest reading of earlier deliveries; null: there was none lately. */
  readonly reread: Job | null;
  /** Choices under an id that was used before, at most 1,000. */
  readonly reusedIds: number;
  /** Ended syncs, newest first. */
  readonly runs: readonly SyncRun[];
  readonly bannerNames: BannerNames;
  /** A controller that may be another client's; null: the profile is known to be that of this source. */
  readonly doubtful: DoubtfulController | null;
  /** Whether the source has a request form. */
  readonly requestForm: ReturnType<typeof requestFormState>;
  /** Address of the request form. */
  readonly requestFormUrl: string;
}

interface SourcePageProps {
  readonly frame: PageFrame;
  readonly state: SourceState;
  readonly problems?: readonly string[];
  readonly done?: string | null;
  readonly secret?: string;
  readonly check?: KeyCheck;
  readonly form?: Readonly<Record<string, string>>;
  /** What only the server’s operator can do, for a message to the admins. */
  readonly ask?: string;
}

/** One source: whether it delivers, its secrets, its access to the service, its syncs. */
export function SourcePage({
  frame,
  state,
  problems = [],
  done = null,
  secret,
  check,
  form = {},
  ask,
}: SourcePageProps) {
  const { source, isConfigured } = state;
  const rotates = can(frame.role, 'administer');
  const administers = rotates && !isConfigured;
  const faults = [...state.faults.map(({ sentence }) => sentence), ...(rotates ? state.leftovers : [])];
  const isSetUp = source.webhookSecrets.length > 0 && state.lastDelivery !== null && source.apiKey !== null;
  return (
    <Page title={source.name} frame={frame} within="sources" {...(isUnderWay(state) ? { script: liveScriptPath } : {})}>
      <h1>
        <bdi>{source.name}</bdi>
      </h1>
      <p class="lead">
        Source <span class="mono">{source.slug}</span>
        {administers && !isSetUp ? (
          <>
            {' · '}
            <a href={`/sources/${source.slug}/set-up`}>Continue the set-up</a>
          </>
        ) : null}
      </p>
      <Done text={done} />
      {secret === undefined ? null : <NewSecret secret={secret} />}
      {check === undefined ? null : (
        <Notice tone={check.outcome === 'works' ? 'good' : 'bad'}>
          <p>{check.sentence}</p>
        </Notice>
      )}
      <Problems title="Nothing was changed:" problems={problems} />
      <AskAboutSource source={source} admins={state.admins} text={ask} />
      {state.doubtful === null ? null : <ControllerNotice frame={frame} admins={state.admins} {...state.doubtful} />}
      {isConfigured ? <ConfiguredNotice administers={rotates} state={state} /> : null}
      {faults.length === 0 ? null : (
        <ul class="warnings">
          {faults.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <WebhookPanel frame={frame} state={state} administers={rotates} />
      <AccessPanel frame={frame} state={state} administers={administers} form={form} />
      <LogPanel frame={frame} state={state} />
      <RequestFormPanel state={state} />
      <Panel id="reading" title="How fields are read">
        <Facts
          rows={[
            ['Names of fields', namesText(Object.keys(source.options.fieldNames).length, 'field')],
            ['Names of events', namesText(Object.keys(source.options.eventNames ?? {}).length, 'event')],
            ['Times without an offset', `are read as UTC${source.options.assumedOffset}`],
            source.options.necessaryPurposes === undefined
              ? null
              : ['Need no consent', source.options.necessaryPurposes.map(visibleText).join(', ')],
            state.reusedIds === 0
              ? null
              : [
                  'Ids of records',
                  `stay the same for a visitor: ${state.reusedIds >= 1000 ? 'at least 1,000' : counted(state.reusedIds, 'choice', 'choices')} came under an id that was used before. Each is a decision of its own.`,
                ],
          ]}
        />
        <div class="buttons">
          <a class="button quiet" href={`/sources/${source.slug}/fields`}>
            See the fields that it sends
          </a>
        </div>
        <h3>Earlier deliveries</h3>
        <RereadState frame={frame} source={source} admins={state.admins} job={state.reread} />
      </Panel>
      {administers ? (
        <Panel id="name-it" title="Name">
          <PostForm frame={frame} action={`/sources/${source.slug}/name`}>
            <Input
              id="name"
              label="Name"
              maxLength={200}
              value={form['name'] ?? source.name}
              autocomplete="off"
              hint="As shown in reports and on pages. The short name stays."
            />
            <button type="submit">Save</button>
          </PostForm>
        </Panel>
      ) : null}
      {administers ? (
        <p>
          Is the client leaving? <a href={`/sources/${source.slug}/offboard`}>Offboard this source</a>
        </p>
      ) : null}
    </Page>
  );
}

/** Whether a job of the source is running or waiting. */
export function isUnderWay({ jobs, reread }: Pick<SourceState, 'jobs' | 'reread'>): boolean {
  return jobs.length > 0 || reread?.finishedAt === null;
}

function namesText(count: number, what: string): string {
  if (count === 0) return 'as documented by the service';
  return count === 1 ? `1 ${what} has its own` : `${count} ${what}s have their own`;
}

function ConfiguredNotice({ administers, state: { source, admins } }: ConfiguredProps) {
  return (
    <Notice tone="calm">
      {administers ? (
        <p>
          The address and keys of this source are set by environment variables: to change them, change the{' '}
          <code>SERVICE_…</code> variables and restart the server. Everything else, its signing secrets included, is
          changed here.
        </p>
      ) : (
        <>
          <p>Only an admin can change the address and keys of this source, on the server.</p>
          <AskAdmin
            admins={admins}
            subject={`Source ${source.name}: change its settings`}
            text={`Please change the settings of the source “${source.name}” (${source.slug}):\n\n\n\nSigning secrets are changed on its page, under Sources. The address and keys are set on the server: SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_SITE_URL and SERVICE_SITE_KEY.`}
          />
        </>
      )}
    </Notice>
  );
}

function RequestFormPanel({ state: { source, requestForm, requestFormUrl } }: Pick<SourcePageProps, 'state'>) {
  const profile = `/settings/profile?source=${source.slug}`;
  return (
    <Panel id="request-form" title="Request form">
      {requestForm === 'offered' ? (
        <>
          <p>
            Anyone can send a request at <a href={requestFormUrl}>{requestFormUrl}</a>. A banner can add its consent ID
            to the address as <code>subject</code>, so that you need not search for the person’s records.
          </p>
          <p class="hint">To put on a website, as a link or in a frame:</p>
          <pre class="content">{`<a href="${requestFormUrl}">Your data: send us a request</a>
<iframe src="${requestFormUrl}" title="Your data: send us a request" width="100%" height="1400"></iframe>`}</pre>
          <p class="hint">
            Websites that show it in a frame are listed in the <a href={profile}>controller profile</a>.
          </p>
        </>
      ) : requestForm === 'unconfirmed' ? (
        <p>
          The web form of this source is off, because the controller profile is shared with other sources and may be
          another client’s: the form could name the wrong organisation. <a href="#controller">Say whose it is.</a>
        </p>
      ) : (
        <p>
          Requests can come in through a web form. It is off: switch it on in the{' '}
          <a href={profile}>controller profile</a>.
        </p>
      )}
    </Panel>
  );
}

interface ConfiguredProps {
  readonly administers: boolean;
  readonly state: SourceState;
}

interface PanelProps {
  readonly frame: PageFrame;
  readonly state: SourceState;
  readonly administers: boolean;
}

function WebhookPanel({ frame, state, administers }: PanelProps) {
  const { source, webhookUrl, secrets, lastDelivery, refused } = state;
  const ending = secrets.filter(({ retireAt }) => retireAt !== null).length;
  return (
    <Panel id="webhook" title="Webhook">
      <Facts
        rows={[
          ['Address', <span class="mono">{webhookUrl}</span>],
          [
            'Last delivery',
            lastDelivery === null ? (
              'none yet'
            ) : (
              <>
                <a href={`/deliveries?source=${source.slug}`}>
                  <Moment iso={lastDelivery} timeZone={frame.timeZone} />
                </a>
              </>
            ),
          ],
          [
            'Refused in 72 hours',
            refused === 0 ? 'none' : <a href="/deliveries/refused">{formatCount(refused)}: see why</a>,
          ],
          ['Signing secrets', <Badge {...secretsText(secrets.length, ending)} />],
        ]}
      />
      {secrets.length === 0 ? null : (
        <>
          <h3>Signing secrets</h3>
          <Table
            caption="Identified by the first digits of their fingerprint; a delivery is accepted if any of them matches."
            columns={secretColumns(frame, state, administers)}
            rows={secrets}
          />
        </>
      )}
      {administers ? (
        <details class="more">
          <summary>{secrets.length === 0 ? 'Add a signing secret' : 'Rotate the signing secret'}</summary>
          <div>
            <SecretForms frame={frame} source={source} back="source" />
          </div>
        </details>
      ) : null}
    </Panel>
  );
}

function secretColumns(
  frame: PageFrame,
  { source, secrets, now }: SourceState,
  administers: boolean,
): readonly Column<ShownSecret>[] {
  return [
    { title: 'Secret', cell: ({ id }) => <span class="mono">{id}</span> },
    { title: 'Written as', cell: ({ encoding }) => encoding },
    {
      title: 'Added',
      cell: ({ addedAt }) =>
        addedAt === null ? 'in the server’s settings' : <Moment iso={addedAt} timeZone={frame.timeZone} />,
    },
    {
      title: 'Ends',
      cell: ({ retireAt }) =>
        retireAt === null ? (
          'not by itself'
        ) : (
          <div>
            <Badge text={`in ${formatDuration(Date.parse(retireAt) - now.getTime())}`} tone="warn" />
            <p class="hint">
              <Moment iso={retireAt} timeZone={frame.timeZone} />
            </p>
          </div>
        ),
    },
    ...(administers && secrets.length > 1
      ? [
          {
            title: 'Now',
            cell: ({ id }: ShownSecret) => (
              <PostForm frame={frame} action={`/sources/${source.slug}/secrets/retire`}>
                <input type="hidden" name="secret" value={id} />
                <button class="quiet slim" type="submit" aria-label={`Stop accepting ${id}`}>
                  Stop accepting
                </button>
              </PostForm>
            ),
          },
        ]
      : []),
  ];
}

function AccessPanel({
  frame,
  state: { source },
  administers,
  form,
}: PanelProps & { readonly form: Readonly<Record<string, string>> }) {
  const isPulled = source.baseUrl !== null && source.apiKey !== null;
  return (
    <Panel id="access" title="Access to the service">
      <Facts
        rows={[
          ['API address', source.baseUrl === null ? 'not set' : <span class="mono">{source.baseUrl}</span>],
          ['API key', source.apiKey === null ? <Badge text="not set" tone="warn" /> : 'set'],
          ['Public address', source.siteUrl === null ? 'not set' : <span class="mono">{source.siteUrl}</span>],
          ['Site key', source.siteKey === null ? 'not set' : 'set'],
        ]}
      />
      {frame.canWork && isPulled ? (
        <PostForm frame={frame} class="buttons" action={`/sources/${source.slug}/check`}>
          <button class="quiet" type="submit">
            Test the API key
          </button>
        </PostForm>
      ) : null}
      {administers ? (
        <details class="more" open={form['baseUrl'] !== undefined}>
          <summary>Change access</summary>
          <div>
            <AccessForm frame={frame} source={source} back="source" form={form} />
          </div>
        </details>
      ) : null}
    </Panel>
  );
}

function LogPanel({ frame, state }: Omit<PanelProps, 'administers'>) {
  const { source, banners, jobs, runs, bannerNames } = state;
  const isPulled = source.baseUrl !== null && source.apiKey !== null;
  const time = (iso: string) => <Moment iso={iso} timeZone={frame.timeZone} />;
  const bannerOf = (bannerId: string | null) =>
    bannerId === null ? 'all banners' : <BannerName id={bannerId} names={bannerNames} />;
  return (
    <Panel id="log" title="Consent log">
      <p>
        <Badge {...pullText(source, banners)} />
      </p>
      {jobs.map((job) => (
        <JobProgress
          key={job.id}
          job={job}
          what={job.kind === 'recount' ? 'Recount of recent days' : 'Sync'}
          again={`/sources/${source.slug}#log`}
        />
      ))}
      {frame.canWork && isPulled ? (
        <div class="buttons">
          <PostForm frame={frame} action={`/sources/${source.slug}/sync`}>
            <button type="submit">Sync now</button>
          </PostForm>
          {jobs.length === 0 ? null : (
            <PostForm frame={frame} action={`/sources/${source.slug}/sync/stop`}>
              <button class="quiet" type="submit">
                Stop
              </button>
            </PostForm>
          )}
        </div>
      ) : null}
      {banners.length === 0 ? null : (
        <>
          <h3>Banners</h3>
          <Table
            caption={null}
            columns={[
              { title: 'Banner', cell: ({ bannerId }) => bannerOf(bannerId) },
              {
                title: 'State',
                cell: (banner) => (
                  <div>
                    <Badge {...syncText(banner.state)} />
                    {banner.lastError === null ? null : <p class="hint outside">{banner.lastError}</p>}
                  </div>
                ),
              },
              { title: 'Complete up to', cell: ({ watermark }) => (watermark === null ? '–' : time(watermark)) },
              { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
            ]}
            rows={banners}
          />
          <p class="small">
            <a href={`/banners?source=${source.slug}`}>Name the banners and add evidence of their appearance</a>
          </p>
        </>
      )}
      <h3>History</h3>
      {runs.length === 0 ? (
        <p>No sync has ended yet.</p>
      ) : (
        <Table caption={`The last ${runs.length}, newest first.`} columns={runColumns(time, bannerOf)} rows={runs} />
      )}
    </Panel>
  );
}

function runColumns(
  time: (iso: string) => ReturnType<typeof Moment>,
  bannerOf: (bannerId: string | null) => unknown,
): readonly Column<SyncRun>[] {
  return [
    {
      title: 'Ended',
      cell: ({ at, seq }) => <a href={`/entries/${seq}`}>{time(at)}</a>,
    },
    { title: 'Banner', cell: ({ bannerId }) => bannerOf(bannerId) as never },
    {
      title: 'Result',
      cell: ({ action, error }) => (
        <div>
          <Badge
            {...(action === 'sync.finished' ? { text: 'complete', tone: 'good' } : { text: 'failed', tone: 'bad' })}
          />
          {error === null ? null : <p class="hint outside">{error}</p>}
        </div>
      ),
    },
    { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
    { title: 'New', isNumber: true, cell: ({ stored }) => formatCount(stored) },
    { title: 'By', cell: ({ actor }) => <bdi>{actor}</bdi> },
  ];
}
