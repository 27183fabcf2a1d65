import { z } from 'zod';
import { requestKinds } from '../core/vocabulary.ts';

/** What each move needs to be recorded. Identity documents are never kept: only what was checked, how and by whom. */
const text = z.string().trim().min(1).max(4000);
const line = z.string().trim().min(1).max(300);
/** A moment, ISO 8601 with an offset; kept as UTC with milliseconds. */
const moment = z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString());
/** When it happened, where that is not the moment of recording it. */
const at = moment.optional();
/** Who approved on behalf of the controller, where this installation is a processor. */
const approvedBy = line.optional();
/** For removing what a form sends empty. */
const nullableLine = line.nullable();

export const requesterRoles = ['person', 'agent', 'guardian'] as const;
export const systemResults = ['nothing-found', 'attached', 'not-applicable'] as const;
export const matchWays = ['from-device', 'computed', 'shared'] as const;
const disclosures = ['full', 'categories-only', 'no-match'] as const;
export type Disclosure = (typeof disclosures)[number];
export const partOutcomes = ['done', 'partly', 'refused'] as const;

/** One thing that was asked for, and what became of it. */
export const answerPartSchema = z
  .strictObject({
    /** What was asked for, e.g. "erasure of the newsletter profile". */
    what: line,
    outcome: z.enum(partOutcomes),
    /** The article or section, and the reason, for what was not done (GDPR Art. 12(4); 11 CCR 7101(b)). */
    ground: text.optional(),
    /** What was done, in words. */
    note: text.optional(),
  })
  .refine(({ outcome, ground }) => outcome === 'done' || ground !== undefined, {
    message: 'state the ground for not, or only partly, doing this',
    path: ['ground'],
  });
export type AnswerPart = z.infer<typeof answerPartSchema>;
/** Parts that one answer may have. */
const ANSWER_PARTS = 20;

export const moveDetails = {
  acknowledge: z.strictObject({ at, channel: line.optional() }),
  start: z.strictObject({}),
  amend: z
    .strictObject({
      kind: z.enum(requestKinds).optional(),
      jurisdiction: nullableLine.optional(),
      requesterName: nullableLine.optional(),
      requesterEmail: nullableLine.optional(),
      language: nullableLine.optional(),
      /** Only an earlier receipt: the clock starts when the request reached any channel (EDPB 01/2022 §159). */
      receivedAt: moment.optional(),
      reason: text,
    })
    .refine((details) => Object.keys(details).length > 1, 'state what is corrected'),
  'ask-identity': z.strictObject({ at, doubt: text.optional(), asked: text }),
  'confirm-identity': z
    .strictObject({
      at,
      /** When the information arrived, where it was asked for: the UK counts from it. */
      informationAt: moment.optional(),
      how: text,
      requester: z.enum(requesterRoles).default('person'),
      /** By what an agent or guardian acts. */
      authority: text.optional(),
      /** For whom an agent or guardian acts: letters name this person. */
      represented: line.optional(),
    })
    .refine((details) => details.requester === 'person' || details.authority !== undefined, {
      message: 'state the authority of the agent or guardian',
      path: ['authority'],
    }),
  'fail-identity': z.strictObject({ at, reason: text }),
  'ask-clarification': z.strictObject({ at, question: text }),
  'receive-clarification': z.strictObject({ at, answer: text }),
  'record-fee': z.strictObject({ askedAt: moment, paidAt: moment.nullable().default(null), amount: line }),
  extend: z.strictObject({ at, reasons: text, until: z.iso.date().optional(), approvedBy }),
  'mark-system': z.strictObject({ system: line, result: z.enum(systemResults), note: text.optional() }),
  'link-subject': z.strictObject({ subject: line, way: z.enum(matchWays), note: text.optional() }),
  note: z.strictObject({ text }),
  'mark-ready': z.strictObject({}),
  rework: z.strictObject({ reason: text }),
  answer: z.strictObject({
    at,
    channel: line,
    disclosure: z.enum(disclosures),
    /** What was done with each thing that was asked for; absent in answers of earlier versions. */
    parts: z.array(answerPartSchema).min(1).max(ANSWER_PARTS).optional(),
    documentSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    /** Of a request to withdraw consent, opt out or object: the purposes that end; absent: every one that needs consent. */
    purposes: z.array(z.string().trim().min(1).max(200)).min(1).max(100).optional(),
    /** From when on they ended, where that is earlier than the answer. */
    effectiveAt: moment.optional(),
    approvedBy,
  }),
  refuse: z.strictObject({
    at,
    reasons: text,
    /** The article or section that allows it. */
    basis: text,
    /** What the requester was told about complaint, judicial remedy or appeal. */
    remedies: text,
    approvedBy,
  }),
  withdraw: z.strictObject({ at, how: text }),
  'close-duplicate': z.strictObject({ duplicateOf: line }),
  close: z.strictObject({ note: text.optional() }),
  reopen: z.strictObject({ reason: text }),
} as const satisfies Record<string, z.ZodType>;

export type MoveName = keyof typeof moveDetails;
export type MoveDetails<M extends MoveName> = z.infer<(typeof moveDetails)[M]>;
/** A move with details that were checked. */
export type CheckedMove = { [M in MoveName]: { readonly move: M; readonly details: MoveDetails<M> } }[MoveName];

type ReadMove =
  | { readonly outcome: 'read'; readonly checked: CheckedMove }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Whether a text is the name of a move. */
export function isMoveName(text: string): text is MoveName {
  return Object.hasOwn(moveDetails, text);
}

/** Checks the name and the details of a move; every problem is one sentence. */
export function readMove(move: string, details: unknown): ReadMove {
  if (!isMoveName(move)) return { outcome: 'refused', problems: [`unknown move \`${move}\``] };
  const parsed = moveDetails[move].safeParse(details);
  if (!parsed.success) {
    return {
      outcome: 'refused',
      problems: parsed.error.issues.map((issue) => `${[move, ...issue.path].join('.')}: ${issue.message}`),
    };
  }
  return { outcome: 'read', checked: { move, details: parsed.data } as CheckedMove };
}
