import { callLimits } from '../core/call.ts';
import type { StoreTransaction } from '../store/store.ts';

/** No slot is free: thrown inside the transaction of an intent, so that the intent is not written either. */
export class NoSlot extends Error {
  override readonly name = 'NoSlot';
  /** When a slot becomes free if nobody takes one. */
  readonly freeAt: Date;
  /** The limit in words. */
  readonly limit: string;
  constructor(freeAt: Date, limit: string) {
    super(`${limit}: free at ${freeAt.toISOString()}`);
    this.freeAt = freeAt;
    this.limit = limit;
  }
}

export interface Slot {
  readonly requestId: string;
  readonly keyId: string;
  readonly sort: 'generate' | 'bulk';
}

const DAY = 86_400_000;

/**
 * Takes a slot of the API key's rate limits (docs/service.md §8), under the write lock of the transaction: processes that share a key share
 * its slots, and a restart forgets none. Throws {@link NoSlot}.
 */
export async function reserveSlot(tx: StoreTransaction, slot: Slot, now: Date): Promise<void> {
  const limits = callLimits[slot.sort];
  const longest = Math.max(...limits.map(({ windowMs }) => windowMs));
  const most = Math.max(...limits.map(({ most: one }) => one));
  const taken = await tx.query
    .selectFrom('call_slots')
    .select('at')
    .where('key_id', '=', slot.keyId)
    .where('sort', '=', slot.sort)
    .where('at', '>', new Date(now.getTime() - longest).toISOString())
    .orderBy('at', 'desc')
    .limit(most)
    .execute();
  let refusal: NoSlot | null = null;
  for (const limit of limits) {
    // The newest first: if the n-th newest still lies in the window, n slots are taken.
    const blocking = taken[limit.most - 1];
    if (blocking === undefined) continue;
    const freeAt = new Date(Date.parse(blocking.at) + limit.windowMs);
    if (freeAt > now && (refusal === null || freeAt > refusal.freeAt))
      refusal = new NoSlot(freeAt, wordsOf(slot.sort, limit));
  }
  if (refusal !== null) throw refusal;
  await tx.query
    .deleteFrom('call_slots')
    .where('at', '<', new Date(now.getTime() - 2 * DAY).toISOString())
    .execute();
  const row = { request_id: slot.requestId, key_id: slot.keyId, sort: slot.sort, at: now.toISOString() };
  await tx.insertMany('call_slots', [row]);
}

function wordsOf(sort: Slot['sort'], { most, windowMs }: { most: number; windowMs: number }): string {
  const what = sort === 'generate' ? 'generations' : 'batches';
  return `${most} ${what} ${windowMs < DAY ? 'a minute' : 'a day'} per API key`;
}
