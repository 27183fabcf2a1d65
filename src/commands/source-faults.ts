import { unknownFieldNames } from '../../receivers/field-names.ts';
import { isPrivateTransport } from '../core/service-address.ts';
import type { Source } from '../core/source.ts';
import { signingKeyOf } from '../core/webhook-secret.ts';

/** What is wrong, or probably not meant, with how a source is set up. `fault`: it is not fit for production. */
export interface SourceFault {
  readonly level: 'fault' | 'note';
  readonly sentence: string;
  readonly remedy: string;
}

/** Shortest signing secret that cannot be guessed, in characters. */
export const LEAST_SECRET_CHARACTERS = 16;

/** Looks over the settings of a source; asks nobody. */
export function findSourceFaults(source: Source): SourceFault[] {
  const { slug, baseUrl, apiKey, webhookSecrets, options } = source;
  const faults: SourceFault[] = [];
  const add = (level: SourceFault['level'], sentence: string, remedy: string) =>
    faults.push({ level, sentence, remedy });

  if (webhookSecrets.length === 0) {
    add('fault', `${slug} has no signing secret: every delivery is refused.`, rotateRemedy(slug));
  }
  for (const { id, value, encoding } of webhookSecrets) {
    if (signingKeyOf(value, encoding) === null)
      add(
        'fault',
        `The signing secret ${id} of ${slug} is no ${encoding ?? 'text'}, as it is said to be: it verifies nothing.`,
        `Correct it: \`source change ${slug} --secret-encoding ${id}=text\`.`,
      );
    if (value.length < LEAST_SECRET_CHARACTERS)
      add(
        'fault',
        `The signing secret ${id} of ${slug} has less than ${LEAST_SECRET_CHARACTERS} characters: it can be guessed.`,
        'Have the service make a longer one, and retire this one.',
      );
  }
  if (baseUrl !== null && apiKey === null)
    add('fault', `${slug} has a base URL but no API key: its consent log cannot be pulled.`, keyRemedy(slug));
  if (baseUrl === null && apiKey !== null)
    add('fault', `${slug} has an API key but no base URL: its consent log cannot be pulled.`, addressRemedy(slug));
  if (baseUrl === null && apiKey === null)
    add(
      'note',
      `${slug} is not pulled: it has neither a base URL nor an API key.`,
      slug === 'default'
        ? 'Set SERVICE_BASE_URL and SERVICE_API_KEY.'
        : `Set both: \`source change ${slug} --base-url https://…/api/v1 --api-key-file -\`.`,
    );
  if (baseUrl !== null && !isPrivateTransport(baseUrl))
    add(
      'fault',
      `The base URL of ${slug} is not https: the API key would cross the network in clear text.`,
      addressRemedy(slug),
    );
  if (apiKey !== null && apiKey.startsWith('pk_'))
    add(
      'note',
      `The API key of ${slug} is a legacy site key (pk_…): it works until the service removes it.`,
      'Create a named key (pak_live_…) in the service’s dashboard.',
    );
  else if (apiKey !== null && !apiKey.startsWith('pak_live_'))
    add(
      'note',
      `The API key of ${slug} does not begin with pak_live_: is it an API key of the service?`,
      `\`consent-ledger source check ${slug}\` asks the service.`,
    );
  const unknown = unknownFieldNames(options.fieldNames);
  if (unknown.length > 0)
    add(
      'fault',
      `${slug} gives names for ${unknown.join(', ')}, which no payload field is called here: they have no effect.`,
      'docs/assumptions.md lists the fields; correct them with `source change --field-name`.',
    );
  return faults;
}

/** What stands in the environment's variables for the source `default`, and in the database for the others. */
function rotateRemedy(slug: string): string {
  return slug === 'default'
    ? 'Set WEBHOOK_SECRETS to the secret that the service shows for the webhook.'
    : `Add the secret that the service shows for the webhook: \`source rotate ${slug} --webhook-secret-file -\`.`;
}
function keyRemedy(slug: string): string {
  return slug === 'default' ? 'Set SERVICE_API_KEY.' : `Set it: \`source change ${slug} --api-key-file -\`.`;
}
function addressRemedy(slug: string): string {
  return slug === 'default'
    ? 'Set SERVICE_BASE_URL to the https address that ends in /api/v1.'
    : `Set it: \`source change ${slug} --base-url https://…/api/v1\`.`;
}
