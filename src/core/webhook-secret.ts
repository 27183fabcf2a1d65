import { keyFingerprint } from './keys.ts';
import type { SecretEncoding, WebhookSecret } from './source.ts';

/**
 * A signing secret with its name. The name is the first 8 hex digits of its fingerprint (core/keys.ts): the same secret has the
 * same name wherever and whenever it is configured, so that the ledger's record of which secret a delivery was signed with stays
 * meaningful after a rotation.
 */
export function webhookSecretOf(value: string): WebhookSecret {
  return { id: keyFingerprint(Buffer.from(value, 'utf8')).slice(0, 8), value };
}

/**
 * The bytes that a secret signs with. Null when the text is not what its encoding says, or holds nothing: such a secret verifies nothing.
 * Base64 may be URL-safe, may lack its padding, and may stand behind `whsec_` (Standard Webhooks).
 */
export function signingKeyOf(value: string, encoding: SecretEncoding = 'text'): Buffer | null {
  const key = decoded(value, encoding);
  return key === null || key.length === 0 ? null : key;
}

function decoded(value: string, encoding: SecretEncoding): Buffer | null {
  switch (encoding) {
    case 'text':
      return Buffer.from(value, 'utf8');
    case 'hex':
      return /^(?:[0-9a-f]{2})+$/i.test(value) ? Buffer.from(value, 'hex') : null;
    case 'base64': {
      const text = value.replace(/^whsec_/, '');
      return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64url') : null;
    }
  }
}
