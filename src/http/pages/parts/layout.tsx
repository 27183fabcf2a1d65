import type { ComponentChildren, JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type Capability, can, type Role } from '../../../core/roles.ts';
import { stylesheetPath } from './style.ts';

/** What every page needs to know about the signed-in officer. */
export interface PageFrame {
  readonly officer: string;
  /** The person's account; null: signed in without one. */
  readonly personId: string | null;
  readonly role: Role;
  /** Whether the person may change anything; if not, pages leave out their forms. */
  readonly canWork: boolean;
  /** Included in every form. */
  readonly csrf: string;
  readonly timeZone: string;
  readonly version: string;
  /** The name of a source, by slug. */
  readonly sourceName: (slug: string) => string;
  /** The sources that the person may see, and the one of several on which they work; null: all. */
  readonly sources: readonly { readonly slug: string; readonly name: string }[];
  readonly current: string | null;
  /** Whether these are all there are and will be. */
  readonly seesAll: boolean;
  /** The path of this page, to come back to. */
  readonly path: string;
}

interface Place {
  readonly key: string;
  readonly href: string;
  readonly label: string;
  /** Who sees it in the navigation; default: everyone. */
  readonly for?: Capability;
}

/** The navigation: groups of pages; a group's name links to its first page. */
const navigation = [
  { label: 'Today', places: [{ key: 'today', href: '/', label: 'Today' }] },
  {
    label: 'Requests',
    places: [
      { key: 'requests', href: '/cases', label: 'All requests' },
      { key: 'new-request', href: '/cases/new', label: 'Record a request', for: 'work' },
      { key: 'deadline', href: '/deadline', label: 'Deadline calculator' },
    ],
  },
  {
    label: 'Consent',
    places: [
      { key: 'consent', href: '/consent', label: 'Consent look-up' },
      { key: 'decisions', href: '/consent/decisions', label: 'Decisions' },
      { key: 'contradictions', href: '/consent/contradictions', label: 'Contradictions' },
      { key: 'undelivered', href: '/consent/undelivered', label: 'Never delivered' },
      { key: 'banners', href: '/banners', label: 'Banners' },
    ],
  },
  {
    label: 'Policies',
    places: [
      { key: 'policies', href: '/policies', label: 'All policies' },
      { key: 'generate', href: '/policies/generate', label: 'Generate', for: 'work' },
      { key: 'bulk', href: '/policies/bulk', label: 'Bulk' },
      { key: 'calls', href: '/policies/calls', label: 'Calls to the service' },
    ],
  },
  {
    label: 'Deliveries',
    places: [
      { key: 'deliveries', href: '/deliveries', label: 'All deliveries' },
      { key: 'unread', href: '/deliveries/unread', label: 'Not understood' },
      { key: 'refused', href: '/deliveries/refused', label: 'Refused' },
    ],
  },
  {
    label: 'Documents',
    places: [
      { key: 'documents', href: '/documents', label: 'Library' },
      { key: 'schedules', href: '/documents/schedules', label: 'Schedules' },
      { key: 'check', href: '/documents/check', label: 'Check a file' },
      { key: 'export', href: '/documents/export', label: 'Export everything', for: 'administer' },
    ],
  },
  { label: 'Evidence', places: [{ key: 'evidence', href: '/evidence', label: 'Evidence' }] },
  {
    label: 'Sources',
    places: [
      { key: 'sources', href: '/sources', label: 'All sources' },
      { key: 'scans', href: '/scans', label: 'Scans and integrations' },
      { key: 'figures', href: '/figures', label: 'Figures' },
    ],
  },
  {
    label: 'Settings',
    places: [
      { key: 'people', href: '/people', label: 'People', for: 'administer' },
      { key: 'profile', href: '/settings/profile', label: 'Controller profile' },
      { key: 'letters', href: '/settings/letters', label: 'Letter texts' },
      { key: 'retention', href: '/settings/retention', label: 'Retention and holds' },
      { key: 'erasures', href: '/settings/erasures', label: 'Erase', for: 'work' },
      { key: 'notifications', href: '/settings/notifications', label: 'Notifications', for: 'work' },
    ],
  },
] as const satisfies readonly { readonly label: string; readonly places: readonly Place[] }[];

