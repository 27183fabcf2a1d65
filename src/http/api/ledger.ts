import { z } from 'zod';
import { loadDeliveries, loadDelivery } from '../../attention/deliveries.ts';
import { CodedError } from '../../core/errors.ts';
import { sourcesOf } from '../auth/access.ts';
import { defineRoute, pageFrom, pageOf, pageQuery, readCursor, sourceQuery } from './route.ts';

const deliverySchema = z
  .object({
    seq: z.int().meta({ description: 'The entry of the ledger.' }),
    source: z.string(),
    receivedAt: z.string(),
    event: z.string().nullable(),
    verdict: z.string().meta({ description: 'How its signature was judged.' }),
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
    repeats: z.object({ count: z.int(), times: z.array(z.string()) }),
    meta: z.unknown(),
    bytes: z.int().nullable(),
    commitment: z.string(),
    salt: z.string().nullable(),
    metaSha256: z.string().nullable(),
    bodyText: z
      .string()
      .nullable()
      .meta({ description: 'Null where it was erased, and of calls, which may hold credentials.' }),
    bodyBase64: z.string().nullable().meta({ description: 'A body that is not valid UTF-8.' }),
    leafHash: z.string(),
    erased: z.boolean(),
  })
  .meta({
    id: 'Entry',
    description:
      'An entry of the ledger with its bytes; commitment, salt and hashes are those of docs/ledger-format.md.',
  });

export const ledgerApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/deliveries',
    name: 'listDeliveries',
    tag: 'Ledger',
    summary: 'List deliveries that were stored, the latest first',
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
    path: '/api/v1/entries/{seq}',
    name: 'getEntry',
    tag: 'Ledger',
    summary: 'One entry of the ledger with its bytes',
    params: z.strictObject({ seq: z.coerce.number().int().positive() }),
    answer: entrySchema,
    async handle(context, { params }) {
      const entry = await loadDelivery(context.store.read, params.seq);
      if (entry === null) throw new CodedError('not_found');
      // A service may repeat the API key in what it answers.
      return entry.kind === 'call' ? { ...entry, bodyText: null, bodyBase64: null } : entry;
    },
  }),
];
