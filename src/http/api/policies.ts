import { z } from 'zod';
import type { Context } from '../../context/context.ts';
import { policyIdSchema } from '../../core/call.ts';
import { CodedError } from '../../core/errors.ts';
import type { Source } from '../../core/source.ts';
import { findRepeated, loadPlanItems, planBulk, sentBeforeText } from '../../policies/bulk.ts';
import { whyNotCallable } from '../../policies/callable-source.ts';
import { type FormA, formASchema } from '../../policies/generate.ts';
import { fetchPolicyList } from '../../policies/list.ts';
import { bulkJob, generateJob, publishJob } from '../../policies/policy-jobs.ts';
import { type CallRow, findCall, settleByOfficer, settleProblem } from '../../policies/settle-calls.ts';
import { loadCalls, loadReported } from '../../policies/show.ts';
import { loadPolicyTexts, loadStoredText } from '../../policy-snapshots/stored-texts.ts';
import { readPolicyText } from '../../policy-texts/policy-text.ts';
import { assertPolicyOf, sourcesOf } from '../auth/access.ts';
import { jobSchema, shownJob } from './job-routes.ts';
import { pageFrom, pageOf, pageQuery, RefusedRequest, readCursor, routesWith, sourceQuery } from './route.ts';

const defineRoute = routesWith<'store' | 'sources' | 'jobs' | 'projector' | 'policies'>();

const policySchema = z
  .object({
    source: z.string(),
    policyId: z.string(),
    policyType: z.string().nullable(),
    title: z.string().nullable(),
    jurisdiction: z.string().nullable(),
    language: z.string().nullable(),
    version: z.string().nullable(),
    status: z.enum(['created', 'updated', 'published', 'deleted']),
    publishedAt: z.string().nullable(),
    firstSeq: z.int(),
    lastSeq: z.int().meta({ description: 'The last entry about it.' }),
    lastAt: z.string(),
  })
  .meta({ id: 'Policy', description: 'A policy as deliveries reported it.' });

const textSchema = z
  .object({
    target: z
      .string()
      .meta({ description: 'hosted:<policy id> for its public page, embed:<type> for the embed endpoint.' }),
    version: z.int(),
    policyId: z.string().nullable(),
    textSha256: z.string().nullable().meta({ description: 'Null: there was no text.' }),
    seq: z.int().meta({ description: 'The entry that holds the bytes.' }),
    notBefore: z.string().nullable(),
    firstSeen: z.string(),
    lastSeen: z.string(),
    lines: z.array(z.string()).nullable().meta({ description: 'The visible text, if withText is set.' }),
  })
  .meta({ id: 'PolicyText', description: 'A text of a policy as fetched, and when it was seen.' });

const POLICIES = 1000;

/** Checks that a source can be called. */
function assertCallable({ sources }: Pick<Context, 'sources'>, slug: string): Source {
  const source = sources.find(slug);
  if (source === null) throw new CodedError('not_found', 'Unknown source.');
  const reason = whyNotCallable(source);
  if (reason !== null) throw new RefusedRequest('refused', [reason]);
  return source;
}

const callSchema = z
  .object({
    requestId: z.string(),
    source: z.string(),
    operation: z.string().meta({ description: 'generate, publish or bulk.' }),
    actor: z.string(),
    policyType: z.string().nullable(),
    jurisdiction: z.string().nullable(),
    state: z
      .enum(['sent', 'done', 'refused', 'unknown', 'happened', 'not-happened'])
      .meta({ description: 'happened and not-happened: settled later.' }),
    error: z.string().nullable(),
    policyId: z.string().nullable(),
    askedAt: z.string(),
    seq: z.int().meta({ description: 'The entry that records the call before it was sent.' }),
  })
  .meta({ id: 'Call', description: 'A call that changes something at the service.' });

function callOf(row: CallRow): z.input<typeof callSchema> {
  const { request_id: requestId, source, operation, actor, jurisdiction, state, error } = row;
  const { policy_type: policyType, policy_id: policyId, asked_at: askedAt, intent_seq: seq } = row;
  return { requestId, source, operation, actor, policyType, jurisdiction, state, error, policyId, askedAt, seq };
}

