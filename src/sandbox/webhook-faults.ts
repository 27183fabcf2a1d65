import type { SandboxClient } from './clients.ts';
import type { Faults } from './faults.ts';
import { signatureHeaders } from './sign.ts';
import type { Disturbance, OutgoingDelivery } from './webhooks.ts';

/** What the faults of the moment make of a delivery. */
export function createWebhookFaults(
  faults: Faults,
  clients: readonly SandboxClient[],
): (delivery: OutgoingDelivery) => Disturbance {
  return (delivery) => {
    const drawn = faults.draw('webhooks');
    const client = clients.find(({ slug }) => slug === delivery.client);
    const secret =
      drawn.find('webhook-wrong-secret') !== null
        ? 'a guess'
        : drawn.find('webhook-old-secret') !== null
          ? client?.previousWebhookSecret
          : undefined;
    const reordered = drawn.find('webhook-reordered');
    return {
      holdBack: reordered === null ? null : { deliveries: reordered.by, ms: reordered.ms },
      isLost: drawn.find('webhook-lost') !== null,
      delayMs: drawn.find('webhook-delayed')?.ms ?? 0,
      copies: drawn.find('webhook-duplicated') === null ? 1 : 2,
      headers: secret === undefined ? {} : signatureHeaders(secret, delivery.body),
    };
  };
}
