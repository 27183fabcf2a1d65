import type { TableName } from '../../store/schema.ts';

/** Tables that a copy takes row by row as they stand: what is set up, and work that is not done yet. */
export const copiedWhole = [
  'settings',
  'positions',
  'sources',
  'sync_positions',
  'jobs',
  'schedules',
  'rejected_deliveries',
  'rejected_counts',
  'job_counts',
  'call_slots',
] as const satisfies readonly TableName[];

/** Tables that grow with the ledger: copied page by page, and only what is not there yet. */
export const copiedByPage = ['entries', 'arrivals', 'checkpoints'] as const satisfies readonly TableName[];

/** Officers sign in again: a session belongs to the server that began it. */
export const leftBehind = ['sign_in_links', 'sessions'] as const satisfies readonly TableName[];

/** Positions of what the copy makes anew from the entries. */
export const madeAnew: readonly string[] = ['projector', 'rebuild'];
