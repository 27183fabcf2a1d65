import type { Selectable } from 'kysely';
import { z } from 'zod';
import { serviceOriginOf, serviceRootOf } from '../core/address.ts';
import {
  type SecretEncoding,
  type Source,
  type SourceOptions,
  sourceOptionsSchema,
  sourceSlugSchema,
  type WebhookSecret,
} from '../core/source.ts';
import { isOneLine, ONE_LINE } from '../core/validation.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import { openSealed, sealBytes, signingKeyOf, webhookSecretOf } from '../crypto/keys.ts';
import type { Tables } from '../store/schema.ts';

/** The sealed part of a source's row. Secrets are ordered newest first. */
const credentialsSchema = z.strictObject({
  apiKey: z.string().nullable(),
  siteKey: z.string().nullable(),
  webhookSecrets: z.array(
    z.strictObject({
      id: z.string(),
      value: z.string(),
      addedAt: z.string(),
      /** ISO 8601 UTC: it is no longer accepted from then on. */
      retireAt: z.string().exactOptional(),
    }),
  ),
  /**
   * For the source from the environment: when signing secrets end or ended, by id, ISO 8601 UTC. Kept indefinitely,
   * since the secrets may remain in the environment indefinitely.
   */
  endings: z.record(z.string(), z.string()).exactOptional(),
});
type Credentials = z.infer<typeof credentialsSchema>;

const noCredentials: Credentials = { apiKey: null, siteKey: null, webhookSecrets: [] };

/** A source as stored in its row. `updatedAt` is its version, which grows with every change. */
export interface StoredSource {
  readonly slug: string;
  readonly name: string;
  readonly baseUrl: string | null;
  readonly siteUrl: string | null;
  readonly credentials: Credentials;
  readonly options: SourceOptions;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When it was offboarded and its credentials were destroyed, ISO 8601 UTC. Null: it is active. */
  readonly offboardedAt: string | null;
}

type SourceRow = Selectable<Tables['sources']>;

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

/** Reads a source from its row; null if its credentials cannot be opened or its options are invalid: someone altered it. */
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

/** A source at a given time, without expired secrets. */
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

/** Whether a secret has expired. */
export function isPast(retireAt: string | undefined, now: Date): boolean {
  return retireAt !== undefined && Date.parse(retireAt) <= now.getTime();
}

/** Secrets with the encodings that the options give them. */
function withEncodings(secrets: readonly WebhookSecret[], options: SourceOptions): readonly WebhookSecret[] {
  return secrets.map(({ id, value }) => {
    const encoding = options.secretEncodings?.[id];
    return encoding === undefined || encoding === 'text' ? { id, value } : { id, value, encoding };
  });
}

// Slug and addresses are bound to the credentials: someone who can only write to the database can neither give one
// source another's secrets nor have an API key sent to an address of their own.
function contextOf(slug: string, baseUrl: string | null, siteUrl: string | null): string {
  return `source:${JSON.stringify([slug, baseUrl, siteUrl])}`;
}

const name = z.string().trim().min(1).max(200).refine(isOneLine, ONE_LINE);
const baseUrl = z
  .string()
  .refine((text) => serviceRootOf(text) !== null, 'must be the API root of the service, a URL that ends in /api/v1')
  .transform((text) => serviceRootOf(text) ?? text);
const siteUrl = z
  .string()
  .refine((text) => serviceOriginOf(text) !== null, 'must be an origin like https://service.example, without a path')
  .transform((text) => serviceOriginOf(text) ?? text);
/** API key or site key: one word that fits in a header. */
const token = z.string().regex(/^[\x21-\x7e]{1,1000}$/, 'must be one word of printable ASCII characters');
const webhookSecret = z
  .string()
  .min(1, 'must not be empty')
  .max(1000)
  .refine((text) => text.trim() === text, 'must not begin or end with white space');

/** The embed endpoint takes the legacy key; a named key in its query would be public (docs/service.md §2.5, §4.7). */
const siteKeySchema = token.refine(
  (text) => !text.startsWith('pak_'),
  'is a named API key (pak_…), which must not appear in public addresses: use the site key, pk_…',
);

