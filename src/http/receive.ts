import type { WebhookEndpointOptions } from '../../receivers/endpoint.ts';
import { codeOf } from './errors.ts';
import type { Context } from '../context/contract.ts';
import { appendDelivery } from '../ledger/append-delivery.ts';
import type { Metrics } from './metrics.ts';

/** What the webhook endpoint does with deliveries: append, note what is refused, count both. */
export function receiveInto(
  context: Pick<Context, 'clock' | 'ledger' | 'rejected' | 'sources'>,
  metrics: Metrics,
): Omit<WebhookEndpointOptions, 'bodyLimit'> {
  const { clock, ledger, rejected, sources } = context;
  return {
    findSource(slug) {
      const source = sources.find(slug);
      return source === null ? null : { secrets: source.webhookSecrets };
    },
    async accept(delivery) {
      const started = performance.now();
      try {
        const appended = await appendDelivery(ledger, delivery, clock().toISOString());
        metrics.observeAppend((performance.now() - started) / 1000);
        metrics.countDelivery(delivery.source, appended.outcome);
        return appended;
      } catch (error) {
        metrics.countDelivery(delivery.source, codeOf(error));
        throw error;
      }
    },
    onRejected(refused) {
      metrics.countDelivery(refused.source, refused.reason);
      rejected.note(refused);
    },
    onTooLarge({ source }) {
      metrics.countDelivery(source, 'too-large');
      rejected.count(source, 'too-large');
    },
  };
}
