import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Properties of a delivery. All except `sound` are faults that a receiver must handle. */
export const deliveryNotes = [
  'sound',
  'repeat',
  'late',
  'old-secret',
  'forged',
  'unsigned',
  'unknown-event',
  'not-json',
] as const;
export type DeliveryNote = (typeof deliveryNotes)[number];

/** A delivery ready to be sent. */
export interface OutgoingDelivery {
  readonly id: string;
  /** Slug of the client. */
  readonly client: string;
  readonly event: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly note: DeliveryNote;
  /** Total attempts, at least 1. */
  readonly tries: number;
}

interface DeliveryAttempt {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly status: number | null;
  /** Set if there was no response. */
  readonly error: string | null;
}

/** One line of the delivery log. */
export interface DeliveryRecord {
  readonly id: string;
  readonly client: string;
  readonly event: string;
  readonly url: string;
  readonly note: DeliveryNote;
  readonly bytes: number;
  readonly attempts: readonly DeliveryAttempt[];
  /**
   * `accepted`: a 2xx came; `refused`: the last response was something else; `unreachable`: no response to the last
   * attempt; `lost`: not sent because of a fault.
   */
  readonly outcome: 'accepted' | 'refused' | 'unreachable' | 'lost';
}

/** What a fault does to a delivery. */
export interface Disturbance {
  readonly isLost: boolean;
  readonly delayMs: number;
  /** Held back until this many later deliveries of its client were sent, or this many milliseconds passed. */
  readonly holdBack: { readonly deliveries: number; readonly ms: number } | null;
  readonly copies: number;
  /** Override the delivery's own headers. */
  readonly headers: Readonly<Record<string, string>>;
}

interface OutboxOptions {
  readonly clock: () => Date;
  /** Waits before the second, third, … attempt, in milliseconds; their number limits the attempts. */
  readonly backoffMs: readonly number[];
  /** How long an endpoint may take to answer, in milliseconds. */
  readonly timeoutMs: number;
  /** How many deliveries are kept in the log for redelivery. */
  readonly remember: number;
  /** Called once for each delivery. */
  readonly disturb?: (delivery: OutgoingDelivery) => Disturbance;
}

interface Started {
  readonly record: Promise<DeliveryRecord>;
  readonly goOn: Promise<void>;
}

