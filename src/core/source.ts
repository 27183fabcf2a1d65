import { z } from 'zod';
import { sourceSlugPattern } from './vocabulary.ts';

/** How a signing secret is encoded: as plain text, or as hex or base64 of the bytes that sign. */
export const secretEncodings = ['text', 'hex', 'base64'] as const;
export type SecretEncoding = (typeof secretEncodings)[number];

/** Settings of a source besides its credentials. All have defaults that fit the documented service. */
export const sourceOptionsSchema = z.strictObject({
  /** Banner ids whose consent logs are pulled. The sync adds ids seen in webhooks. */
  banners: z.array(z.string().min(1).max(200)).default([]),
  /** Other names for payload fields, tried before the built-in ones: canonical name → names (docs/assumptions.md). */
  fieldNames: z.record(z.string(), z.array(z.string().min(1))).default({}),
  /** What a payload time without an offset means, e.g. `+00:00`. */
  assumedOffset: z
    .string()
    .regex(/^[+-](?:0\d|1[0-4]):[0-5]\d$/, 'must be an offset from UTC like +01:00')
    .default('+00:00'),
  /** Path of the controller profile of this source; null: the installation's CONTROLLER_FILE. */
  controllerFile: z.string().nullable().default(null),
  /** How this source hashes e-mail addresses into consent subjects; null: unknown, so nothing can be computed. */
  subjectRecipe: z
    .strictObject({
      algorithm: z.enum(['sha256', 'hmac-sha256']),
      /** Applied before hashing. */
      normalise: z.enum(['none', 'trim-lowercase']),
      salt: z.string().default(''),
    })
    .nullable()
    .default(null),
  /** The sender's other names for events: name as given → name in docs/service.md §6. */
  eventNames: z.record(z.string().min(1).max(100), z.string().min(1).max(100)).exactOptional(),
  /** Purposes of this source that need no consent, as its records name them: their choice is never counted as consent. */
  necessaryPurposes: z.array(z.string().min(1).max(200)).max(100).exactOptional(),
  /** Signing secrets, by id, that are encoded other than as plain text. */
  secretEncodings: z.record(z.string().regex(/^[0-9a-f]{8}$/), z.enum(secretEncodings)).exactOptional(),
});
export type SourceOptions = z.infer<typeof sourceOptionsSchema>;

/**
 * Options as recorded in the ledger. The salt of a recipe is replaced by a keyed hash, so that entries do not allow
 * testing salts.
 */
export const recordedOptionsSchema = sourceOptionsSchema.extend({
  subjectRecipe: z
    .strictObject({
      algorithm: z.enum(['sha256', 'hmac-sha256']),
      normalise: z.enum(['none', 'trim-lowercase']),
      saltHmac: z.string(),
    })
    .nullable()
    .default(null),
});
export type RecordedOptions = z.infer<typeof recordedOptionsSchema>;

/** The recorded form of options; `keyOf` is a keyed hash of this installation. */
export function recordOfOptions(options: SourceOptions, keyOf: (...parts: string[]) => Buffer): RecordedOptions {
  const { subjectRecipe, ...rest } = options;
  if (subjectRecipe === null) return { ...rest, subjectRecipe };
  const { salt, ...recipe } = subjectRecipe;
  return { ...rest, subjectRecipe: { ...recipe, saltHmac: keyOf('subject-recipe-salt', salt).toString('hex') } };
}

/** The options for reading entries; the recipe is not needed. */
export function optionsOfRecord(recorded: RecordedOptions): SourceOptions {
  return { ...recorded, subjectRecipe: null };
}

/** One signing secret. The ledger records `id`; the value never leaves the process. */
export interface WebhookSecret {
  readonly id: string;
  readonly value: string;
  /** Absent: text. */
  readonly encoding?: SecretEncoding;
}

/** One account or client of the service that this installation follows. */
export interface Source {
  readonly slug: string;
  readonly name: string;
  /** API root ending in /api/v1; null: only deliveries, nothing is pulled. */
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
