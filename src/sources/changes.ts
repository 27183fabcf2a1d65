import type { z } from 'zod';
import type { SecretEncoding, SourceOptions } from '../core/source.ts';
import { signingKeyOf, webhookSecretOf } from '../crypto/keys.ts';
import { newSourceSchema, type sourceChangesSchema } from './input.ts';
import { isPast, noCredentials, type StoredSource } from './row.ts';

// What a change makes of a source's row, and the names of what it changed: never the values.

type Secret = StoredSource['credentials']['webhookSecrets'][number];

/** A change of a row. */
export interface Changed {
  readonly after: Partial<StoredSource>;
  /** Names of what changed, as the ledger records them. */
  readonly changed: readonly string[];
}

/** How payloads of a source are to be read, as an officer accepted it. */
export interface FieldMapping {
  readonly proposalId: string;
  /** Field (receivers/field-names.ts) → names in the payload. */
  readonly fieldNames: Readonly<Record<string, readonly string[]>>;
  /** Event as given → event as documented. */
  readonly eventNames: Readonly<Record<string, string>>;
  /** Id of a signing secret → how it is written. */
  readonly secretEncodings: Readonly<Record<string, SecretEncoding>>;
  /** How many deliveries and rows it was made from. */
  readonly samples: number;
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

/** A new secret beside the old ones, or the same one written otherwise, or an end for the others beside one that is there. */
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
    return { outcome: 'invalid', problems: [`The secret is no ${encoding}.`] };
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

/** Without the secrets that `isRetired`; null when there is none of them. */
export function retiredSecrets(before: StoredSource, isRetired: (secret: Secret) => boolean): Changed | null {
  const retired = before.credentials.webhookSecrets.filter(isRetired);
  if (retired.length === 0) return null;
  const webhookSecrets = before.credentials.webhookSecrets.filter((secret) => !retired.includes(secret));
  return {
    after: { credentials: { ...before.credentials, webhookSecrets } },
    changed: retired.map(({ id }) => `webhookSecrets -${id}`),
  };
}

/** The row of a source that left: its options stay, since its entries are read by them. */
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

/** Options with a mapping on top: the accepted names of a field go before those that it had. */
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

/** The row that holds the options of the configured source before there is one. */
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
