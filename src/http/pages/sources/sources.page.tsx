import { z } from 'zod';
import { counted, formatCount } from '../../../../reports/format.ts';
import { loadRefusedCounts } from '../../../attention/deliveries.ts';
import { loadLastTimes } from '../../../attention/figures.ts';
import { isIncomplete, loadSourceGaps, type SourceGap } from '../../../attention/source-gaps.ts';
import type { Context } from '../../../context/context.ts';
import { can } from '../../../core/roles.ts';
import type { Source } from '../../../core/source.ts';
import { sourceSlugPattern } from '../../../core/vocabulary.ts';
import { type BannerStatus, loadSyncStatus } from '../../../sync/status.ts';
import { pagesWith, text } from '../parts/define-page.ts';
import { Page, type PageFrame } from '../parts/layout.tsx';
import { Badge, type Column, Input, Moment, Notice, Pages, Panel, Problems, Table } from '../parts/parts.tsx';
import { PostForm } from '../parts/post-form.tsx';
import { secretsText, type Worded } from '../parts/words.ts';
import { pullText } from './pull-text.ts';
import { SetUpSteps } from './set-up-steps.tsx';
import { inWords } from './source-forms.tsx';

/** Sources per page. */
const SHOWN = 50;
const REFUSED_HOURS = 72;

/** The state of one source. */
interface ShownSource {
  readonly source: Source;
  readonly lastDelivery: string | null;
  /** Deliveries to it refused in the last 72 hours. */
  readonly refused: number;
  readonly lastSync: string | null;
  readonly banners: readonly BannerStatus[];
  /** Its signing secrets, in words. */
  readonly secrets: Worded;
  /** What it lacks. */
  readonly gaps: readonly SourceGap[];
}

const { page, form } = pagesWith<'store' | 'clock' | 'projector' | 'rejected' | 'sources' | 'loadProfile'>();

/** The installation's sources with their state. */
const all = page({
  path: '/sources',
  rule: { who: 'read', source: 'installation' },
  query: z.object({ after: text, missing: text }),
  async load({ context, permitted, fields: { after, missing } }) {
    const gaps = await loadSourceGaps(context, permitted.list());
    const isListed = ({ slug }: Source) => missing !== 'yes' || isIncomplete(gaps.get(slug));
    const rest = permitted.list().filter((source) => source.slug > after && isListed(source));
    const only: Record<string, string> = missing === 'yes' ? { missing } : {};
    const address = (query: Record<string, string>) =>
      Object.keys(query).length === 0 ? '/sources' : `/sources?${new URLSearchParams(query).toString()}`;
    const shown = rest.slice(0, SHOWN);
    const { slugs } = permitted;
    return {
      shown: await loadShown(context, shown, gaps),
      isOnlyMissing: missing === 'yes',
      incomplete: [...gaps.values()].filter(isIncomplete).length,
      offboarded: context.sources
        .offboarded()
        .filter(({ source }) => slugs === null || slugs.includes(source.slug))
        .map(({ source, offboardedAt }) => ({ slug: source.slug, name: source.name, at: offboardedAt })),
      damaged: context.sources.damaged().filter((slug) => slugs?.includes(slug) ?? true),
      first: after === '' ? null : address(only),
      next: rest.length > SHOWN ? address({ ...only, after: shown.at(-1)?.slug ?? '' }) : null,
    };
  },
  show: (data, { frame }) => <SourcesPage frame={frame} {...data} />,
});

const empty = page({
  path: '/sources/new',
  rule: { who: 'administer', source: 'installation' },
  load: () => null,
  show: (_data, { frame, said }) => <NewSourcePage frame={frame} {...said} />,
});

