import { expect, it } from 'vitest';
import { rules } from '../../src/http/rules.ts';

/** Reasons why an action of the pages has no API route. Programs can do everything else that a page does. */
const inBrowserOnly = {
  isSeen: 'It records that a person has looked.',
  isReviewed: 'A person looks at what was proposed before they accept it.',
  own: 'It is about the account, the sessions or the saved views of the person who looks.',
  isFinal: 'It destroys for good: a person confirms what was just shown to them.',
  hasFile: 'It is about a file of a person: `consent-ledger banner` and `document check` take one from a program.',
  isAdministration: 'It sets up the installation, its people or their access, which only people administer.',
} as const;

/** The API route for each action of a page. */
const inApi: Readonly<Record<string, string>> = {
  'POST /reports': 'POST /api/v1/reports',
  'POST /policies/bulk/publish': 'POST /api/v1/policies/publish',
  'POST /sync': 'POST /api/v1/syncs',
  'POST /sync/dismiss': 'own',
  'POST /cases': 'POST /api/v1/cases',
  'POST /cases/search': 'GET /api/v1/cases',
  'POST /cases/calendar': 'own',
  'POST /cases/views': 'own',
  'POST /cases/:caseId/moves': 'POST /api/v1/cases/:caseId/moves',
  'POST /cases/:caseId/pack': 'POST /api/v1/cases/:caseId/pack',
  'POST /cases/:caseId/tasks/mail': 'POST /api/v1/cases/:caseId/tasks/:task/mail',
  'POST /cases/:caseId/hand-overs': 'POST /api/v1/cases/:caseId/hand-overs',
  'POST /cases/:caseId/hand-overs/revoke': 'POST /api/v1/cases/:caseId/hand-overs/:handOverId/revoke',
  'POST /cases/:caseId/letter': 'POST /api/v1/cases/:caseId/letters',
  'POST /cases/:caseId/letters/:documentId/mail': 'POST /api/v1/cases/:caseId/letters/:documentId/mail',
  'POST /cases/:caseId/attachments': 'hasFile',
  'POST /documents/schedules': 'POST /api/v1/schedules',
  'POST /documents/schedules/remove': 'POST /api/v1/schedules/:scheduleId/remove',
  'POST /documents/check': 'hasFile',
  'POST /banners': 'hasFile',
  'POST /banners/names': 'POST /api/v1/banners/names',
  'POST /banners/evidence/:seq/retract': 'hasFile',
  'POST /sources/:slug/fields': 'isReviewed',
  'POST /sources/:slug/necessary': 'isReviewed',
  'POST /readings/adopt': 'isReviewed',
  'POST /sources/:slug/secrets': 'POST /api/v1/sources/:slug/secrets',
  'POST /sources/:slug/secrets/retire': 'POST /api/v1/sources/:slug/secrets/:secretId/retire',
  'POST /sources/:slug/reread': 'POST /api/v1/sources/:slug/reread',
  'POST /deliveries/unread/set-aside': 'isSeen',
  'POST /consent/contradictions/settle': 'POST /api/v1/consent/contradictions/settle',
  'POST /consent/undelivered/settle': 'POST /api/v1/consent/undelivered/settle',
  'POST /deliveries/refused/secret': 'POST /api/v1/sources/:slug/secrets',
  'POST /deliveries/refused/readmit': 'isAdministration',
  'POST /documents/export': 'isAdministration',
  'POST /people': 'isAdministration',
  'POST /people/:personId': 'isAdministration',
  'POST /people/:personId/access': 'isAdministration',
  'POST /people/:personId/address': 'isAdministration',
  'POST /people/:personId/link': 'isAdministration',
  'POST /settings/letters': 'isAdministration',
  'POST /sources/:slug/controller': 'POST /api/v1/sources/:slug/profile',
  'POST /settings/profile': 'POST /api/v1/sources/:slug/profile',
  'POST /settings/profile/own': 'POST /api/v1/sources/:slug/profile/own',
  'POST /sources': 'isAdministration',
  'POST /sources/import': 'isAdministration',
  'POST /sources/:slug/access': 'isAdministration',
  'POST /sources/:slug/name': 'isAdministration',
  'POST /sources/:slug/offboard': 'isAdministration',
  'POST /sources/:slug/check': 'POST /api/v1/sources/:slug/check',
  'POST /sources/:slug/sync': 'POST /api/v1/syncs',
  'POST /sources/:slug/sync/stop': 'POST /api/v1/syncs/stop',
  'POST /settings/retention/holds': 'POST /api/v1/holds',
  'POST /settings/retention/holds/lift': 'POST /api/v1/holds/:holdId/lift',
  'POST /settings/erasures/preview': 'isFinal',
  'POST /settings/erasures': 'isFinal',
  'POST /settings/erasures/:erasureId': 'isFinal',
  'POST /policies/generate': 'POST /api/v1/policies/generate',
  'POST /policies/publish': 'POST /api/v1/policies/publish',
  'POST /policies/list': 'POST /api/v1/policies/list',
  'POST /policies/bulk/file': 'POST /api/v1/policies/bulk',
  'POST /policies/bulk': 'POST /api/v1/policies/bulk',
  'POST /policies/bulk/send': 'POST /api/v1/policies/bulk',
  'POST /policies/bulk/stop': 'POST /api/v1/jobs/:jobId/stop',
  'POST /policies/calls': 'POST /api/v1/policies/calls/:requestId/settle',
  'POST /evidence/verify': 'POST /api/v1/verifications',
  'POST /evidence/checkpoints': 'POST /api/v1/checkpoints',
  'POST /consent': 'POST /api/v1/consent/look-up',
  'POST /consent/statement': 'POST /api/v1/consent/look-up',
};

it('the API can do everything that a page can do, or a reason is given why not', () => {
  const actions = Object.entries(rules).flatMap(([route, rule]) =>
    route.startsWith('POST /') && !/^POST \/(?:api\/|mcp$)/.test(route) && rule.who !== 'anyone' && rule.who !== 'self'
      ? [route]
      : [],
  );
  expect(Object.keys(inApi).sort()).toEqual(actions.sort());
  const missing = Object.entries(inApi).filter(([, place]) => !(place in rules) && !(place in inBrowserOnly));
  expect(missing).toEqual([]);
});
