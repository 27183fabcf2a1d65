import { z } from 'zod';
import { canonicalJson } from '../crypto/canonical.ts';
import { mapJurisdiction } from '../law/jurisdictions.ts';
import { secondPersonMoves } from '../law/profile.ts';
import {
  type CheckedMove,
  type MoveName,
  answerPartSchema,
  matchWays,
  messageKinds,
  requesterRoles,
  systemResults,
  taskOutcomes,
} from './moves.ts';

/** The result of folding a case's moves, apart from its own columns: the column `folded` of the table `cases`. */
const moment = z.string();
const approval = z.string().nullable();
const taskSchema = z.strictObject({
  what: z.string(),
  instructions: z.string().nullable(),
  owner: z.string().nullable(),
  ownerEmail: z.string().nullable(),
  /** YYYY-MM-DD. */
  due: z.string(),
  by: z.string(),
  at: moment,
  /** How many links there have been; the number of the last one is part of its secret. */
  links: z.number().int(),
  /** When the last link expires; null: there is none, or it was revoked. */
  linkUntil: moment.nullable(),
  sentAt: moment.nullable(),
  /** Null: open. */
  outcome: z.enum(taskOutcomes).nullable(),
  note: z.string().nullable(),
  finishedBy: z.string().nullable(),
  finishedAt: moment.nullable(),
});
/** A task for the owner of another system. */
export type CaseTask = z.infer<typeof taskSchema>;
const foldedSchema = z.strictObject({
  kindAsGiven: z.string().nullable(),
  /** The requester's place as given, if it matches no place of the list: an officer has to choose. */
  placeAsGiven: z.string().nullable().default(null),
  acknowledgedAt: moment.nullable(),
  identity: z.strictObject({
    /** `recheck`: it was confirmed, but then the requester's name or address was changed. */
    status: z.enum(['not-asked', 'asked', 'confirmed', 'failed', 'recheck']),
    /** The reason for the doubt (GDPR Art. 12(6)). */
    doubt: z.string().nullable(),
    asked: z.string().nullable(),
    askedAt: moment.nullable(),
    informationAt: moment.nullable(),
    how: z.string().nullable(),
    checkedBy: z.string().nullable(),
    checkedAt: moment.nullable(),
    requester: z.enum(requesterRoles).nullable(),
    authority: z.string().nullable(),
    represented: z.string().nullable().default(null),
    failure: z.string().nullable(),
  }),
  fee: z.strictObject({ amount: z.string(), askedAt: moment, paidAt: moment.nullable() }).nullable(),
  clarifications: z.array(
    z.strictObject({
      askedAt: moment,
      question: z.string(),
      answeredAt: moment.nullable(),
      answer: z.string().nullable(),
    }),
  ),
  extension: z
    .strictObject({ noticeAt: moment, reasons: z.string(), until: z.string().nullable(), approvedBy: approval })
    .nullable(),
  systems: z.record(
    z.string(),
    z.strictObject({ result: z.enum(systemResults), note: z.string().nullable(), by: z.string(), at: moment }),
  ),
  match: z
    .strictObject({
      subject: z.string(),
      way: z.enum(matchWays),
      note: z.string().nullable(),
      by: z.string(),
      at: moment,
    })
    .nullable(),
  answer: z
    .strictObject({
      at: moment,
      channel: z.string(),
      disclosure: z.string(),
      /** What was done about each part of the request; empty: not recorded. */
      parts: z.array(answerPartSchema).default([]),
      documentSha256: z.string().nullable(),
      approvedBy: approval,
      by: z.string(),
    })
    .nullable(),
  refusal: z
    .strictObject({
      at: moment,
      reasons: z.string(),
      basis: z.string(),
      remedies: z.string(),
      approvedBy: approval,
      by: z.string(),
    })
    .nullable(),
  withdrawal: z.strictObject({ at: moment, how: z.string() }).nullable(),
  duplicateOf: z.string().nullable(),
  /** Cases closed as duplicates of this one, with their receipt; absent: none. */
  duplicates: z.array(z.strictObject({ caseId: z.string(), receivedAt: moment, basis: z.string() })).exactOptional(),
  /** This case's own receipt while there are duplicates; the earliest of all counts. */
  ownReceipt: z.strictObject({ at: moment, basis: z.string() }).exactOptional(),
  /** Who handles it, in words. */
  assignee: z.string().nullable().default(null),
  /** What a second person approved, if nothing has changed since. */
  approval: z
    .strictObject({ of: z.enum(secondPersonMoves), by: z.string(), at: moment })
    .nullable()
    .default(null),
  /** The requester's last message, until an officer does something; absent: none is waiting. */
  message: z.strictObject({ at: moment, about: z.enum(messageKinds), channel: z.string() }).exactOptional(),
  /** How it was confirmed that the requester reads mail to the address; absent: not confirmed. */
  emailConfirmed: z.strictObject({ at: moment, how: z.string() }).exactOptional(),
  /** In the order in which they were added: the first is task 1. Absent: none. */
  tasks: z.array(taskSchema).exactOptional(),
});
export type CaseFolded = z.infer<typeof foldedSchema>;

