import { addressGroup } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { sha256 } from '../crypto/hash.ts';

/** A delivery that was answered with 401. */
export interface Rejected {
  readonly source: string;
  /** The reason: `missing`, `mismatch` … */
  readonly reason: string;
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly address: string;
}

/** The number of refused deliveries of one source in one minute for one reason. */
export interface RejectedCount {
  readonly source: string;
  /** UTC, YYYY-MM-DDTHH:MM. */
  readonly minute: string;
  readonly reason: string;
  readonly count: number;
}

/** A rejected delivery waiting to be written. */
export interface Pending {
  readonly source: string;
  readonly reason: string;
  readonly receivedAt: string;
  readonly address: string;
  readonly bytes: number;
  readonly rawBody: Uint8Array;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** What was collected between two writes. */
export interface BufferedRejections {
  readonly pending: readonly Pending[];
  readonly bytes: number;
  readonly counts: ReadonlyMap<string, RejectedCount>;
}

const PENDING_ITEMS = 500;
const PENDING_BYTES = 8 * 1024 ** 2;
const COUNT_KEYS = 10_000;
const HEADER_BYTES = 16 * 1024;
const RECENT = 2000;
const credentials = /^(?:authorization|proxy-authorization|cookie|x-api-key)$/;

/** Refused deliveries on their way to the ring: in memory, limited, and without waiting for anything. */
export class Gathering {
  readonly #clock: Clock;
  #pending: Pending[] = [];
  #bytes = 0;
  readonly #itemsOf = new Map<string, number>();
  #counts = new Map<string, RejectedCount>();
  /** Digests of recent deliveries: a sender that repeats a refused delivery takes up one place, not many. */
  readonly #recent = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0 && this.#counts.size === 0;
  }

