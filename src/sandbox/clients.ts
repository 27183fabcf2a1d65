import { sourceSlugPattern } from '../core/vocabulary.ts';
import { type ApiKey, deriveText } from './keys.ts';
import { seedOf } from './prng.ts';

/** The settings of a client; the rest follows from the seed. */
export interface ClientSpec {
  readonly slug: string;
  readonly name?: string;
  readonly domain?: string;
  /** Jurisdiction code of the client's home, e.g. DE or US-CA. */
  readonly home?: string;
  readonly language?: string;
  readonly banners?: number;
  readonly webhookUrl?: string;
  readonly account?: AccountState;
}

/** `expired`: the subscription ended, 402. `no-api`: the plan has no API access, 403 (docs/service.md §7). */
export const accountStates = ['active', 'expired', 'no-api'] as const;
type AccountState = (typeof accountStates)[number];

/** Where deliveries go. `events` is the subscription. */
interface WebhookEndpoint {
  readonly url: string;
  readonly events: 'all' | readonly string[];
}

interface Banner {
  readonly id: string;
  readonly name: string;
}

/** How this client's site turns an e-mail address into a visitor hash: `sha256(salt + address)` in lower-case hex. */
export interface SubjectRecipe {
  readonly algorithm: 'sha256';
  readonly normalise: 'trim-lowercase';
  readonly salt: string;
}

/** One account of the sandbox with everything that a receiver needs to follow it. */
export interface SandboxClient {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  readonly home: string;
  readonly language: string;
  readonly userId: string;
  /** Named key with all scopes. */
  readonly apiKey: string;
  /** Named key that may only read. */
  readonly readKey: string;
  /** Named key with write access but no read access. */
  readonly writeKey: string;
  /** Named key only for webhooks: no documented endpoint accepts it. */
  readonly webhooksKey: string;
  /** Revoked named key. */
  readonly revokedKey: string;
  /** Legacy key; also the siteKey of embeds. */
  readonly siteKey: string;
  readonly webhookSecret: string;
  /** The secret before the last rotation, which still signs a few deliveries. */
  readonly previousWebhookSecret: string;
  readonly banners: readonly Banner[];
  readonly subjectRecipe: SubjectRecipe;
  readonly endpoints: WebhookEndpoint[];
  /** The first endpoint's address. Setting it subscribes that address to all events; null removes all endpoints. */
  webhookUrl: string | null;
  /** May be changed at any time. */
  account: AccountState;
  /** Seed of everything drawn for this client. */
  readonly seed: number;
}

const catalogue: readonly Required<Pick<ClientSpec, 'slug' | 'name' | 'domain' | 'home' | 'language'>>[] = [
  { slug: 'nordlicht', name: 'Nordlicht Räder GmbH', domain: 'nordlicht.example', home: 'DE', language: 'de' },
  { slug: 'harbour-finch', name: 'Harbour & Finch Ltd', domain: 'harbourfinch.example', home: 'GB', language: 'en' },
  { slug: 'atelier-lumen', name: 'Atelier Lumen SARL', domain: 'atelierlumen.example', home: 'FR', language: 'fr' },
  {
    slug: 'pacific-pantry',
    name: 'Pacific Pantry, Inc.',
    domain: 'pacificpantry.example',
    home: 'US-CA',
    language: 'en',
  },
  { slug: 'grachten-goed', name: 'Grachten & Goed B.V.', domain: 'grachtengoed.example', home: 'NL', language: 'nl' },
  { slug: 'fjellheim', name: 'Fjellheim Utstyr AS', domain: 'fjellheim.example', home: 'NO', language: 'no' },
];

/** The first `count` clients: six with their own names, then numbered ones (an agency has hundreds). */
export function specsFor(count: number): ClientSpec[] {
  return Array.from({ length: count }, (_, index) => {
    const known = catalogue[index % catalogue.length];
    if (known === undefined) throw new Error('the catalogue of clients is empty');
    if (index < catalogue.length) return known;
    const round = Math.floor(index / catalogue.length) + 1;
    return {
      ...known,
      slug: `${known.slug}-${round}`,
      name: `${known.name} ${round}`,
      domain: known.domain.replace('.example', `-${round}.example`),
    };
  });
}

