/** Bounds of the ring of rejected deliveries. */
export interface RingLimits {
  readonly items: number;
  readonly bytes: number;
  /** Of these, what one address may take. */
  readonly itemsPerAddress: number;
  readonly bytesPerAddress: number;
  readonly hours: number;
  /** A full ring makes room for an address that holds as much as any other only at the cost of items older than this. */
  readonly settledMinutes: number;
}

export const ringLimits: RingLimits = {
  items: 1000,
  bytes: 16 * 1024 ** 2,
  itemsPerAddress: 500,
  bytesPerAddress: 8 * 1024 ** 2,
  hours: 72,
  settledMinutes: 60,
};

/** An item as far as the choice goes. */
interface RingItem {
  readonly address: string;
  readonly bytes: number;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** What one item takes beside its body: headers, and the form that it is sealed in. */
export const ITEM_OVERHEAD = 1024;

/**
 * Decides which of the newcomers enter the ring and which items leave it for them. Pure.
 *
 * An address at its cap gets nothing more in, so that a flood from one place ends in no writes at all. A full ring gives way to
 * newcomers from addresses that hold less, at the cost of the oldest item of the address that holds most; among equals only
 * items that have been there for a while give way, so that a flood from many addresses turns the ring over slowly.
 */
export function chooseItems<K extends RingItem & { readonly id: number }, N extends RingItem>(
  kept: readonly K[],
  newcomers: readonly N[],
  now: Date,
  limits: RingLimits = ringLimits,
): { readonly enter: readonly N[]; readonly leave: readonly number[] } {
  const expiry = isoBefore(now, limits.hours * 60);
  const settled = isoBefore(now, limits.settledMinutes);
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
      if (!outweighs && victim.receivedAt >= settled) break;
      heaviest.oldest.shift();
      count(victim, -1);
      victims.push({ item: victim, share: heaviest });
    }
    if (items + 1 > limits.items || bytes + size > limits.bytes) {
      // Not enough could be made: what was taken out for nothing goes back.
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
  /** Stored items of this address, oldest first; newcomers of the same round are not among them. */
  readonly oldest: (RingItem & { readonly id: number })[];
}

/** The address that holds most bytes among those with a stored item to give. */
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
