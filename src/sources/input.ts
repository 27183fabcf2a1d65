import { z } from 'zod';
import { serviceOriginOf, serviceRootOf } from '../core/address.ts';
import { sourceOptionsSchema, sourceSlugSchema } from '../core/source.ts';

const name = z.string().trim().min(1).max(200);
const baseUrl = z
  .string()
  .refine((text) => serviceRootOf(text) !== null, 'must be the API root of the service, a URL that ends in /api/v1')
  .transform((text) => serviceRootOf(text) ?? text);
const siteUrl = z
  .string()
  .refine((text) => serviceOriginOf(text) !== null, 'must be an origin like https://service.example, without a path')
  .transform((text) => serviceOriginOf(text) ?? text);
/** API key, site key: one word, as a header can carry it. */
const token = z.string().regex(/^[\x21-\x7e]{1,1000}$/, 'must be one word of printable ASCII characters');
const webhookSecret = z
  .string()
  .min(1, 'must not be empty')
  .max(1000)
  .refine((text) => text.trim() === text, 'must not begin or end with white space');

/** The embed endpoint takes the legacy key; a named key in its query would be told to everybody (docs/service.md §2.5, §4.7). */
export const siteKeySchema = token.refine(
  (text) => !text.startsWith('pak_'),
  'is a named API key (pak_…), which must not go into public addresses: give the site key, pk_…',
);

/** What a new source is made of. Everything but the slug may be missing; the name is then the slug. */
export const newSourceSchema = z.strictObject({
  slug: sourceSlugSchema,
  name: name.optional(),
  baseUrl: baseUrl.nullable().default(null),
  siteUrl: siteUrl.nullable().default(null),
  apiKey: token.nullable().default(null),
  siteKey: siteKeySchema.nullable().default(null),
  webhookSecrets: z.array(webhookSecret).default([]),
  options: sourceOptionsSchema.prefault({}),
});
export type NewSource = z.input<typeof newSourceSchema>;

/** What can be changed of a source; signing secrets are added and retired one by one instead. */
export const sourceChangesSchema = z.strictObject({
  name: name.exactOptional(),
  baseUrl: baseUrl.nullable().exactOptional(),
  siteUrl: siteUrl.nullable().exactOptional(),
  apiKey: token.nullable().exactOptional(),
  siteKey: siteKeySchema.nullable().exactOptional(),
  options: sourceOptionsSchema.exactOptional(),
});
export type SourceChanges = z.input<typeof sourceChangesSchema>;

export const newWebhookSecretSchema = webhookSecret;

/** The problems that a schema found, one sentence each. Values are not repeated: they may be secrets. */
export function problemsIn(error: z.ZodError): readonly string[] {
  return error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
}