/** The input for a new source. Only the slug is required; the default name is the slug. */
export const newSourceSchema = z.strictObject({
  // Reserved for pages next to those of sources.
  slug: sourceSlugSchema.refine((slug) => slug !== 'new' && slug !== 'import', 'is reserved: choose another'),
  name: name.optional(),
  baseUrl: baseUrl.nullable().default(null),
  siteUrl: siteUrl.nullable().default(null),
  apiKey: token.nullable().default(null),
  siteKey: siteKeySchema.nullable().default(null),
  webhookSecrets: z.array(webhookSecret).default([]),
  options: sourceOptionsSchema.prefault({}),
});
export type NewSource = z.input<typeof newSourceSchema>;

/** What can be changed about a source; signing secrets are added and retired one by one instead. */
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

/** Problems found by a schema, one sentence each. Values are not repeated, because they may be secrets. */
export function problemsIn(error: z.ZodError): readonly string[] {
  return error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
}

// The functions below change a source's row and return the names of what changed, never the values.

type Secret = StoredSource['credentials']['webhookSecrets'][number];

/** A change of a row. */
export interface Changed {
  readonly after: Partial<StoredSource>;
  /** Names of what changed, as recorded in the ledger. */
  readonly changed: readonly string[];
}

/** How to read a source's payloads, as accepted by an officer. */
export interface FieldMapping {
  readonly proposalId: string;
  /** Field (receivers/field-names.ts) → names in the payload. */
  readonly fieldNames: Readonly<Record<string, readonly string[]>>;
  /** Event as given → event as documented. */
  readonly eventNames: Readonly<Record<string, string>>;
  /** Id of a signing secret → its encoding. */
  readonly secretEncodings: Readonly<Record<string, SecretEncoding>>;
  /** The number of deliveries and rows on which it is based. */
  readonly samples: number;
  /** Paths that change what is already understood; a person typed each to include it. */
  readonly including: readonly string[];
}

/** The row of a new source. */
export function newStoredSource(
  input: z.output<typeof newSourceSchema>,
  now: string,
): { readonly next: StoredSource; readonly changed: readonly string[] } {
  const { slug, name, baseUrl, siteUrl, apiKey, siteKey, webhookSecrets, options } = input;
  const secrets = [...new Set(webhookSecrets)].map((value) => ({ ...webhookSecretOf(value), addedAt: now }));
  const given = { name, baseUrl, siteUrl, apiKey, siteKey };
  const changed = Object.entries(given).flatMap(([field, value]) =>
    value === undefined || value === null ? [] : [field],
  );
  const next: StoredSource = {
    slug,
    name: name ?? slug,
    baseUrl,
    siteUrl,
    credentials: { apiKey, siteKey, webhookSecrets: secrets },
    options,
    createdAt: now,
    updatedAt: now,
    offboardedAt: null,
  };
  return { next, changed: [...changed, ...secrets.map(({ id }) => `webhookSecrets +${id}`)] };
}

export function changedSource(before: StoredSource, changes: z.output<typeof sourceChangesSchema>): Changed {
  const fields = Object.keys(changes) as (keyof typeof changes)[];
  const present: Record<keyof typeof changes, unknown> = { ...before, ...before.credentials };
  const changed = fields.filter((field) => JSON.stringify(changes[field]) !== JSON.stringify(present[field]));
  const { apiKey = before.credentials.apiKey, siteKey = before.credentials.siteKey, ...rest } = changes;
  return { after: { ...rest, credentials: { ...before.credentials, apiKey, siteKey } }, changed };
}

/** What must be said about a stored key that would go to a new place, by its field. */
const keyWords = { apiKey: 'API key', siteKey: 'site key' } as const;

/**
 * Why a change would send a stored key to a place that it was not typed for; empty: it would not. A place is an origin:
 * scheme, host and port. The API key goes to the API and, for MCP, to the public address; the site key only to the
 * latter. Typing a key in the same change binds it to the new addresses.
 */
