import type { Selectable } from 'kysely';
import { z } from 'zod';
import { canonicalJson } from '../crypto/canonical.ts';
import { openSealed, sealBytes } from '../crypto/keys.ts';
import { sourceOptionsSchema, type Source, type SourceOptions, type WebhookSecret } from '../core/source.ts';
import type { Tables } from '../store/schema.ts';

/** The sealed part of a source's row. Secrets stand newest first. */
const credentialsSchema = z.strictObject({
  apiKey: z.string().nullable(),
  siteKey: z.string().nullable(),
  webhookSecrets: z.array(
    z.strictObject({
      id: z.string(),
      value: z.string(),
      addedAt: z.string(),
      /** ISO 8601 UTC: from then on it is accepted no more. */
      retireAt: z.string().exactOptional(),
    }),
  ),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export const noCredentials: Credentials = { apiKey: null, siteKey: null, webhookSecrets: [] };

/** A source as its row holds it. `updatedAt` is its version: it grows with every change. */
export interface StoredSource {
  readonly slug: string;
  readonly name: string;
  readonly baseUrl: string | null;
  readonly siteUrl: string | null;
  readonly credentials: Credentials;
  readonly options: SourceOptions;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it left, ISO 8601 UTC; its credentials are gone then. Null: it is followed. */
  readonly offboardedAt: string | null;
}

export type SourceRow = Selectable<Tables['sources']>;

export function toRow(source: StoredSource, restKey: Uint8Array): SourceRow {
  return {
    slug: source.slug,
    name: source.name,
    base_url: source.baseUrl,
    site_url: source.siteUrl,
    sealed: sealBytes(
      restKey,
      canonicalJson(source.credentials),
      contextOf(source.slug, source.baseUrl, source.siteUrl),
    ),
    options: canonicalJson(source.options).toString('utf8'),
    created_at: source.createdAt,
    updated_at: source.updatedAt,
    offboarded_at: source.offboardedAt,
  };
}

/** A row as a source; null when its credentials do not open or its options make no sense: someone altered it. */
export function fromRow(row: SourceRow, restKey: Uint8Array): StoredSource | null {
  const opened = openSealed(restKey, row.sealed, contextOf(row.slug, row.base_url, row.site_url));
  if (opened === null) return null;
  try {
    return {
      slug: row.slug,
      name: row.name,
      baseUrl: row.base_url,
      siteUrl: row.site_url,
      credentials: credentialsSchema.parse(JSON.parse(opened.toString('utf8'))),
      options: sourceOptionsSchema.parse(JSON.parse(row.options)),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      offboardedAt: row.offboarded_at,
    };
  } catch {
    return null;
  }
}

/** A source as it is at a moment: secrets whose time has come are left out. */
export function toSource(stored: StoredSource, now: Date): Source {
  const { slug, name, baseUrl, siteUrl, credentials, options } = stored;
  const accepted = credentials.webhookSecrets.filter(({ retireAt }) => !isPast(retireAt, now));
  return {
    slug,
    name,
    baseUrl,
    siteUrl,
    apiKey: credentials.apiKey,
    siteKey: credentials.siteKey,
    webhookSecrets: withEncodings(accepted, options),
    options,
  };
}

/** Whether a secret's time has come. */
export function isPast(retireAt: string | undefined, now: Date): boolean {
  return retireAt !== undefined && Date.parse(retireAt) <= now.getTime();
}

/** Secrets with the encodings that the options give them. */
export function withEncodings(secrets: readonly WebhookSecret[], options: SourceOptions): readonly WebhookSecret[] {
  return secrets.map(({ id, value }) => {
    const encoding = options.secretEncodings?.[id];
    return encoding === undefined || encoding === 'text' ? { id, value } : { id, value, encoding };
  });
}

// Slug and addresses are bound to the credentials: whoever can only write the database can neither give one
// source the secrets of another nor have an API key sent to an address of his own.
function contextOf(slug: string, baseUrl: string | null, siteUrl: string | null): string {
  return `source:${JSON.stringify([slug, baseUrl, siteUrl])}`;
}
