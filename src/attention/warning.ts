/** Something the operator has to look at: what, and what to do about it. */
export interface Warning {
  readonly code:
    | 'silent-source'
    | 'refused-surge'
    | 'sync-failing'
    | 'sync-lag'
    | 'disk-low'
    | 'seal-failed'
    | 'quarantine'
    | 'journal-ahead'
    | 'read-models-ahead'
    | 'unknown-call'
    | 'api-changed'
    | 'snapshot-failing'
    | 'installation-moved';
  readonly source: string | null;
  readonly sentence: string;
  readonly remedy: string;
}
