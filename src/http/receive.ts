import type { WebhookEndpointOptions } from '../../receivers/endpoint.ts';
import type { Context } from '../context/context.ts';
import { appendDelivery } from '../ledger/append-delivery.ts';
import { traced } from '../tracing/trace.ts';
import { errorCodeOf } from './error-pages.tsx';
import { type Metrics, UNKNOWN_SOURCE } from './metrics.ts';

/** How the webhook endpoint handles deliveries: appends them, keeps refused ones, counts both. */
export function receiveInto(
  context: Pick<Context, 'clock' | 'ledger' | 'log' | 'rejected' | 'sources'>,
  metrics: Metrics,
): Omit<WebhookEndpointOptions, 'bodyLimit' | 'inFlight'> {
  const { clock, ledger, rejected, sources } = context;
  const tellUnknown = unknownSourceLog(context);
  return {
    findSource(slug) {
      const source = sources.find(slug);
      return source === null ? null : { secrets: source.webhookSecrets };
    },
    async findSourceAgain(slug) {
      const source = await sources.findNow(slug);
      return source === null ? null : { secrets: source.webhookSecrets };
    },
    accept(delivery) {
      const { source, rawBody } = delivery;
      return traced('delivery', { source, bytes: rawBody.length }, async (span) => {
        const started = performance.now();
        try {
          const appended = await appendDelivery(ledger, delivery, clock().toISOString());
          metrics.observeAppend((performance.now() - started) / 1000);
          metrics.countDelivery(source, appended.outcome);
          span.set(appended);
          return appended;
        } catch (error) {
          metrics.countDelivery(source, errorCodeOf(error));
          throw error;
        }
      });
    },
    onRejected(refused) {
      metrics.countDelivery(refused.source, refused.reason);
      rejected.note(refused);
    },
    onTooLarge({ source }) {
      metrics.countDelivery(source, 'too-large');
      rejected.count(source, 'too-large');
    },
    onCrowdedOut({ source }) {
      metrics.countDelivery(source, 'crowded-out');
      rejected.count(source, 'crowded-out');
    },
    onUnknownSource({ source }) {
      // One name for all, because the sender chooses the address.
      metrics.countDelivery(UNKNOWN_SOURCE, 'unknown-source');
      rejected.count(UNKNOWN_SOURCE, 'unknown-source');
      tellUnknown(source);
    },
  };
}

const TOLD_AGAIN_MS = 3_600_000;
const NAMES_REMEMBERED = 100;

/** Logs an unknown source once an hour, and at most a hundred of them, so that a scanner does not fill the log. */
function unknownSourceLog({ log, sources }: Pick<Context, 'log' | 'sources'>): (slug: string) => void {
  const told = new Map<string, number>();
  return (slug) => {
    const now = performance.now();
    const last = told.get(slug);
    if (last !== undefined && now - last < TOLD_AGAIN_MS) return;
    if (told.size >= NAMES_REMEMBERED) {
      for (const [name, at] of told) if (now - at >= TOLD_AGAIN_MS) told.delete(name);
      if (told.size >= NAMES_REMEMBERED) return;
    }
    told.set(slug, now);
    const known = sources.list().map((source) => source.slug);
    log.warn(
      { source: slug.slice(0, 63), known: known.slice(0, 20) },
      'refused a delivery for an unknown source: correct the webhook address in the service’s dashboard, or run `consent-ledger source add`',
    );
  };
}
