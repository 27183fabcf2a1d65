import { address, subscribers } from './compose.ts';
import type { Dialect } from './dialect.ts';
import type { RequestHappening } from './happenings.ts';
import { type PlannedFaults, plannedFaults, requestsIn, trafficOf, type TrafficRange } from './traffic.ts';
import type { DeliveryNote, DeliveryRecord, Outbox, OutgoingDelivery } from './webhooks.ts';
import type { World } from './world.ts';

export interface PlayOptions extends TrafficRange {
  /** Takes each delivery instead of HTTP; resolves with what became of it. */
  readonly deliver?: (delivery: OutgoingDelivery) => Promise<Pick<DeliveryRecord, 'outcome'>>;
  /** Deliveries under way at once per client. 1, the default, keeps their order. */
  readonly concurrency?: number;
  /** Called after each delivery. */
  readonly onDelivery?: (delivery: OutgoingDelivery, outcome: DeliveryRecord['outcome']) => void;
  readonly signal?: AbortSignal;
}

/** What was played for one client. */
export interface ClientTraffic {
  readonly client: string;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  readonly unreachable: number;
  /** Kept from being sent by a fault. */
  readonly lost: number;
  readonly byEvent: Readonly<Record<string, number>>;
  readonly byNote: Readonly<Partial<Record<DeliveryNote, number>>>;
  readonly faults: PlannedFaults;
  readonly requests: readonly RequestHappening[];
  /** Set when the endpoint stopped answering and the rest was not sent. */
  readonly stopped: string | null;
}

/** An endpoint that did not answer this many deliveries in a row, retries included, is given up. */
const PATIENCE = 3;

/** Plays one client's traffic of a range to its endpoints, or to `deliver`. */
export async function playClient(
  world: World,
  dialect: Dialect,
  outbox: Outbox,
  options: PlayOptions,
): Promise<ClientTraffic> {
  const { client } = world;
  const begin = (
    delivery: OutgoingDelivery,
  ): { record: Promise<Pick<DeliveryRecord, 'outcome'>>; goOn: Promise<unknown> } => {
    if (options.deliver === undefined) return outbox.start(delivery);
    const record = options.deliver(delivery);
    return { record, goOn: record };
  };
  const counts = { sent: 0, accepted: 0, refused: 0, unreachable: 0, lost: 0 };
  const byEvent: Record<string, number> = {};
  const byNote: Partial<Record<DeliveryNote, number>> = {};
  const items = trafficOf(world, dialect, options);
  const held = new Set<Promise<void>>();
  let silent = 0;
  let stopped =
    options.deliver === undefined && client.endpoints.length === 0 ? 'the client has no webhook endpoint' : null;

  const work = async (): Promise<void> => {
    for (const { parcel } of items) {
      const urls =
        options.deliver === undefined ? subscribers(client, parcel.event) : [client.webhookUrl ?? 'about:blank'];
      for (const url of urls) {
        if (stopped !== null) return;
        const delivery = address(parcel, client, url);
        const { record, goOn } = begin(delivery);
        const counted = record.then(({ outcome }) => {
          held.delete(counted);
          counts.sent += 1;
          counts[outcome] += 1;
          byEvent[parcel.event] = (byEvent[parcel.event] ?? 0) + 1;
          byNote[parcel.note] = (byNote[parcel.note] ?? 0) + 1;
          silent = outcome === 'unreachable' ? silent + 1 : 0;
          options.onDelivery?.(delivery, outcome);
          if (silent >= PATIENCE) stopped = `no answer from ${new URL(url).origin}`;
        });
        held.add(counted);
        // What is not held back has been counted when this comes: it waits for the same answer, and was told later.
        await goOn;
        if (options.signal?.aborted === true) stopped ??= 'interrupted';
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 1 }, work));
  await Promise.all(held);
  return {
    client: client.slug,
    ...counts,
    byEvent,
    byNote,
    faults: plannedFaults(world, options),
    requests: requestsIn(world, options),
    stopped,
  };
}
