import type { Deadline } from '../core/deadline.ts';
import type { IdentityRule } from '../core/regime-schema.ts';
import type { RequestKind } from '../core/vocabulary.ts';
import type { MoveName } from './move-details.ts';
import type { CaseView, IdentityStanding } from './view.ts';

/** A case as lists, the API and `--json` give it. Dates are YYYY-MM-DD in the controller's time zone, moments ISO 8601 UTC. */
export interface CaseSummary {
  readonly caseId: string;
  readonly source: string;
  readonly kind: RequestKind;
  readonly state: string;
  readonly version: number;
  readonly open: boolean;
  readonly jurisdiction: string | null;
  readonly requesterName: string | null;
  readonly requesterEmail: string | null;
  readonly channel: string;
  readonly receiptAt: string;
  readonly receiptBasis: string;
  readonly regime: string;
  readonly law: string;
  readonly aimFor: string;
  readonly legalLimit: string;
  readonly acknowledgeBy: string | null;
  readonly warnOn: string | null;
  readonly daysLeft: number | null;
  readonly overdue: boolean;
  /** The computation in one sentence, with its citation. */
  readonly explanation: string;
  readonly flags: Deadline['flags'];
  /** What had to be assumed about the law, and what an officer must know besides. */
  readonly says: readonly string[];
  readonly identityRule: IdentityRule;
  readonly identity: IdentityStanding;
  readonly moves: readonly MoveName[];
}

/** A case in plain values. */
export function summariseCase(view: CaseView): CaseSummary {
  const { row, deadline, resolution } = view;
  return {
    caseId: row.case_id,
    source: row.source,
    kind: view.kind,
    state: row.state,
    version: row.version,
    open: view.open,
    jurisdiction: row.jurisdiction,
    requesterName: row.requester_name,
    requesterEmail: row.requester_email,
    channel: row.channel,
    receiptAt: row.receipt_at,
    receiptBasis: row.receipt_basis,
    regime: resolution.regime.id,
    law: resolution.regime.law,
    aimFor: deadline.aimFor,
    legalLimit: deadline.legalLimit,
    acknowledgeBy: deadline.acknowledgeBy,
    warnOn: deadline.warnOn,
    daysLeft: view.daysLeft,
    overdue: view.overdue,
    explanation: deadline.explanation.join('; '),
    flags: deadline.flags,
    says: [...resolution.says, ...resolution.row.notes],
    identityRule: resolution.row.identity,
    identity: view.identity,
    moves: view.moves,
  };
}
