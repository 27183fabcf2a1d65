import type { ComponentChildren, JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { can, type Role } from '../../core/roles.ts';
import { stylesheetPath } from './style.ts';

/** What every page of a signed-in officer knows. */
export interface PageFrame {
  readonly officer: string;
  readonly role: Role;
  /** Whether the person may change anything: else pages leave their forms out. */
  readonly canWork: boolean;
  /** Goes into every form. */
  readonly csrf: string;
  readonly timeZone: string;
  readonly version: string;
}

interface PageProps {
  readonly title: string;
  /** Null if nobody is signed in. */
  readonly frame: PageFrame | null;
  /** The place in the navigation. */
  readonly current?: 'today' | 'requests' | 'new-request' | 'banners' | 'scans' | 'consent' | 'people' | 'account';
  /** Address of the script that the page needs for something that no form can do. */
  readonly script?: string;
  readonly children: ComponentChildren;
}

/** The frame of every page. */
export function Page({ title, frame, current, script, children }: PageProps) {
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
                <nav aria-label="Main">
                  <ul>
                    <li>
                      <NavLink href="/" label="Today" here={current === 'today'} />
                    </li>
                    <li>
                      <NavLink href="/cases" label="All requests" here={current === 'requests'} />
                    </li>
                    {frame.canWork ? (
                      <li>
                        <NavLink href="/cases/new" label="Record a request" here={current === 'new-request'} />
                      </li>
                    ) : null}
                    <li>
                      <NavLink href="/consent" label="Consent look-up" here={current === 'consent'} />
                    </li>
                    <li>
                      <NavLink href="/banners" label="Banners" here={current === 'banners'} />
                    </li>
                    <li>
                      <NavLink href="/scans" label="Scans and integrations" here={current === 'scans'} />
                    </li>
                    {can(frame.role, 'administer') ? (
                      <li>
                        <NavLink href="/people" label="People" here={current === 'people'} />
                      </li>
                    ) : null}
                  </ul>
                </nav>
                <div class="who">
                  <NavLink href="/account" label={frame.officer} here={current === 'account'} />
                  <form method="post" action="/sign-out">
                    <Csrf token={frame.csrf} />
                    <button type="submit">Sign out</button>
                  </form>
                </div>
              </>
            )}
          </div>
        </header>
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

function NavLink({ href, label, here }: { href: string; label: string; here: boolean }) {
  return (
    <a href={href} {...(here ? { 'aria-current': 'page' as const } : {})}>
      {label}
    </a>
  );
}

/** The hidden field without which no form is taken. */
export function Csrf({ token }: { token: string }) {
  return <input type="hidden" name="_csrf" value={token} />;
}

/** A page as it is sent. */
export function renderPage(page: JSX.Element): string {
  return `<!doctype html>\n${renderToString(page)}\n`;
}
