import type { secondPersonMoves } from '../law/profile.ts';
import { amendedKinds, type CaseFolded, type CaseTask, partsOf, unknownPlace } from './folded.ts';
import { type CheckedMove, type MoveDetails, type MoveName, replyMoves, taskMoves } from './moves.ts';

/** Who made the move and when it was recorded (our clock). */
interface MoveStamp {
  readonly actor: string;
  readonly recordedAt: string;
  /** The receipt of the case before the move. */
  readonly receipt: { readonly at: string; readonly basis: string };
  /** The main kind of the case before the move. */
  readonly kind: string;
}

/** Adds one move to the folded state. Pure; the move must have been checked. */
export function foldMove(folded: CaseFolded, checked: CheckedMove, stamp: MoveStamp): CaseFolded {
  const next = foldDetails(folded, checked, stamp);
  return keepsApproval.includes(checked.move) ? next : { ...next, approval: null };
}

/** Moves that do not change what was approved. */
export const keepsApproval: readonly MoveName[] = [
  'approve',
  'assign',
  'note',
  'acknowledge',
  'confirm-email',
  'requester-message',
  ...replyMoves,
  ...taskMoves,
];

function foldDetails(folded: CaseFolded, checked: CheckedMove, stamp: MoveStamp): CaseFolded {
  const { move, details } = checked;
  const { actor, recordedAt } = stamp;
  switch (move) {
    case 'acknowledge':
      return { ...folded, acknowledgedAt: details.at ?? recordedAt };
    case 'no-doubt':
      return withoutDoubt(folded, details, stamp);
    case 'ask-identity':
      return askIdentity(folded, details, stamp);
    case 'confirm-identity':
      return confirmIdentity(folded, details, stamp);
    case 'fail-identity':
      return failIdentity(folded, details, stamp);
    case 'confirm-email':
      return { ...folded, emailConfirmed: { at: details.at ?? recordedAt, how: details.how } };
    case 'ask-clarification':
      return askClarification(folded, details, stamp);
    case 'receive-clarification':
      return receiveClarification(folded, details, stamp);
    case 'record-fee':
      return { ...folded, fee: { amount: details.amount, askedAt: details.askedAt, paidAt: details.paidAt } };
    case 'extend': {
      const { reasons, until = null, approvedBy = null } = details;
      return { ...folded, extension: { noticeAt: details.at ?? recordedAt, reasons, until, approvedBy } };
    }
    case 'mark-system': {
      const mark = { result: details.result, note: details.note ?? null, by: actor, at: recordedAt };
      return { ...folded, systems: { ...folded.systems, [details.system]: mark } };
    }
    case 'add-task':
      return addTask(folded, details, stamp);
    case 'share-task':
      return shareTask(folded, details, stamp);
    case 'unshare-task':
      return changeTask(folded, details.task, () => ({ linkUntil: null }));
    case 'send-task':
      return changeTask(folded, details.task, () => ({ sentAt: recordedAt }));
    case 'finish-task':
      return finishTask(folded, details, stamp);
    case 'settle-part': {
      const { kind, outcome, ground = null, note = null, at = recordedAt } = details;
      const settled = { kind, outcome, ground, note, by: actor, at };
      return { ...folded, parts: (folded.parts ?? []).map((part) => (part.kind === kind ? settled : part)) };
    }
    case 'link-subject': {
      const { subject, way, note = null } = details;
      return { ...folded, match: { subject, way, note, by: actor, at: recordedAt } };
    }
    case 'answer':
      return answer(folded, details, stamp);
    case 'refuse':
      return refuse(folded, details, stamp);
    case 'withdraw': {
      const withdrawal = { at: details.at ?? recordedAt, how: details.how };
      return { ...withoutOpenQuestions(folded, recordedAt), withdrawal };
    }
    case 'close-duplicate':
      return { ...withoutOpenQuestions(folded, recordedAt), duplicateOf: details.duplicateOf };
    case 'reopen':
      return { ...folded, answer: null, refusal: null, withdrawal: null, duplicateOf: null };
    case 'amend':
      return amend(folded, details, stamp);
    case 'merge-duplicate':
      return mergeDuplicate(folded, details, stamp);
    case 'release-duplicate':
      return releaseDuplicate(folded, details);
    case 'assign':
      return { ...folded, assignee: details.assignee ?? null };
    case 'approve':
      return { ...folded, approval: { ...approved(details), by: actor, at: recordedAt } };
    case 'requester-message': {
      const { about, channel, at = recordedAt } = details;
      return { ...folded, openMessages: [...(folded.openMessages ?? []), { at, about, channel }] };
    }
    case 'reply':
    case 'no-reply':
      return { ...folded, openMessages: [] };
    case 'start':
    case 'note':
    case 'mark-ready':
    case 'rework':
    case 'close':
      return folded;
  }
}

