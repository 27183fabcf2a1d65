import { routes as banners } from './banners/banners.page.tsx';
import { routes as oneCase } from './cases/case.page.tsx';
import { routes as cases } from './cases/cases.page.tsx';
import { routes as letter } from './cases/letter.page.tsx';
import { routes as consentLists } from './consent/consent-lists.page.tsx';
import { routes as consent } from './consent/consent.page.tsx';
import { routes as decisions } from './consent/decisions.page.tsx';
import { routes as deadline } from './deadline/deadline.page.tsx';
import { routes as deliveries } from './deliveries/deliveries.page.tsx';
import { routes as refused } from './deliveries/refused.page.tsx';
import { routes as unread } from './deliveries/unread.page.tsx';
import { routes as entry } from './entries/entry.page.tsx';
import { routes as entryProof } from './entries/proof.page.ts';
import { routes as bulkPolicies } from './policies/bulk.page.tsx';
import { routes as policyCalls } from './policies/calls.page.tsx';
import { routes as generatePolicies } from './policies/generate.page.tsx';
import { routes as policies } from './policies/policies.page.tsx';
import { routes as policyTexts } from './policies/texts.page.tsx';
import { routes as readings } from './readings/readings.page.tsx';
import { routes as notifications } from './settings/notifications.page.tsx';
import { routes as today } from './today/today.page.tsx';
import type { PageRoute } from './parts/define-page.ts';

/** Every route of the officers' pages: a new page file is added here, and nowhere else. */
export const pageRoutes: readonly PageRoute[] = [
  ...banners,
  ...bulkPolicies,
  ...cases,
  ...consent,
  ...consentLists,
  ...deadline,
  ...decisions,
  ...deliveries,
  ...entry,
  ...entryProof,
  ...generatePolicies,
  ...letter,
  ...notifications,
  ...oneCase,
  ...policies,
  ...policyCalls,
  ...policyTexts,
  ...readings,
  ...refused,
  ...today,
  ...unread,
];