/** A page of the navigation, or the account. */
type PlaceKey = (typeof navigation)[number]['places'][number]['key'] | 'account';

interface PageProps {
  readonly title: string;
  /** Null if nobody is signed in. */
  readonly frame: PageFrame | null;
  /** Its place in the navigation. */
  readonly current?: PlaceKey;
  /** For a page outside the navigation: the page to which it belongs. */
  readonly within?: PlaceKey;
  /** Address of the page's script, for something that forms cannot do. */
  readonly script?: string;
  readonly children: ComponentChildren;
}

/** The frame of every page. */
export function Page({ title, frame, current, within = current, script, children }: PageProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · consent-ledger`}</title>
        <link rel="stylesheet" href={stylesheetPath} />
        <link rel="icon" href="data:," />
        {script === undefined ? null : <script src={script} defer />}
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header class="top">
          <div class="top-inner">
            <a class="brand" href="/">
              consent-ledger
            </a>
            {frame === null ? null : (
              <>
                <button type="button" class="menu" popovertarget="menu">
                  Menu
                </button>
                <MainNavigation frame={frame} current={current} within={within} />
                <div class="who">
                  <SourceSwitch frame={frame} />
                  <NavLink href="/account" label={frame.officer} here={current === 'account' && 'page'} />
                  <form method="post" action="/sign-out">
                    <Csrf token={frame.csrf} />
                    <button type="submit">Sign out</button>
                  </form>
                </div>
              </>
            )}
          </div>
        </header>
        {frame === null ? null : <GroupNavigation frame={frame} current={current} within={within} />}
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        {frame === null ? null : (
          <footer>
            Times are in {frame.timeZone}. consent-ledger {frame.version}.
          </footer>
        )}
      </body>
    </html>
  );
}

/** On which source the person works; every list and form follows. */
function SourceSwitch({ frame }: { readonly frame: PageFrame }) {
  const { sources, current } = frame;
  if (sources.length < 2) return null;
  return (
    <form method="post" action="/account/source" class="switch">
      <Csrf token={frame.csrf} />
      <input type="hidden" name="back" value={frame.path} />
      <label class="unseen" for="current-source">
        Work on
      </label>
      <select id="current-source" name="current">
        <option value="" selected={current === null}>
          All sources
        </option>
        {sources.map(({ slug, name }) => (
          <option key={slug} value={slug} selected={slug === current}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">Go</button>
    </form>
  );
}

interface NavigationProps {
  readonly frame: PageFrame;
  readonly current: PlaceKey | undefined;
  readonly within: PlaceKey | undefined;
}

function MainNavigation({ frame, current, within }: NavigationProps) {
  return (
    <nav aria-label="Main" id="menu" popover="auto">
      <ul>
        {navigation.map(({ label, places }) => {
          const [first] = permitted(frame, places);
          if (first === undefined) return null;
          const inside = places.some(({ key }) => key === within);
          return (
            <li key={label}>
              <NavLink href={first.href} label={label} here={inside && (first.key === current ? 'page' : 'true')} />
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** The other pages of the group. */
function GroupNavigation({ frame, current, within }: NavigationProps) {
  const group = navigation.find(({ places }) => places.some(({ key }) => key === within));
  const places = group === undefined ? [] : permitted(frame, group.places);
  if (group === undefined || places.length < 2) return null;
  return (
    <nav class="beside" aria-label={group.label}>
      <ul>
        {places.map(({ key, href, label }) => (
          <li key={key}>
            <NavLink href={href} label={label} here={key === current && 'page'} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function permitted(frame: PageFrame, places: readonly Place[]): readonly Place[] {
  return places.filter((place) => place.for === undefined || can(frame.role, place.for));
}

function NavLink({ href, label, here }: { href: string; label: string; here: 'page' | 'true' | false }) {
  return (
    <a href={href} {...(here === false ? {} : { 'aria-current': here })}>
      {label}
    </a>
  );
}

/** The hidden field required in every form. */
export function Csrf({ token }: { token: string }) {
  return <input type="hidden" name="_csrf" value={token} />;
}

/** Renders a page for sending. */
export function renderPage(page: JSX.Element): string {
  return `<!doctype html>\n${renderToString(page)}\n`;
}
