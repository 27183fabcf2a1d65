import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AGREEMENT_DAYS } from '../../attention/officer-attention.ts';
import { FINDINGS_TOGETHER, settleFindings } from '../../attention/settle-findings.ts';
import { listDecisions } from '../../consent/decision-list.ts';
import { type FindingKind, loadFindings, settledKinds } from '../../consent/findings.ts';
import { lookUpConsent, readLookUpTime } from '../../consent/look-up.ts';
import type { Context } from '../../context/context.ts';
import { isoNow } from '../../core/clock.ts';
import { choiceNames, parsePurposes } from '../../core/consent-judgement.ts';
import { conclusions, FINDING_REASON, OPEN_AGAIN } from '../../core/finding.ts';
import { parseJson } from '../../core/json.ts';
import { addDays, startOfDay } from '../../core/zoned-days.ts';
import { sourcesOf } from '../auth/access.ts';
import { pageOf, pageQuery, RefusedRequest, routesWith, sourceQuery } from './route.ts';
import { readOr, timeText, timeWords } from './times.ts';

const defineRoute = routesWith<
  'config' | 'store' | 'ledger' | 'keys' | 'instance' | 'cosigned' | 'sources' | 'projector' | 'clock'
>();

const purposeStanding = z.looseObject({
  purpose: z.string(),
  state: z.string().meta({ description: 'granted, denied, withdrawn, expired, disputed, unclear …' }),
  since: z.string(),
  decisionId: z.string().meta({ description: 'The decision that determined it.' }),
});

const decisionSchema = z.looseObject({
  decisionId: z.string(),
  recordId: z.string().nullable(),
  bannerId: z.string().nullable(),
  at: z.string(),
  timeBasis: z.string(),
  outcomes: z.record(z.string(), z.unknown()),
  disputed: z.boolean(),
  contradictions: z.array(z.string()),
  entries: z.array(
    z.looseObject({
      seq: z.int().meta({ description: 'Number of the ledger entry.' }),
      wayIn: z.enum(['webhook', 'pull', 'request']),
      receivedAt: z.string(),
      commitment: z.string(),
    }),
  ),
  policy: z.looseObject({
    policyId: z.string().nullable(),
    version: z.string().nullable(),
    known: z.string(),
    texts: z.array(z.looseObject({})),
  }),
  signals: z
    .object({
      decoded: z.looseObject({}).meta({
        description:
          'By signal: gpc, tcf, gpp, usPrivacy, additionalConsent, consentMode. `damaged` is the reason if one could not be decoded; null: the record has none.',
      }),
      words: z.array(
        z.object({ signal: z.string(), title: z.string(), says: z.array(z.string()), damaged: z.boolean() }),
      ),
      contradictions: z.array(
        z.object({
          signal: z.string(),
          purpose: z.string().nullable().meta({ description: 'Null: the record as a whole.' }),
          record: z.enum(['grants', 'refuses']).meta({ description: 'What the record says, unlike the signal.' }),
          says: z.string(),
        }),
      ),
    })
    .nullable()
    .meta({ description: 'What accompanies the choice: TCF, GPP and US Privacy strings, GPC, Google’s consent mode.' }),
});

const standingSchema = z.array(z.looseObject({ bannerId: z.string().nullable(), purposes: z.array(purposeStanding) }));

const answerSchema = z
  .object({
    outcome: z.enum(['found', 'not-found']),
    recorded: z.int().meta({ description: 'The entry that records this look-up.' }),
    by: z.enum(['email', 'record', 'subject']).meta({ description: 'What the identifier was.' }),
    subjects: z.array(z.string()),
    at: z.string(),
    asOf: z.int().meta({ description: 'The last entry that was taken into account.' }),
    standing: standingSchema.meta({
      description: 'The state of consent at that time, according to everything known now.',
    }),
    knownThen: standingSchema
      .nullable()
      .meta({ description: 'The state according to what was known at that time; null: the same.' }),
    decisions: z.array(decisionSchema).meta({ description: 'The decisions that determined it, with their entries.' }),
    total: z.int(),
    later: z.int(),
  })
  .meta({ id: 'ConsentAnswer' });

const decisionFields = {
  source: z.string(),
  decisionId: z.string(),
  recordId: z.string().nullable(),
  bannerId: z.string().nullable(),
  at: z.string(),
};

