import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { DestinationRule } from '../core/destination.ts';
import type { Source } from '../core/source.ts';
import type { JobLog } from '../jobs/job.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Projector } from '../projections/run.ts';
import { createServiceClient, type ServiceClient } from '../service/client.ts';
import type { Store } from '../store/store.ts';

/** A source with an address and a key, which can be called. */
export interface CallableSource extends Source {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** What the use cases about policies need. */
export interface PolicyDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Where the addresses of sources may lead. */
  readonly destinations: DestinationRule;
  /** The service, called with the source's key. */
  clientFor(
    source: CallableSource,
  ): Pick<ServiceClient, 'generatePolicy' | 'generateBulk' | 'publishPolicy' | 'fetchPolicyPages'>;
  /** Brings the read models up to the end of the ledger; resolves with the seq they contain. */
  catchUp(): Promise<number>;
  /** Waits, or less if the signal is aborted; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Calls over the network, paced by the real clock. */
export function createPolicyDeps(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly destinations: DestinationRule;
  readonly projector: Projector;
  readonly log: JobLog;
}): PolicyDeps {
  const { store, ledger, clock, destinations, projector, log } = parts;
  return {
    store,
    ledger,
    clock,
    destinations,
    clientFor: ({ slug, baseUrl, apiKey }) =>
      createServiceClient({
        baseUrl,
        destinations,
        apiKey,
        onRetry: (error, attempt) =>
          log.warn({ source: slug, attempt, reason: error.message }, 'retrying the request to the service'),
      }),
    catchUp: () => projector.catchUp(),
    sleep: (milliseconds, signal) =>
      delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  };
}

/** Why a source cannot be called; null if it can be. */
export function whyNotCallable(source: Source): string | null {
  if (source.baseUrl === null) return `Source ${source.slug} has no API address, so the service cannot be called.`;
  if (source.apiKey === null) return `Source ${source.slug} has no API key, so the service cannot be called.`;
  return null;
}

/** Narrows a source to one that can be called. */
export function isCallable(source: Source): source is CallableSource {
  return whyNotCallable(source) === null;
}
