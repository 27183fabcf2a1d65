import { z } from 'zod';
import { emailSchema } from '../core/email.ts';
import { NOT_KNOWN } from '../core/language.ts';
import { lineOf } from '../core/validation.ts';
import { requestKinds } from '../core/vocabulary.ts';
import { readTime } from '../core/zoned-days.ts';
import { secondPersonMoves } from '../law/profile.ts';

/**
 * The states of a case and the moves between them, as one table: which states a move leads from and to, which fields it records, and its name for people.
 * The forms of the pages, `dsar move` and the validation of their input are made from it.
 *
 * opened ─ acknowledged ─ in-progress ⇄ waiting-identity, waiting-clarification ─ ready ─ answered ─ closed
 *                                        refused, withdrawn, duplicate ───────────────────────────┘
 *
 * Steps that do not change the state (an extension, a system searched, a note) are moves that stay in it, so the history of a case is one
 * numbered sequence of moves.
 */
/** States in which the requester is still waiting for an answer. */
export const openStates = [
  'opened',
  'acknowledged',
  'waiting-identity',
  'waiting-clarification',
  'in-progress',
  'ready',
] as const;
const settledStates = ['answered', 'refused', 'withdrawn'] as const;
export const caseStates = [...openStates, ...settledStates, 'closed'] as const;
type CaseState = (typeof caseStates)[number];

const workingStates = ['opened', 'acknowledged', 'in-progress'] as const satisfies readonly CaseState[];
/** Excludes an awaited clarification: a case waits for one thing at a time. */
const identifiable = [...workingStates, 'waiting-identity'] as const satisfies readonly CaseState[];

/** Whether the requester is still waiting for an answer. */
export function isOpen(state: string): boolean {
  return (openStates as readonly string[]).includes(state);
}

/** What has to be recorded for each move. Identity documents are never kept: only what was checked, how and by whom. */
export const text = z.string().trim().min(1).max(4000);
export const line = lineOf(300);

const ADDRESS_LINES = 6;
const addressLine = lineOf(100);

/** A postal address as on an envelope, without the name: up to six lines. */
export const postalAddress = z
  .string()
  .max(600)
  .transform((text) =>
    text
      .split(/\r?\n/)
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .join('\n'),
  )
  .refine((text) => {
    const lines = text.split('\n');
    return lines.length <= ADDRESS_LINES && lines.every((one) => addressLine.safeParse(one).success);
  }, `use up to ${ADDRESS_LINES} lines of at most 100 characters, as on an envelope`)
  // An empty field says nothing.
  .refine((text) => text !== '', 'enter an address, or leave it out');

/** What forms say of it. */
export const addressMeta = {
  title: 'Postal address of the requester',
  description: 'Without the name, as on an envelope: letters are addressed to it.',
  format: 'address',
};
/** A time, ISO 8601 with an offset (see {@link readTime}); stored as UTC with milliseconds. */
export const moment = z
  .string()
  .meta({ format: 'date-time' })
  .transform((value, context) => {
    const read = readTime(value, null);
    if (read.problem === undefined) return read.at;
    context.addIssue(`Invalid time ${JSON.stringify(value.slice(0, 60))}: ${read.problem}`);
    return z.NEVER;
  });
/** When it happened, if not at the time of recording. */
const at = moment.optional().meta({ title: 'When', description: 'Leave empty for now.' });
/** Who approved on behalf of the controller if this installation is a processor. */
const approvedBy = line
  .optional()
  .meta({ title: 'Approved by', description: 'Required if this installation acts on behalf of a controller.' });
const reason = text.meta({ title: 'Reason' });
const reasons = text.meta({ title: 'Reasons', description: 'As stated to the requester.' });
const how = text.meta({ title: 'How' });
const note = text.optional().meta({ title: 'Note' });
const channel = line.meta({ title: 'Channel', description: 'For example e-mail, letter or portal.' });
/** SHA-256 of the letter or pack that was sent. */
const documentSha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional()
  .meta({ title: 'Document sent' });
