import { routes as banners } from './banners/banners.page.tsx';
import { routes as deadline } from './deadline/deadline.page.tsx';
import { routes as deliveries } from './deliveries/deliveries.page.tsx';
import { routes as refused } from './deliveries/refused.page.tsx';
import { routes as unread } from './deliveries/unread.page.tsx';
import { routes as entry } from './entries/entry.page.tsx';
import { routes as entryProof } from './entries/proof.page.ts';
import { routes as readings } from './readings/readings.page.tsx';
import { routes as notifications } from './settings/notifications.page.tsx';
import type { PageRoute } from './parts/define-page.ts';

/** Every route of the officers' pages: a new page file is added here, and nowhere else. */
export const pageRoutes: readonly PageRoute[] = [
  ...banners,
  ...deadline,
  ...deliveries,
  ...entry,
  ...entryProof,
  ...notifications,
  ...readings,
  ...refused,
  ...unread,
];
