import type { HolidayPlace } from './holidays.ts';
import type { Regime, RegimeRow } from './regime-schema.ts';
import type { ApplicableLaw } from './regime-table.ts';

/** Something that was asked for and has been received, or is still awaited (null). ISO 8601 UTC. */
export interface Asked {
  readonly askedAt: string;
  readonly receivedAt: string | null;
}

/** What happened to a request, as far as its dates depend on it. */
export interface LawInput {
  /** When the request reached any channel of the controller, ISO 8601 UTC (EDPB 01/2022 §159). */
  readonly receivedAt: string;
  /** By whose word: `received` is only the arrival of the webhook, and flagged as such. */
  readonly receiptBasis: 'payload' | 'received' | 'officer' | 'assumed-offset';
  /** Only the day of the receipt is known (the calculator): its time says nothing and is not told. */
  readonly receivedAsDay?: boolean;
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

/** A request under one law. */
export interface OneLawInput extends LawInput {
  readonly regime: Regime;
  readonly row: RegimeRow;
  readonly why: ApplicableLaw['why'];
  readonly timeZone: string;
  /** Where the controller is established and where the person is, for their days off. */
  readonly home: HolidayPlace | null;
  readonly place: HolidayPlace | null;
  /** The deployment holds the law not to apply. */
  readonly disabled?: boolean;
}

/** What is unusual about a deadline, for whoever shows it. */
export type DeadlineFlag =
  | 'receipt-is-arrival'
  | 'receipt-offset-assumed'
  | 'at-once'
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
  | 'switched-off'
  | 'unconfirmed';

/** When a request is due under one law. All dates are YYYY-MM-DD in the controller's time zone. */
export interface LawDeadline {
  /** Id of the regime. */
  readonly id: string;
  /** Name of the law, for people. */
  readonly name: string;
  /** Whether the controller's establishment or the person's place brings it. */
  readonly why: ApplicableLaw['why'];
  /** The rule that was applied: identity, extension, appeal and notes are read from it. */
  readonly row: RegimeRow;
  /** The day from which the period runs (day 0 unless the row counts it). */
  readonly startsOn: string;
  /** The last day on which the answer is in time. */
  readonly limit: string;
  readonly atOnce: boolean;
  /** Without roll-over and without pause. */
  readonly aimFor: string;
  /** The last day of the first period: an extension has to be notified by then. */
  readonly firstLimit: string;
  readonly acknowledgeBy: string | null;
  /** Where no roll-over is stated: the working day before the limit. */
  readonly warnOn: string | null;
  readonly citation: string;
  /** The day on which the source was read, YYYY-MM-DD; null: it was not. */
  readonly readOn: string | null;
  readonly confirmed: boolean;
  /** Words and dates; joined with `; ` they are one sentence. */
  readonly explanation: readonly string[];
  readonly flags: readonly DeadlineFlag[];
}