/** How a letter was sent; absent in moves of earlier versions. */
const sent = { channel: channel.optional(), documentSha256 };
/** Lets forms send an empty value to remove something. */
const nullableLine = line.nullable();

export const requesterRoles = ['person', 'agent', 'guardian'] as const;
export const systemResults = ['nothing-found', 'attached', 'not-applicable'] as const;
export const matchWays = ['from-device', 'computed', 'shared'] as const;
const disclosures = ['full', 'categories-only', 'no-match'] as const;
export type Disclosure = (typeof disclosures)[number];
/** What a requester may write about an answer; `reply`: to what the officer wrote. */
export const messageKinds = ['question', 'objection', 'reply'] as const;
export const partOutcomes = ['done', 'partly', 'refused'] as const;

/** The words for choices in a list. */
export const choiceTexts: Readonly<
  Record<
    | (typeof requesterRoles)[number]
    | (typeof systemResults)[number]
    | (typeof matchWays)[number]
    | Disclosure
    | (typeof partOutcomes)[number]
    | (typeof taskOutcomes)[number]
    | (typeof messageKinds)[number]
    | (typeof secondPersonMoves)[number],
    string
  >
> = {
  'nothing-found': 'Nothing found',
  attached: 'Found, attached to the answer',
  'not-applicable': 'Not applicable',
  'from-device': 'Sent from the requester’s own device',
  computed: 'Computed from the e-mail',
  shared: 'A shared address: no data released',
  full: 'Full: the person’s records',
  'categories-only': 'Categories only, nothing about the person',
  'no-match': 'No match: we cannot link you to records',
  done: 'Done',
  'not-done': 'Not done',
  partly: 'Done in part',
  refused: 'Refused',
  person: 'The person concerned',
  agent: 'An authorised agent',
  guardian: 'A parent or guardian',
  question: 'Asks a question',
  objection: 'Objects to the answer',
  reply: 'Replies to what you wrote',
  answer: 'Sending the answer',
  refuse: 'Refusing the request',
};

/** One part of a request, and its outcome. */
export const answerPartSchema = z
  .strictObject({
    /** What was requested, e.g. "erasure of the newsletter profile". */
    what: line.meta({ title: 'What was requested' }),
    outcome: z.enum(partOutcomes).meta({ title: 'Outcome' }),
    /** For something refused: the article or section, and the reason (GDPR Art. 12(4); 11 CCR 7101(b)). */
    ground: text.optional().meta({
      title: 'Ground',
      description: 'For anything refused or done in part: the article or section, and why.',
    }),
    /** What was done, in words. */
    note,
  })
  .refine(({ outcome, ground }) => outcome === 'done' || ground !== undefined, {
    message: 'state the ground for not doing this, or doing it only in part',
    path: ['ground'],
  });
export type AnswerPart = z.infer<typeof answerPartSchema>;
/** The outcome of a task for the owner of another system. */
export const taskOutcomes = ['done', 'not-done'] as const;
/** Default and maximum number of days for which the link to a task is valid. */
export const TASK_DAYS = 30;
export const TASK_DAYS_MAX = 90;
const task = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, 'use the number of the task on the case, such as 1')
  .meta({ title: 'Task' });
/** The most parts that one answer may have. */
const ANSWER_PARTS = 20;

/** A row of the table of moves. */
interface Move {
  /** For buttons and lists. */
  readonly label: string;
  readonly from: readonly CaseState[];
  /** The resulting state; `same`: unchanged; if given by state, states not named are unchanged. */
  readonly to: CaseState | 'same' | Readonly<Partial<Record<CaseState, CaseState>>>;
  /** What is recorded. Title and description of a field are its label and hint in forms. */
  readonly details: z.ZodObject;
}

