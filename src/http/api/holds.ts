import { z } from 'zod';
import { CodedError } from '../../core/errors.ts';
import { type Hold, holdReason, isHoldOf, liftHold, listHolds, placeHold } from '../../erasure/holds.ts';
import { sourcesOf } from '../auth/access.ts';
import { RefusedRequest, routesWith } from './route.ts';
import { timeIn, timeText, timeWords } from './times.ts';

const defineRoute = routesWith<'config' | 'store' | 'sources' | 'projector' | 'erasure'>();

const holdSchema = z
  .object({
    holdId: z.string(),
    source: z.string().nullable().meta({ description: 'Null: every source.' }),
    caseId: z.string().nullable(),
    ofSubject: z.boolean().meta({ description: 'Whether it is about one person, whose keyed hash it contains.' }),
    from: z.string().nullable(),
    to: z.string().nullable(),
    reason: z.string(),
    officer: z.string(),
    placedAt: z.string(),
    seq: z.int().meta({ description: 'The entry that records it.' }),
  })
  .meta({ id: 'Hold', description: 'A legal hold: the data it covers is not erased until it is lifted.' });

function holdOf(hold: Hold): z.input<typeof holdSchema> {
  const { holdId, sourceSlug: source, caseId, about, from, to, reason, officer, placedAt, seq } = hold;
  return { holdId, source, caseId, ofSubject: about !== null, from, to, reason, officer, placedAt, seq };
}

export const holdApi = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/holds',
    name: 'listHolds',
    tag: 'Ledger',
    summary: 'Legal holds in force, oldest first',
    answer: z.object({ items: z.array(holdSchema) }),
    async handle(context, { request }) {
      await context.projector.catchUp();
      const { slugs } = sourcesOf(context, request);
      const holds = await listHolds(context.store.read);
      return { items: holds.filter((hold) => isHoldOf(hold, slugs)).map(holdOf) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/holds',
    name: 'placeHold',
    tag: 'Ledger',
    summary: 'Prevent data from being erased: a request, a person, a period, or everything of a source',
    body: z.strictObject({
      source: z.string().max(100).optional().meta({ description: 'Default: every source, if you can see them all.' }),
      caseId: z.string().max(300).optional(),
      subject: z
        .string()
        .trim()
        .min(1)
        .max(500)
        .optional()
        .meta({ description: 'A visitor hash, e-mail address or record id; needs source. Only a keyed hash is kept.' }),
      from: timeText.optional().meta({ description: `Of receipt: ${timeWords}.` }),
      to: timeText.optional().meta({ description: `Of receipt, exclusive: ${timeWords}.` }),
      reason: holdReason,
    }),
    status: 201,
    answer: holdSchema,
    async handle(context, { body, by }) {
      const { source = null, caseId = null, subject = null, from, to } = body;
      await context.projector.catchUp();
      const placed = await placeHold(
        { ...context.erasure, sources: context.sources },
        {
          ...{ source, caseId, subject, reason: body.reason, officer: by.officer },
          from: from === undefined ? null : timeIn(context, 'from', from),
          to: to === undefined ? null : timeIn(context, 'to', to),
        },
      );
      if (placed.outcome === 'refused') throw new RefusedRequest('refused', placed.problems);
      await context.projector.projected(placed.seq);
      const hold = (await listHolds(context.store.read)).find(({ holdId }) => holdId === placed.holdId);
      if (hold === undefined) throw new CodedError('conflict', 'The hold was lifted at the same time.');
      return holdOf(hold);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/holds/{holdId}/lift',
    name: 'liftHold',
    tag: 'Ledger',
    summary: 'Lift a legal hold',
    params: z.strictObject({ holdId: z.string().max(100) }),
    body: z.strictObject({ reason: holdReason }),
    answer: holdSchema,
    async handle(context, { params, body, by, request }) {
      await context.projector.catchUp();
      const { slugs } = sourcesOf(context, request);
      const hold = (await listHolds(context.store.read)).find(({ holdId }) => holdId === params.holdId);
      if (hold === undefined || !isHoldOf(hold, slugs)) throw new CodedError('not_found');
      const lifting = { holdId: hold.holdId, reason: body.reason, officer: by.officer };
      if ((await liftHold(context.erasure, lifting)).outcome !== 'lifted')
        throw new CodedError('conflict', 'The hold was lifted at the same time.');
      await context.projector.catchUp();
      return holdOf(hold);
    },
  }),
];