const add = form({
  path: '/sources',
  rule: { who: 'administer', source: 'installation' },
  body: z.object({ name: text, slug: text }),
  async act(visit) {
    const { context, fields, typed, by } = visit;
    const name = fields.name.trim();
    if (name === '') return empty.again(visit, { fields: {}, said: { problems: ['Enter a name.'] } });
    const slug = fields.slug.trim() || slugOf(name);
    const refuse = (problems: readonly string[], status = 422) =>
      empty.again(visit, { fields: {}, said: { problems, form: { ...typed, slug } }, status });
    if (!sourceSlugPattern.test(slug)) return refuse([SHORT_NAME_NEEDS]);
    const added = await context.sources.add({ slug, name }, by.officer);
    switch (added.outcome) {
      case 'done':
        await visit.projected(added.seq);
        return visit.goTo(`/sources/${slug}/set-up`);
      case 'invalid':
        return refuse(added.problems.map(inWords));
      case 'exists':
        return refuse([`The short name "${slug}" is already used.`], 409);
      case 'configured':
      case 'unknown':
      case 'unchanged':
      case 'conflict':
        return refuse(['Someone else changed the sources: try again.'], 409);
      default:
        return added satisfies never;
    }
  },
});

export const routes = [all, empty, add];

async function loadShown(
  {
    store,
    clock,
    projector,
    rejected,
    sources: register,
  }: Pick<Context, 'store' | 'clock' | 'projector' | 'rejected' | 'sources'>,
  sources: readonly Source[],
  gaps: ReadonlyMap<string, readonly SourceGap[]>,
): Promise<readonly ShownSource[]> {
  const slugs = sources.map(({ slug }) => slug);
  await projector.catchUp();
  const [times, refused, banners] = await Promise.all([
    loadLastTimes(store.read, { sources: slugs, pulled: slugs }),
    loadRefusedCounts({ clock, rejected }, undefined),
    loadSyncStatus(store.read, clock, sources),
  ]);
  return sources.map((source) => ({
    source,
    lastDelivery: times.delivered.get(source.slug) ?? null,
    refused: refused.filter((one) => one.source === source.slug).reduce((sum, { count }) => sum + count, 0),
    lastSync: times.synced.get(source.slug) ?? null,
    banners: banners.filter((banner) => banner.source === source.slug),
    secrets: secretsText(source.webhookSecrets.length, register.retirements(source.slug).size),
    gaps: gaps.get(source.slug) ?? [],
  }));
}

const SHORT_NAME_NEEDS =
  'Enter a short name. It needs 1 to 63 lower-case letters without accents, digits or hyphens, and no hyphen at either end.';

/** Derives a short name: `Große Söhne & Co` → `grosse-sohne-co`. Empty for a name without Latin letters and digits. */
function slugOf(name: string): string {
  return name
    .replaceAll(/ß/gi, 'ss')
    .replaceAll(/[æÆ]/g, 'ae')
    .replaceAll(/[øØ]/g, 'o')
    .replaceAll(/[łŁ]/g, 'l')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}

interface SourcesProps {
  readonly frame: PageFrame;
  readonly shown: readonly ShownSource[];
  readonly offboarded: readonly { readonly slug: string; readonly name: string; readonly at: string }[];
  readonly damaged: readonly string[];
  /** Only sources that lack something are listed. */
  readonly isOnlyMissing: boolean;
  /** How many lack something that they need. */
  readonly incomplete: number;
  readonly first: string | null;
  readonly next: string | null;
}

