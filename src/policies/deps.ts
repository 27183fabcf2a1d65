import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BulkResult } from '../service/bulk.ts';
import type { ServiceClient } from '../service/client.ts';
import type { GeneratedPolicy } from '../service/generate.ts';
import type { PublishedPolicy } from '../service/publish.ts';
import type { ServiceError } from '../service/service-error.ts';
import type { Store } from '../store/store.ts';

/** A source that can be called: it has an address and a key. */
export interface CallableSource extends Source {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** What is known of an answer or a failure without asking anybody: the readers of src/service, handed in by the composition root. */
export interface AnswerReaders {
  generated(bytes: Buffer): GeneratedPolicy;
  bulk(bytes: Buffer): BulkResult;
  published(bytes: Buffer, policyId: string): PublishedPolicy;
  /** A hosted address without its token; null for any other text. */
  withoutToken(address: string | null): string | null;
  /** Whether a call that failed so certainly changed nothing. */
  changedNothing(error: ServiceError): boolean;
  /** Whether a call that failed so never left this machine. */
  neverSent(error: ServiceError): boolean;
}

/** What the use-cases about policies work with. */
export interface PolicyDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly read: AnswerReaders;
  /** The service as the source's key sees it. */
  clientFor(
    source: CallableSource,
  ): Pick<ServiceClient, 'generatePolicy' | 'generateBulk' | 'publishPolicy' | 'fetchPolicyPages'>;
  /** Brings the read models up to the end of the ledger. */
  catchUp(): Promise<unknown>;
  /** Waits, sooner when the signal is aborted; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Why a source cannot be called; null when it can. */
export function whyNotCallable(source: Source): string | null {
  if (source.baseUrl === null)
    return `The source ${source.slug} has no base URL of the service, so nothing can be asked for.`;
  if (source.apiKey === null) return `The source ${source.slug} has no API key, so nothing can be asked for.`;
  return null;
}

/** Narrows a source to one that can be called. */
export function isCallable(source: Source): source is CallableSource {
  return whyNotCallable(source) === null;
}
