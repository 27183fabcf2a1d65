import { keyFingerprint } from './keys.ts';
import type { WebhookSecret } from './source.ts';

/**
 * A signing secret with its name. The name is the first 8 hex digits of its fingerprint (core/keys.ts): the same secret has the
 * same name wherever and whenever it is configured, so that the ledger's record of which secret a delivery was signed with stays
 * meaningful after a rotation.
 */
export function webhookSecretOf(value: string): WebhookSecret {
  return { id: keyFingerprint(Buffer.from(value, 'utf8')).slice(0, 8), value };
}
