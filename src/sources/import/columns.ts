/** A column of the file that `source import` reads. */
export interface ImportColumn {
  readonly name: string;
  readonly what: string;
  readonly example: string;
}

/** Every column, in the order of the template. Only `slug` must be there; several values in one cell stand apart by spaces. */
export const importColumns = [
  {
    name: 'slug',
    what: 'short name, part of the webhook address: lower-case letters, digits, hyphens (required)',
    example: 'acme-shop',
  },
  { name: 'name', what: 'display name', example: 'Acme Shop' },
  {
    name: 'base_url',
    what: 'API root of the service, ending in /api/v1',
    example: 'https://service.example/api/v1',
  },
  { name: 'site_url', what: 'public origin of the service', example: 'https://service.example' },
  { name: 'api_key', what: 'API key (pak_live_…); prefer api_key_file or api_key_env', example: '' },
  { name: 'api_key_file', what: 'API key: read from this file', example: 'secrets/acme-shop.key' },
  { name: 'api_key_env', what: 'API key: read from this environment variable', example: '' },
  { name: 'site_key', what: 'site key (pk_…)', example: '' },
  { name: 'site_key_file', what: 'site key: read from this file', example: '' },
  { name: 'site_key_env', what: 'site key: read from this environment variable', example: '' },
  { name: 'webhook_secrets', what: 'signing secrets, all of them accepted', example: '' },
  {
    name: 'webhook_secrets_file',
    what: 'signing secrets: read from this file, one per line',
    example: 'secrets/acme-shop.webhook',
  },
  { name: 'webhook_secrets_env', what: 'signing secrets: read from this environment variable', example: '' },
  { name: 'secret_encoding', what: 'encoding of the signing secrets: text (default), hex or base64', example: '' },
  { name: 'banners', what: 'ids of the banners whose consent log is pulled', example: 'bnr_1 bnr_2' },
  {
    name: 'field_names',
    what: 'names of payload fields at this source: field=name,name …',
    example: 'subject=visitor.key bannerId=widget',
  },
  { name: 'assumed_offset', what: 'UTC offset of times without one, ±hh:mm', example: '+00:00' },
  { name: 'controller_file', what: 'controller profile of this source', example: '' },
  {
    name: 'subject_recipe_file',
    what: 'JSON: how this source hashes e-mail addresses (algorithm, normalise, salt)',
    example: '',
  },
] as const satisfies readonly ImportColumn[];
export type ImportColumnName = (typeof importColumns)[number]['name'];

/** A file to begin with: the header, and one line that shows what goes where. It holds no secret. */
export function importTemplate(): string {
  return `${importColumns.map(({ name }) => name).join(',')}\n${importColumns.map(({ example }) => quoted(example)).join(',')}\n`;
}

function quoted(cell: string): string {
  return /[",\s]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
