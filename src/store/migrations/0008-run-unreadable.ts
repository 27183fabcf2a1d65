/** What an interrupted run met that could not be read, so that the one that ends it knows. */
export function runUnreadable(): readonly string[] {
  return ['alter table sync_positions add column run_unreadable integer not null default 0'];
}