export const policyApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/policies',
    name: 'listPolicies',
    tag: 'Policies',
    summary: `Policies that deliveries reported, at most ${POLICIES}`,
    query: sourceQuery.extend({ policyId: z.string().max(300).optional() }),
    answer: z.object({ items: z.array(policySchema) }),
    async handle(context, { query, request }) {
      const { source, policyId } = query;
      const only = source === undefined ? sourcesOf(context, request).slugs : [source];
      await context.projector.catchUp();
      const rows = await loadReported(context.store.read, { sources: only, policyId, limit: POLICIES });
      return {
        items: rows.map((row) => ({
          source: row.source,
          policyId: row.policy_id,
          policyType: row.policy_type,
          title: row.title,
          jurisdiction: row.jurisdiction,
          language: row.language,
          version: row.version,
          status: row.status,
          publishedAt: row.published_at,
          firstSeq: row.first_seq,
          lastSeq: row.last_seq,
          lastAt: row.last_at,
        })),
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/policies/texts',
    name: 'listPolicyTexts',
    tag: 'Policies',
    summary: 'The texts of a policy, one after the other, with the times between which each was seen',
    query: z.strictObject({
      source: z.string().min(1).max(100),
      policyId: z.string().min(1).max(300),
      asOf: z.coerce
        .number()
        .int()
        .positive()
        .optional()
        .meta({ description: 'Only what the ledger knew when it ended at this entry.' }),
      withText: z.enum(['true', 'false']).default('false'),
    }),
    answer: z.object({ items: z.array(textSchema) }),
    async handle(context, { query, request }) {
      const { source, policyId, asOf, withText } = query;
      if (sourcesOf(context, request).findAny(source) === null) throw new CodedError('not_found');
      await context.projector.catchUp();
      const { read } = context.store;
      const targets = await loadPolicyTexts(read, { source, policyId, ...(asOf === undefined ? {} : { asOf }) });
      const items: z.input<typeof textSchema>[] = [];
      for (const { target, versions } of targets)
        for (const one of versions) {
          const stored = withText === 'true' ? await loadStoredText(read, source, one.bodySeq) : null;
          const lines = stored === null ? null : readPolicyText(stored.bytes, stored.contentType).lines;
          items.push({
            target,
            version: one.version,
            policyId: one.policyId,
            textSha256: one.textSha256,
            seq: one.bodySeq,
            notBefore: one.notBefore,
            firstSeen: one.firstSeen,
            lastSeen: one.lastSeen,
            lines: lines === null ? null : [...lines],
          });
        }
      return { items };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/policies/generate',
    name: 'generatePolicy',
    tag: 'Policies',
    summary: 'Have the service generate a policy',
    description:
      'Returns the job that calls the service; the job’s result gives the policy id and the remaining quota. Nothing is sent while the outcome of an identical request is unknown, unless `again` is set.',
    body: z.strictObject({ source: z.string().max(100), form: formASchema, again: z.boolean().default(false) }),
    status: 202,
    answer: jobSchema,
    async handle(context, { body, by }) {
      assertCallable(context, body.source);
      const { id } = await context.jobs.enqueue(generateJob({ ...body, actor: by.officer }));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/policies/publish',
    name: 'publishPolicy',
    tag: 'Policies',
    summary: 'Publish a policy',
    description:
      'A policy that belongs to another source according to the ledger is not found. The service publishes its current saved text, which cannot be read before; unlike on the page, nothing is recorded about what was shown.',
    body: z.strictObject({
      source: z.string().max(100),
      policyId: policyIdSchema,
    }),
    status: 202,
    answer: jobSchema,
    async handle(context, { body, by, request }) {
      assertCallable(context, body.source);
      await assertPolicyOf(context, request, body.source, body.policyId);
      const { id } = await context.jobs.enqueue(publishJob({ ...body, actor: by.officer }));
      return shownJob(context, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/policies/bulk',
    name: 'startBulk',
    tag: 'Policies',
    summary: 'Have the service generate many policies, in batches within its limits',
    description:
      'The same items are never sent twice: a list that was started before is continued, and its job is returned.',
    body: z.strictObject({
      source: z.string().max(100),
      items: z.array(formASchema).min(1).max(1000),
      retryFailed: z
        .boolean()
        .default(false)
        .meta({ description: 'Sends items again that the service failed to generate.' }),
    }),
    status: 202,
    answer: z.object({ planId: z.string(), job: jobSchema }),
    async handle(context, { body, by }) {
      const source = assertCallable(context, body.source);
      const { items, retryFailed } = body;
      const repeated = findRepeated(items);
      if (repeated !== null)
        throw new RefusedRequest('invalid_request', [
          `items: item ${repeated.position + 1} is the same as item ${repeated.first + 1}; it would be generated twice.`,
        ]);
      const planned = await planBulk(context.policies, { source, actor: by.officer, file: null, items });
      if (planned.outcome === 'sent-before')
        throw new RefusedRequest('conflict', [`${sentBeforeText(planned, items.length, (at) => at)} Leave them out.`]);
      const planId = planned.outcome === 'exists' ? planned.plan.plan_id : planned.planId;
      const wanted = bulkJob({ source: source.slug, planId, actor: by.officer, retryFailed });
      const { id } = await context.jobs.enqueue(wanted);
      return { planId, job: await shownJob(context, id) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/policies/bulk/{planId}',
    name: 'getBulk',
    tag: 'Policies',
    summary: 'The result of each policy of a bulk generation',
    params: z.strictObject({ planId: z.string().max(100) }),
    query: z.strictObject({ source: z.string().min(1).max(100) }),
    answer: z.object({
      items: z.array(
        z.object({
          position: z.int(),
          policyType: z.string(),
          jurisdiction: z.string(),
          state: z.enum(['planned', 'sent', 'created', 'skipped', 'failed', 'unknown']),
          policyId: z.string().nullable(),
        }),
      ),
    }),
    async handle(context, { params, query }) {
      await context.projector.catchUp();
      const rows = (await loadPlanItems(context.policies, params.planId)).filter(
        ({ source }) => source === query.source,
      );
      if (rows.length === 0) throw new CodedError('not_found');
      return {
        items: rows.map(({ item, position, state, policy_id: policyId }) => {
          const { policy_type: policyType, jurisdiction } = JSON.parse(item) as FormA;
          return { position, policyType, jurisdiction, state, policyId };
        }),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/policies/list',
    name: 'fetchPolicyList',
    tag: 'Policies',
    summary: 'Fetch the service’s list of published policies into the catalogue now',
    body: z.strictObject({ source: z.string().max(100) }),
    answer: z.object({
      outcome: z.enum(['stored', 'unchanged']),
      policies: z.int(),
      whole: z.boolean().meta({ description: 'Whether the list is complete, according to the service.' }),
    }),
    async handle(context, { body, by }) {
      const source = assertCallable(context, body.source);
      const listed = await fetchPolicyList(context.policies, { source, actor: by.officer });
      if (listed.outcome === 'failed' || listed.outcome === 'not-configured')
        throw new RefusedRequest('conflict', [listed.reason]);
      const { outcome, policies, whole } = listed;
      return { outcome, policies, whole };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/policies/calls',
    name: 'listCalls',
    tag: 'Policies',
    summary: 'Calls to the service that generate or publish, newest first, with their outcome',
    query: pageQuery.extend(sourceQuery.shape).extend({
      open: z.enum(['true', 'false']).default('false').meta({ description: 'Only those whose outcome is unknown.' }),
    }),
    answer: pageOf(callSchema),
    async handle(context, { query, request }) {
      await context.projector.catchUp();
      const calls = await loadCalls(context.store.read, {
        sources: query.source === undefined ? sourcesOf(context, request).slugs : [query.source],
        open: query.open === 'true',
        before: readCursor(query.cursor) ?? undefined,
        limit: query.limit + 1,
      });
      return pageFrom(calls, query.limit, ({ intent_seq: seq }) => seq, callOf);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/policies/calls/{requestId}/settle',
    name: 'settleCall',
    tag: 'Policies',
    summary: 'Record the outcome of a call whose outcome is unknown, after checking it with the service',
    params: z.strictObject({ requestId: z.string().max(100) }),
    body: z.strictObject({
      source: z.string().max(100),
      happened: z.boolean(),
      policyId: policyIdSchema.optional().meta({ description: 'The policy that it created.' }),
    }),
    answer: callSchema,
    async handle(context, { params: { requestId }, body, by, request }) {
      const find = () => findCall(context.store.read, requestId, body.source);
      await context.projector.catchUp();
      if ((await find()) === null) throw new CodedError('not_found');
      if (body.policyId !== undefined) await assertPolicyOf(context, request, body.source, body.policyId);
      const settled = await settleByOfficer(context.policies, {
        ...{ requestId, happened: body.happened, actor: by.officer },
        policyId: body.happened ? body.policyId : undefined,
      });
      if (settled.outcome !== 'settled') throw new RefusedRequest('conflict', [settleProblem(settled)]);
      await context.projector.projected(settled.seq);
      const call = await find();
      if (call === null) throw new CodedError('not_found');
      return callOf(call);
    },
  }),
];
