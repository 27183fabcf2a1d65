import type { Clock } from '../core/clock.ts';
import type { Source } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServiceClient } from '../service/client.ts';
import { ServiceError, type ServiceErrorKind } from '../service/service-error.ts';
import type { Store } from '../store/store.ts';
import type { WalkFault } from './follow-cursors.ts';
import { describeGaps, type Piece } from './periods-to-read.ts';
import type { Beginning } from './position.ts';
import type { PullTotals } from './row.ts';

/** What a pull needs. */
export interface PullDeps {
  readonly store: Pick<Store, 'read' | 'transaction' | 'findSeqs'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The service, called with the source's key. */
  readonly service: Pick<ServiceClient, 'fetchConsentLogPage'>;
  /** Rows that the service shows up to this late are read by an incremental run (look-back.ts). Milliseconds. */
  readonly lookBackMs: number;
}

/** What to pull. Without from, to or full: what is new since the last run, plus the look-back before it. */
export interface PullRequest {
  readonly source: Source;
  /** Null: name no banner, and get everything that the key may see. */
  readonly bannerId: string | null;
  /** Start and end of the window, ISO 8601 date or time, as sent to the service. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Everything that the service has. */
  readonly full?: boolean | undefined;
  /** Rows per page; default 200, the service's maximum. */
  readonly pageRows?: number | undefined;
  /**
   * A trial: if the very first request is refused as invalid, no position is stored, as every later run would fail from
   * it.
   */
  readonly tentative?: boolean | undefined;
  /** If it was just read. */
  readonly beginning?: Beginning | undefined;
  /** Who asked for it: an officer, or the schedule. */
  readonly actor: string;
  readonly signal?: AbortSignal | undefined;
  /** Called after each committed page. */
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
}

interface PullProgress extends PullTotals {
  readonly source: string;
  readonly bannerId: string | null;
}

export interface PullReport extends PullTotals {
  readonly source: string;
  readonly bannerId: string | null;
  readonly runId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** It continued from the cursor of an interrupted run. */
  readonly resumed: boolean;
  /** The service no longer knew a cursor, so the window was started over. */
  readonly restarted: boolean;
  /** Everything that the service dates before this has been pulled at least once. ISO 8601 UTC. */
  readonly watermark: string | null;
}

/** How a pull ended. `superseded`: another run of the same banner has started since and continues instead. */
export type PullResult =
  | (PullReport & { readonly outcome: 'finished' })
  | (PullReport & { readonly outcome: 'failed'; readonly reason: PullFailureReason; readonly error: string })
  /**
   * Deliveries name the banner but the service does not know it. This is an answer about the banner, not a failed sync.
   */
  | (PullReport & { readonly outcome: 'unknown-banner'; readonly error: string })
  | (PullReport & { readonly outcome: 'cancelled' })
  | (PullReport & { readonly outcome: 'superseded' });

/** Why a pull failed. */
type PullFailureReason = ServiceErrorKind | WalkFault['reason'] | 'cursor-expired';

export interface PullFailure {
  readonly reason: PullFailureReason;
  /** Plain sentences, ending with what to do. */
  readonly error: string;
  /** The cursor is useless, so the next run starts its window over. */
  readonly forgetCursor: boolean;
}

/** The failure of a pull whose walk stopped with this fault. */
export function failureOfFault(fault: WalkFault): PullFailure {
  const again =
    'The pages before it are stored, and the next run reads the window again. If it fails the same way, contact the service’s support.';
  switch (fault.reason) {
    case 'looping-cursor': {
      const place = fault.earlierPage === 0 ? 'the one this run began with' : `page ${fault.earlierPage}`;
      return {
        reason: fault.reason,
        error: fault.standsStill
          ? `Pagination is stuck: the page after ${place} leads to itself, so later rows cannot be read. The pages before it are stored, and the next run tries again. If it fails the same way, contact the service’s support.`
          : `Pagination loops: page ${fault.page} leads back to the page after ${place}, so later rows cannot be read. ${again}`,
        // A run that never got past the cursor it began with gains nothing by trying that cursor again.
        forgetCursor: !fault.standsStill || fault.earlierPage === 0,
      };
    }
    case 'repeating-page':
      return {
        reason: fault.reason,
        error: `The service keeps returning the rows of page ${fault.earlierPage} (last as page ${fault.page}) under new cursors, so later rows cannot be read. ${again}`,
        forgetCursor: true,
      };
    case 'cut-page':
      return {
        reason: fault.reason,
        error: `Page ${fault.page} of the service’s response is broken, even when requested again, and the cursor of the next page is lost with it. Its readable rows and the bytes of the rest are stored; the next run requests the page again. If it stays broken, contact the service’s support.`,
        forgetCursor: false,
      };
    case 'endless-empty-pages':
      return {
        reason: fault.reason,
        error: `The service returns page after page without rows, each with a next cursor (stopped at page ${fault.page}). ${again}`,
        forgetCursor: true,
      };
  }
}

/** The failure for an error of the service; null for any other error. */
export function failureOfError(error: unknown): PullFailure | null {
  return error instanceof ServiceError ? { reason: error.kind, error: error.message, forgetCursor: false } : null;
}

/** Whether the service understood the request and refused it as asked. */
export function isRefused(reason: PullFailureReason): boolean {
  return reason === 'bad-request' || reason === 'not-found';
}

/** For a banner that only the request names and that the service does not know. */
export function unknownBanner(bannerId: string, { reason }: PullFailure): PullFailure {
  return {
    reason,
    error: `The service does not know the banner ${bannerId}, and neither the source’s settings nor any delivery names it, so nothing was saved for later runs. Check the id; \`sync status\` lists the known banners.`,
    forgetCursor: false,
  };
}

/** For a banner that deliveries name but for which the service has no log under this key. */
export function foreignBanner(bannerId: string, { reason }: PullFailure): PullFailure {
  const answer = reason === 'not-found' ? 'does not know it (404)' : 'rejects requests for it (400)';
  return {
    reason,
    error: `Deliveries name the banner ${bannerId}, but the service ${answer}: it may have been deleted or belong to another client. If there is nothing to pull for it, stop pulling it on the Today page, or with \`consent-ledger sync dismiss\`.`,
    forgetCursor: true,
  };
}

/** Everything was read except these periods: their last rows are behind cursors that the service refuses. */
export function unreachable(gaps: readonly Piece[]): PullFailure {
  return {
    reason: 'cursor-expired',
    error: `The service rejects its own cursors, or returns pages over the size limit, even for the smallest periods that it distinguishes. These periods could not be read completely: ${describeGaps(gaps)}. Everything else is stored, and each run tries them again. Ask the service’s support for an export of these periods; \`consent-ledger sync --full\` reads the whole log again.`,
    forgetCursor: false,
  };
}