/** The folded state of a newly opened case. */
export function emptyFolded(kindAsGiven: string | null, placeAsGiven: string | null = null): CaseFolded {
  return {
    kindAsGiven,
    placeAsGiven,
    acknowledgedAt: null,
    identity: {
      status: 'not-asked',
      doubt: null,
      asked: null,
      askedAt: null,
      informationAt: null,
      how: null,
      checkedBy: null,
      checkedAt: null,
      requester: null,
      authority: null,
      represented: null,
      failure: null,
    },
    fee: null,
    clarifications: [],
    extension: null,
    systems: {},
    match: null,
    answer: null,
    refusal: null,
    withdrawal: null,
    duplicateOf: null,
    assignee: null,
    approval: null,
  };
}

/** Reads the column. Throws if it is not what this program wrote. */
export function parseFolded(column: string): CaseFolded {
  return foldedSchema.parse(JSON.parse(column));
}

/** The column's text: canonical JSON, so that a rebuild gives the same bytes. */
export function foldedColumn(folded: CaseFolded): string {
  return canonicalJson(folded).toString('utf8');
}

/** Words for a place that match none in the list (src/law/jurisdictions.ts); null: they match, or there are none. */
export function unknownPlace(words: string | null): string | null {
  return words === null || mapJurisdiction(words) !== null ? null : words;
}

/** Who made the move and when it was recorded (our clock). */
interface MoveStamp {
  readonly actor: string;
  readonly recordedAt: string;
  /** The receipt of the case before the move. */
  readonly receipt: { readonly at: string; readonly basis: string };
}

/** Adds one move to the folded state. Pure; the move must have been checked. */
export function foldMove(folded: CaseFolded, checked: CheckedMove, stamp: MoveStamp): CaseFolded {
  const { message: _read, ...read } = folded;
  // Moves of tasks are made by their owners and do not mean that an officer has read the message.
  const next = foldDetails(taskMoves.includes(checked.move) ? folded : read, checked, stamp);
  return keepsApproval.includes(checked.move) ? next : { ...next, approval: null };
}

/** Moves about tasks for the owners of other systems. */
export const taskMoves: readonly MoveName[] = ['add-task', 'share-task', 'unshare-task', 'send-task', 'finish-task'];

/** The task with this number; null if there is none. */
export function taskOf({ tasks = [] }: Pick<CaseFolded, 'tasks'>, number: string): CaseTask | null {
  return tasks[Number(number) - 1] ?? null;
}

function changeTask(folded: CaseFolded, number: string, change: (task: CaseTask) => Partial<CaseTask>): CaseFolded {
  const { tasks = [] } = folded;
  return {
    ...folded,
    tasks: tasks.map((one, place) => (place === Number(number) - 1 ? { ...one, ...change(one) } : one)),
  };
}

/** Moves that do not change what was approved. */
export const keepsApproval: readonly MoveName[] = [
  'approve',
  'assign',
  'note',
  'acknowledge',
  'confirm-email',
  'requester-message',
  ...taskMoves,
];

