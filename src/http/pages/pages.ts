import { routes as account } from './account/account.page.tsx';
import { routes as currentSource } from './account/source.page.tsx';
import { routes as banners } from './banners/banners.page.tsx';
import { routes as oneCase } from './cases/case.page.tsx';
import { routes as cases } from './cases/cases.page.tsx';
import { routes as letter } from './cases/letter.page.tsx';
import { routes as consent } from './consent/consent.page.tsx';
import { routes as consentLists } from './consent/consent-lists.page.tsx';
import { routes as decisions } from './consent/decisions.page.tsx';
import { routes as deadline } from './deadline/deadline.page.tsx';
import { routes as deliveries } from './deliveries/deliveries.page.tsx';
import { routes as refused } from './deliveries/refused.page.tsx';
import { routes as unread } from './deliveries/unread.page.tsx';
import { routes as documents } from './documents/documents.page.tsx';
import { routes as download } from './documents/download.page.tsx';
import { routes as exportPage } from './documents/export.page.tsx';
import { routes as schedules } from './documents/schedules.page.tsx';
import { routes as entry } from './entries/entry.page.tsx';
import { routes as entryProof } from './entries/proof.page.ts';
import { routes as evidence } from './evidence/evidence.page.tsx';
import { routes as figures } from './figures/figures.page.tsx';
import { routes as jobEvents } from './jobs/job-events.page.tsx';
import type { PageRoute } from './parts/define-page.ts';
import { routes as people } from './people/people.page.tsx';
import { routes as bulkPolicies } from './policies/bulk.page.tsx';
import { routes as policyCalls } from './policies/calls.page.tsx';
import { routes as generatePolicies } from './policies/generate.page.tsx';
import { routes as policies } from './policies/policies.page.tsx';
import { routes as publishPolicy } from './policies/publish.page.tsx';
import { routes as policyTexts } from './policies/texts.page.tsx';
import { routes as readings } from './readings/readings.page.tsx';
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
import { routes as today } from './today/today.page.tsx';

/** Every route of the officers' pages: a new page file is added here, and nowhere else. */
export const pageRoutes: readonly PageRoute[] = [
  ...account,
  ...banners,
  ...bulkPolicies,
  ...cases,
  ...consent,
  ...consentLists,
  ...currentSource,
  ...deadline,
  ...decisions,
  ...deliveries,
  ...documents,
  ...download,
  ...entry,
  ...entryProof,
  ...erasures,
  ...evidence,
  ...exportPage,
  ...figures,
  ...generatePolicies,
  ...importPage,
  ...jobEvents,
  ...letter,
  ...letters,
  ...notifications,
  ...offboard,
  ...oneCase,
  ...people,
  ...policies,
  ...policyCalls,
  ...publishPolicy,
  ...policyTexts,
  ...profile,
  ...readings,
  ...refused,
  ...retention,
  ...scans,
  ...schedules,
  ...source,
  ...sources,
  ...today,
  ...unread,
];
