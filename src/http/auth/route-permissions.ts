import type { Capability } from '../../core/roles.ts';

/**
 * Who may call a route: `anyone`; `self`, everyone signed in, for their own account; otherwise roles with the
 * capability. Also where the request names its source, which must be one that the person may see: a part or parameter
 * of the address, a form field, or the source of the case, document, evidence, entry or refused delivery in the
 * address. `installation`: the page shows what the person may see of every source, or something that belongs to none.
 */
export type Rule =
  | { readonly who: 'anyone' | 'self' }
  | {
      readonly who: Capability;
      readonly source:
        | 'installation'
        | 'query'
        | 'form'
        | 'address'
        | 'case'
        | 'document'
        | 'evidence'
        | 'entry'
        | 'refused'
        | 'job'
        | 'erasure';
      /** The form holds a text that somebody wrote: kept for an hour if the session had ended (late-forms.tsx). */
      readonly isWritten?: true;
      /** The request shows personal data and is recorded as an entry: for the object in the address, or for a list. */
      readonly views?: 'object' | ViewedList;
    };

/** A list of personal data, as named in entries about access. */
type ViewedList =
  | 'requests'
  | 'decisions'
  | 'contradictory decisions'
  | 'undelivered decisions'
  | 'deliveries'
  | 'documents'
  | 'refused deliveries';

const anyone = { who: 'anyone' } as const;
const self = { who: 'self' } as const;

/** The rules of the routes that no page file defines. */
export const otherRules: Readonly<Record<string, Rule>> = {
  'GET /metrics': anyone,
  'GET /healthz': anyone,
  'HEAD /healthz': anyone,
  'GET /readyz': anyone,
  'HEAD /readyz': anyone,
  'GET /assets/*': anyone,

  'GET /sign-in': anyone,
  'POST /sign-in': anyone,
  'POST /sign-in/passkey': anyone,
  'GET /sign-in/sso': anyone,
  'GET /sign-in/sso/callback': anyone,
  'GET /join': anyone,
  'POST /join': anyone,
  'GET /signed-out': anyone,
  'POST /sign-out': self,

  'GET /unsent-form': self,

  'POST /mcp': { who: 'read', source: 'installation' },
  'GET /mcp': { who: 'read', source: 'installation' },
  'DELETE /mcp': { who: 'read', source: 'installation' },

  'GET /calendar/:token': anyone,

  // The API (docs/api.md).
  'GET /openapi.json': anyone,
  'GET /api': anyone,

  'GET /api/v1/me': { who: 'self' },

  'GET /api/v1/cases': { who: 'read', source: 'query', views: 'requests' },
  'POST /api/v1/cases': { who: 'work', source: 'form' },
  'GET /api/v1/cases/:caseId': { who: 'read', source: 'case', views: 'object' },
  'POST /api/v1/cases/:caseId/moves': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/pack': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/letters': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/letters/:documentId/mail': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/tasks/:task/link': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/tasks/:task/mail': { who: 'work', source: 'case' },
  'GET /api/v1/cases/:caseId/hand-overs': { who: 'read', source: 'case', views: 'object' },
  'POST /api/v1/cases/:caseId/hand-overs': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/hand-overs/:handOverId/revoke': { who: 'work', source: 'case' },

  'POST /api/v1/consent/look-up': { who: 'read', source: 'form' },

  'GET /api/v1/consent/decisions': { who: 'read', source: 'query', views: 'decisions' },
  'GET /api/v1/consent/contradictions': { who: 'read', source: 'query', views: 'contradictory decisions' },
  'GET /api/v1/consent/undelivered': { who: 'read', source: 'query', views: 'undelivered decisions' },

  'POST /api/v1/consent/contradictions/settle': { who: 'work', source: 'form' },
  'POST /api/v1/consent/undelivered/settle': { who: 'work', source: 'form' },

  'GET /api/v1/holds': { who: 'read', source: 'installation' },
  'POST /api/v1/holds': { who: 'work', source: 'form' },
  'POST /api/v1/holds/:holdId/lift': { who: 'work', source: 'installation' },

  'POST /api/v1/policies/list': { who: 'work', source: 'form' },
  'GET /api/v1/policies/calls': { who: 'read', source: 'query' },
  'POST /api/v1/policies/calls/:requestId/settle': { who: 'work', source: 'form' },
  'GET /api/v1/policies': { who: 'read', source: 'query' },
  'GET /api/v1/policies/texts': { who: 'read', source: 'query' },

  'POST /api/v1/policies/generate': { who: 'work', source: 'form' },
  'POST /api/v1/policies/publish': { who: 'work', source: 'form' },
  'POST /api/v1/policies/bulk': { who: 'work', source: 'form' },
  'GET /api/v1/policies/bulk/:planId': { who: 'read', source: 'query' },

  'GET /api/v1/documents': { who: 'read', source: 'query' },
  'GET /api/v1/documents/:documentId': { who: 'read', source: 'document' },
  'GET /api/v1/documents/:documentId/download': { who: 'read', source: 'document' },
  'POST /api/v1/reports': { who: 'work', source: 'form' },

  'GET /api/v1/schedules': { who: 'read', source: 'query' },
  'POST /api/v1/schedules': { who: 'work', source: 'form' },
  'POST /api/v1/schedules/:scheduleId/remove': { who: 'work', source: 'form' },

  'GET /api/v1/deliveries': { who: 'read', source: 'query' },
  'GET /api/v1/deliveries/events': { who: 'read', source: 'query', views: 'deliveries' },
  'GET /api/v1/entries/:seq': { who: 'read', source: 'entry', views: 'object' },
  'GET /api/v1/entries/:seq/proof': { who: 'read', source: 'entry', views: 'object' },

  'GET /api/v1/verifications/last': { who: 'read', source: 'installation' },
  'POST /api/v1/verifications': { who: 'work', source: 'installation' },
  'POST /api/v1/checkpoints': { who: 'work', source: 'installation' },
  'GET /api/v1/sources': { who: 'read', source: 'installation' },
  'GET /api/v1/sources/:slug': { who: 'read', source: 'address' },
  'POST /api/v1/sources/:slug/check': { who: 'work', source: 'address' },
  'POST /api/v1/sources/:slug/secrets': { who: 'administer', source: 'address' },
  'POST /api/v1/sources/:slug/secrets/:secretId/retire': { who: 'administer', source: 'address' },
  'GET /api/v1/sources/:slug/profile': { who: 'read', source: 'address' },
  'POST /api/v1/sources/:slug/profile': { who: 'administer', source: 'installation' },
  'POST /api/v1/sources/:slug/profile/own': { who: 'administer', source: 'address' },
  'POST /api/v1/sources/:slug/reread': { who: 'administer', source: 'address' },
  'POST /api/v1/banners/names': { who: 'work', source: 'form' },
  'POST /api/v1/syncs/stop': { who: 'work', source: 'form' },
  'GET /api/v1/syncs': { who: 'read', source: 'query' },
  'POST /api/v1/syncs': { who: 'work', source: 'form' },
  'GET /api/v1/jobs': { who: 'read', source: 'query' },
  'GET /api/v1/jobs/:jobId': { who: 'read', source: 'job' },
  'POST /api/v1/jobs/:jobId/stop': { who: 'work', source: 'job' },
  'GET /api/v1/jobs/:jobId/events': { who: 'read', source: 'job' },
};
