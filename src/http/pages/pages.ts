import { routes as banners } from './banners/banners.page.tsx';
import { routes as deadline } from './deadline/deadline.page.tsx';
import { routes as download } from './documents/download.page.tsx';
import { routes as jobEvents } from './jobs/job-events.page.tsx';
import type { PageRoute } from './parts/define-page.ts';
import { routes as notifications } from './settings/notifications.page.tsx';

/** Every route of the officers' pages: a new page file is added here, and nowhere else. */
export const pageRoutes: readonly PageRoute[] = [...banners, ...deadline, ...download, ...jobEvents, ...notifications];