function SourcesPage(props: SourcesProps) {
  const { frame, shown, offboarded, damaged, isOnlyMissing, incomplete, first, next } = props;
  const administers = can(frame.role, 'administer');
  return (
    <Page title="Sources" frame={frame} current="sources">
      <h1>Sources</h1>
      <p class="lead">The accounts of the service followed here, and whether each one delivers and can be pulled.</p>
      {damaged.length === 0 ? null : (
        <Notice tone="bad">
          <p>
            Disabled, because something other than consent-ledger altered them in the database: {damaged.join(', ')}.
            Restore the database from a backup.
          </p>
        </Notice>
      )}
      <Panel id="list" title={isOnlyMissing ? 'Sources that lack something' : 'All sources'}>
        {isOnlyMissing ? (
          <p>
            <a href="/sources">Show all sources</a>
          </p>
        ) : incomplete > 0 ? (
          <p>
            <a href="/sources?missing=yes">{counted(incomplete, 'source lacks', 'sources lack')} something</a>
          </p>
        ) : null}
        {shown.length === 0 ? (
          <p>
            {isOnlyMissing ? 'None.' : 'No sources yet. '}
            {administers || isOnlyMissing ? null : 'An owner or admin adds the first one.'}
          </p>
        ) : (
          <Table caption={null} columns={columnsOf(frame)} rows={shown} />
        )}
        <Pages first={first} next={next} />
        {administers ? (
          <p class="buttons">
            <a class="button" href="/sources/new">
              Add a source
            </a>
            <a class="button quiet" href="/sources/import">
              Import from a file
            </a>
          </p>
        ) : null}
      </Panel>
      {offboarded.length === 0 ? null : (
        <Panel id="offboarded" title="Offboarded">
          <Table
            caption="Nothing more is pulled or accepted from them; their evidence stays."
            columns={[
              {
                title: 'Source',
                cell: ({ slug, name }) => (
                  <a href={`/sources/${slug}`}>
                    <bdi>{name}</bdi>
                  </a>
                ),
              },
              { title: 'Since', cell: ({ at }) => <Moment iso={at} timeZone={frame.timeZone} /> },
            ]}
            rows={offboarded}
          />
        </Panel>
      )}
    </Page>
  );
}

function columnsOf({ timeZone }: PageFrame): readonly Column<ShownSource>[] {
  const time = (iso: string | null, never: string) =>
    iso === null ? <span class="soft">{never}</span> : <Moment iso={iso} timeZone={timeZone} />;
  return [
    {
      title: 'Source',
      cell: ({ source: { slug, name } }) => (
        <div class="outside">
          <a href={`/sources/${slug}`}>
            <bdi>{name}</bdi>
          </a>
          <br />
          <span class="soft small">{slug}</span>
        </div>
      ),
    },
    {
      title: 'Last delivery',
      cell: ({ lastDelivery, refused }) => (
        <div>
          {time(lastDelivery, 'none yet')}
          {refused === 0 ? null : (
            <p class="hint">
              <a href="/deliveries/refused">
                {formatCount(refused)} refused in {REFUSED_HOURS} hours
              </a>
            </p>
          )}
        </div>
      ),
    },
    {
      title: 'Consent log',
      cell: ({ source, banners, lastSync }) => (
        <div>
          <Badge {...pullText(source, banners)} />
          {lastSync === null ? null : <p class="hint">last sync {time(lastSync, '')}</p>}
        </div>
      ),
    },
    { title: 'Signing secrets', cell: ({ secrets }) => <Badge {...secrets} /> },
    {
      title: 'Settings',
      cell: ({ gaps }) =>
        gaps.length === 0 ? (
          <Badge text="complete" tone="good" />
        ) : (
          <div class="outside">
            {gaps.map(({ what, kind }) => (
              <div key={what}>
                <Badge text={what} tone={kind === 'optional' ? 'calm' : 'bad'} />
              </div>
            ))}
          </div>
        ),
    },
  ];
}

interface NewSourceProps {
  readonly frame: PageFrame;
  readonly form: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

function NewSourcePage({ frame, form, problems }: NewSourceProps) {
  return (
    <Page title="Add a source" frame={frame} within="sources">
      <h1>Add a source</h1>
      <p class="lead">A source is one account or client of the service: its webhook, its API key and its banners.</p>
      <SetUpSteps at={0} done={[]} />
      <Problems title="The source was not added:" problems={problems} />
      <Panel id="name-it" title="Name">
        <PostForm frame={frame} action="/sources">
          <div class="pair">
            <Input
              id="name"
              label="Name"
              maxLength={200}
              value={form['name'] ?? ''}
              autocomplete="off"
              hint="As shown in reports and on pages, for example the client’s name."
            />
            <Input
              id="slug"
              label="Short name"
              optional
              maxLength={63}
              value={form['slug'] ?? ''}
              autocomplete="off"
              spellcheck={false}
              hint="Part of the webhook address; cannot be changed later. Lower-case letters, digits and hyphens; if empty, it is derived from the name."
            />
          </div>
          <button type="submit">Add the source</button>
        </PostForm>
      </Panel>
    </Page>
  );
}
