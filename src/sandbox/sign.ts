import { createHmac } from 'node:crypto';

/**
 * The two signature headers of a delivery (docs/service.md §6): HMAC-SHA256 over the raw body, once as bare lower-case hex,
 * once prefixed. The sandbox has this of its own and shares nothing with the receiver, so that the two can disagree.
 */
export function signatureHeaders(secret: string, body: Uint8Array): Record<string, string> {
  const digest = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
  return { 'x-service-signature': digest, 'x-service-signature-256': `sha256=${digest}` };
}
