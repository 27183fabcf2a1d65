import { z } from 'zod';
import { loadLastTimes } from '../../attention/figures.ts';
import { BANNER_NAME_LENGTH, nameBanner } from '../../banners/evidence.ts';
import { checkKeyDiscreetly } from '../../context/check-key.ts';
import { rereadJob } from '../../context/reread-job.ts';
import { publicUrlOf } from '../../core/address.ts';
import { CodedError } from '../../core/errors.ts';
import { roles } from '../../core/roles.ts';
import { type Source, secretEncodings } from '../../core/source.ts';
import { newSigningSecret, webhookSecretOf } from '../../crypto/keys.ts';
import { findPerson } from '../../people/people.ts';
import { sourceProblems } from '../../sources/refusals.ts';
import type { SourceOutcome } from '../../sources/sources.ts';
import { sourcesOf } from '../auth/access.ts';
import { jobSchema, shownJob } from './job-routes.ts';
import { RefusedRequest, routesWith } from './route.ts';

const defineRoute = routesWith<
  'config' | 'store' | 'ledger' | 'evidenceFolder' | 'sources' | 'jobs' | 'projector' | 'log' | 'clock'
>();

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

const slugParams = z.strictObject({ slug: z.string().max(100) });

const sourceStateSchema = sourceSchema
  .extend({
    fromEnvironment: z
      .boolean()
      .meta({ description: 'Whether its address and keys are set by environment variables.' }),
    webhookUrl: z.string(),
    lastDeliveryAt: z.string().nullable(),
    lastSyncAt: z
      .string()
      .nullable()
      .meta({ description: 'The last successful sync; with several banners, of the one pulled longest ago.' }),
    secrets: z.array(
      z.object({
        id: z.string(),
        addedAt: z
          .string()
          .nullable()
          .meta({ description: 'Null: it is set by the environment variable WEBHOOK_SECRETS.' }),
        endsAt: z.string().nullable().meta({ description: 'Null: it does not expire.' }),
      }),
    ),
  })
  .meta({ id: 'SourceState', description: 'A source and its state.' });

function sourceOf({ slug, name, baseUrl, siteUrl, apiKey }: Source) {
  return { slug, name, baseUrl, siteUrl, pulls: baseUrl !== null && apiKey !== null };
}

