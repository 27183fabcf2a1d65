import { z } from 'zod';

/** How a recount of recent days compared with the ledger. Kept with the position as JSON. */
export const recountSummarySchema = z.object({
  /** The window that was counted, ISO 8601 UTC. */
  from: z.string(),
  to: z.string(),
  /** Rows that the service gave. */
  rows: z.number().int(),
  /** Of these, rows that no run had brought before: they came late, or changed under their id. */
  found: z.number().int(),
  /** Decisions pulled earlier that the service gives no more. */
  gone: z.number().int(),
});
export type RecountSummary = z.infer<typeof recountSummarySchema>;
