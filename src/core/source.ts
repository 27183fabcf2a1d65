import { z } from 'zod';
import { sourceSlugPattern } from './vocabulary.ts';

/** What can be set for a source besides its credentials. Everything has a default that fits the documented service. */
export const sourceOptionsSchema = z.strictObject({
  /** Banner ids to pull consent logs for. Ids seen in webhooks are added by the sync. */
  banners: z.array(z.string().min(1).max(200)).default([]),
  /** Other names of payload fields, tried before the built-in ones: canonical name → names (docs/assumptions.md). */
  fieldNames: z.record(z.string(), z.array(z.string().min(1))).default({}),
  /** What a payload time without an offset means, e.g. `+00:00`. */
  assumedOffset: z
    .string()
    .regex(/^[+-](?:0\d|1[0-4]):[0-5]\d$/)
    .default('+00:00'),
  /** Path of the controller profile of this source; null: the installation's CONTROLLER_FILE. */
  controllerFile: z.string().nullable().default(null),
  /** How this source hashes e-mail addresses into consent subjects; null: not known, so nothing can be computed. */
  subjectRecipe: z
    .strictObject({
      algorithm: z.enum(['sha256', 'hmac-sha256']),
      /** Applied before hashing. */
      normalise: z.enum(['none', 'trim-lowercase']),
      salt: z.string().default(''),
    })
    .nullable()
    .default(null),
});
export type SourceOptions = z.infer<typeof sourceOptionsSchema>;

/** One signing secret. `id` is what the ledger records; the value never leaves the process. */
export interface WebhookSecret {
  readonly id: string;
  readonly value: string;
}

/** One account or client of the service that this installation follows. */
export interface Source {
  readonly slug: string;
  readonly name: string;
  /** API root ending in /api/v1; null: deliveries only, nothing is pulled. */
  readonly baseUrl: string | null;
  readonly siteUrl: string | null;
  readonly apiKey: string | null;
  readonly siteKey: string | null;
  readonly webhookSecrets: readonly WebhookSecret[];
  readonly options: SourceOptions;
}

/** Schema of a source's slug. */
export const sourceSlugSchema = z
  .string()
  .regex(
    sourceSlugPattern,
    'a source slug has 1 to 63 lower-case letters, digits and hyphens, and no hyphen at either end',
  )
  .refine((slug) => slug !== 'installation', 'the slug `installation` is reserved');
