import type { Selectable } from 'kysely';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';

/** Hours for which a stored response is returned to repeated requests. */
const KEPT_HOURS = 24;
/** A request that has no response after this long was lost with its process, so its key may be used again. */
const LOST_MS = 120_000;

/**
 * Takes the key of a request; null: taken, it was free. Otherwise the row of the request that took it before: without a
 * status, that one is still being processed. Keys and their responses expire. `now`: ISO 8601 UTC; the hashes are HMACs.
 */
export function takeKey(
  store: Pick<Store, 'transaction'>,
  { keyHash, requestHash }: { readonly keyHash: Buffer; readonly requestHash: Buffer },
  now: string,
): Promise<Selectable<Tables['idempotency_keys']> | null> {
  const lost = new Date(Date.parse(now) - LOST_MS).toISOString();
  return store.transaction(async ({ query, insertMany }) => {
    await query.deleteFrom('idempotency_keys').where('created_at', '<', expiredBefore(now)).execute();
    await query
      .deleteFrom('idempotency_keys')
      .where('key_hash', '=', keyHash)
      .where('status', 'is', null)
      .where('created_at', '<', lost)
      .execute();
    const row = await query
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('key_hash', '=', keyHash)
      .executeTakeFirst();
    if (row !== undefined) return row;
    await insertMany('idempotency_keys', [
      { key_hash: keyHash, request_hash: requestHash, created_at: now, status: null, answer: null },
    ]);
    return null;
  });
}

/** Stores the response for a key: its HTTP status and its sealed body. */
export async function storeAnswer(
  store: Pick<Store, 'transaction'>,
  keyHash: Buffer,
  { status, answer }: { readonly status: number; readonly answer: Buffer },
): Promise<void> {
  await store.transaction(({ query }) =>
    query.updateTable('idempotency_keys').set({ status, answer }).where('key_hash', '=', keyHash).execute(),
  );
}

/** Frees a key, so that the request may be sent again with it. */
export async function releaseKey(store: Pick<Store, 'transaction'>, keyHash: Buffer): Promise<void> {
  await store.transaction(({ query }) =>
    query.deleteFrom('idempotency_keys').where('key_hash', '=', keyHash).execute(),
  );
}

/** Removes expired keys with their responses. `now`: ISO 8601 UTC. */
export async function removeExpiredKeys(store: Pick<Store, 'transaction'>, now: string): Promise<void> {
  await store.transaction(({ query }) =>
    query.deleteFrom('idempotency_keys').where('created_at', '<', expiredBefore(now)).execute(),
  );
}

function expiredBefore(now: string): string {
  return new Date(Date.parse(now) - KEPT_HOURS * 3_600_000).toISOString();
}