export function unboundKeyProblems(
  before: StoredSource,
  changes: z.output<typeof sourceChangesSchema>,
): readonly string[] {
  const { baseUrl = before.baseUrl, siteUrl = before.siteUrl } = changes;
  return (['apiKey', 'siteKey'] as const).flatMap((field) => {
    if (before.credentials[field] === null || changes[field] !== undefined) return [];
    const known = placesOf[field](before);
    const added = placesOf[field]({ baseUrl, siteUrl }).filter((origin) => !known.includes(origin));
    return added.length === 0
      ? []
      : [
          `${field}: must be entered again, because the stored ${keyWords[field]} was entered for ${known.join(' and ') || 'another address'} and would be sent to ${added.join(' and ')}.`,
        ];
  });
}

type Addresses = Pick<StoredSource, 'baseUrl' | 'siteUrl'>;

/** The origins that each key is sent to. */
const placesOf = {
  apiKey: ({ baseUrl, siteUrl }: Addresses) => originsOf(baseUrl, siteUrl),
  siteKey: ({ siteUrl }: Addresses) => originsOf(siteUrl),
} as const;

function originsOf(...urls: readonly (string | null)[]): readonly string[] {
  return [...new Set(urls.flatMap((url) => (url === null ? [] : [new URL(url).origin])))];
}

/** Adds a secret to the old ones, changes the encoding of an existing one, or sets an expiry for all others. */
export function rotatedSecret(
  before: StoredSource,
  value: string,
  now: Date,
  rotation: { readonly encoding?: SecretEncoding | undefined; readonly retireOthersAt?: string | undefined },
):
  | ({ readonly outcome: 'rotated' } & Changed)
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'invalid'; readonly problems: readonly string[] } {
  const { encoding = 'text', retireOthersAt } = rotation;
  if (signingKeyOf(value, encoding) === null)
    return { outcome: 'invalid', problems: [`The secret is not valid ${encoding}.`] };
  const secret = webhookSecretOf(value);
  const known = before.credentials.webhookSecrets.find((one) => one.value === value && !isPast(one.retireAt, now));
  const knownEncoding = before.options.secretEncodings?.[secret.id] ?? 'text';
  const isThere = known !== undefined && known.retireAt === undefined && knownEncoding === encoding;
  const others = before.credentials.webhookSecrets.filter((one) => one.value !== value && !isPast(one.retireAt, now));
  const gone = before.credentials.webhookSecrets.filter((one) => one.value !== value && isPast(one.retireAt, now));
  const limited = others.map((one) => ({ ...one, ...earlier(one.retireAt, retireOthersAt) }));
  const isEnding = limited.some(({ retireAt }, place) => retireAt !== others[place]?.retireAt);
  if (isThere && !isEnding) return { outcome: 'exists' };
  const added: Secret = { ...secret, addedAt: known?.addedAt ?? now.toISOString() };
  return {
    outcome: 'rotated',
    after: {
      credentials: { ...before.credentials, webhookSecrets: [added, ...limited] },
      options: withEncoding(before.options, secret.id, encoding),
    },
    changed: [
      ...(isThere ? [] : [`webhookSecrets +${secret.id}`]),
      ...(isThere || encoding === 'text' ? [] : [`webhookSecrets ${secret.id} as ${encoding}`]),
      ...gone.map(({ id }) => `webhookSecrets -${id}`),
      ...(retireOthersAt === undefined ? [] : limited.map(({ id }) => `webhookSecrets -${id} at ${retireOthersAt}`)),
    ],
  };
}

/** Why a person may not retire a secret: without it a source would accept no delivery. */
export const ONLY_SECRET =
  'This is the only signing secret: add another one first, or every delivery would be refused.';

/** Without the secrets for which `isRetired`; null if there are none. */
export function retiredSecrets(before: StoredSource, isRetired: (secret: Secret) => boolean): Changed | null {
  const retired = before.credentials.webhookSecrets.filter(isRetired);
  if (retired.length === 0) return null;
  const webhookSecrets = before.credentials.webhookSecrets.filter((secret) => !retired.includes(secret));
  return {
    after: { credentials: { ...before.credentials, webhookSecrets } },
    changed: retired.map(({ id }) => `webhookSecrets -${id}`),
  };
}

