import type { Clock } from '../core/clock.ts';
import type { SubjectRecipe } from '../core/subject.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import { dateIn, daysBetween } from '../core/zoned-days.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { computeDeadlines, type Deadlines, type RequestedItem, whyNotRefused } from '../law/deadlines.ts';
import type { UnrecordedLaw } from '../law/not-recorded.ts';
import type { ControllerProfile } from '../law/profile.ts';
import type { IdentityRule } from '../law/regime-schema.ts';
import type { RegimeTable } from '../law/regime-table.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/store.ts';
import { type CaseRow, isRequestKind } from './fold.ts';
import { type CaseFolded, parseFolded, type RequestPart } from './folded.ts';
import { isOpen, type MoveName, movesFrom, taskMoves } from './moves.ts';

/** What reading cases needs. */
export interface CaseReading {
  readonly store: Pick<Store, 'read'>;
  readonly regimes: RegimeTable;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
  /** The controller profile of a source; null if none is configured. */
  profileOf(source: string): ControllerProfile | null | Promise<ControllerProfile | null>;
  /** How a source hashes e-mail addresses; null if unknown. */
  recipeOf(source: string): SubjectRecipe | null | Promise<SubjectRecipe | null>;
}

/** What changing cases additionally needs. */
export interface CaseWriting extends CaseReading {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** For the mail that tells the requester of a reply. */
  readonly jobs: Pick<Jobs, 'enqueueIn' | 'wake'>;
}

/** The context in which a case is viewed. Deadlines are computed when a case is read, so a corrected rule corrects every date. */
export interface ViewContext {
  readonly regimes: RegimeTable;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
  readonly profile: ControllerProfile | null;
  /** ISO 8601 UTC. */
  readonly now: string;
}

/**
 * Whether the required identity check has been made. `met`: made, or not required. `needed`: the law requires it, or a
 * doubt was recorded. `failed`: made without success.
 */
export type IdentityStanding = 'met' | 'needed' | 'failed';

/** One of several rights asked for in a case, with its own deadline. */
export type PartView = RequestPart & { readonly deadline: Deadlines };

export interface CaseView {
  readonly row: CaseRow;
  /** The right asked for; of several the one that takes effect soonest. */
  readonly kind: RequestKind;
  /** Every right asked for, `kind` first. */
  readonly kinds: readonly RequestKind[];
  /** What was done about each of several rights; empty if there is only one. */
  readonly parts: readonly PartView[];
  readonly folded: CaseFolded;
  /** Of several rights, the deadline of the one that is due first among those about which nothing is recorded; the last of all if something is recorded about each. */
  readonly deadline: Deadlines;
  readonly identity: IdentityStanding;
  readonly open: boolean;
  /** Days from today to the limit, negative if it has passed; null if the case is settled or no law sets a limit. */
  readonly daysLeft: number | null;
  readonly overdue: boolean;
  /** Moves allowed by its state and regime. */
  readonly moves: readonly MoveName[];
}

/** A case with everything computed from it. Pure. */
export function viewCase(row: CaseRow, context: ViewContext): CaseView {
  const folded = parseFolded(row.folded);
  const kind = isRequestKind(row.kind) ? row.kind : 'unknown';
  const open = isOpen(row.state);
  const parts = (folded.parts ?? []).map((part) => ({
    ...part,
    deadline: deadlinesOf(row, folded, context, { kind: part.kind, settledAt: part.at }),
  }));
  const deadline = deadlineOfParts(parts) ?? deadlinesOf(row, folded, context, { kind, settledAt: null });
  const daysLeft =
    open && deadline.limit !== null ? daysBetween(dateIn(context.now, context.timeZone), deadline.limit) : null;
  return {
    row,
    kind,
    kinds: parts.length === 0 ? [kind] : parts.map((part) => part.kind),
    parts,
    folded,
    deadline,
    identity: standingOf(folded, deadline),
    open,
    daysLeft,
    overdue: daysLeft !== null && daysLeft < 0,
    moves: movesFrom(row.state).filter((move) => isMoveOffered(move, folded, deadline, context.profile)),
  };
}

/**
 * The deadline of a case with several rights: that of the right due first among those about which nothing is recorded,
 * or, once something is recorded about each, of the one due last: by then the answer has to be sent. With it, the
 * earliest day for the acknowledgement of these rights, and the strictest identity rule of those that were not refused. Null: there is one right.
 */
function deadlineOfParts(parts: readonly PartView[]): Deadlines | null {
  const open = parts.filter(({ outcome }) => outcome === null);
  const each = (open.length === 0 ? parts : open).map(({ deadline }) => deadline);
  const dated = each
    .filter(({ limit }) => limit !== null)
    .toSorted((a, b) => ((a.limit ?? '') < (b.limit ?? '') ? -1 : 1));
  const first = dated.at(open.length === 0 ? -1 : 0) ?? each[0];
  if (first === undefined) return null;
  const acknowledgements = each.flatMap(({ acknowledgeBy }) => acknowledgeBy ?? []).sort();
  const rules: readonly IdentityRule[] = ['required', 'on-recorded-doubt', 'forbidden'];
  const granted = parts.filter(({ outcome }) => outcome !== 'refused').map(({ deadline }) => deadline);
  const strict =
    granted.toSorted((a, b) => rules.indexOf(a.identity.rule) - rules.indexOf(b.identity.rule))[0] ?? first;
  return {
    ...first,
    acknowledgeBy: acknowledgements[0] ?? null,
    says: [...new Set(each.flatMap(({ says }) => says))],
    unrecorded: uniqueLaws(each.flatMap(({ unrecorded }) => unrecorded)),
    ownTarget: each.flatMap(({ ownTarget }) => ownTarget ?? [])[0] ?? null,
    identity: strict.identity,
  };
}

