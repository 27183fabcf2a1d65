/** What one source had in its history when the ledger ended at entry `asOf`. */
export interface Scope {
  readonly source: string;
  /** Rows with a higher seq do not exist for the question asked. */
  readonly asOf: number;
}

/** A scope cut to a time. ISO 8601 UTC with milliseconds, `to` exclusive. */
export interface Period extends Scope {
  readonly from: string;
  readonly to: string;
}