function foldDetails(folded: CaseFolded, checked: CheckedMove, stamp: MoveStamp): CaseFolded {
  const { move, details } = checked;
  const recorded = stamp.recordedAt;
  switch (move) {
    case 'acknowledge':
      return { ...folded, acknowledgedAt: details.at ?? recorded };
    case 'ask-identity': {
      const asked = { status: 'asked' as const, doubt: details.doubt ?? null, asked: details.asked };
      // A second question does not restart the wait for the first.
      return {
        ...folded,
        identity: { ...folded.identity, ...asked, askedAt: folded.identity.askedAt ?? details.at ?? recorded },
      };
    }
    case 'confirm-identity': {
      const checkedAt = details.at ?? recorded;
      const confirmed = {
        status: 'confirmed' as const,
        informationAt: details.informationAt ?? folded.identity.informationAt ?? checkedAt,
        how: details.how,
        checkedBy: stamp.actor,
        checkedAt,
        requester: details.requester,
        authority: details.authority ?? null,
        represented: details.represented ?? null,
        failure: null,
      };
      return { ...folded, identity: { ...folded.identity, ...confirmed } };
    }
    case 'confirm-email':
      return { ...folded, emailConfirmed: { at: details.at ?? recorded, how: details.how } };
    case 'fail-identity': {
      const failed = {
        status: 'failed' as const,
        failure: details.reason,
        checkedBy: stamp.actor,
        checkedAt: details.at ?? recorded,
      };
      return { ...folded, identity: { ...folded.identity, ...failed } };
    }
    case 'ask-clarification': {
      const asked = { askedAt: details.at ?? recorded, question: details.question, answeredAt: null, answer: null };
      return { ...folded, clarifications: [...folded.clarifications, asked] };
    }
    case 'receive-clarification': {
      const answered = { answeredAt: details.at ?? recorded, answer: details.answer };
      const clarifications = folded.clarifications.map((one) =>
        one.answeredAt === null ? { ...one, ...answered } : one,
      );
      return { ...folded, clarifications };
    }
    case 'record-fee':
      return { ...folded, fee: { amount: details.amount, askedAt: details.askedAt, paidAt: details.paidAt } };
    case 'extend': {
      const { reasons, until = null, approvedBy = null } = details;
      return { ...folded, extension: { noticeAt: details.at ?? recorded, reasons, until, approvedBy } };
    }
    case 'mark-system': {
      const mark = { result: details.result, note: details.note ?? null, by: stamp.actor, at: recorded };
      return { ...folded, systems: { ...folded.systems, [details.system]: mark } };
    }
    case 'add-task': {
      const { what, due, owner = null, ownerEmail = null, instructions = null } = details;
      const added = { what, instructions, owner, ownerEmail, due, by: stamp.actor, at: recorded };
      const open = { links: 0, linkUntil: null, sentAt: null };
      const unfinished = { outcome: null, note: null, finishedBy: null, finishedAt: null };
      return { ...folded, tasks: [...(folded.tasks ?? []), { ...added, ...open, ...unfinished }] };
    }
    case 'share-task': {
      const linkUntil = new Date(Date.parse(recorded) + Number(details.days) * 86_400_000).toISOString();
      return changeTask(folded, details.task, ({ links }) => ({ links: links + 1, linkUntil }));
    }
    case 'unshare-task':
      return changeTask(folded, details.task, () => ({ linkUntil: null }));
    case 'send-task':
      return changeTask(folded, details.task, () => ({ sentAt: recorded }));
    case 'finish-task': {
      const { outcome, note = null } = details;
      const finished = { outcome, note, finishedBy: stamp.actor, finishedAt: recorded };
      return changeTask(folded, details.task, () => finished);
    }
    case 'link-subject': {
      const { subject, way, note = null } = details;
      return { ...folded, match: { subject, way, note, by: stamp.actor, at: recorded } };
    }
    case 'answer': {
      const {
        channel,
        disclosure,
        parts = [],
        documentSha256 = null,
        approvedBy = approvalOf(folded, 'answer'),
      } = details;
      const at = details.at ?? recorded;
      const answer = { at, channel, disclosure, parts, documentSha256, approvedBy, by: stamp.actor };
      return { ...folded, answer };
    }
    case 'refuse': {
      const { reasons, basis, remedies, approvedBy = approvalOf(folded, 'refuse') } = details;
      return {
        ...settled(folded, recorded),
        refusal: { at: details.at ?? recorded, reasons, basis, remedies, approvedBy, by: stamp.actor },
      };
    }
    case 'withdraw':
      return { ...settled(folded, recorded), withdrawal: { at: details.at ?? recorded, how: details.how } };
    case 'close-duplicate':
      return { ...settled(folded, recorded), duplicateOf: details.duplicateOf };
    case 'reopen':
      return { ...folded, answer: null, refusal: null, withdrawal: null, duplicateOf: null };
    case 'amend': {
      // The identity was confirmed for the requester as recorded then: a correction must not let someone else in.
      const changed = details.requesterName !== undefined || details.requesterEmail !== undefined;
      const { emailConfirmed: _former, ...others } = folded;
      const corrected = details.requesterEmail === undefined ? folded : others;
      const { ownReceipt } = folded;
      const isEarlier =
        ownReceipt !== undefined && details.receivedAt !== undefined && details.receivedAt < ownReceipt.at;
      const addressed = isEarlier
        ? { ...corrected, ownReceipt: { at: details.receivedAt ?? ownReceipt.at, basis: 'officer' } }
        : corrected;
      const placed =
        details.jurisdiction === undefined
          ? addressed
          : { ...addressed, placeAsGiven: unknownPlace(details.jurisdiction) };
      if (!changed || folded.identity.status !== 'confirmed') return placed;
      return { ...placed, identity: { ...folded.identity, status: 'recheck' } };
    }
    case 'merge-duplicate': {
      const { duplicate: caseId, receivedAt, receiptBasis: basis } = details;
      const { duplicates = [], ownReceipt = stamp.receipt } = folded;
      const others = duplicates.filter((one) => one.caseId !== caseId);
      return { ...folded, duplicates: [...others, { caseId, receivedAt, basis }], ownReceipt };
    }
    case 'release-duplicate': {
      const { duplicates: all = [], ownReceipt, ...others } = folded;
      const duplicates = all.filter((one) => one.caseId !== details.duplicate);
      return duplicates.length === 0 || ownReceipt === undefined ? others : { ...others, duplicates, ownReceipt };
    }
    case 'assign':
      return { ...folded, assignee: details.assignee ?? null };
    case 'approve':
      return { ...folded, approval: { of: details.of, by: stamp.actor, at: recorded } };
    case 'requester-message':
      return {
        ...folded,
        message: { at: details.at ?? recorded, about: details.about, channel: details.channel },
      };
    case 'start':
    case 'note':
    case 'mark-ready':
    case 'rework':
    case 'close':
      return folded;
  }
}

/**
 * The receipt that counts for a case: the earliest of its own and its duplicates' receipts. `own`: its receipt without
 * duplicates.
 */
export function governingReceipt(
  { duplicates = [], ownReceipt }: CaseFolded,
  own: { readonly at: string; readonly basis: string },
): { readonly at: string; readonly basis: string } {
  return duplicates
    .map(({ receivedAt: at, basis }) => ({ at, basis }))
    .reduce((earliest, one) => (one.at < earliest.at ? one : earliest), ownReceipt ?? own);
}

/** Who approved it as a second person; null: no approval was needed. */
function approvalOf({ approval: given }: CaseFolded, of: (typeof secondPersonMoves)[number]): string | null {
  return given?.of === of ? given.by : null;
}

/** A settled case no longer waits for clarification; otherwise the clock would stay stopped after a reopening. */
function settled(folded: CaseFolded, at: string): CaseFolded {
  const clarifications = folded.clarifications.map((one) => ({ ...one, answeredAt: one.answeredAt ?? at }));
  return { ...folded, clarifications };
}
