import { unknownFieldNames } from '../../receivers/field-names.ts';
import { isPrivateTransport } from '../core/address.ts';
import type { Source } from '../core/source.ts';
import { signingKeyOf } from '../crypto/keys.ts';

/** A fault, or probable mistake, in the settings of a source. `fault`: it is not fit for production. */
export interface SourceFault {
  readonly level: 'fault' | 'note';
  /** In two or three words, for a list; null: not for one. */
  readonly short: string | null;
  readonly sentence: string;
  readonly remedy: string;
}

/** The fewest characters of a signing secret that cannot be guessed. */
const LEAST_SECRET_CHARACTERS = 16;

/** Slugs of the sources whose API key another of them also has, so that the service does not tell them apart. */
export function sourcesSharingKey(all: Iterable<Source>): ReadonlySet<string> {
  const byKey = new Map<string, string[]>();
  for (const { slug, baseUrl, apiKey } of all) {
    if (apiKey === null) continue;
    const key = JSON.stringify([baseUrl, apiKey]);
    const slugs = byKey.get(key);
    if (slugs === undefined) byKey.set(key, [slug]);
    else slugs.push(slug);
  }
  return new Set([...byKey.values()].filter((slugs) => slugs.length > 1).flat());
}

/** Checks the settings of a source without the network. `sharingKey`: see {@link sourcesSharingKey}. */
export function findSourceFaults(source: Source, sharingKey: ReadonlySet<string>): SourceFault[] {
  const { slug, baseUrl, apiKey, webhookSecrets, options } = source;
  const faults: SourceFault[] = [];
  const add = (level: SourceFault['level'], short: string | null, sentence: string, remedy: string) =>
    faults.push({ level, short, sentence, remedy });

  if (webhookSecrets.length === 0) {
    add('fault', 'no signing secret', `${slug} has no signing secret: every delivery is refused.`, rotateRemedy(slug));
  }
  for (const { id, value, encoding } of webhookSecrets) {
    if (signingKeyOf(value, encoding) === null)
      add(
        'fault',
        'signing secret in another encoding',
        `The signing secret ${id} of ${slug} is not valid ${encoding ?? 'text'}, its configured encoding: it verifies nothing.`,
        `Change the encoding: \`source change ${slug} --secret-encoding ${id}=text\`.`,
      );
    if (value.length < LEAST_SECRET_CHARACTERS)
      add(
        'fault',
        'signing secret too short',
        `The signing secret ${id} of ${slug} has fewer than ${LEAST_SECRET_CHARACTERS} characters and can be guessed.`,
        'Create a longer one in the service and retire this one.',
      );
  }
  if (baseUrl !== null && apiKey === null)
    add(
      'fault',
      'no API key',
      `${slug} has an API address but no API key: its consent log cannot be pulled.`,
      keyRemedy(slug),
    );
  if (baseUrl === null && apiKey !== null)
    add(
      'fault',
      'no API address',
      `${slug} has an API key but no API address: its consent log cannot be pulled.`,
      addressRemedy(slug),
    );
  if (baseUrl === null && apiKey === null)
    add(
      'note',
      'no API key',
      `${slug} is not pulled: it has neither an API address nor an API key.`,
      slug === 'default'
        ? 'Set SERVICE_BASE_URL and SERVICE_API_KEY.'
        : `Set both: \`source change ${slug} --base-url https://…/api/v1 --api-key-file -\`.`,
    );
  if (baseUrl !== null && !isPrivateTransport(baseUrl))
    add(
      'fault',
      'API address not https',
      `The API address of ${slug} is not https: the API key would be sent unencrypted.`,
      addressRemedy(slug),
    );
  if (apiKey !== null && apiKey.startsWith('pk_'))
    add(
      'note',
      null,
      `The API key of ${slug} is a legacy site key (pk_…): it works until the service removes it.`,
      'Create a named key (pak_live_…) in the service’s dashboard.',
    );
  else if (apiKey !== null && !apiKey.startsWith('pak_live_'))
    add(
      'note',
      null,
      `The API key of ${slug} does not begin with pak_live_ and may not be an API key of the service.`,
      `Check it with \`consent-ledger source check ${slug}\`.`,
    );
  // Without the names of the others: this is also shown to people who may not see them.
  if (options.banners.length === 0 && sharingKey.has(slug))
    add(
      'fault',
      'API key of another source',
      `${slug} has the same API key as another source and names no banners: the whole log of the key would include other clients’ visitors, so only banners that deliveries to ${slug} named are pulled.`,
      `Give it a key that is limited to this client, or name its banners: \`source change ${slug} --banner <id>\`.`,
    );
  const unknown = unknownFieldNames(options.fieldNames);
  if (unknown.length > 0)
    add(
      'fault',
      'unknown field names',
      `${slug} has field names for unknown fields, which have no effect: ${unknown.join(', ')}.`,
      'Correct them with `source change --field-name`; docs/assumptions.md lists the fields.',
    );
  return faults;
}

/** The source `default` is configured by environment variables, the others in the database. */
export function leftoverFault(
  { slug, id }: { readonly slug: string; readonly id: string },
  ended: string,
): SourceFault {
  return {
    level: 'note',
    short: null,
    sentence: `WEBHOOK_SECRETS still contains the signing secret ${id} of ${slug}, which ended on ${ended}. It is no longer accepted.`,
    remedy: 'Remove it from WEBHOOK_SECRETS when you next restart the server.',
  };
}

function rotateRemedy(slug: string): string {
  return `Add the secret that the service shows for the webhook: \`source rotate ${slug} --webhook-secret-file -\`.`;
}
/** Address and keys of the source `default` are set by environment variables, those of others in the database. */
function keyRemedy(slug: string): string {
  return slug === 'default' ? 'Set SERVICE_API_KEY.' : `Set it: \`source change ${slug} --api-key-file -\`.`;
}
function addressRemedy(slug: string): string {
  return slug === 'default'
    ? 'Set SERVICE_BASE_URL to the https address that ends in /api/v1.'
    : `Set it: \`source change ${slug} --base-url https://…/api/v1\`.`;
}
