import { z } from 'zod';
import { findPerson } from '../../people/people.ts';
import { roles } from '../../core/roles.ts';
import { sourcesOf } from '../auth/access.ts';
import { defineRoute } from './route.ts';

const sourceSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    baseUrl: z.string().nullable(),
    siteUrl: z.string().nullable(),
    pulls: z.boolean().meta({ description: 'Whether consent logs can be pulled: an address and a key are set.' }),
    secrets: z.array(z.string()).meta({ description: 'Ids of the signing secrets, never the secrets.' }),
  })
  .meta({ id: 'Source', description: 'An account or client of the service that this installation follows.' });

export const sourceApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/me',
    name: 'getMe',
    tag: 'Sources and syncs',
    summary: 'Whose token this is, and what it may do',
    answer: z.object({
      name: z.string(),
      personId: z.string().nullable(),
      officer: z.string().meta({ description: 'As entries of the ledger name what is done with this token.' }),
      role: z.enum(roles).meta({ description: 'Of the token: auditor with scope read, officer with scope work.' }),
      personRole: z.enum(roles).nullable(),
      sources: z.array(z.string()).nullable().meta({ description: 'Null: every one.' }),
    }),
    async handle(context, { by }) {
      const person = by.personId === null ? null : await findPerson(context, by.personId);
      const { name, personId, officer, role, sources } = by;
      return { name, personId, officer, role, personRole: person?.role ?? null, sources: sources && [...sources] };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/sources',
    name: 'listSources',
    tag: 'Sources and syncs',
    summary: 'The sources that you see, without their credentials',
    answer: z.object({ items: z.array(sourceSchema) }),
    handle: async (context, { request }) => ({
      items: sourcesOf(context, request)
        .list()
        .map(({ slug, name, baseUrl, siteUrl, apiKey, webhookSecrets }) => ({
          slug,
          name,
          baseUrl,
          siteUrl,
          pulls: baseUrl !== null && apiKey !== null,
          secrets: webhookSecrets.map(({ id }) => id),
        })),
    }),
  }),
];
