/** What a pull found beside rows: where the log begins, what could not be read, and how the last recount compared. */
export function syncAccount(): readonly string[] {
  return [
    'alter table sync_positions add column earliest text',
    'alter table sync_positions add column unreadable_total integer not null default 0',
    'alter table sync_positions add column recounted_at text',
    'alter table sync_positions add column recount text',
  ];
}
