import { computeDeadline, type Deadline } from '../core/deadline.ts';
import type { Asked } from '../core/deadline-model.ts';
import type { ControllerProfile } from '../core/profile.ts';
import { type RegimeTable, type Resolution, resolveRegime } from '../core/regime-table.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import { dateIn, daysBetween } from '../core/zoned-days.ts';
import { type CaseRow, isRequestKind } from './fold.ts';
import { type CaseFolded, parseFolded } from './folded.ts';
import type { MoveName } from './move-details.ts';
import { isOpen, movesFrom } from './states.ts';

/** What a case is looked at with. Deadlines are computed when a case is read, so a corrected rule corrects every date. */
export interface ViewContext {
  readonly regimes: RegimeTable;
  /** IANA time zone of the controller. */
  readonly timeZone: string;
  readonly profile: ControllerProfile | null;
  /** ISO 8601 UTC. */
  readonly now: string;
}

/**
 * Whether the identity check that applies has been made.
 * `met`: made, or none applies. `needed`: the law requires it, or a doubt was recorded. `failed`: made without success.
 */
export type IdentityStanding = 'met' | 'needed' | 'failed';

export interface CaseView {
  readonly row: CaseRow;
  readonly kind: RequestKind;
  readonly folded: CaseFolded;
  readonly resolution: Resolution;
  readonly deadline: Deadline;
  readonly identity: IdentityStanding;
  readonly open: boolean;
  /** Days from today to the legal limit, negative when it has passed; null when the case is settled. */
  readonly daysLeft: number | null;
  readonly overdue: boolean;
  /** Moves that its state and its regime allow. */
  readonly moves: readonly MoveName[];
}

/** A case with everything that is computed from it. Pure. */
export function viewCase(row: CaseRow, context: ViewContext): CaseView {
  const folded = parseFolded(row.folded);
  const kind = isRequestKind(row.kind) ? row.kind : 'unknown';
  const resolution = resolveRegime(context.regimes, { jurisdiction: row.jurisdiction, kind }, context.profile);
  const open = isOpen(row.state);
  const deadline = computeDeadline({
    row: resolution.row,
    receiptAt: row.receipt_at,
    receiptBasis: row.receipt_basis,
    timeZone: context.timeZone,
    holidays: resolution.holidays,
    extension:
      folded.extension === null ? null : { noticeAt: folded.extension.noticeAt, until: folded.extension.until },
    clarifications: folded.clarifications.map(({ askedAt, answeredAt }) => ({ askedAt, receivedAt: answeredAt })),
    identity: askedIdentity(folded),
    fee: folded.fee === null ? null : { askedAt: folded.fee.askedAt, receivedAt: folded.fee.paidAt },
    suspendByGuidance: context.regimes.suspendByGuidance,
    asOf: settledAt(row, folded) ?? context.now,
  });
  const daysLeft = open ? daysBetween(dateIn(context.now, context.timeZone), deadline.legalLimit) : null;
  return {
    row,
    kind,
    folded,
    resolution,
    deadline,
    identity: standingOf(folded, resolution),
    open,
    daysLeft,
    overdue: daysLeft !== null && daysLeft < 0,
    moves: movesFrom(row.state).filter((move) => isMoveOffered(move, folded, resolution)),
  };
}

function askedIdentity(folded: CaseFolded): Asked | null {
  const { askedAt, status, informationAt, checkedAt } = folded.identity;
  if (askedAt === null) return null;
  // Information that did not convince has been received all the same: nothing is awaited any more.
  return { askedAt, receivedAt: status === 'asked' ? null : status === 'failed' ? checkedAt : informationAt };
}

function settledAt(row: CaseRow, folded: CaseFolded): string | null {
  return folded.answer?.at ?? folded.refusal?.at ?? folded.withdrawal?.at ?? row.closed_at;
}

function standingOf(folded: CaseFolded, resolution: Resolution): IdentityStanding {
  const { status } = folded.identity;
  switch (resolution.row.identity) {
    case 'forbidden':
      return 'met';
    case 'on-recorded-doubt':
      return status === 'failed' ? 'failed' : status === 'asked' || status === 'recheck' ? 'needed' : 'met';
    case 'required':
      return status === 'confirmed' ? 'met' : status === 'failed' ? 'failed' : 'needed';
  }
}

const identityMoves: readonly MoveName[] = ['ask-identity', 'confirm-identity', 'fail-identity'];

function isMoveOffered(move: MoveName, folded: CaseFolded, resolution: Resolution): boolean {
  if (identityMoves.includes(move)) return resolution.row.identity !== 'forbidden';
  if (move === 'acknowledge') return folded.acknowledgedAt === null;
  if (move === 'extend') return resolution.row.extension !== null && folded.extension === null;
  return true;
}
