import { composeBytes, composeHappening, oddBody, type Parcel } from './compose.ts';
import type { Dialect } from './dialect.ts';
import type { Happening, RequestHappening } from './happenings.ts';
import { deliveryIdOf } from './dialects.ts';
import { deriveText } from './keys.ts';
import { mix, mulberry32 } from './prng.ts';
import { hashDevice } from './visitors.ts';
import type { World } from './world.ts';

/** A parcel on its way, and what it stands for. */
interface TrafficItem {
  readonly parcel: Parcel;
  readonly happening: Happening | null;
}

export interface TrafficRange {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** What a client's traffic withholds or contradicts on purpose: what a reconciliation should find. */
export interface PlannedFaults {
  /** Decisions whose webhook is never sent. */
  readonly lost: readonly string[];
  /** Decisions whose row says something else than the webhook. */
  readonly conflicts: readonly string[];
  /** Decisions whose webhook is signed with the previous secret. */
  readonly oldSecret: readonly string[];
}

/**
 * The deliveries of one client in the order in which they are sent: what happened, in order of time, then disturbed by
 * repeats, late ones, forged ones, an unknown event and bodies that are not JSON. Lazy: millions cost no memory.
 */
export function* trafficOf(world: World, dialect: Dialect, range: TrafficRange): Generator<TrafficItem> {
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

/** Lists the planned faults of a range; call it only for ranges of which every row may be visited. */
export function plannedFaults(world: World, range: TrafficRange): PlannedFaults {
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
export function requestsIn(world: World, range: TrafficRange): RequestHappening[] {
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
    yield { parcel: composeHappening(client, dialect, decision, id, note), happening: decision };
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
    item: { parcel: composeHappening(world.client, dialect, event, id), happening: event },
  };
}

/** Deliveries that are no events of the service: forged, unsigned, of an unknown kind, not JSON. */
function oddities(world: World, dialect: Dialect): TimedItem[] {
  const { client, window } = world;
  const span = window.end.getTime() - window.start.getTime();
  const oddity = (share: number, note: Parcel['note'], odd: { event: string; body: Buffer }): TimedItem => {
    const at = window.start.getTime() + Math.floor(span * share);
    const id = deliveryId(world, dialect, `${note}-${share}`);
    return { at, item: { parcel: composeBytes(client, dialect, odd.event, odd.body, id, note), happening: null } };
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
    oddity(0.83, 'forged', forged(0.83)),
  ];
}

function deliveryId(world: World, dialect: Dialect, label: string): string {
  return deliveryIdOf(dialect, world.client.seed, 'delivery', label);
}

function isWithin(at: Date, { from, to }: TrafficRange): boolean {
  return at >= from && at < to;
}