/** Nothing was checked, so `how` stays empty: letters say of a check that it was made. The reason is in the history. */
function withoutDoubt(
  folded: CaseFolded,
  { at: checkedAt }: MoveDetails<'no-doubt'>,
  { actor, recordedAt }: MoveStamp,
): CaseFolded {
  const decided = { status: 'no-doubt', checkedBy: actor, checkedAt: checkedAt ?? recordedAt } as const;
  return { ...folded, identity: { ...folded.identity, ...decided } };
}

function askIdentity(folded: CaseFolded, details: MoveDetails<'ask-identity'>, { recordedAt }: MoveStamp): CaseFolded {
  const { identity } = folded;
  // A second question does not restart the wait for the first.
  const askedAt = identity.askedAt ?? details.at ?? recordedAt;
  return {
    ...folded,
    identity: { ...identity, status: 'asked', doubt: details.doubt ?? null, asked: details.asked, askedAt },
  };
}

function confirmIdentity(
  folded: CaseFolded,
  details: MoveDetails<'confirm-identity'>,
  { actor, recordedAt }: MoveStamp,
): CaseFolded {
  const { identity } = folded;
  const { how, requester, authority = null, represented = null, at: checkedAt = recordedAt } = details;
  return {
    ...folded,
    identity: {
      ...identity,
      status: 'confirmed',
      informationAt: details.informationAt ?? identity.informationAt ?? checkedAt,
      how,
      checkedBy: actor,
      checkedAt,
      requester,
      authority,
      represented,
      failure: null,
    },
  };
}

function failIdentity(
  folded: CaseFolded,
  { reason: failure, at: checkedAt }: MoveDetails<'fail-identity'>,
  { actor, recordedAt }: MoveStamp,
): CaseFolded {
  return {
    ...folded,
    identity: {
      ...folded.identity,
      status: 'failed',
      failure,
      checkedBy: actor,
      checkedAt: checkedAt ?? recordedAt,
    },
  };
}

function askClarification(
  folded: CaseFolded,
  { question, at: askedAt }: MoveDetails<'ask-clarification'>,
  { recordedAt }: MoveStamp,
): CaseFolded {
  const asked = { askedAt: askedAt ?? recordedAt, question, answeredAt: null, answer: null };
  return { ...folded, clarifications: [...folded.clarifications, asked] };
}

/** A single answer may settle all open questions. */
function receiveClarification(
  folded: CaseFolded,
  { answer: text, at }: MoveDetails<'receive-clarification'>,
  { recordedAt }: MoveStamp,
): CaseFolded {
  const answered = { answeredAt: at ?? recordedAt, answer: text };
  const clarifications = folded.clarifications.map((one) => (one.answeredAt === null ? { ...one, ...answered } : one));
  return { ...folded, clarifications };
}

function addTask(folded: CaseFolded, details: MoveDetails<'add-task'>, { actor, recordedAt }: MoveStamp): CaseFolded {
  const { what, due, owner = null, ownerEmail = null, instructions = null } = details;
  const added = { what, instructions, owner, ownerEmail, due, by: actor, at: recordedAt };
  const unshared = { links: 0, linkUntil: null, sentAt: null };
  const unfinished = { outcome: null, note: null, finishedBy: null, finishedAt: null };
  return { ...folded, tasks: [...(folded.tasks ?? []), { ...added, ...unshared, ...unfinished }] };
}

function shareTask(
  folded: CaseFolded,
  { task, days }: MoveDetails<'share-task'>,
  { recordedAt }: MoveStamp,
): CaseFolded {
  const linkUntil = new Date(Date.parse(recordedAt) + Number(days) * 86_400_000).toISOString();
  return changeTask(folded, task, ({ links }) => ({ links: links + 1, linkUntil }));
}

function finishTask(
  folded: CaseFolded,
  details: MoveDetails<'finish-task'>,
  { actor, recordedAt }: MoveStamp,
): CaseFolded {
  const { task, outcome, note = null } = details;
  return changeTask(folded, task, () => ({ outcome, note, finishedBy: actor, finishedAt: recordedAt }));
}

