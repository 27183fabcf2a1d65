import type { Clock } from '../core/clock.ts';
import type { DestinationRule } from '../core/destination.ts';
import type { Source } from '../core/source.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Projector } from '../projections/run.ts';
import { createServiceClient } from '../service/client.ts';
import { fetchDescription } from '../service/openapi.ts';
import { type EmbedRequest, fetchEmbedPolicy, fetchHostedPolicy, type HostedRequest } from '../service/public-fetch.ts';
import { isTransient, ServiceError } from '../service/service-error.ts';
import type { Store } from '../store/store.ts';

/** What fetching texts, and watching the service's description, needs. Tests replace the network parts. */
export type SnapshotDeps = ReturnType<typeof createSnapshotDeps>;

export function createSnapshotDeps(parts: {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** Where the addresses of sources may lead. */
  readonly destinations: DestinationRule;
  readonly projector: Projector;
}) {
  const { store, ledger, jobs, clock, destinations, projector } = parts;
  return {
    store,
    ledger,
    jobs,
    clock,
    /** Brings the read models up to the end of the ledger. */
    catchUp: (): Promise<unknown> => projector.catchUp(),
    fetchEmbed: (request: Omit<EmbedRequest, 'destinations'>) =>
      fetchEmbedPolicy({ ...request, destinations }, { now: clock }),
    fetchHosted: (request: Omit<HostedRequest, 'destinations'>) =>
      fetchHostedPolicy({ ...request, destinations }, { now: clock }),
    listAddresses: (source: Source, signal?: AbortSignal) => listAddresses(source, destinations, signal),
    /** Null: the source has no API address or key. */
    fetchDescription: ({ baseUrl, apiKey }: Source, signal?: AbortSignal) =>
      baseUrl === null || apiKey === null
        ? null
        : fetchDescription({ baseUrl, destinations, apiKey, retries: 1 }, signal),
  };
}

/** A policy as listed by the service; `url` includes its token. */
interface ListedAddress {
  readonly policyId: string;
  readonly policyType: string | null;
  readonly url: string | null;
}

/** The service's list of published policies, or why it is unavailable. `not-configured`: the source has no API address or key. */
export type AddressList =
  | { readonly outcome: 'listed'; readonly policies: readonly ListedAddress[] }
  | { readonly outcome: 'not-configured' }
  | { readonly outcome: 'failed'; readonly transient: boolean; readonly sentence: string };

async function listAddresses(
  source: Source,
  destinations: DestinationRule,
  signal?: AbortSignal,
): Promise<AddressList> {
  const { slug, baseUrl, apiKey } = source;
  if (baseUrl === null || apiKey === null) return { outcome: 'not-configured' };
  try {
    const policies = await createServiceClient({ baseUrl, destinations, apiKey, retries: 2 }).listPolicies(signal);
    return {
      outcome: 'listed',
      policies: policies.map(({ id, policy_type: policyType, url }) => ({
        policyId: id,
        policyType: policyType ?? null,
        url: url ?? null,
      })),
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { outcome: 'failed', transient: isTransient(error.kind), sentence: `${slug}: ${error.message}` };
  }
}
