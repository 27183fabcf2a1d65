import type { CallOutcome } from './call.ts';
import type { PolicyDeps } from './callable.ts';

/** Told while a call waits for its turn: until when, and why. */
export type OnWait = (until: Date, why: string) => void;

/** How long a call may wait for its turn. */
export interface Patience {
  /** Ends the waiting; a call that is under way is brought to its end, since giving it up leaves its outcome unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Gives up even a call that is under way. */
  readonly giveUp?: AbortSignal | undefined;
  /** Longest wait in one piece, milliseconds; 0 never waits. */
  readonly maxWaitMs: number;
  readonly onWait?: OnWait | undefined;
}

/** Further tries after the first, of what certainly changed nothing. */
const MORE_TRIES = 3;

/**
 * Calls until something comes of it: waits for a free slot of the rate limits, and tries again what the service put off (429) or what never
 * left this machine (connection refused, DNS). Anything else is handed on at once; what is unknown is never tried again.
 */
export async function callPatiently<T>(
  deps: Pick<PolicyDeps, 'clock' | 'sleep'>,
  call: () => Promise<CallOutcome<T>>,
  patience: Patience,
): Promise<CallOutcome<T>> {
  for (let more = MORE_TRIES; ; ) {
    const ended = await call();
    if (ended.outcome === 'no-slot') {
      if (!(await waitUntil(deps, ended.freeAt, ended.limit, patience)))
        return patience.signal?.aborted ? { outcome: 'stopped' } : ended;
      continue;
    }
    const pause = ended.outcome === 'refused' && more > 0 ? pauseAfter(ended.error, MORE_TRIES - more) : null;
    if (pause === null || ended.outcome !== 'refused') return ended;
    const until = new Date(deps.clock().getTime() + pause);
    if (!(await waitUntil(deps, until, ended.error.message, patience))) return ended;
    more -= 1;
  }
}

/** How long to wait before the same may be sent again, milliseconds; null: it would be of no use. */
export function pauseAfter(error: { kind: string; retryAfterMs: number | null }, tried: number): number | null {
  if (error.kind === 'rate-limited') return Math.max(error.retryAfterMs ?? 0, 1000 * 2 ** tried * (1 + Math.random()));
  // A refusal of kind network was never sent.
  return error.kind === 'network' ? 500 * 2 ** tried * (1 + Math.random()) : null;
}

/** Waits until then; false when that is longer than the patience, or when it was stopped meanwhile. */
export async function waitUntil(
  deps: Pick<PolicyDeps, 'clock' | 'sleep'>,
  until: Date,
  why: string,
  { signal, maxWaitMs, onWait }: Patience,
): Promise<boolean> {
  const ms = until.getTime() - deps.clock().getTime();
  if (ms > maxWaitMs || (ms > 0 && maxWaitMs === 0)) return false;
  if (ms > 0) {
    onWait?.(until, why);
    await deps.sleep(ms, signal);
  }
  return !signal?.aborted;
}
