import type { Rule } from './rules.ts';

const anyone = { who: 'anyone' } as const;

/** The rules of the API (docs/api.md). What is not there needs no rule to be refused: the server does not start with it. */
export const apiRules: Readonly<Record<string, Rule>> = {
  'GET /openapi.json': anyone,
  'GET /api': anyone,

  'GET /api/v1/me': { who: 'self' },

  'GET /api/v1/cases': { who: 'read', source: 'query', views: 'requests' },
  'POST /api/v1/cases': { who: 'work', source: 'form' },
  'GET /api/v1/cases/:caseId': { who: 'read', source: 'case', views: 'object' },
  'POST /api/v1/cases/:caseId/moves': { who: 'work', source: 'case' },
  'POST /api/v1/cases/:caseId/pack': { who: 'work', source: 'case' },

  'POST /api/v1/consent/look-up': { who: 'read', source: 'form' },

  'GET /api/v1/policies': { who: 'read', source: 'query' },
  'GET /api/v1/policies/texts': { who: 'read', source: 'query' },

  'GET /api/v1/documents': { who: 'read', source: 'query' },
  'GET /api/v1/documents/:documentId': { who: 'read', source: 'document' },
  'GET /api/v1/documents/:documentId/download': { who: 'read', source: 'document' },
  'POST /api/v1/reports': { who: 'work', source: 'form' },

  'GET /api/v1/deliveries': { who: 'read', source: 'query' },
  'GET /api/v1/entries/:seq': { who: 'read', source: 'entry', views: 'object' },

  'GET /api/v1/sources': { who: 'read', source: 'installation' },
  'GET /api/v1/syncs': { who: 'read', source: 'query' },
  'POST /api/v1/syncs': { who: 'work', source: 'form' },
  'GET /api/v1/jobs': { who: 'read', source: 'query' },
  'GET /api/v1/jobs/:jobId': { who: 'read', source: 'job' },
};
