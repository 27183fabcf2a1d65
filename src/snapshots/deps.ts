import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { EmbedRequest } from '../service/embed.ts';
import type { HostedRequest } from '../service/hosted-policy.ts';
import type { PublicFetch } from '../service/public-fetch.ts';
import type { Store } from '../store/store.ts';

/** A policy as the service lists it; `url` with its token. */
export interface ListedAddress {
  readonly policyId: string;
  readonly policyType: string | null;
  readonly url: string | null;
}

/** The service's list of published policies, or why there is none. `not-configured`: the source has no address or key of the API. */
export type AddressList =
  | { readonly outcome: 'listed'; readonly policies: readonly ListedAddress[] }
  | { readonly outcome: 'not-configured' }
  | { readonly outcome: 'failed'; readonly transient: boolean; readonly sentence: string };

/** What fetching texts needs of the rest. */
export interface SnapshotDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** Brings the read models up to the end of the ledger. */
  catchUp(): Promise<unknown>;
  fetchEmbed(request: EmbedRequest): Promise<PublicFetch>;
  fetchHosted(request: HostedRequest): Promise<PublicFetch>;
  listAddresses(source: Source, signal?: AbortSignal): Promise<AddressList>;
}
