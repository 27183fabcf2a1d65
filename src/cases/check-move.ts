import { isEmail } from '../core/email.ts';
import { problemOfLanguage } from '../core/language.ts';
import { dateText, momentText } from '../core/time-words.ts';
import { dateIn } from '../core/zoned-days.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { whyNotRefused } from '../law/deadlines.ts';
import { jurisdictionSchema, unknownJurisdiction } from '../law/jurisdictions.ts';
import { type ControllerProfile, secondPersonMoves } from '../law/profile.ts';
import { NOT_COVERED } from './approval.ts';
import { taskOf } from './folded.ts';
import type { Match } from './match-subject.ts';
import { type AnswerPart, type CheckedMove, type MoveName, moves } from './moves.ts';
import { caseReadiness, disclosureOf } from './readiness.ts';
import { type CaseView, standingOf } from './view.ts';
import { refusesAll, takesEffect } from './withdrawal.ts';

/** What a move is checked against, besides its own details. */
interface MoveContext {
  readonly profile: ControllerProfile | null;
  readonly timeZone: string;
  /** ISO 8601 UTC. */
  readonly now: string;
  /** Who makes it, as named in the ledger. */
  readonly actor: string;
  /** Needed for `mark-ready` and `answer`. */
  readonly match: Match;
  /** Whether a letter, file or pack was added after the last approval (approval.ts). */
  readonly approvalOutdated: boolean;
}

/** How far ahead of our clock a date entered by an officer may be, in milliseconds. */
const TOLERANCE_MS = 5 * 60_000;
/** The most tasks that one case can have. */
const TASKS = 100;
/** The words for the times in moves. */
const momentWords = {
  at: 'the time of the step',
  effectiveAt: 'the time at which consent ended',
  informationAt: 'the time at which the information arrived',
  askedAt: 'the time at which it was asked for',
  paidAt: 'the time of the payment',
  receivedAt: 'the time of the receipt',
} as const;

/**
 * Why a move may not be made now: what the state, the law and the controller's role forbid. Empty: it may. Pure.
 * Invariant: no disclosure and no deletion without the required identity check; no check where the law forbids it.
 */
export function checkMove(view: CaseView, checked: CheckedMove, context: MoveContext): readonly string[] {
  const rule = moves[checked.move];
  if (!(rule.from as readonly string[]).includes(view.row.state)) {
    return [`“${rule.label}” is not possible while the case is ${view.row.state.replaceAll('-', ' ')}`];
  }
  return [...problemsOfDates(view, checked, context), ...problemsOfLaw(view, checked, context)];
}

