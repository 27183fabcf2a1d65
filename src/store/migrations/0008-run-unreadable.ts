/** The state of a run, and what is known of a banner's log beyond its place: what an interrupted run leaves to the one that ends it. */
export function runUnreadable(): readonly string[] {
  return [
    'alter table sync_positions add column run_unreadable integer not null default 0',
    'alter table sync_positions add column run_plan text',
    'alter table sync_positions add column read_to text',
    'alter table sync_positions add column gaps text',
    'alter table sync_positions add column form text',
    'alter table sync_positions add column dismissed_at text',
  ];
}
