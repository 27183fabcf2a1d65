import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Store } from '../store/store.ts';
import type { PullFailureReason } from './failure.ts';

/** What a pull works with. */
export interface PullDeps {
  readonly store: Pick<Store, 'read' | 'transaction'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The service as the source's key sees it. */
  readonly service: Pick<ServiceClient, 'fetchConsentLogPage'>;
}

/** What to pull. Without from, to and full: what is new since the last run, and the look-back before it. */
export interface PullRequest {
  readonly source: Source;
  /** '' names no banner: whatever the key may see. */
  readonly bannerId: string;
  /** ISO 8601 date or time: the window's start and end as the service understands them. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Everything the service has. */
  readonly full?: boolean | undefined;
  /** How far before the watermark an incremental run begins, for rows that the service shows late; default 24 hours. */
  readonly lookBackMs?: number | undefined;
  /** Rows per page, default 200, the service's most. */
  readonly pageRows?: number | undefined;
  /** Whether it is only tried: when the very first request is refused as invalid, no position is left behind that fails from then on. */
  readonly tentative?: boolean | undefined;
  /** Who asked for it: an officer, or the schedule. */
  readonly actor: string;
  readonly signal?: AbortSignal | undefined;
  /** Told after each page that was committed. */
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

/** Counts of a pull. `rows` came; `stored` are new in the ledger; `duplicates` were there already. */
export interface PullTotals {
  readonly pages: number;
  readonly rows: number;
  readonly stored: number;
  readonly duplicates: number;
  /** Rows that are no JSON objects: stored with their bytes all the same. */
  readonly malformed: number;
  /** Pieces of broken pages that could not be read as rows: stored with their bytes, and counted in none of the others. */
  readonly unreadable: number;
  /** Earliest and latest time that the rows give and that counts, ISO 8601 UTC. */
  readonly earliest: string | null;
  readonly latest: string | null;
}
interface PullProgress extends PullTotals {
  readonly source: string;
  readonly bannerId: string;
}

export interface PullReport extends PullTotals {
  readonly source: string;
  readonly bannerId: string;
  readonly runId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** It went on from the cursor of an interrupted run. */
  readonly resumed: boolean;
  /** The service had forgotten a cursor, so the window was begun anew. */
  readonly restarted: boolean;
  /** Everything the service dated before this has been pulled at least once, ISO 8601 UTC. */
  readonly watermark: string | null;
}

/** How a pull ended. `superseded`: another run of the same banner began meanwhile and goes on in its place. */
export type PullResult =
  | (PullReport & { readonly outcome: 'finished' })
  | (PullReport & { readonly outcome: 'failed'; readonly reason: PullFailureReason; readonly error: string })
  /** Deliveries name the banner, and the service does not know it: an answer about this banner, and no fault of the sync. */
  | (PullReport & { readonly outcome: 'unknown-banner'; readonly error: string })
  | (PullReport & { readonly outcome: 'cancelled' })
  | (PullReport & { readonly outcome: 'superseded' });
