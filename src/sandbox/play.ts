import { address, composeBytes, composeHappening, oddBody, type Parcel, subscribers } from './compose.ts';
import { hashDevice } from './decisions.ts';
import type { Dialect } from './dialect.ts';
import { deliveryIdOf } from './dialects.ts';
import type { Happening, RequestHappening } from './happenings.ts';
import { deriveText } from './keys.ts';
import { mix, mulberry32 } from './prng.ts';
import type { DeliveryNote, DeliveryRecord, Outbox, OutgoingDelivery } from './webhooks.ts';
import type { World } from './world.ts';

export interface PlayOptions extends TrafficRange {
  /** Takes each delivery instead of HTTP; resolves with its outcome. */
  readonly deliver?: (delivery: OutgoingDelivery) => Promise<Pick<DeliveryRecord, 'outcome'>>;
  /** Concurrent deliveries per client. 1, the default, keeps their order. */
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
  /** Not sent because of a fault. */
  readonly lost: number;
  readonly byEvent: Readonly<Record<string, number>>;
  readonly byNote: Readonly<Partial<Record<DeliveryNote, number>>>;
  readonly faults: PlannedFaults;
  readonly requests: readonly RequestHappening[];
  /** Set if the endpoint stopped answering and the rest was not sent. */
  readonly stopped: string | null;
}

/** After this many consecutive deliveries without a response, retries included, an endpoint is given up. */
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
        // Deliveries that are not held back have been counted by now; held-back ones are counted later.
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

/** A parcel to send, with the happening it is about. */
interface TrafficItem {
  readonly parcel: Parcel;
  readonly happening: Happening | null;
}

interface TrafficRange {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** What a client's traffic intentionally withholds or contradicts, which a reconciliation should find. */
interface PlannedFaults {
  /** Decisions whose webhook is never sent. */
  readonly lost: readonly string[];
  /** Decisions whose row contradicts the webhook. */
  readonly conflicts: readonly string[];
  /** Decisions whose webhook is signed with the previous secret. */
  readonly oldSecret: readonly string[];
}

/**
 * One client's deliveries in sending order: what happened, in order of time, disturbed by repeats, late ones, forged
 * ones, an unknown event and bodies that are not JSON. Lazy: millions cost no memory.
 */
function* trafficOf(world: World, dialect: Dialect, range: TrafficRange): Generator<TrafficItem> {
  const held: { item: TrafficItem; after: number }[] = [];
  let position = 0;
  for (const item of inOrder(world, dialect, range)) {
    position += 1;
    const random = mulberry32(mix(world.client.seed ^ 0x74726166, position));
    const chance = random();
    const distance = 2 + Math.floor(random() * 7);
    const regular = item.parcel.note === 'sound';
    if (regular && chance < 0.04) {
      held.push({ item: { ...item, parcel: { ...item.parcel, note: 'late' } }, after: position + distance });
    } else {
      yield item;
      if (regular && chance > 0.97)
        held.push({ item: { ...item, parcel: { ...item.parcel, note: 'repeat' } }, after: position + distance });
    }
    while (held[0] !== undefined && held[0].after <= position) yield held.shift()?.item as TrafficItem;
  }
  for (const { item } of held) yield item;
}

/** Lists the planned faults of a range; call it only for ranges whose every row may be visited. */
function plannedFaults(world: World, range: TrafficRange): PlannedFaults {
  const { decisions, rhythm } = world;
  const found: { lost: string[]; conflicts: string[]; oldSecret: string[] } = {
    lost: [],
    conflicts: [],
    oldSecret: [],
  };
  const end = rhythm.indexFrom(range.to.getTime());
  for (let index = rhythm.indexFrom(range.from.getTime()); index < end; index += 1) {
    if (decisions.isLost(index)) found.lost.push(decisions.at(index).recordId);
    else if (decisions.isConflict(index)) found.conflicts.push(decisions.at(index).recordId);
    else if (decisions.isOldSecret(index)) found.oldSecret.push(decisions.at(index).recordId);
  }
  return found;
}

/** The requests of a range. */
function requestsIn(world: World, range: TrafficRange): RequestHappening[] {
  return world.events.flatMap((event) =>
    event.event === 'dsar.submitted' && isWithin(event.at, range) ? [event] : [],
  );
}

function* inOrder(world: World, dialect: Dialect, range: TrafficRange): Generator<TrafficItem> {
  const { client, decisions, rhythm } = world;
  const events = world.events.map((event, index) => eventItem(world, dialect, event, index));
  const others = [...events, ...oddities(world, dialect)]
    .filter(({ at }) => isWithin(new Date(at), range))
    .sort((a, b) => a.at - b.at);
  const end = rhythm.indexFrom(range.to.getTime());
  for (let index = rhythm.indexFrom(range.from.getTime()); index < end; index += 1) {
    const decision = decisions.at(index);
    while (others[0] !== undefined && others[0].at <= decision.at.getTime()) yield others.shift()?.item as TrafficItem;
    if (decisions.isLost(index)) continue;
    const id = deliveryId(world, dialect, `decision-${index}`);
    const note = decisions.isOldSecret(index) ? 'old-secret' : 'sound';
    yield { parcel: composeHappening(client, dialect, { happening: decision, id, note }), happening: decision };
  }
  for (const { item } of others) yield item;
}

interface TimedItem {
  readonly at: number;
  readonly item: TrafficItem;
}

function eventItem(world: World, dialect: Dialect, event: Happening, index: number): TimedItem {
  const id = deliveryId(world, dialect, `event-${index}`);
  return {
    at: event.at.getTime(),
    item: { parcel: composeHappening(world.client, dialect, { happening: event, id }), happening: event },
  };
}

/** Deliveries that are not events of the service: forged, unsigned, of an unknown kind, not JSON. */
function oddities(world: World, dialect: Dialect): TimedItem[] {
  const { client, window } = world;
  const span = window.end.getTime() - window.start.getTime();
  const oddity = (share: number, note: Parcel['note'], odd: { event: string; body: Buffer }): TimedItem => {
    const at = window.start.getTime() + Math.floor(span * share);
    const id = deliveryId(world, dialect, `${note}-${share}`);
    return {
      at,
      item: { parcel: composeBytes(client, dialect, { event: odd.event, body: odd.body, id, note }), happening: null },
    };
  };
  const forged = (share: number) => {
    const event = 'consent.recorded';
    const body = JSON.stringify({
      event,
      record_id: `cr_forged${deriveText(6, client.seed, share)}`,
      banner_id: client.banners[0]?.id,
      visitor_hash: hashDevice(client, -Math.round(share * 100)),
      action: 'accept_all',
      timestamp: new Date(window.start.getTime() + Math.floor(span * share)).toISOString(),
    });
    return { event, body: Buffer.from(body, 'utf8') };
  };
  return [
    oddity(0.22, 'forged', forged(0.22)),
    oddity(0.35, 'not-json', oddBody('not-json', client)),
    oddity(0.48, 'unknown-event', oddBody('unknown-event', client)),
    oddity(0.57, 'unsigned', forged(0.57)),
    oddity(0.985, 'forged', forged(0.985)),
  ];
}

function deliveryId(world: World, dialect: Dialect, label: string): string {
  return deliveryIdOf(dialect, world.client.seed, 'delivery', label);
}

function isWithin(at: Date, { from, to }: TrafficRange): boolean {
  return at >= from && at < to;
}