function refusalOf(outcome: Exclude<SourceOutcome, { readonly outcome: 'done' }>): RefusedRequest {
  const code = outcome.outcome === 'invalid' ? 'refused' : 'conflict';
  return new RefusedRequest(code, sourceProblems(outcome));
}

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
      officer: z.string().meta({ description: 'The name under which entries record actions with this token.' }),
      role: z
        .enum(roles)
        .meta({ description: 'Of the token: auditor with scope read, officer with work, admin with administer.' }),
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
    summary: 'The sources that you can see, without their credentials',
    answer: z.object({ items: z.array(sourceSchema) }),
    handle: async (context, { request }) => ({
      items: sourcesOf(context, request)
        .list()
        .map((source) => ({ ...sourceOf(source), secrets: source.webhookSecrets.map(({ id }) => id) })),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/sources/{slug}',
    name: 'getSource',
    tag: 'Sources and syncs',
    summary: 'One source: its webhook address, its last delivery and sync, and the state of its signing secrets',
    params: slugParams,
    answer: sourceStateSchema,
    async handle(context, { params: { slug }, request }) {
      const source = sourcesOf(context, request).find(slug);
      if (source === null) throw new CodedError('not_found');
      await context.projector.catchUp();
      const times = await loadLastTimes(context.store.read, { sources: [slug], pulled: [slug] });
      const secretTimes = context.sources.secretTimes(slug);
      return {
        ...sourceOf(source),
        fromEnvironment: context.config.defaultSource?.slug === slug,
        webhookUrl: `${publicUrlOf(context.config, context.config.port)}/webhooks/${slug}`,
        lastDeliveryAt: times.delivered.get(slug) ?? null,
        lastSyncAt: times.synced.get(slug) ?? null,
        secrets: source.webhookSecrets.map(({ id }) => ({
          id,
          addedAt: secretTimes.get(id)?.addedAt ?? null,
          endsAt: secretTimes.get(id)?.retireAt ?? null,
        })),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/check',
    name: 'checkSource',
    tag: 'Sources and syncs',
    summary: 'Test the API key of a source with one read call to the service',
    params: slugParams,
    answer: z.object({ outcome: z.enum(['works', 'refused', 'not-configured']), sentence: z.string() }),
    async handle(context, { params, request }) {
      const source = sourcesOf(context, request).find(params.slug);
      if (source === null) throw new CodedError('not_found');
      const { outcome, sentence } = await checkKeyDiscreetly(source, context);
      return { outcome, sentence };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/secrets',
    name: 'addSecret',
    tag: 'Sources and syncs',
    summary: 'Rotate the signing secret of a webhook: accept a new one, which is yours or is generated',
    description:
      'Needs a token of scope `administer`. The old secrets are accepted until they expire or are retired, so that no delivery is lost in between.',
    params: slugParams,
    body: z.strictObject({
      secret: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .meta({ description: 'As the service shows it. Default: one is generated, and returned once.' }),
      encoding: z.enum(secretEncodings).default('text').meta({ description: 'How `secret` is written.' }),
      othersEndInHours: z
        .int()
        .min(1)
        .max(8760)
        .optional()
        .meta({ description: 'Hours until the old secrets expire. Default: never; retire them one by one.' }),
    }),
    status: 201,
    answer: z.object({
      secretId: z.string(),
      secret: z.string().nullable().meta({ description: 'The generated secret; null: it was given.' }),
      seq: z.int().meta({ description: 'The entry that records it.' }),
    }),
    async handle(context, { params: { slug }, body, by, request }) {
      if (sourcesOf(context, request).find(slug) === null) throw new CodedError('not_found');
      const { secret: given, encoding, othersEndInHours: hours } = body;
      const secret = given?.trim() ?? newSigningSecret();
      const rotated = await context.sources.rotateSecret(slug, secret, by.officer, {
        encoding: given === undefined ? 'text' : encoding,
        retireOthersAt:
          hours === undefined ? undefined : new Date(context.clock().getTime() + hours * 3_600_000).toISOString(),
      });
      if (rotated.outcome !== 'done') throw refusalOf(rotated);
      await context.projector.projected(rotated.seq);
      return { secretId: webhookSecretOf(secret).id, secret: given === undefined ? secret : null, seq: rotated.seq };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/secrets/{secretId}/retire',
    name: 'retireSecret',
    tag: 'Sources and syncs',
    summary: 'Stop accepting a signing secret',
    description: 'Needs a token of scope `administer`. The only secret of a source cannot be retired.',
    params: slugParams.extend({ secretId: z.string().max(100) }),
    answer: z.object({ seq: z.int().meta({ description: 'The entry that records it.' }) }),
    async handle(context, { params: { slug, secretId }, by, request }) {
      const source = sourcesOf(context, request).find(slug);
      if (source?.webhookSecrets.some(({ id }) => id === secretId) !== true) throw new CodedError('not_found');
      const retired = await context.sources.retireSecret(slug, secretId, by.officer, { keepsOne: true });
      if (retired.outcome !== 'done') throw refusalOf(retired);
      await context.projector.projected(retired.seq);
      return { seq: retired.seq };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/sources/{slug}/reread',
    name: 'rereadDeliveries',
    tag: 'Sources and syncs',
    summary: 'Read all earlier deliveries and rows of a source again, with its current settings',
    description:
      'Needs a token of scope `administer`. For deliveries that could not be read before the names of their fields and events were accepted. Returns the job that rebuilds the read models; the job’s result says how many are now read. A request while one is under way returns the same job.',
    params: slugParams,
    status: 202,
    answer: jobSchema,
    async handle(context, { params: { slug }, by, request }) {
      if (sourcesOf(context, request).find(slug) === null) throw new CodedError('not_found');
      const { id } = await context.jobs.enqueue(rereadJob(slug, by.officer));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/banners/names',
    name: 'nameBanner',
    tag: 'Sources and syncs',
    summary: 'Name a banner, for reports and pages',
    body: z.strictObject({
      source: z.string().max(100),
      bannerId: z.string().max(300),
      name: z.string().trim().max(BANNER_NAME_LENGTH),
    }),
    answer: z.object({
      outcome: z.enum(['named', 'unchanged']),
      seq: z.int().nullable().meta({ description: 'The entry that records it; null: nothing was changed.' }),
    }),
    async handle(context, { body, by }) {
      const named = await nameBanner(context, { ...body, actor: by.officer });
      if (named.outcome === 'refused') throw new RefusedRequest('refused', named.problems);
      if (named.seq !== null) await context.projector.projected(named.seq);
      return { outcome: named.outcome, seq: named.seq };
    },
  }),
];