const findingSchema = z
  .object({
    ...decisionFields,
    upTo: z.int().meta({ description: 'The newest entry of the decision, to settle it.' }),
    settled: z
      .object({
        conclusion: z.string(),
        reason: z.string().nullable(),
        actor: z.string(),
        at: z.string(),
        seq: z.int().meta({ description: 'The entry that settled it.' }),
      })
      .nullable()
      .meta({ description: 'What an officer found out about it; null: nobody has settled it.' }),
    records: z.array(
      z.object({
        seq: z.int().meta({ description: 'Number of the ledger entry.' }),
        wayIn: z.enum(['webhook', 'pull', 'request']),
        receivedAt: z.string(),
        state: z.string().meta({ description: 'As the record states it.' }),
        purposes: z.record(z.string(), z.string()),
      }),
    ),
  })
  .meta({ id: 'Finding', description: 'A decision with a problem, and its records.' });

const decisionsItemSchema = z
  .object({
    ...decisionFields,
    judged: z
      .string()
      .meta({ description: 'According to all its records: given, partly-given, refused, withdrawn, disputed …' }),
    seq: z.int().meta({ description: 'The entry of its first record.' }),
  })
  .meta({ id: 'Decision', description: 'A choice of a visitor.' });

const listQuery = pageQuery.extend(sourceQuery.shape).extend({
  from: z.iso.date().optional().meta({ description: 'The first day, in the time zone of the controller.' }),
  to: z.iso.date().optional().meta({ description: 'The last day.' }),
});

type ListQuery = Pick<z.output<typeof listQuery>, 'source' | 'from' | 'to' | 'cursor' | 'limit'>;

/** The sources, period and place that a query asks for. */
function wantedIn(context: Pick<Context, 'config' | 'sources' | 'clock'>, request: FastifyRequest, query: ListQuery) {
  const { timeZone } = context.config;
  const now = context.clock();
  return {
    sources: sourcesOf(context, request)
      .list()
      .map(({ slug }) => slug)
      .filter((slug) => query.source === undefined || slug === query.source),
    period: {
      from:
        query.from === undefined
          ? new Date(now.getTime() - AGREEMENT_DAYS * 86_400_000).toISOString()
          : startOfDay(query.from, timeZone),
      to: query.to === undefined ? now.toISOString() : startOfDay(addDays(query.to, 1), timeZone),
    },
    after: query.cursor === undefined ? '' : Buffer.from(query.cursor, 'base64url').toString(),
    limit: query.limit,
  };
}

/** The two lists behind figures on the Today page. */
function findingsRoute(kind: FindingKind, name: string, summary: string) {
  return defineRoute({
    method: 'GET',
    path: `/api/v1/consent/${kind}`,
    name,
    tag: 'Consent',
    summary,
    description: 'Ordered by source, then by time. Without a period: the last 31 days.',
    query: listQuery.extend({
      settled: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: 'true: those that an officer has settled; otherwise those that nobody has.' }),
    }),
    answer: pageOf(findingSchema),
    async handle(context, { query, request }) {
      await context.projector.catchUp();
      const isSettled = query.settled === 'true';
      const wanted = { kind, isSettled, ...wantedIn(context, request, query) };
      const { rows, next } = await loadFindings(context.store.read, wanted);
      return {
        items: rows.flatMap(({ source, upTo, settlement, decision: { decisionId, rows: records } }) => {
          const [first] = records;
          if (first === undefined) return [];
          return {
            ...{ source, decisionId, recordId: first.record_id, bannerId: first.banner_id, at: first.at },
            upTo,
            settled: settlement && {
              ...{ conclusion: settlement.conclusion, reason: settlement.reason, actor: settlement.actor },
              ...{ at: settlement.at, seq: settlement.seq },
            },
            records: records.map((one) => ({
              ...{ seq: one.seq, wayIn: one.via, receivedAt: one.received_at, state: one.state },
              purposes: parsePurposes(one.purposes),
            })),
          };
        }),
        nextCursor: next === null ? null : Buffer.from(next).toString('base64url'),
      };
    },
  });
}

