import { z } from 'zod';
import { CodedError } from '../../core/errors.ts';
import { loadPolicyTexts, loadStoredText } from '../../snapshots/texts.ts';
import { readPolicyText } from '../../texts/policy-text.ts';
import { sourcesOf } from '../auth/access.ts';
import { defineRoute, sourceQuery } from './route.ts';

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
    lastSeq: z.int().meta({ description: 'The last entry that said something about it.' }),
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
    lines: z.array(z.string()).nullable().meta({ description: 'The visible text, where withText is set.' }),
  })
  .meta({ id: 'PolicyText', description: 'A text of a policy and when it was seen, as it was fetched.' });

const POLICIES = 1000;

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
      const rows = await context.store.read
        .selectFrom('policies')
        .selectAll()
        .$if(only !== null, (some) => some.where('source', 'in', [...(only ?? [])]))
        .$if(policyId !== undefined, (some) => some.where('policy_id', '=', policyId ?? ''))
        .orderBy('source')
        .orderBy('policy_id')
        .limit(POLICIES)
        .execute();
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
];