function uniqueLaws(laws: readonly UnrecordedLaw[]): readonly UnrecordedLaw[] {
  return laws.filter((law, i) => laws.findIndex((one) => one.code === law.code && one.scope === law.scope) === i);
}

/** The deadlines of a right under every applicable law. Pages, commands, letters and reports all get their dates here. */
function deadlinesOf(
  row: CaseRow,
  folded: CaseFolded,
  context: ViewContext,
  { kind, settledAt: ofPart }: { readonly kind: RequestKind; readonly settledAt: string | null },
): Deadlines {
  const { country = null, region = null, homeRegime = null, ownTargetDays = null } = context.profile ?? {};
  return computeDeadlines({
    kind,
    place: row.jurisdiction,
    placeAsGiven: folded.placeAsGiven,
    controller: { country, region, homeRegime, timeZone: context.timeZone },
    regimes: context.regimes,
    ownTargetDays,
    receivedAt: row.receipt_at,
    receiptBasis: row.receipt_basis,
    extension:
      folded.extension === null ? null : { noticeAt: folded.extension.noticeAt, until: folded.extension.until },
    clarifications: folded.clarifications.map(({ askedAt, answeredAt }) => ({ askedAt, receivedAt: answeredAt })),
    identity: askedIdentity(folded),
    fee: folded.fee === null ? null : { askedAt: folded.fee.askedAt, receivedAt: folded.fee.paidAt },
    asOf: ofPart ?? settledAt(row, folded) ?? context.now,
  });
}

function askedIdentity(folded: CaseFolded): RequestedItem | null {
  const { askedAt, status, informationAt, checkedAt } = folded.identity;
  if (askedAt === null) return null;
  // Information that was not convincing has still been received: nothing more is awaited.
  return { askedAt, receivedAt: status === 'asked' ? null : status === 'failed' ? checkedAt : informationAt };
}

function settledAt(row: CaseRow, folded: CaseFolded): string | null {
  return folded.answer?.at ?? folded.refusal?.at ?? folded.withdrawal?.at ?? row.closed_at;
}

/** Whether the identity check that a deadline's laws require has been made. */
export function standingOf(folded: CaseFolded, deadline: Deadlines): IdentityStanding {
  const { status } = folded.identity;
  switch (deadline.identity.rule) {
    case 'forbidden':
      return 'met';
    case 'on-recorded-doubt':
      return status === 'failed' ? 'failed' : status === 'asked' || status === 'recheck' ? 'needed' : 'met';
    case 'required':
      return status === 'confirmed' ? 'met' : status === 'failed' ? 'failed' : 'needed';
  }
}

/** What is recorded about the requester's identity. `not-looked-at`: no decision yet whether there is reasonable doubt (GDPR Art. 12(6)). */
export const identityChecks = [
  'not-allowed',
  'not-looked-at',
  'no-doubt',
  'asked',
  'confirmed',
  'failed',
  'recheck',
] as const;

export function identityCheckOf(
  { identity: { status } }: Pick<CaseFolded, 'identity'>,
  { identity: { rule } }: Pick<Deadlines, 'identity'>,
): (typeof identityChecks)[number] {
  if (rule === 'forbidden') return 'not-allowed';
  return status === 'not-asked' ? 'not-looked-at' : status;
}

const identityMoves: readonly MoveName[] = ['ask-identity', 'confirm-identity', 'fail-identity'];

function isMoveOffered(
  move: MoveName,
  folded: CaseFolded,
  deadline: Deadlines,
  profile: ControllerProfile | null,
): boolean {
  if (move === 'no-doubt')
    return deadline.identity.rule === 'on-recorded-doubt' && folded.identity.status === 'not-asked';
  if (identityMoves.includes(move)) return deadline.identity.rule !== 'forbidden';
  if (move === 'merge-duplicate' || move === 'release-duplicate') return false;
  if (move === 'approve') return (profile?.secondPersonFor ?? []).length > 0;
  if (move === 'refuse') return whyNotRefused(deadline) === null;
  if (move === 'settle-part') return folded.parts !== undefined;
  if (move === 'unshare-task') return (folded.tasks ?? []).some(({ linkUntil }) => linkUntil !== null);
  if (move !== 'add-task' && taskMoves.includes(move))
    return (folded.tasks ?? []).some(({ outcome }) => outcome !== 'done');
  if (move === 'reply') return folded.openMessages !== undefined;
  if (move === 'no-reply') return (folded.openMessages ?? []).length > 0;
  if (move === 'acknowledge') return folded.acknowledgedAt === null;
  if (move === 'extend') return folded.extension === null && deadline.laws.some((law) => law.row.extension !== null);
  return true;
}
