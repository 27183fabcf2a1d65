import { type CallOperation, callLimits } from '../core/call.ts';
import type { StoreTransaction } from '../store/store.ts';

/** Nothing may be sent yet: thrown inside the transaction of an intent, so that the intent is not written either. */
export class NoSlot extends Error {
  override readonly name = 'NoSlot';
  /** When it may be sent, unless another call takes the slot. */
  readonly freeAt: Date;
  /** The reason in words: a limit, or {@link SERVICE_ASKED}. */
  readonly limit: string;
  constructor(freeAt: Date, limit: string) {
    super(`${limit}: free at ${freeAt.toISOString()}`);
    this.freeAt = freeAt;
    this.limit = limit;
  }
}

/** Why calls of a key wait after one of them was answered with 429. */
export const SERVICE_ASKED = 'the service answered 429 and asked this API key to wait';

export interface Slot {
  readonly requestId: string;
  readonly keyId: string;
  readonly sort: CallOperation;
}

const DAY = 86_400_000;

/**
 * Takes a slot of the API key's rate limits (docs/service.md §8), under the write lock of the transaction: processes
 * that share a key share its slots, and a restart does not forget any. No slot is given during a pause that the service
 * requested, whichever process received that request. Publishing has no documented rate, so it only waits for such
 * pauses. Throws {@link NoSlot}.
 *
 * A slot or pause that lies further in the future than its own length was written by a wrong clock. It would block the
 * key until then, so it does not count.
 */
export async function reserveSlot(tx: StoreTransaction, slot: Slot, now: Date): Promise<void> {
  const refusal = (await findPause(tx, slot, now)) ?? (await findFullLimit(tx, slot, now));
  if (refusal !== null) throw refusal;
  await tx.query
    .deleteFrom('call_slots')
    .where('at', '<', before(now, 2 * DAY))
    .execute();
  if (slot.sort === 'publish') return;
  const row = { request_id: slot.requestId, key_id: slot.keyId, sort: slot.sort, at: now.toISOString() };
  await tx.insertMany('call_slots', [row]);
}

async function findFullLimit(tx: StoreTransaction, { keyId, sort }: Slot, now: Date): Promise<NoSlot | null> {
  if (sort === 'publish') return null;
  const limits = callLimits[sort];
  const longest = Math.max(...limits.map(({ windowMs }) => windowMs));
  const taken = await tx.query
    .selectFrom('call_slots')
    .select('at')
    .where('key_id', '=', keyId)
    .where('sort', '=', sort)
    .where('at', '>', before(now, longest))
    .where('at', '<=', before(now, -longest))
    .orderBy('at', 'desc')
    .execute();
  let refusal: NoSlot | null = null;
  for (const limit of limits) {
    // Newest first: if the n-th newest is still in the window, n slots are taken.
    const blocking = taken.filter(({ at }) => at <= before(now, -limit.windowMs))[limit.most - 1];
    if (blocking === undefined) continue;
    const freeAt = new Date(Date.parse(blocking.at) + limit.windowMs);
    if (freeAt > now && (refusal === null || freeAt > refusal.freeAt))
      refusal = new NoSlot(freeAt, wordsOf(sort, limit));
  }
  return refusal;
}

async function findPause(tx: StoreTransaction, { keyId, sort }: Slot, now: Date): Promise<NoSlot | null> {
  const pause = await tx.query
    .selectFrom('call_slots')
    .select('at')
    .where('key_id', '=', keyId)
    .where('sort', '=', `pause-${sort}`)
    .where('at', '>', now.toISOString())
    .where('at', '<=', before(now, -DAY))
    .orderBy('at', 'desc')
    .executeTakeFirst();
  return pause === undefined ? null : new NoSlot(new Date(pause.at), SERVICE_ASKED);
}

/**
 * Records a pause requested by the service, in milliseconds, at most a day: no process makes this kind of call with the
 * key before it ends.
 */
export async function writePause(tx: StoreTransaction, slot: Slot, pauseMs: number, now: Date): Promise<void> {
  const at = before(now, -Math.min(pauseMs, DAY));
  const row = { request_id: `${slot.requestId} pause`, key_id: slot.keyId, sort: `pause-${slot.sort}` as const, at };
  await tx.insertMany('call_slots', [row], 'replace');
}

/** Returns the slot of a call that never left this machine: the service did not count it. */
export async function releaseSlot(tx: StoreTransaction, requestId: string): Promise<void> {
  await tx.query.deleteFrom('call_slots').where('request_id', '=', requestId).execute();
}

function before(now: Date, milliseconds: number): string {
  return new Date(now.getTime() - milliseconds).toISOString();
}

function wordsOf(sort: 'generate' | 'bulk', { most, windowMs }: { most: number; windowMs: number }): string {
  const what = sort === 'generate' ? 'generations' : 'batches';
  return `${most} ${what} ${windowMs < DAY ? 'a minute' : 'a day'} per API key`;
}
