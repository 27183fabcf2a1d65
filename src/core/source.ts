import { z } from 'zod';
import { sourceSlugPattern } from './vocabulary.ts';

/** How a signing secret is written: as the text that it is, or as hex or base64 of the bytes that sign. */
export const secretEncodings = ['text', 'hex', 'base64'] as const;
export type SecretEncoding = (typeof secretEncodings)[number];

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
  /** Events that the sender calls otherwise: name as given → name as docs/service.md §6 spells it. */
  eventNames: z.record(z.string().min(1).max(100), z.string().min(1).max(100)).exactOptional(),
  /** Signing secrets, by id, that are not written as the text that they are. */
  secretEncodings: z.record(z.string().regex(/^[0-9a-f]{8}$/), z.enum(secretEncodings)).exactOptional(),
});
export type SourceOptions = z.infer<typeof sourceOptionsSchema>;

/** Options as the ledger records them: all of them, and of the salt of a recipe only a keyed hash, because entries must not let anybody try salts. */
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

/** What an entry records of options; `keyOf` is a keyed hash of this installation. */
export function recordOfOptions(options: SourceOptions, keyOf: (...parts: string[]) => Buffer): RecordedOptions {
  const { subjectRecipe, ...rest } = options;
  if (subjectRecipe === null) return { ...rest, subjectRecipe };
  const { salt, ...recipe } = subjectRecipe;
  return { ...rest, subjectRecipe: { ...recipe, saltHmac: keyOf('subject-recipe-salt', salt).toString('hex') } };
}

/** What entries are read by; the recipe has no part in it. */
export function optionsOfRecord(recorded: RecordedOptions): SourceOptions {
  return { ...recorded, subjectRecipe: null };
}

/** One signing secret. `id` is what the ledger records; the value never leaves the process. */
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