/** Settles findings of one of the lists. */
function settleRoute(kind: FindingKind, name: string) {
  const ids = [...conclusions[settledKinds[kind]].map(({ id }) => id), OPEN_AGAIN];
  return defineRoute({
    method: 'POST',
    path: `/api/v1/consent/${kind}/settle`,
    name,
    tag: 'Consent',
    summary: `Record what was found out about ${kind === 'contradictions' ? 'contradictory' : 'undelivered'} decisions`,
    description:
      'One entry for each decision, all or none. It holds until another record of the decision arrives. Nothing counts as consent because of it.',
    body: z.strictObject({
      source: z.string().max(100),
      decisions: z
        .array(
          z.strictObject({
            decisionId: z.string().min(1).max(1000),
            upTo: z.int().positive().meta({ description: 'As listed: the newest entry that was looked at.' }),
            replaces: z
              .int()
              .positive()
              .optional()
              .meta({ description: 'The entry whose conclusion this one replaces.' }),
          }),
        )
        .min(1)
        .max(FINDINGS_TOGETHER),
      conclusion: z.enum(ids as [string, ...string[]]),
      reason: z.string().max(FINDING_REASON).nullable().default(null),
    }),
    answer: z.object({
      entries: z.array(z.int()),
      before: z.int().meta({ description: 'How many had been settled before; they stay as they are.' }),
    }),
    async handle(context, { body, by, request }) {
      const { source, decisions, conclusion, reason } = body;
      const seen = sourcesOf(context, request);
      const outcome = await settleFindings(context, {
        kind: settledKinds[kind],
        findings: decisions.map(({ decisionId, upTo, replaces = 0 }) => ({ source, key: decisionId, upTo, replaces })),
        ...{ conclusion, reason, until: null, actor: by.officer },
        sees: (slug) => seen.findAny(slug) !== null,
      });
      if (outcome.outcome !== 'settled') throw new RefusedRequest(outcome.outcome, outcome.problems);
      return { entries: [...outcome.seqs], before: outcome.before };
    },
  });
}

export const consentApi = [
  settleRoute('contradictions', 'settleContradictions'),
  settleRoute('undelivered', 'settleUndelivered'),
  defineRoute({
    method: 'GET',
    path: '/api/v1/consent/decisions',
    name: 'listDecisions',
    tag: 'Consent',
    summary: 'The decisions of a period, by choice',
    description: 'Ordered by source, then by time. Without a period: the last 31 days.',
    query: listQuery.extend({
      choice: z
        .enum(choiceNames)
        .optional()
        .meta({ description: 'As counted on the Today page; withdrawn includes partly withdrawn.' }),
    }),
    answer: pageOf(decisionsItemSchema),
    async handle(context, { query, request }) {
      await context.projector.catchUp();
      const wanted = { choice: query.choice ?? null, ...wantedIn(context, request, query) };
      const { rows, next } = await listDecisions(context.store.read, wanted);
      return {
        items: rows.map((row) => ({
          ...{ source: row.source, decisionId: row.decision_id, recordId: row.record_id, bannerId: row.banner_id },
          ...{ at: row.at, judged: row.disputed === 1 ? 'disputed' : row.label, seq: Number(row.seq) },
        })),
        nextCursor: next === null ? null : Buffer.from(next).toString('base64url'),
      };
    },
  }),
  findingsRoute(
    'contradictions',
    'listContradictions',
    'Decisions whose records contradict each other: none of them counts as consent until this is resolved',
  ),
  findingsRoute(
    'undelivered',
    'listUndelivered',
    'Decisions in the service’s consent log that never arrived as a webhook',
  ),
  defineRoute({
    method: 'POST',
    path: '/api/v1/consent/look-up',
    name: 'lookUpConsent',
    tag: 'Consent',
    summary: 'One person’s consent at a given time, by which decision and under which text',
    description:
      'A POST, so that no identifier appears in a URL or a log. Each look-up is an entry of the ledger, without the identifier itself. Nothing found does not mean that no data is held (GDPR Art. 11(2)).',
    body: z.strictObject({
      source: z.string().max(100),
      identifier: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .meta({ description: 'A visitor hash, an e-mail address, or the id of a consent record.' }),
      at: timeText.meta({ description: `The time in question: ${timeWords}. A day means its end.` }),
      withTexts: z.boolean().default(false).meta({ description: 'Includes the visible texts of the policies.' }),
    }),
    answer: answerSchema,
    async handle(context, { body, by }) {
      const read = readLookUpTime(body.at, context.config.timeZone, isoNow(context.clock));
      const at = readOr('at', body.at, read);
      const asOf = await context.projector.catchUp();
      const found = await lookUpConsent(context, { ...body, at, asOf, actor: by.officer });
      switch (found.outcome) {
        case 'untrusted':
          throw new RefusedRequest('conflict', [found.problem]);
        case 'refused':
          throw new RefusedRequest('refused', found.problems);
        case 'not-found':
          return {
            ...found,
            subjects: [],
            at,
            asOf,
            standing: [],
            knownThen: null,
            decisions: [],
            total: 0,
            later: 0,
          };
        case 'found': {
          const { outcome, recorded, subjects, standing, knownThen, decisions, total, later } = found;
          const plain = parseJson(JSON.stringify({ subjects, standing, knownThen, decisions })) as Pick<
            z.input<typeof answerSchema>,
            'subjects' | 'standing' | 'knownThen' | 'decisions'
          >;
          return { outcome, recorded, by: found.by, at, asOf, total, later, ...plain };
        }
        default:
          return found satisfies never;
      }
    },
  }),
];