function problemsOfLaw(view: CaseView, { move, details }: CheckedMove, context: MoveContext): readonly string[] {
  switch (move) {
    case 'no-doubt':
    case 'ask-identity':
    case 'confirm-identity':
    case 'fail-identity':
      return problemsOfIdentity(view, { move, details } as IdentityMove);
    case 'extend':
      return [...problemsOfExtension(view, details, context), ...problemsOfApproval(details, context)];
    case 'settle-part':
      return problemsOfPart(view, details);
    case 'mark-system':
      return problemsOfSystem(details.system, context.profile?.otherSystems ?? []);
    case 'add-task':
      return (view.folded.tasks?.length ?? 0) >= TASKS ? [`a case can have at most ${TASKS} tasks`] : [];
    case 'share-task':
    case 'unshare-task':
    case 'send-task':
    case 'finish-task':
      return problemsOfTask(view, { move, details } as TaskMove);
    case 'mark-ready':
      return blockers(view, context);
    case 'answer':
      return [
        ...blockers(view, context),
        ...problemsOfDisclosure(view, details.disclosure, context),
        ...(refusesAll(details) ? problemsOfRefusal(view) : []),
        ...problemsOfWithdrawal(view, details, context),
        ...problemsOfApproval(details, context),
        ...problemsOfApprovedAnswer(view, details, context),
      ];
    case 'refuse':
      return [
        ...problemsOfRefusal(view),
        ...problemsOfParts(view),
        ...problemsOfApproval(details, context),
        ...problemsOfSecondPerson(view, move, context),
      ];
    case 'approve':
      if (accountOf(context.actor) === null) return ['only someone with an account can approve: sign in with yours'];
      return details.seen === undefined
        ? ['send `seen` of the request that you looked at, so that nothing unseen is approved']
        : [];
    case 'amend':
      return problemsOfAmendment(view, details, context);
    case 'close-duplicate':
      return details.duplicateOf === view.row.case_id ? ['a case cannot be a duplicate of itself'] : [];
    case 'acknowledge':
      return view.folded.acknowledgedAt === null ? [] : ['receipt has already been confirmed'];
    case 'confirm-email':
      if (view.row.requester_email === null) return ['the request has no e-mail address'];
      return view.folded.emailConfirmed === undefined ? [] : ['the e-mail address has already been confirmed'];
    case 'merge-duplicate':
    case 'release-duplicate':
      return [`${move} is recorded automatically when the duplicate is closed or reopened`];
    case 'reply':
      return view.folded.openMessages === undefined
        ? ['the requester has not written: write a letter, or record their message first']
        : [];
    case 'no-reply':
      return (view.folded.openMessages ?? []).length === 0 ? ['no message of the requester is open'] : [];
    case 'assign':
    case 'start':
    case 'ask-clarification':
    case 'receive-clarification':
    case 'record-fee':
    case 'link-subject':
    case 'note':
    case 'requester-message':
    case 'rework':
    case 'withdraw':
    case 'close':
    case 'reopen':
      return [];
  }
}

type IdentityMove = Extract<CheckedMove, { move: 'no-doubt' | 'ask-identity' | 'confirm-identity' | 'fail-identity' }>;

function problemsOfIdentity(view: CaseView, { move, details }: IdentityMove): readonly string[] {
  const { identity, laws } = view.deadline;
  if (identity.rule === 'forbidden') {
    const citations = laws.map((law) => law.citation).join('; ');
    return [`this kind of request must not depend on an identity check (${citations})`];
  }
  if (move === 'no-doubt' && identity.rule === 'required')
    return ['this kind of request requires an identity check: record how the identity was confirmed'];
  if (move === 'ask-identity' && identity.doubtFirst && details.doubt === undefined) {
    const because = laws.find((law) => law.row.identity !== 'required');
    const isGdpr = because === undefined || (because.id === 'eu-gdpr' && because.row.isOwn !== true);
    const where = isGdpr ? 'GDPR Art. 12(6)' : because.citation;
    return [
      `state the reason for doubting the identity: without reasonable doubt you may not ask for information (${where})`,
    ];
  }
  const { askedAt, informationAt } = view.folded.identity;
  const runsFromInformation = askedAt !== null && laws.some((law) => law.row.runsFrom !== 'receipt');
  return move === 'confirm-identity' && runsFromInformation && (details.informationAt ?? informationAt) === null
    ? ['state when the identity information arrived: the period runs from then']
    : [];
}

function problemsOfAmendment(
  view: CaseView,
  {
    jurisdiction = null,
    receivedAt,
    requesterEmail = null,
    language = null,
  }: Extract<CheckedMove, { move: 'amend' }>['details'],
  { timeZone }: MoveContext,
): readonly string[] {
  const problems: string[] = [];
  if (jurisdiction !== null && !jurisdictionSchema.safeParse(jurisdiction).success)
    problems.push(unknownJurisdiction(jurisdiction));
  // Not in the schema of the move, with which earlier entries are read again.
  if (requesterEmail !== null && !isEmail(requesterEmail))
    problems.push(`${JSON.stringify(requesterEmail)} is not an e-mail address: use one like olga@example.org`);
  const notOne = language === null ? null : problemOfLanguage(language);
  if (notOne !== null) problems.push(notOne);
  if (receivedAt !== undefined && receivedAt >= view.row.receipt_at)
    problems.push(`the receipt can only be moved to an earlier time than ${momentText(view.row.receipt_at, timeZone)}`);
  return problems;
}

