/** Indexes for look-ups that would go through a whole table otherwise (test/store/plans.test.ts). */
export function indexes(): readonly string[] {
  return [
    // Banners that a source's decisions name.
    'create index decision_history_banner on decision_history (source, banner_id)',
    // Documents read the history of one source in ledger order.
    'create index policy_history_source on policy_history (source, seq)',
    'create index case_history_source on case_history (source, seq)',
    'create index action_history_source on action_history (source, seq)',
    // SQLite does not take the partial index on unfinished jobs for a condition with parameters.
    'create index quarantine_source on quarantine (source, seq)',
    'create index jobs_key on jobs (kind, job_key)',
    'create index jobs_created on jobs (created_at)',
  ];
}