function changeTask(folded: CaseFolded, number: string, change: (task: CaseTask) => Partial<CaseTask>): CaseFolded {
  const { tasks = [] } = folded;
  return {
    ...folded,
    tasks: tasks.map((one, place) => (place === Number(number) - 1 ? { ...one, ...change(one) } : one)),
  };
}

function answer(folded: CaseFolded, details: MoveDetails<'answer'>, { actor, recordedAt }: MoveStamp): CaseFolded {
  const { channel, disclosure, parts = [], documentSha256 = null } = details;
  const { at = recordedAt, approvedBy = approvalOf(folded, 'answer') } = details;
  return { ...folded, answer: { at, channel, disclosure, parts, documentSha256, approvedBy, by: actor } };
}

function refuse(folded: CaseFolded, details: MoveDetails<'refuse'>, { actor, recordedAt }: MoveStamp): CaseFolded {
  const { reasons, basis, remedies, at = recordedAt, approvedBy = approvalOf(folded, 'refuse') } = details;
  return {
    ...withoutOpenQuestions(folded, recordedAt),
    refusal: { at, reasons, basis, remedies, approvedBy, by: actor },
  };
}

function approved({ of, parts, seen }: MoveDetails<'approve'>) {
  return { of, ...(parts === undefined ? {} : { parts }), ...(seen === undefined ? {} : { seen }) };
}

/** Who approved it as a second person; null: no approval was needed. */
function approvalOf(
  { approval: given }: CaseFolded,
  ...of: readonly (typeof secondPersonMoves)[number][]
): string | null {
  return given !== null && of.includes(given.of) ? given.by : null;
}

/** A settled case no longer waits for clarification; otherwise the clock would stay stopped after a reopening. */
function withoutOpenQuestions(folded: CaseFolded, at: string): CaseFolded {
  const clarifications = folded.clarifications.map((one) => ({ ...one, answeredAt: one.answeredAt ?? at }));
  return { ...folded, clarifications };
}

function amend(folded: CaseFolded, details: MoveDetails<'amend'>, { kind }: MoveStamp): CaseFolded {
  const { requesterName, requesterEmail, requesterAddress, receivedAt, jurisdiction } = details;
  const { ownReceipt, identity } = folded;
  const { parts: before, ...others } = folded;
  const parts = partsOf(amendedKinds(kind, folded, details), before);
  const amended: CaseFolded = parts === undefined ? others : { ...others, parts };
  if (requesterEmail !== undefined) delete amended.emailConfirmed;
  if (ownReceipt !== undefined && receivedAt !== undefined && receivedAt < ownReceipt.at)
    amended.ownReceipt = { at: receivedAt, basis: 'officer' };
  if (jurisdiction !== undefined) amended.placeAsGiven = unknownPlace(jurisdiction);
  // The identity was confirmed for the requester as recorded then: a correction must not let someone else in.
  const { address } = folded;
  if (requesterAddress === null) delete amended.address;
  else if (requesterAddress !== undefined) amended.address = requesterAddress;
  const isMoved = address !== undefined && requesterAddress !== undefined && requesterAddress !== address;
  const isSomeoneElse = requesterName !== undefined || requesterEmail !== undefined || isMoved;
  if (isSomeoneElse && identity.status === 'confirmed') amended.identity = { ...identity, status: 'recheck' };
  if (isSomeoneElse && identity.status === 'no-doubt') amended.identity = { ...identity, status: 'not-asked' };
  return amended;
}

function mergeDuplicate(
  folded: CaseFolded,
  { duplicate: caseId, receivedAt, receiptBasis: basis }: MoveDetails<'merge-duplicate'>,
  stamp: MoveStamp,
): CaseFolded {
  const { duplicates = [], ownReceipt = stamp.receipt } = folded;
  const others = duplicates.filter((one) => one.caseId !== caseId);
  return { ...folded, duplicates: [...others, { caseId, receivedAt, basis }], ownReceipt };
}

function releaseDuplicate(folded: CaseFolded, { duplicate }: MoveDetails<'release-duplicate'>): CaseFolded {
  const { duplicates = [], ownReceipt, ...others } = folded;
  const left = duplicates.filter((one) => one.caseId !== duplicate);
  return left.length === 0 || ownReceipt === undefined ? others : { ...others, duplicates: left, ownReceipt };
}
