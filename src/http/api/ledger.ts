import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { loadDeliveries, loadDelivery } from '../../attention/deliveries.ts';
import { verifyJob } from '../../context/verify-job.ts';
import { CodedError } from '../../core/errors.ts';
import { sourcesOf } from '../auth/access.ts';
import { sendEvents } from '../event-stream.ts';
import { loadProof } from '../pages/entries/load-proof.ts';
import { jobSchema, shownJob } from './job-routes.ts';
import { pageFrom, pageOf, pageQuery, RefusedRequest, readCursor, routesWith, sourceQuery } from './route.ts';

const defineRoute = routesWith<
  | 'store'
  | 'keys'
  | 'instance'
  | 'verifierKey'
  | 'cosigned'
  | 'sources'
  | 'jobs'
  | 'projector'
  | 'seal'
  | 'lastVerification'
  | 'log'
>();

const deliverySchema = z
  .object({
    seq: z.int().meta({ description: 'Number of the ledger entry.' }),
    source: z.string(),
    receivedAt: z.string(),
    event: z.string().nullable(),
    verdict: z.string().meta({ description: 'The verdict on its signature.' }),
    outcome: z.enum(['read', 'unknown-event', 'unreadable']),
    contentType: z.string().nullable(),
    bytes: z.int(),
    commitment: z.string(),
    note: z.string().nullable(),
    repeats: z.int(),
  })
  .meta({ id: 'Delivery', description: 'A webhook that was stored, without its body.' });

const entrySchema = z
  .object({
    seq: z.int(),
    source: z.string(),
    sourceSeq: z.int(),
    kind: z.enum(['webhook', 'consent-log', 'call', 'snapshot', 'action', 'erasure']),
    receivedAt: z.string(),
    event: z.string().nullable(),
    outcome: z.string().nullable(),
    note: z.string().nullable(),
    repeats: z
      .object({ count: z.int(), times: z.array(z.string()) })
      .meta({ description: 'Not counted for rows of the consent log: the entry of the pull has the number.' }),
    meta: z.unknown(),
    bytes: z.int().nullable(),
    commitment: z.string(),
    salt: z.string().nullable(),
    metaSha256: z.string().nullable(),
    bodyText: z
      .string()
      .nullable()
      .meta({ description: 'Null if it was erased, and for calls, which may contain credentials.' }),
    bodyBase64: z.string().nullable().meta({ description: 'A body that is not valid UTF-8.' }),
    leafHash: z.string(),
    erased: z.boolean(),
  })
  .meta({
    id: 'Entry',
    description:
      'An entry of the ledger with its bytes; commitment, salt and hashes are those of docs/ledger-format.md.',
  });

const entryProofSchema = z
  .object({
    verifierKey: z.string().meta({ description: 'The key that checks the checkpoint in the proof.' }),
    seq: z.int(),
    size: z.int().meta({ description: 'The number of entries that the checkpoint covers.' }),
    tlogProof: z.string().meta({ description: 'The text of the file `<seq>.tlog-proof` (C2SP tlog-proof).' }),
    metaBase64: z
      .string()
      .nullable()
      .meta({ description: 'The file `<seq>.meta`. Null if it was erased or left out, and for calls.' }),
    bodyBase64: z.string().nullable().meta({ description: 'The file `<seq>.body`; null as above.' }),
    witnesses: z.array(z.object({ name: z.string(), verifierKey: z.string() })).meta({
      description: 'The witnesses of WITNESSES whose cosignatures the checkpoint has (C2SP tlog-cosignature).',
    }),
    stamps: z.array(z.object({ file: z.string(), tokenBase64: z.string() })).meta({
      description: 'Time-stamp tokens (RFC 3161) over the checkpoint with the log’s signature alone.',
    }),
  })
  .meta({ id: 'EntryProof', description: 'The files that prove an entry.' });

/** Deliveries that a stream reads per poll, and milliseconds between polls. */
const FOLLOWED = 200;
const LOOK_EVERY_MS = 1000;

