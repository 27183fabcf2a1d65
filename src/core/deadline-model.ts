import type { Period, RegimeRow } from './regime-schema.ts';
import type { HolidayPlace } from './regime-table.ts';

/** Something that was asked for and has been received, or is still awaited (null). ISO 8601 UTC. */
export interface Asked {
  readonly askedAt: string;
  readonly receivedAt: string | null;
}

export interface DeadlineInput {
  readonly row: RegimeRow;
  /** When the request reached any channel of the controller, ISO 8601 UTC (EDPB 01/2022 §159). */
  readonly receiptAt: string;
  /** By whose word: `received` is only the arrival of the webhook, and flagged as such. */
  readonly receiptBasis: 'payload' | 'received' | 'officer' | 'assumed-offset';
  /** IANA time zone of the controller: days are days there. */
  readonly timeZone: string;
  /** Whose public holidays count; null: none are known. */
  readonly holidays: HolidayPlace | null;
  readonly extension?: {
    /** When the requester was told, ISO 8601 UTC. */
    readonly noticeAt: string;
    /** A date that the notice names, YYYY-MM-DD; never beyond what the regime allows. */
    readonly until?: string | null;
  } | null;
  /** Clarifications asked of the requester. */
  readonly clarifications?: readonly Asked[];
  /** Identity information asked of the requester. */
  readonly identity?: Asked | null;
  readonly fee?: Asked | null;
  /** Count the optional standstill that guidance allows (off by default). */
  readonly suspendByGuidance?: boolean;
  /** ISO 8601 UTC: until when something still awaited is counted; without it, as if it had been answered at once. */
  readonly asOf?: string;
}

/** What is unusual about a deadline, for whoever shows it. */
export type DeadlineFlag =
  | 'receipt-is-arrival'
  | 'receipt-offset-assumed'
  | 'rolled-over'
  | 'extended'
  | 'extension-late'
  | 'extension-unavailable'
  | 'paused'
  | 'clock-stopped'
  | 'clock-not-started'
  | 'pause-uncounted'
  | 'pause-by-guidance'
  | 'holidays-unknown'
  | 'unconfirmed';

/** All dates are YYYY-MM-DD in the controller's time zone. */
export interface Deadline {
  readonly regime: string;
  /** The day from which the period runs (day 0 unless the row counts it). */
  readonly startsOn: string;
  /** Without roll-over and without pause. */
  readonly aimFor: string;
  /** The last day on which the answer is in time. */
  readonly legalLimit: string;
  /** The last day of the first period: an extension has to be notified by then. */
  readonly firstLimit: string;
  readonly acknowledgeBy: string | null;
  /** Where no roll-over is stated: the day from which to warn. */
  readonly warnOn: string | null;
  /** Words and dates; joined with `; ` they are one sentence. */
  readonly explanation: readonly string[];
  readonly citation: string;
  readonly flags: readonly DeadlineFlag[];
}

/** How many of a unit these periods have together. */
export function amountOf(periods: readonly Period[], unit: Period['unit']): number {
  return periods.reduce((total, period) => total + (period.unit === unit ? period.amount : 0), 0);
}