export const moves = {
  acknowledge: {
    label: 'Confirm receipt to the requester',
    from: openStates,
    to: { opened: 'acknowledged' },
    details: z.strictObject({ at, ...sent }),
  },
  start: {
    label: 'Start work',
    from: ['opened', 'acknowledged'],
    to: 'in-progress',
    details: z.strictObject({}),
  },
  amend: {
    label: 'Correct or complete the request',
    from: openStates,
    to: 'same',
    details: z
      .strictObject({
        kind: z.enum(requestKinds).optional().meta({ title: 'Kind of request' }),
        /** All other rights asked for at the same time; empty: none. */
        furtherKinds: z.array(z.enum(requestKinds)).max(requestKinds.length).optional().meta({
          title: 'Further rights requested',
          description: 'Besides the kind. None ticked: unchanged.',
        }),
        jurisdiction: nullableLine.optional().meta({
          title: 'Where the requester is',
          description: 'Determines which laws apply in addition to the controller’s.',
        }),
        requesterName: nullableLine.optional().meta({ title: 'Name of the requester' }),
        requesterEmail: nullableLine.optional().meta({ title: 'E-mail of the requester', format: 'idn-email' }),
        requesterAddress: postalAddress.nullable().optional().meta(addressMeta),
        language: nullableLine
          .transform((language) => (language === NOT_KNOWN ? null : language))
          .optional()
          .meta({ title: 'Language of the requester' }),
        /** Only an earlier receipt: the clock starts when the request reached any channel (EDPB 01/2022 §159). */
        receivedAt: moment.optional().meta({
          title: 'Actually received on',
          description: 'Must be earlier: the period starts when the request arrives through any channel.',
        }),
        reason,
      })
      .refine((details) => Object.keys(details).length > 1, 'state what was corrected'),
  },
  /** A decision of its own (GDPR Art. 12(6)): the identity needs no check. */
  'no-doubt': {
    label: 'No reasonable doubt about the identity',
    from: workingStates,
    to: 'in-progress',
    details: z.strictObject({
      at,
      why: text.optional().meta({ title: 'Why', description: 'For example: they wrote from the address on file.' }),
    }),
  },
  'ask-identity': {
    label: 'Ask for identification',
    from: workingStates,
    to: 'waiting-identity',
    details: z.strictObject({
      at,
      doubt: text.optional().meta({ title: 'Reason for doubting the identity' }),
      asked: text.meta({ title: 'What was requested' }),
      ...sent,
    }),
  },
  'confirm-identity': {
    label: 'Identity is confirmed',
    from: identifiable,
    to: 'in-progress',
    details: z
      .strictObject({
        at,
        /** When requested information arrived: the UK counts from it. */
        informationAt: moment.optional().meta({ title: 'When the information arrived' }),
        how: how.meta({ title: 'How', description: 'Say what was checked. Never keep an identity document.' }),
        requester: z.enum(requesterRoles).default('person').meta({ title: 'Who is asking' }),
        /** The authority under which an agent or guardian acts. */
        authority: text.optional().meta({ title: 'Authority', description: 'For an agent or a guardian.' }),
        /** The person an agent or guardian acts for: letters name this person. */
        represented: line.optional().meta({
          title: 'Acts for',
          description: 'Name of the person represented by an agent or guardian, used in letters.',
        }),
      })
      .refine((details) => details.requester === 'person' || details.authority !== undefined, {
        message: 'state the authority of the agent or guardian',
        path: ['authority'],
      }),
  },
  'confirm-email': {
    label: 'The e-mail address is confirmed',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      at,
      how: how.meta({
        title: 'How',
        description: 'It shows who reads mail at this address, not who the person is.',
      }),
    }),
  },
  'fail-identity': {
    label: 'Identity could not be confirmed',
    from: identifiable,
    to: 'in-progress',
    details: z.strictObject({ at, reason }),
  },
  'ask-clarification': {
    label: 'Ask for clarification',
    from: workingStates,
    to: 'waiting-clarification',
    details: z.strictObject({ at, question: text.meta({ title: 'The question' }), ...sent }),
  },
  'receive-clarification': {
    label: 'Clarification received',
    from: ['waiting-clarification'],
    to: 'in-progress',
    details: z.strictObject({ at, answer: text.meta({ title: 'The answer' }) }),
  },
  'record-fee': {
    label: 'Note a fee',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      askedAt: moment.meta({ title: 'Requested on' }),
      paidAt: moment.nullable().default(null).meta({ title: 'Paid on' }),
      amount: line.meta({ title: 'Amount', description: 'With its currency.' }),
    }),
  },
  extend: {
    label: 'Extend the period',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      at,
      reasons,
      until: z.iso.date().optional().meta({ title: 'Until' }),
      approvedBy,
      ...sent,
    }),
  },
  'mark-system': {
    label: 'Mark another system as searched',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      system: line.meta({ title: 'System' }),
      result: z.enum(systemResults).meta({ title: 'Result' }),
      note,
    }),
  },
  'add-task': {
    label: 'Add a task for another system',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      what: line.meta({ title: 'What has to be done', description: 'For example “Delete the customer in the shop”.' }),
      due: z.iso.date().meta({ title: 'Due by' }),
      owner: line.optional().meta({ title: 'Owner', description: 'Who does it.' }),
      ownerEmail: emailSchema.optional().meta({ title: 'E-mail of the owner' }),
      instructions: text.optional().meta({
        title: 'Instructions',
        description:
          'The owner can read this, and nothing else about the request, without signing in: include no more personal data than they need.',
      }),
    }),
  },
  'share-task': {
    label: 'Create a link to a task',
    from: caseStates,
    to: 'same',
    details: z.strictObject({
      task,
      days: z
        .string()
        .regex(/^[1-9]\d?$/, `use 1 to ${TASK_DAYS_MAX}`)
        .refine((days) => Number(days) <= TASK_DAYS_MAX, `use 1 to ${TASK_DAYS_MAX}`)
        .default(String(TASK_DAYS))
        .meta({ title: 'Link valid for days', description: `1 to ${TASK_DAYS_MAX}.` }),
    }),
  },
  'unshare-task': {
    label: 'Revoke the link to a task',
    from: caseStates,
    to: 'same',
    details: z.strictObject({ task }),
  },
  'send-task': {
    label: 'A task was sent to its owner',
    from: caseStates,
    to: 'same',
    details: z.strictObject({ task, channel }),
  },
  'finish-task': {
    label: 'A task was finished',
    from: caseStates,
    to: 'same',
    details: z
      .strictObject({ task, outcome: z.enum(taskOutcomes).meta({ title: 'Outcome' }), note })
      .refine(({ outcome, note: why }) => outcome === 'done' || why !== undefined, {
        message: 'say why it was not done',
        path: ['note'],
      }),
  },
  'settle-part': {
    label: 'Record what was done about one right',
    from: openStates,
    to: 'same',
    details: z
      .strictObject({
        at,
        kind: z.enum(requestKinds).meta({ title: 'Right' }),
        outcome: z.enum(partOutcomes).meta({ title: 'Outcome' }),
        ground: text.optional().meta({
          title: 'Ground',
          description: 'For anything refused or done in part: the article or section, and why.',
        }),
        note,
      })
      .refine(({ outcome, ground }) => outcome === 'done' || ground !== undefined, {
        message: 'state the ground for not doing this, or doing it only in part',
        path: ['ground'],
      }),
  },
  'link-subject': {
    label: 'Link a consent subject',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      subject: line.meta({
        title: 'Consent subject',
        description: 'The identifier or hash used in the consent records.',
      }),
      way: z.enum(matchWays).meta({ title: 'How it was found' }),
      note,
    }),
  },
  note: {
    label: 'Add a note',
    from: caseStates,
    to: 'same',
    details: z.strictObject({ text: text.meta({ title: 'Note' }) }),
  },
  'requester-message': {
    label: 'The requester wrote',
    from: caseStates,
    to: 'same',
    details: z.strictObject({
      at,
      about: z.enum(messageKinds).meta({ title: 'What it is' }),
      text: text.meta({ title: 'Message' }),
      channel,
    }),
  },
  /** Answers every message that is open; `basedOn` of the move says which ones its officer had seen. */
  reply: {
    label: 'Reply to the requester',
    from: caseStates,
    to: 'same',
    details: z.strictObject({
      text: text.meta({ title: 'Message', description: 'The requester reads it on the page of their link.' }),
    }),
  },
  'no-reply': {
    label: 'Needs no reply',
    from: caseStates,
    to: 'same',
    details: z.strictObject({
      reason: text.optional().meta({ title: 'Reason', description: 'For example: answered by phone.' }),
    }),
  },
  assign: {
    label: 'Assign the request',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      assignee: line
        .optional()
        .meta({ title: 'Assigned to', description: 'The person handling it. Leave empty for nobody.' }),
    }),
  },
  approve: {
    label: 'Approve as a second person',
    from: openStates,
    to: 'same',
    details: z.strictObject({
      of: z.enum(secondPersonMoves).meta({
        title: 'What is approved',
        description: 'Valid until the request changes. Someone else must carry it out.',
      }),
      parts: z.array(answerPartSchema).min(1).max(ANSWER_PARTS).optional().meta({
        title: 'What the answer may say was done',
        description:
          'Needed if the answer is to say that something is refused or done in part that is not recorded on the request: it may then say exactly this.',
      }),
      /** SHA-256 of what was looked at (approval.ts); absent in approvals of earlier versions, which no longer count. */
      seen: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'send `seen` of the request that you looked at')
        .optional()
        .meta({
          title: 'What you looked at',
          description:
            'Required: `seen` of the request as you looked at it, so that nothing unseen is approved. If a letter, file or pack was added since, the response is a conflict.',
        }),
    }),
  },
  'mark-ready': {
    label: 'Ready to be answered',
    from: ['in-progress'],
    to: 'ready',
    details: z.strictObject({}),
  },
  rework: {
    label: 'Back to work',
    from: ['ready'],
    to: 'in-progress',
    details: z.strictObject({ reason }),
  },
  answer: {
    label: 'The answer was sent',
    from: ['ready'],
    to: 'answered',
    details: z.strictObject({
      at,
      channel,
      disclosure: z.enum(disclosures).meta({ title: 'What the answer contains' }),
      /** What was done about each part of the request; absent in answers of earlier versions. */
      parts: z.array(answerPartSchema).min(1).max(ANSWER_PARTS).optional().meta({
        title: 'What was done',
        description: 'One row per item requested. Rows without an outcome are ignored.',
      }),
      documentSha256,
      /** SHA-256 of files of the case that were sent with it. */
      attachments: z
        .array(z.string().regex(/^[0-9a-f]{64}$/))
        .min(1)
        .max(10)
        .optional()
        .meta({ title: 'Files sent with it' }),
      /** For a request to withdraw consent, opt out or object: the purposes that end; absent: every one that needs consent. */
      purposes: z.array(z.string().trim().min(1).max(200)).min(1).max(100).optional().meta({
        title: 'Consent that ends',
        description:
          'Purposes as named in the consent records, comma-separated. Leave empty for every purpose that needs consent.',
      }),
      /** When they ended, if earlier than the answer. */
      effectiveAt: moment
        .optional()
        .meta({ title: 'Effective from, if earlier', description: 'Leave empty for the time of the answer.' }),
      approvedBy,
    }),
  },
  refuse: {
    label: 'Refuse',
    from: openStates,
    to: 'refused',
    details: z.strictObject({
      at,
      reasons,
      /** The article or section that allows it. */
      basis: text.meta({ title: 'Legal basis', description: 'The article or section that allows it.' }),
      /** What the requester was told about complaint, judicial remedy or appeal. */
      remedies: text.meta({
        title: 'Remedies',
        description: 'What you told the requester about complaints, judicial remedies or appeals.',
      }),
      approvedBy,
      ...sent,
    }),
  },
  withdraw: {
    label: 'The requester withdrew the request',
    from: openStates,
    to: 'withdrawn',
    details: z.strictObject({ at, how }),
  },
  'close-duplicate': {
    label: 'Close as a duplicate',
    from: openStates,
    to: 'closed',
    details: z.strictObject({
      duplicateOf: line.meta({ title: 'Duplicate of', description: 'The id of the other case.' }),
    }),
  },
  'merge-duplicate': {
    label: 'Another case was closed as a duplicate of this one',
    from: caseStates,
    to: 'same',
    details: z.strictObject({
      duplicate: line.meta({ title: 'Duplicate' }),
      /** The receipt of the duplicate: the earliest one counts for the period (GDPR Art. 12(3)). */
      receivedAt: moment.meta({ title: 'Actually received on' }),
      receiptBasis: line.meta({ title: 'Receipt according to' }),
    }),
  },
  'release-duplicate': {
    label: 'A duplicate of this case was reopened',
    from: caseStates,
    to: 'same',
    details: z.strictObject({ duplicate: line.meta({ title: 'Duplicate' }) }),
  },
  close: {
    label: 'Close',
    from: settledStates,
    to: 'closed',
    details: z.strictObject({ note }),
  },
  reopen: {
    label: 'Reopen',
    from: [...settledStates, 'closed'],
    to: 'in-progress',
    details: z.strictObject({ reason }),
  },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof moves;