/** The row of an offboarded source: its options stay, since its entries are read with them. */
export function offboardedSource(
  before: StoredSource,
  at: string,
): { readonly next: StoredSource; readonly destroyed: readonly string[] } {
  const { apiKey, siteKey, webhookSecrets } = before.credentials;
  const destroyed = [
    ...(apiKey === null ? [] : ['apiKey']),
    ...(siteKey === null ? [] : ['siteKey']),
    ...webhookSecrets.map(({ id }) => `webhookSecrets ${id}`),
  ];
  return { next: { ...before, credentials: noCredentials, updatedAt: at, offboardedAt: at }, destroyed };
}

/** Options with a mapping applied: the accepted names of a field precede existing ones. */
export function acceptedMapping(options: SourceOptions, mapping: FieldMapping): SourceOptions {
  const fieldNames = { ...options.fieldNames };
  for (const [field, names] of Object.entries(mapping.fieldNames))
    fieldNames[field] = [...new Set([...names, ...(fieldNames[field] ?? [])])];
  const eventNames = { ...options.eventNames, ...mapping.eventNames };
  let next: SourceOptions = {
    ...options,
    fieldNames,
    ...(Object.keys(eventNames).length === 0 ? {} : { eventNames }),
  };
  for (const [id, encoding] of Object.entries(mapping.secretEncodings)) next = withEncoding(next, id, encoding);
  return next;
}

/**
 * The row of the configured source with the signing secrets from the environment, which are accepted in addition to its
 * own until they end.
 */
export function withEnvironment(row: StoredSource, secrets: readonly WebhookSecret[], now: Date): StoredSource {
  const { webhookSecrets: own, endings = {} } = row.credentials;
  const others = secrets.flatMap(({ id, value }): Secret[] => {
    const retireAt = endings[id];
    if (own.some((one) => one.value === value) || isPast(retireAt, now)) return [];
    return [{ id, value, addedAt: row.createdAt, ...(retireAt === undefined ? {} : { retireAt }) }];
  });
  return { ...row, credentials: { ...row.credentials, webhookSecrets: [...own, ...others] } };
}

/** Reverses {@link withEnvironment} after a change: secrets from the environment are not stored in the row, only their ends are. */
export function withoutEnvironment(
  row: StoredSource,
  secrets: readonly WebhookSecret[],
  now: Date,
  { after, changed }: Changed,
): Changed {
  const { credentials } = row;
  const { webhookSecrets } = after.credentials ?? credentials;
  const endings = { ...credentials.endings };
  for (const { id } of withEnvironment(row, secrets, now).credentials.webhookSecrets)
    Object.assign(endings, { [id]: earlier(endings[id], now.toISOString()).retireAt });
  for (const { id, retireAt } of webhookSecrets) {
    if (retireAt === undefined) delete endings[id];
    else endings[id] = retireAt;
  }
  const isOwn = ({ value }: Secret) =>
    credentials.webhookSecrets.some((one) => one.value === value) || !secrets.some((one) => one.value === value);
  return {
    after: { ...after, credentials: { ...credentials, webhookSecrets: webhookSecrets.filter(isOwn), endings } },
    changed,
  };
}

/** The initial row for the options of the configured source. */
export function rowForConfigured(slug: string, name: string): StoredSource {
  const never = '1970-01-01T00:00:00.000Z';
  return {
    slug,
    name,
    baseUrl: null,
    siteUrl: null,
    credentials: noCredentials,
    options: newSourceSchema.parse({ slug }).options,
    createdAt: never,
    updatedAt: never,
    offboardedAt: null,
  };
}

function withEncoding(options: SourceOptions, id: string, encoding: SecretEncoding): SourceOptions {
  const { secretEncodings = {}, ...rest } = options;
  const others = Object.fromEntries(Object.entries(secretEncodings).filter(([known]) => known !== id));
  const next = encoding === 'text' ? others : { ...others, [id]: encoding };
  return Object.keys(next).length === 0 ? rest : { ...rest, secretEncodings: next };
}

function earlier(present: string | undefined, limit: string | undefined): { retireAt?: string } {
  const times = [present, limit].filter((time) => time !== undefined).sort();
  return times[0] === undefined ? {} : { retireAt: times[0] };
}