/**
 * Consent ends when the person says so, whatever the controller thinks: neither a refusal nor an answer that refuses
 * every part is possible.
 */
function problemsOfRefusal(view: CaseView): readonly string[] {
  for (const deadline of [view.deadline, ...view.parts.map((part) => part.deadline)]) {
    const why = whyNotRefused(deadline);
    if (why !== null) return [why];
  }
  return [];
}

/** A request of which something was done is answered, not refused. */
function problemsOfParts({ parts }: CaseView): readonly string[] {
  return parts.some(({ outcome }) => outcome === 'done' || outcome === 'partly')
    ? ['some of the rights requested were granted: record the others as refused, then answer the request']
    : [];
}

/** Invariant: no disclosure and no deletion without the required identity check, in parts of a request either. */
function problemsOfPart(
  { parts, folded }: CaseView,
  { kind, outcome }: Extract<CheckedMove, { move: 'settle-part' }>['details'],
): readonly string[] {
  const part = parts.find((one) => one.kind === kind);
  if (part === undefined)
    return [`the request has no part of this kind; it has ${parts.map((one) => one.kind).join(', ') || 'none'}`];
  if (outcome === 'refused') {
    const why = whyNotRefused(part.deadline);
    return why === null ? [] : [why];
  }
  const standing = standingOf(folded, part.deadline);
  if (standing === 'met' || whyNotRefused(part.deadline) !== null) return [];
  if (outcome === 'partly' && kind !== 'erasure' && part.deadline.identity.unverified === 'categories-only') return [];
  return [
    standing === 'needed'
      ? 'the identity check that this right requires is not complete'
      : 'the identity could not be confirmed: refuse this right with reasons, or confirm the identity after all',
  ];
}

function problemsOfWithdrawal(
  view: CaseView,
  details: Extract<CheckedMove, { move: 'answer' }>['details'],
  { match, now }: MoveContext,
): readonly string[] {
  const { purposes, effectiveAt } = details;
  if (purposes === undefined && effectiveAt === undefined) return [];
  if (refusesAll(details)) return ['leave out purposes and effectiveAt: every part is refused, so no consent ends'];
  if (!takesEffect(view.row, match, details)) {
    return [
      'purposes and effectiveAt apply only to the answer to a request to withdraw consent, opt out or object whose subject was found in the consent records',
    ];
  }
  const answeredAt = details.at ?? now;
  return effectiveAt !== undefined && effectiveAt > answeredAt
    ? [
        'the time at which consent ended is later than the answer: consent must end by the time the requester is informed',
      ]
    : [];
}

/** The notice must be on time under every law: it must be sent before the first period of any of them ends. */
function problemsOfExtension(
  view: CaseView,
  details: Extract<CheckedMove, { move: 'extend' }>['details'],
  context: MoveContext,
): readonly string[] {
  const { laws, firstLimit } = view.deadline;
  const extending = laws.filter((law) => law.row.extension !== null);
  if (extending.length === 0 || firstLimit === null) {
    const citations = laws.map((law) => law.citation).join('; ');
    return [
      `the deadline rules do not allow an extension for this kind of request${citations === '' ? '' : ` (${citations})`}`,
    ];
  }
  if (view.folded.extension !== null) return ['the period has already been extended'];
  const problems: string[] = [];
  if (dateIn(details.at ?? context.now, context.timeZone) > firstLimit) {
    const notices = extending.map((law) => law.row.extension?.notice).join('; ');
    problems.push(`the notice had to be sent by ${dateText(firstLimit)}: ${notices}`);
  }
  if (extending.some((law) => law.row.extension?.by === 'as-notified') && details.until === undefined)
    problems.push('enter the date given in the notice');
  if (details.until !== undefined && details.until <= firstLimit)
    problems.push(`the new date must be later than ${dateText(firstLimit)}`);
  return problems;
}

