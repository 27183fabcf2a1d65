import { z } from 'zod';
import { accountStates } from './clients.ts';

const moment = z.iso.datetime().transform((text) => new Date(text));

const policySchema = z.strictObject({
  id: z.string(),
  policyType: z.string(),
  title: z.string(),
  brandName: z.string(),
  domain: z.string(),
  jurisdiction: z.string(),
  language: z.string(),
  version: z.int().min(1),
  clauses: z.array(z.string()),
  createdAt: moment,
  updatedAt: moment,
  publishedAt: moment.nullable(),
});

const decisionSchema = z.strictObject({
  event: z.literal('consent.recorded'),
  recordId: z.string(),
  visitorHash: z.string(),
  bannerId: z.string(),
  choice: z.enum(['accept', 'reject', 'choose', 'withdraw']),
  purposes: z.strictObject({
    necessary: z.boolean(),
    preferences: z.boolean(),
    analytics: z.boolean(),
    marketing: z.boolean(),
  }),
  region: z.string(),
  language: z.string(),
  policyId: z.string().nullable(),
  policyVersion: z.int().nullable(),
  domain: z.string(),
  expiresAt: moment,
  at: moment,
});

/** What callers and live traffic have added to a sandbox; everything else follows from the seed and the window. */
export const stateSchema = z.strictObject({
  version: z.literal(1),
  seed: z.int(),
  savedAt: moment,
  window: z.strictObject({ start: moment, end: moment }),
  /** Events made on demand and batches so far: ids go on from here. */
  made: z.int().min(0),
  batches: z.int().min(0),
  /** API keys that open nothing any more. */
  revoked: z.array(z.string()),
  clients: z.record(
    z.string(),
    z.strictObject({
      generated: z.int().min(0),
      /** Of the quota; for the clients of an agency, all together. */
      used: z.int().min(0),
      policies: z.array(policySchema),
      deleted: z.array(z.string()),
      decisions: z.array(decisionSchema),
      endpoints: z.array(z.strictObject({ url: z.string(), events: z.union([z.literal('all'), z.array(z.string())]) })),
      account: z.enum(accountStates),
    }),
  ),
});
export type SandboxState = z.output<typeof stateSchema>;
export type ClientState = SandboxState['clients'][string];