export const ledgerApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/deliveries',
    name: 'listDeliveries',
    tag: 'Ledger',
    summary: 'List stored deliveries, newest first',
    query: pageQuery.extend(sourceQuery.shape).extend({
      event: z.string().max(200).optional(),
      outcome: z.enum(['read', 'unknown-event', 'unreadable']).optional(),
    }),
    answer: pageOf(deliverySchema),
    async handle(context, { query, request }) {
      const { source, limit, event, outcome } = query;
      await context.projector.catchUp();
      const rows = await loadDeliveries(context.store.read, {
        sources: source === undefined ? sourcesOf(context, request).slugs : [source],
        before: readCursor(query.cursor),
        limit: limit + 1,
        event,
        source: undefined,
        ...(outcome === undefined ? {} : { outcome }),
      });
      return pageFrom(
        rows,
        limit,
        ({ seq }) => seq,
        (row) => row,
      );
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/deliveries/events',
    name: 'followDeliveries',
    tag: 'Ledger',
    summary: 'Deliveries as they are stored, as server-sent events',
    description:
      'Each event `delivery` is an item of `listDeliveries`, its id the number of the entry. A stream lasts at most a minute; then reconnect with the last id in the `Last-Event-ID` header (browsers and libraries do this) or in `after`. Without either it starts with new deliveries.',
    query: sourceQuery.extend({
      event: z.string().max(200).optional(),
      after: z.coerce.number().int().nonnegative().optional().meta({ description: 'The last entry that you have.' }),
    }),
    answer: null,
    async handle(context, { query, request, reply }) {
      const { source, event } = query;
      const sources = source === undefined ? sourcesOf(context, request).slugs : [source];
      const { 'last-event-id': lastId = '' } = request.headers;
      const now = await context.projector.catchUp();
      let after = /^\d{1,15}$/.test(String(lastId)) ? Number(lastId) : (query.after ?? now);
      return sendEvents(context, reply, request.server.closing, async function* (end) {
        while (!end.aborted) {
          await context.projector.catchUp();
          const rows = await loadDeliveries(context.store.read, {
            ...{ sources, event, after, limit: FOLLOWED, source: undefined },
          });
          for (const row of rows) yield { event: 'delivery', data: row, id: row.seq };
          after = rows.at(-1)?.seq ?? after;
          if (rows.length < FOLLOWED) await delay(LOOK_EVERY_MS, undefined, { signal: end });
        }
      });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/entries/{seq}',
    name: 'getEntry',
    tag: 'Ledger',
    summary: 'One entry of the ledger with its bytes',
    params: z.strictObject({ seq: z.coerce.number().int().positive() }),
    answer: entrySchema,
    async handle(context, { params }) {
      const entry = await loadDelivery(context.store.read, params.seq);
      if (entry === null) throw new CodedError('not_found');
      // Left out: a service may repeat the API key in its response.
      return entry.kind === 'call' ? { ...entry, bodyText: null, bodyBase64: null } : entry;
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/entries/{seq}/proof',
    name: 'getEntryProof',
    tag: 'Ledger',
    summary: 'The proof of an entry, for someone who has only the verifier key',
    description:
      'The same as `consent-ledger ledger prove --json`, under the newest checkpoint; docs/proofs.md says how to check it. 409 if the entry is not sealed yet: a worker seals every five minutes, `makeCheckpoint` at once.',
    params: z.strictObject({ seq: z.coerce.number().int().positive() }),
    query: z.strictObject({
      content: z
        .enum(['true', 'false'])
        .default('true')
        .meta({ description: 'false: without meta, body and salt; proves place and time without disclosing content.' }),
    }),
    answer: entryProofSchema,
    async handle(context, { params, query }) {
      const proof = await loadProof(context, String(params.seq), { content: query.content === 'true' });
      const { seq, size, tlogProof, meta, body, witnesses, stamps } = proof;
      return {
        verifierKey: context.verifierKey,
        seq,
        size,
        tlogProof,
        metaBase64: meta?.toString('base64') ?? null,
        bodyBase64: body?.toString('base64') ?? null,
        witnesses: [...witnesses],
        stamps: stamps.map(({ file, token }) => ({ file, tokenBase64: token.toString('base64') })),
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/verifications',
    name: 'startVerification',
    tag: 'Ledger',
    summary: 'Verify every entry, checkpoint and file now',
    description: 'Returns the job that does it; the job’s result lists the findings.',
    status: 202,
    answer: jobSchema,
    async handle(context, { by, request }) {
      const { id } = await context.jobs.enqueue(verifyJob(by.officer));
      return shownJob(context, id, sourcesOf(context, request).slugs);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/verifications/last',
    name: 'getLastVerification',
    tag: 'Ledger',
    summary: 'When the whole ledger was last verified, and how many faults were found',
    answer: z.object({ at: z.string().nullable(), faults: z.int().nullable() }).meta({
      id: 'LastVerification',
      description: 'Both are null if the whole ledger was never verified.',
    }),
    async handle(context) {
      const last = await context.lastVerification();
      return { at: last?.at ?? null, faults: last?.faults ?? null };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/checkpoints',
    name: 'makeCheckpoint',
    tag: 'Ledger',
    summary: 'Seal every entry so far under a signed checkpoint',
    answer: z
      .object({
        outcome: z.enum(['sealed', 'unchanged', 'empty']),
        size: z.int(),
        note: z.string().nullable().meta({ description: 'The signed note (C2SP tlog-checkpoint).' }),
      })
      .meta({
        id: 'Checkpoint',
        description: 'The newest checkpoint. `unchanged`: nothing was added since it was made.',
      }),
    async handle(context) {
      const sealing = await context.seal();
      switch (sealing.outcome) {
        case 'sealed':
        case 'unchanged':
          return { outcome: sealing.outcome, size: sealing.checkpoint.size, note: sealing.checkpoint.note };
        case 'empty':
          return { outcome: 'empty' as const, size: 0, note: null };
        case 'refused':
          throw new RefusedRequest('refused', [`Not sealed: entry ${sealing.seq}: ${sealing.reason}.`]);
        default:
          return sealing satisfies never;
      }
    },
  }),
];