  count(source: string, reason: string): void {
    const minute = this.#clock().toISOString().slice(0, 16);
    const key = JSON.stringify([source, minute, reason]);
    const before = this.#counts.get(key);
    if (before === undefined && this.#counts.size >= COUNT_KEYS) return;
    this.#counts.set(key, { source, minute, reason, count: (before?.count ?? 0) + 1 });
  }

  /** Counts a delivery and keeps it if there is room; one address may use at most half. */
  note({ source, reason, rawBody, headers, address }: Rejected): void {
    this.count(source, reason);
    const bytes = rawBody.length;
    if (this.#pending.length >= PENDING_ITEMS || this.#bytes + bytes > PENDING_BYTES) return;
    const group = addressGroup(address);
    const ofGroup = this.#itemsOf.get(group) ?? 0;
    if (ofGroup >= PENDING_ITEMS / 2) return;
    const kept = keepHeaders(headers);
    if (!this.#isNew(digestOf(source, kept, rawBody))) return;
    const receivedAt = this.#clock().toISOString();
    this.#pending.push({ source, reason, receivedAt, address: group, bytes, rawBody, headers: kept });
    this.#bytes += bytes + ITEM_OVERHEAD;
    this.#itemsOf.set(group, ofGroup + 1);
  }

  /** Returns everything so far and starts over. */
  take(): BufferedRejections {
    const gathered = { pending: this.#pending, bytes: this.#bytes, counts: this.#counts };
    this.#pending = [];
    this.#bytes = 0;
    this.#itemsOf.clear();
    this.#counts = new Map();
    return gathered;
  }

  /** Puts back what could not be written, as far as there is room next to what has arrived since. */
  putBack({ pending, bytes, counts }: BufferedRejections): void {
    this.#pending = [...pending, ...this.#pending].slice(0, PENDING_ITEMS);
    this.#bytes += bytes;
    for (const [key, old] of counts) {
      this.#counts.set(key, { ...old, count: old.count + (this.#counts.get(key)?.count ?? 0) });
    }
  }

  #isNew(digest: string): boolean {
    if (this.#recent.has(digest)) return false;
    this.#recent.add(digest);
    if (this.#recent.size > RECENT) for (const oldest of this.#recent) if (this.#recent.delete(oldest)) break;
    return true;
  }
}

/** Identifies equal refused deliveries by source, body and signatures; other headers may differ with each attempt. */
function digestOf(source: string, headers: Record<string, unknown>, rawBody: Uint8Array): string {
  const signatures = Object.entries(headers).filter(([name]) => name.includes('signature'));
  const head = Buffer.from(JSON.stringify([source, signatures]), 'utf8');
  return sha256(Buffer.concat([sha256(head), sha256(rawBody)])).toString('latin1');
}

function keepHeaders(headers: Rejected['headers']): Record<string, string | readonly string[]> {
  const kept: Record<string, string | readonly string[]> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || credentials.test(name)) continue;
    bytes += name.length + String(value).length;
    if (bytes > HEADER_BYTES) break;
    kept[name] = value;
  }
  return kept;
}

/** Limits of the ring of rejected deliveries. */
export interface RingLimits {
  readonly items: number;
  readonly bytes: number;
  /** The share that one address may use. */
  readonly itemsPerAddress: number;
  readonly bytesPerAddress: number;
  readonly hours: number;
  /** To make room in a full ring for an address that already holds as much as any other, only items older than this are removed. */
  readonly protectedMinutes: number;
}

export const ringLimits: RingLimits = {
  items: 1000,
  bytes: 16 * 1024 ** 2,
  itemsPerAddress: 500,
  bytesPerAddress: 8 * 1024 ** 2,
  hours: 72,
  protectedMinutes: 60,
};

/** The properties of an item that matter for the choice. */
interface RingItem {
  readonly address: string;
  readonly bytes: number;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** Bytes that an item takes besides its body: headers, and the overhead of sealing. */
export const ITEM_OVERHEAD = 1024;

/**
 * Decides which newcomers enter the ring and which items are removed for them. Pure.
 *
 * An address at its limit gets nothing more in, so a flood from one place ends in no writes at all. A full ring makes
 * room for newcomers from addresses that hold less, by removing the oldest item of the address that holds most; among
 * equals, only items that have been there for a while are removed, so a flood from many addresses replaces the ring's
 * content slowly.
 */
export function chooseItems<K extends RingItem & { readonly id: number }, N extends RingItem>(
  kept: readonly K[],
  newcomers: readonly N[],
  now: Date,
  limits: RingLimits = ringLimits,
): { readonly enter: readonly N[]; readonly leave: readonly number[] } {
  const expiry = isoBefore(now, limits.hours * 60);
  const protectedFrom = isoBefore(now, limits.protectedMinutes);
  const shares = new Map<string, Share>();
  const leave: number[] = [];
  let items = 0;
  let bytes = 0;

  const count = (item: RingItem, sign: 1 | -1): Share => {
    const share = shares.get(item.address) ?? { items: 0, bytes: 0, oldest: [] };
    shares.set(item.address, share);
    share.items += sign;
    share.bytes += sign * sizeOf(item);
    items += sign;
    bytes += sign * sizeOf(item);
    return share;
  };
  for (const item of [...kept].sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1))) {
    if (item.receivedAt < expiry) leave.push(item.id);
    else count(item, 1).oldest.push(item);
  }

  const enter: N[] = [];
  for (const newcomer of newcomers) {
    const size = sizeOf(newcomer);
    const share = shares.get(newcomer.address) ?? { items: 0, bytes: 0, oldest: [] };
    if (share.items + 1 > limits.itemsPerAddress || share.bytes + size > limits.bytesPerAddress || size > limits.bytes)
      continue;
    const victims: { item: RingItem & { readonly id: number }; share: Share }[] = [];
    while (items + 1 > limits.items || bytes + size > limits.bytes) {
      const heaviest = heaviestOf(shares);
      const victim = heaviest?.oldest[0];
      if (heaviest === null || victim === undefined) break;
      const outweighs = heaviest.items > share.items + 1 || heaviest.bytes > share.bytes + size;
      if (!outweighs && victim.receivedAt >= protectedFrom) break;
      heaviest.oldest.shift();
      count(victim, -1);
      victims.push({ item: victim, share: heaviest });
    }
    if (items + 1 > limits.items || bytes + size > limits.bytes) {
      // Not enough room could be made: put back what was removed for nothing.
      for (const { item, share: owner } of victims.reverse()) {
        count(item, 1);
        owner.oldest.unshift(item);
      }
      continue;
    }
    leave.push(...victims.map(({ item }) => item.id));
    count(newcomer, 1);
    enter.push(newcomer);
  }
  return { enter, leave };
}

interface Share {
  items: number;
  bytes: number;
  /** Stored items of this address, oldest first, without newcomers of the same round. */
  readonly oldest: (RingItem & { readonly id: number })[];
}

/** The address that holds most bytes, among those with a stored item to remove. */
function heaviestOf(shares: ReadonlyMap<string, Share>): Share | null {
  let heaviest: Share | null = null;
  for (const share of shares.values()) {
    if (share.oldest.length > 0 && (heaviest === null || share.bytes > heaviest.bytes)) heaviest = share;
  }
  return heaviest;
}

function sizeOf(item: RingItem): number {
  return item.bytes + ITEM_OVERHEAD;
}

function isoBefore(now: Date, minutes: number): string {
  return new Date(now.getTime() - minutes * 60_000).toISOString();
}
