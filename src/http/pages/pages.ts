import { routes as account } from './account/account.page.tsx';
import { routes as banners } from './banners/banners.page.tsx';
import { routes as deadline } from './deadline/deadline.page.tsx';
import { routes as documents } from './documents/documents.page.tsx';
import { routes as download } from './documents/download.page.tsx';
import { routes as exportPage } from './documents/export.page.tsx';
import { routes as schedules } from './documents/schedules.page.tsx';
import { routes as evidence } from './evidence/evidence.page.tsx';
import { routes as figures } from './figures/figures.page.tsx';
import { routes as jobEvents } from './jobs/job-events.page.tsx';
import type { PageRoute } from './parts/define-page.ts';
import { routes as people } from './people/people.page.tsx';
import { routes as scans } from './scans/scans.page.tsx';
import { routes as erasures } from './settings/erasures.page.tsx';
import { routes as letters } from './settings/letters.page.tsx';
import { routes as notifications } from './settings/notifications.page.tsx';
import { routes as profile } from './settings/profile.page.tsx';
import { routes as retention } from './settings/retention.page.tsx';
import { routes as importPage } from './sources/import.page.tsx';
import { routes as offboard } from './sources/offboard.page.tsx';
import { routes as source } from './sources/source.page.tsx';
import { routes as sources } from './sources/sources.page.tsx';

/** Every route of the officers' pages: a new page file is added here, and nowhere else. */
export const pageRoutes: readonly PageRoute[] = [
  ...account,
  ...banners,
  ...deadline,
  ...documents,
  ...download,
  ...erasures,
  ...evidence,
  ...exportPage,
  ...figures,
  ...importPage,
  ...jobEvents,
  ...letters,
  ...notifications,
  ...offboard,
  ...people,
  ...profile,
  ...retention,
  ...scans,
  ...schedules,
  ...source,
  ...sources,
];