export type MoveDetails<M extends MoveName> = z.infer<(typeof moves)[M]['details']>;
/** A move with checked details. */
export type CheckedMove = { [M in MoveName]: { readonly move: M; readonly details: MoveDetails<M> } }[MoveName];

/** Moves that answer the requester's messages, or say that nothing has to be answered. */
export const replyMoves: readonly MoveName[] = ['reply', 'no-reply'];
/** Moves about tasks for the owners of other systems. */
export const taskMoves: readonly MoveName[] = ['add-task', 'share-task', 'unshare-task', 'send-task', 'finish-task'];

type ReadMove =
  | { readonly outcome: 'read'; readonly checked: CheckedMove }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

/** Whether a text is the name of a move. */
export function isMoveName(text: string): text is MoveName {
  return Object.hasOwn(moves, text);
}

/**
 * Details typed at a prompt, with local times and days, which begin at midnight in `timeZone`, as times with an offset.
 * Anything that is not a time stays as it is, and is refused by {@link readMove}.
 */
export function withTimesIn(
  move: string,
  details: Readonly<Record<string, unknown>>,
  timeZone: string,
): Readonly<Record<string, unknown>> {
  if (!isMoveName(move)) return details;
  const { properties = {} } = z.toJSONSchema(moves[move].details, { io: 'input', unrepresentable: 'any' });
  const isTime = (name: string) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return JSON.stringify(property ?? null).includes('"format":"date-time"');
  };
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => {
      const read = typeof value === 'string' && isTime(name) ? readTime(value, timeZone) : null;
      return [name, read?.problem === undefined ? (read?.at ?? value) : value];
    }),
  );
}

/** Checks the name and the details of a move; every problem is one sentence. */
export function readMove(move: string, details: unknown): ReadMove {
  if (!isMoveName(move)) return { outcome: 'refused', problems: [`unknown move \`${move}\``] };
  const parsed = moves[move].details.safeParse(details);
  if (!parsed.success) {
    return {
      outcome: 'refused',
      problems: parsed.error.issues.map((issue) => `${[move, ...issue.path].join('.')}: ${issue.message}`),
    };
  }
  return { outcome: 'read', checked: { move, details: parsed.data } as CheckedMove };
}

/** Names of the moves that a state allows; legal restrictions are checked in cases/check-move.ts. */
export function movesFrom(state: string): readonly MoveName[] {
  return (Object.keys(moves) as MoveName[]).filter((name) => (moves[name].from as readonly string[]).includes(state));
}

/** The state that a move leads to. */
export function stateAfter(rule: Pick<Move, 'to'>, state: string): string {
  if (rule.to === 'same') return state;
  if (typeof rule.to === 'string') return rule.to;
  return (rule.to as Readonly<Record<string, CaseState>>)[state] ?? state;
}