/** Builds a client; its keys, secrets and ids follow from the sandbox's seed and its slug. */
export function createClient(seed: number, spec: ClientSpec): SandboxClient {
  if (!sourceSlugPattern.test(spec.slug)) throw new Error(`not a slug: ${spec.slug}`);
  const text = (length: number, label: string): string => deriveText(length, seed, spec.slug, label);
  const bannerNames = ['Main site', 'Shop', 'Help centre', 'Campaigns'];
  const endpoints: WebhookEndpoint[] = [];
  const client: SandboxClient = {
    slug: spec.slug,
    name: spec.name ?? spec.slug,
    domain: spec.domain ?? `${spec.slug}.example`,
    home: spec.home ?? 'GB',
    language: spec.language ?? 'en',
    userId: `usr_${text(16, 'user')}`,
    apiKey: `pak_live_${text(40, 'api-key')}`,
    readKey: `pak_live_${text(40, 'read-key')}`,
    writeKey: `pak_live_${text(40, 'write-key')}`,
    webhooksKey: `pak_live_${text(40, 'webhooks-key')}`,
    revokedKey: `pak_live_${text(40, 'revoked-key')}`,
    siteKey: `pk_${text(32, 'site-key')}`,
    webhookSecret: `wsk_${text(40, 'webhook-secret')}`,
    previousWebhookSecret: `wsk_${text(40, 'previous-webhook-secret')}`,
    banners: Array.from({ length: spec.banners ?? 2 }, (_, index) => ({
      id: `bnr_${text(16, `banner-${index}`)}`,
      name: bannerNames[index] ?? `Banner ${index + 1}`,
    })),
    subjectRecipe: { algorithm: 'sha256', normalise: 'trim-lowercase', salt: text(24, 'subject-salt') },
    endpoints,
    get webhookUrl() {
      return endpoints[0]?.url ?? null;
    },
    set webhookUrl(url: string | null) {
      endpoints.length = 0;
      if (url !== null) endpoints.push({ url: new URL(url).href, events: 'all' });
    },
    account: spec.account ?? 'active',
    seed: seedOf(seed, spec.slug),
  };
  if (spec.webhookUrl !== undefined) client.webhookUrl = spec.webhookUrl;
  return client;
}

/** The keys for this client's resources only. */
export function keysOf(client: SandboxClient): ApiKey[] {
  const clients = [client.slug];
  return [
    { value: client.apiKey, scopes: ['read', 'write', 'webhooks'], clients, revoked: false, lastUsedAt: null },
    { value: client.readKey, scopes: ['read'], clients, revoked: false, lastUsedAt: null },
    { value: client.writeKey, scopes: ['write'], clients, revoked: false, lastUsedAt: null },
    { value: client.webhooksKey, scopes: ['webhooks'], clients, revoked: false, lastUsedAt: null },
    { value: client.revokedKey, scopes: ['read', 'write', 'webhooks'], clients, revoked: true, lastUsedAt: null },
    { value: client.siteKey, scopes: ['read', 'write'], clients, revoked: false, lastUsedAt: null },
  ];
}

/** An agency over all clients of the sandbox: keys that reach all of them, besides those limited to one client. */
export interface Agency {
  /** Named key with all scopes. */
  readonly apiKey: string;
  /** Named key that may only read. */
  readonly readKey: string;
  /** Generations for all clients together. */
  readonly quota: number;
}

/** Builds the agency of a seed. */
export function createAgency(seed: number, quota: number): Agency {
  const text = (label: string): string => `pak_live_${deriveText(40, seed, 'agency', label)}`;
  return { apiKey: text('api-key'), readKey: text('read-key'), quota };
}

/** The agency-wide keys. */
export function agencyKeys(agency: Agency, clients: readonly SandboxClient[]): ApiKey[] {
  const slugs = clients.map(({ slug }) => slug);
  return [
    { value: agency.apiKey, scopes: ['read', 'write', 'webhooks'], clients: slugs, revoked: false, lastUsedAt: null },
    { value: agency.readKey, scopes: ['read'], clients: slugs, revoked: false, lastUsedAt: null },
  ];
}