type TaskMove = Extract<CheckedMove, { move: 'share-task' | 'unshare-task' | 'send-task' | 'finish-task' }>;

function problemsOfTask(view: CaseView, { move, details }: TaskMove): readonly string[] {
  const found = taskOf(view.folded, details.task);
  if (found === null) return [`the case has no task ${details.task}`];
  if (move === 'unshare-task') return found.linkUntil === null ? [`task ${details.task} has no link`] : [];
  if (found.outcome === 'done') return [`task ${details.task} is already done`];
  return move === 'finish-task' && found.outcome === details.outcome
    ? [`task ${details.task} is already recorded as not done`]
    : [];
}

function problemsOfSystem(id: string, systems: ControllerProfile['otherSystems']): readonly string[] {
  if (systems.some((system) => system.id === id)) return [];
  const known = systems.map((system) => `\`${system.id}\` (${system.name})`).join(', ');
  return [`the controller profile has no system \`${id}\`; it has ${known || 'none'}`];
}

/** A processor drafts; the controller approves refusal, extension and release. */
function problemsOfApproval(details: { approvedBy?: string | undefined }, context: MoveContext): readonly string[] {
  return context.profile?.role === 'processor' && details.approvedBy === undefined
    ? ['enter who approved this for the controller: a processor may only draft']
    : [];
}

/**
 * If the controller requires two people (secondPersonFor), an account other than the acting one must have approved it,
 * and nothing may have changed since, including the letters, files and packs of the case. Accounts are compared by id, which cannot be typed.
 */
export function problemsOfSecondPerson(
  view: CaseView,
  move: (typeof secondPersonMoves)[number],
  { profile, actor, approvalOutdated }: Pick<MoveContext, 'profile' | 'actor' | 'approvalOutdated'>,
): readonly string[] {
  if (profile?.secondPersonFor?.includes(move) !== true) return [];
  return problemsOfGiven(view, view.folded.approval?.of === move, { actor, approvalOutdated });
}

/** Why the approval of a case, if it is one of what is to be done, does not let this account do it. */
function problemsOfGiven(
  { folded: { approval } }: CaseView,
  isOfThis: boolean,
  { actor, approvalOutdated }: Pick<MoveContext, 'actor' | 'approvalOutdated'>,
): readonly string[] {
  const approver = approval !== null && isOfThis ? accountOf(approval.by) : null;
  if (approver === null)
    return ['a second person has to approve the request in its current state first ("Approve as a second person")'];
  if (approvalOutdated) return [NOT_COVERED];
  const own = accountOf(actor);
  if (own === null) return ['two accounts are needed for this: sign in with yours'];
  return approver === own ? ['you approved this yourself: someone else has to carry it out'] : [];
}

/**
 * An answer may say only what was approved. One that refuses every part is a refusal, whichever of the two has to be
 * approved: it needs the approval of a refusal, or of exactly these parts.
 */
function problemsOfApprovedAnswer(
  view: CaseView,
  { parts = [] }: Extract<CheckedMove, { move: 'answer' }>['details'],
  context: MoveContext,
): readonly string[] {
  const { secondPersonFor = [] } = context.profile ?? {};
  const { approval } = view.folded;
  const isRefusal = refusesAll({ parts: parts.length === 0 ? undefined : parts });
  if (!secondPersonFor.includes('answer') && !(isRefusal && secondPersonFor.includes('refuse'))) return [];
  const isExactly = approval?.of === 'answer' && sameParts(approval.parts, parts);
  const given = isRefusal ? approval?.of === 'refuse' || isExactly : approval?.of === 'answer';
  const problems = problemsOfGiven(view, given, context);
  if (problems.length > 0 || isRefusal || isExactly) return problems;
  if (approval?.parts !== undefined)
    return ['the approval covers an answer that says something else was done: a second person has to approve again'];
  const other = parts.find(
    ({ outcome }) => outcome !== 'done' && !view.parts.some((settled) => settled.outcome === outcome),
  );
  return other === undefined
    ? []
    : [
        `the approval does not cover that “${other.what}” is ${other.outcome === 'refused' ? 'refused' : 'done only in part'}: a second person has to approve the answer with what was done`,
      ];
}

