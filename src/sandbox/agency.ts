import type { SandboxClient } from './clients.ts';
import { type ApiKey, deriveText } from './keys.ts';

/** An agency over all clients of the sandbox: keys that reach each of them, beside the ones limited to one client. */
export interface Agency {
  /** Named key with all scopes. */
  readonly apiKey: string;
  /** Named key that may only read. */
  readonly readKey: string;
  /** Generations of all clients together. */
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