/** Sends deliveries with HTTP POST, retries those without a 2xx and keeps a log. */
export function createOutbox(options: OutboxOptions) {
  const remembered: { delivery: OutgoingDelivery; record: DeliveryRecord }[] = [];
  const running = new Set<Promise<DeliveryRecord>>();
  const stop = new AbortController();
  // One listener for each delivery in progress.
  setMaxListeners(0, stop.signal);
  const heldBack = createHeldBack(stop.signal);

  const remember = (
    delivery: OutgoingDelivery,
    attempts: readonly DeliveryAttempt[],
    outcome: DeliveryRecord['outcome'],
  ): DeliveryRecord => {
    const { id, client, event, url, note, body } = delivery;
    const record: DeliveryRecord = { id, client, event, url, note, bytes: body.length, attempts, outcome };
    remembered.push({ delivery, record });
    if (remembered.length > options.remember) remembered.shift();
    return record;
  };
  const run = async (delivery: OutgoingDelivery, headers: Disturbance['headers'] = {}): Promise<DeliveryRecord> => {
    const attempts: DeliveryAttempt[] = [];
    const sent = { ...delivery, headers: { ...delivery.headers, ...headers } };
    const tries = Math.min(delivery.tries, options.backoffMs.length + 1);
    while (!stop.signal.aborted) {
      const made = await attempt(sent, options, stop.signal);
      attempts.push(made);
      if (isAccepted(made) || attempts.length >= tries) break;
      await sleep(options.backoffMs[attempts.length - 1], undefined, { signal: stop.signal }).catch(() => undefined);
    }
    const last = attempts.at(-1);
    return remember(
      delivery,
      attempts,
      last === undefined || last.status === null ? 'unreachable' : isAccepted(last) ? 'accepted' : 'refused',
    );
  };
  const runDisturbed = async (
    delivery: OutgoingDelivery,
    disturbance: Disturbance | undefined,
  ): Promise<DeliveryRecord> => {
    if (disturbance === undefined) return run(delivery);
    if (disturbance.isLost) return remember(delivery, [], 'lost');
    if (disturbance.holdBack !== null) await heldBack.hold(delivery.client, disturbance.holdBack);
    await sleep(disturbance.delayMs, undefined, { signal: stop.signal }).catch(() => undefined);
    const record = await run(delivery, disturbance.headers);
    for (let copy = 1; copy < disturbance.copies; copy += 1) await run(delivery, disturbance.headers);
    return record;
  };
  const start = (delivery: OutgoingDelivery): Started => {
    const disturbance = options.disturb?.(delivery);
    const isHeld = disturbance !== undefined && !disturbance.isLost && disturbance.holdBack !== null;
    const record: Promise<DeliveryRecord> = runDisturbed(delivery, disturbance).finally(() => {
      running.delete(record);
      if (!isHeld) heldBack.countPast(delivery.client);
    });
    running.add(record);
    return { record, goOn: isHeld ? Promise.resolve() : record.then(() => undefined) };
  };
  const deliver = (delivery: OutgoingDelivery): Promise<DeliveryRecord> => start(delivery).record;
  return {
    /** Sends one delivery and resolves when it has its outcome. Never throws for what the endpoint does. */
    deliver,
    /**
     * The same for callers that send in order: `goOn` resolves when the next one may be sent, which is earlier if a
     * fault holds this one back.
     */
    start,
    /** How many deliveries are in progress, including those between attempts. */
    underWay: () => running.size,
    /** Sends in the background. */
    enqueue: (delivery: OutgoingDelivery): void => {
      // `run` does not reject: whatever an endpoint does is an outcome.
      void deliver(delivery);
    },
    /**
     * Sends the newest delivery with that id (to that address, if given) once more, as it was before any fault; null:
     * no longer kept.
     */
    redeliver: async (id: string, url?: string): Promise<DeliveryRecord | null> => {
      const found = remembered.findLast(({ delivery }) => delivery.id === id && (url ?? delivery.url) === delivery.url);
      return found === undefined ? null : deliver(found.delivery);
    },
    /** Waits until nothing is in progress. */
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
    log: (): readonly DeliveryRecord[] => remembered.map(({ record }) => record),
    /** Abandons deliveries in progress. */
    close: async (): Promise<void> => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;

/** One request, with its answer or the reason why there was none. */
async function attempt(
  delivery: OutgoingDelivery,
  { clock, timeoutMs }: Pick<OutboxOptions, 'clock' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const at = clock().toISOString();
  try {
    const answer = await fetch(delivery.url, {
      method: 'POST',
      headers: delivery.headers,
      body: new Uint8Array(delivery.body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await answer.arrayBuffer();
    return { at, status: answer.status, error: null };
  } catch (error) {
    return { at, status: null, error: reasonOf(error) };
  }
}

/** Deliveries held back until a time has passed or others of their client have overtaken them. */
function createHeldBack(stop: AbortSignal) {
  const held = new Set<{ readonly client: string; left: number; release: () => void }>();
  return {
    /** Resolves when the delivery may be sent. */
    async hold(client: string, { deliveries, ms }: { deliveries: number; ms: number }): Promise<void> {
      const waiting = new AbortController();
      const entry = { client, left: deliveries, release: () => waiting.abort() };
      held.add(entry);
      await sleep(ms, undefined, { signal: AbortSignal.any([stop, waiting.signal]) }).catch(() => undefined);
      held.delete(entry);
    },
    /** Counts a delivery that overtook those held back of its client. */
    countPast(client: string): void {
      for (const entry of held) {
        if (entry.client !== client) continue;
        entry.left -= 1;
        if (entry.left <= 0) entry.release();
      }
    },
  };
}

function isAccepted(attempt: DeliveryAttempt): boolean {
  return attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const cause = error.cause;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error.name;
}
