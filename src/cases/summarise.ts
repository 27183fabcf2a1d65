import type { RequestKind } from '../core/vocabulary.ts';
import { type Deadlines, decidingLaw, isOwnLimit } from '../law/deadlines.ts';
import { datelessText, unrecordedCodes, unrecordedText } from '../law/not-recorded.ts';
import type { IdentityRule } from '../law/regime-schema.ts';
import type { MoveName } from './moves.ts';
import { type CaseView, type IdentityStanding, identityCheckOf, type identityChecks, type PartView } from './view.ts';

/** A case as returned by lists, the API and `--json`. Dates are YYYY-MM-DD in the controller's time zone, times ISO 8601 UTC. */
export interface CaseSummary {
  readonly caseId: string;
  readonly source: string;
  /** The right asked for; of several the one that takes effect soonest. */
  readonly kind: RequestKind;
  /** Each of several rights and what was done about it, `kind` first; empty if there is only one. */
  readonly parts: readonly (Omit<PartView, 'deadline'> & { readonly legalLimit: string | null })[];
  readonly state: string;
  readonly version: number;
  readonly open: boolean;
  readonly jurisdiction: string | null;
  readonly requesterName: string | null;
  readonly requesterEmail: string | null;
  /** Postal address in lines, without the name. */
  readonly requesterAddress: string | null;
  /** BCP 47; null: not known. */
  readonly language: string | null;
  readonly channel: string;
  /** Who handles it, in words. */
  readonly assignee: string | null;
  readonly receiptAt: string;
  readonly receiptBasis: string;
  /** Id and name of the deciding law; null if no recorded law gives a right to an answer. */
  readonly regime: string | null;
  readonly law: string | null;
  readonly aimFor: string | null;
  readonly legalLimit: string | null;
  /** The legal limit follows a rule that the installation wrote, which the statute does not say. */
  readonly ownRule: boolean;
  /** The request takes effect at once: the legal limit is the day of receipt. */
  readonly atOnce: boolean;
  /** Every applicable law, those of the controller's establishment first. */
  readonly laws: readonly {
    readonly id: string;
    readonly name: string;
    readonly why: 'establishment' | 'place' | 'both';
    readonly limit: string;
    readonly citation: string;
    readonly confirmed: boolean;
    readonly explanation: string;
  }[];
  /** Codes of the laws that may apply and are not recorded here: each may set a date, or an earlier one. */
  readonly notRecorded: readonly string[];
  /** Why there is no date, or which law may set an earlier one, in words; null: every law was looked at. */
  readonly caveat: string | null;
  /** The controller's own target where a law is not recorded; it is no law's. */
  readonly ownTarget: string | null;
  readonly acknowledgeBy: string | null;
  readonly warnOn: string | null;
  readonly daysLeft: number | null;
  readonly overdue: boolean;
  /** Messages of the requester that nobody has answered yet. */
  readonly openMessages: number;
  /** The computation under the deciding law in one sentence, with its citation. */
  readonly explanation: string;
  readonly flags: Deadlines['flags'];
  /** Assumptions about the law, and what else an officer must know. */
  readonly says: readonly string[];
  readonly identityRule: IdentityRule;
  readonly identity: IdentityStanding;
  readonly identityCheck: (typeof identityChecks)[number];
  readonly moves: readonly MoveName[];
}

/** A case in plain values. */
export function summariseCase(view: CaseView): CaseSummary {
  const { row, deadline } = view;
  const law = decidingLaw(deadline);
  return {
    caseId: row.case_id,
    source: row.source,
    kind: view.kind,
    parts: view.parts.map(({ deadline: { limit }, ...part }) => ({ ...part, legalLimit: limit })),
    state: row.state,
    version: row.version,
    open: view.open,
    jurisdiction: row.jurisdiction,
    requesterName: row.requester_name,
    requesterEmail: row.requester_email,
    requesterAddress: view.folded.address ?? null,
    language: row.language,
    channel: row.channel,
    assignee: view.folded.assignee,
    receiptAt: row.receipt_at,
    receiptBasis: row.receipt_basis,
    regime: law?.id ?? null,
    law: law?.name ?? null,
    aimFor: deadline.aimFor,
    legalLimit: deadline.limit,
    ownRule: isOwnLimit(deadline),
    atOnce: deadline.atOnce,
    laws: deadline.laws.map(({ id, name, why, limit, citation, confirmed, explanation }) => ({
      id,
      name,
      why,
      limit,
      citation,
      confirmed,
      explanation: explanation.join('; '),
    })),
    notRecorded: unrecordedCodes(deadline.unrecorded),
    caveat: datelessText(deadline) ?? unrecordedText(deadline),
    ownTarget: deadline.ownTarget,
    acknowledgeBy: deadline.acknowledgeBy,
    warnOn: deadline.warnOn,
    daysLeft: view.daysLeft,
    overdue: view.overdue,
    openMessages: view.folded.openMessages?.length ?? 0,
    explanation: law?.explanation.join('; ') ?? '',
    flags: deadline.flags,
    says: [...deadline.says, ...deadline.laws.flatMap((one) => one.row.notes)],
    identityRule: deadline.identity.rule,
    identity: view.identity,
    identityCheck: identityCheckOf(view.folded, deadline),
    moves: view.moves,
  };
}