function sameParts(one: readonly AnswerPart[] | undefined, other: readonly AnswerPart[]): boolean {
  return one !== undefined && canonicalJson(one).equals(canonicalJson(other));
}

/**
 * Moves that the rule of two people keeps from this account whatever it fills in, each with the reason as a sentence.
 * Pure.
 */
export function heldForSecondPerson(
  view: CaseView,
  context: Pick<MoveContext, 'profile' | 'actor' | 'approvalOutdated'>,
): ReadonlyMap<MoveName, string> {
  const held = new Map<MoveName, string>();
  const isApproved = (move: (typeof secondPersonMoves)[number]) => view.folded.approval?.of === move;
  for (const move of secondPersonMoves) {
    if (problemsOfSecondPerson(view, move, context).length === 0) continue;
    held.set(
      move,
      !isApproved(move)
        ? 'Someone else has to approve this first (“Approve as a second person”).'
        : context.approvalOutdated
          ? 'A letter, file or response pack was added after the approval, so it no longer counts: someone else has to approve again (“Approve as a second person”).'
          : accountOf(context.actor) === null
            ? 'Two accounts are needed for this: sign in with yours.'
            : 'You approved this yourself: someone else has to do it.',
    );
  }
  if (accountOf(context.actor) === null) held.set('approve', 'Only someone with an account can approve.');
  return held;
}

/** The id at the end of an actor, because people choose their names freely. */
function accountOf(actor: string): string | null {
  return /\((p-[0-9a-f]{8})\)(?: by token t-[0-9a-f]{8})?$/.exec(actor)?.[1] ?? null;
}

function blockers(view: CaseView, context: MoveContext): readonly string[] {
  return caseReadiness(view, context.profile, context.match)
    .lacks.filter((lack) => lack.blocking)
    .map((lack) => lack.text);
}

function problemsOfDisclosure(view: CaseView, disclosure: string, context: MoveContext): readonly string[] {
  const allowed = disclosureOf(view, context.match);
  return disclosure === 'full' && allowed !== 'full'
    ? [`specific pieces of data must not be disclosed here; allowed: ${allowed}`]
    : [];
}

function problemsOfDates(view: CaseView, { move, details }: CheckedMove, context: MoveContext): readonly string[] {
  const problems: string[] = [];
  const latest = new Date(Date.parse(context.now) + TOLERANCE_MS).toISOString();
  const receivedOn = dateIn(view.row.receipt_at, context.timeZone);
  const moments = details as Readonly<Record<string, unknown>>;
  for (const [name, words] of Object.entries(momentWords)) {
    const value = moments[name];
    if (typeof value !== 'string') continue;
    const entered = `${words} (${momentText(value, context.timeZone)})`;
    if (value > latest) problems.push(`${entered} is in the future`);
    if (name !== 'receivedAt' && dateIn(value, context.timeZone) < receivedOn) {
      problems.push(`${entered} is before the receipt on ${dateText(receivedOn)}`);
    }
  }
  if (move === 'receive-clarification') {
    const asked = view.folded.clarifications.find((one) => one.answeredAt === null)?.askedAt;
    if (asked !== undefined && (details.at ?? context.now) < asked)
      problems.push('the answer is dated before the question');
  }
  if (move === 'confirm-identity') {
    const { askedAt } = view.folded.identity;
    if (askedAt !== null && details.informationAt !== undefined && details.informationAt < askedAt) {
      problems.push('the identity information is dated before the request for it');
    }
  }
  return problems;
}
