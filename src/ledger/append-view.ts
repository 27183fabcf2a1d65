import { randomUUID } from 'node:crypto';
import { appendAction } from './append-action.ts';
import type { Ledger } from './ledger.ts';

/**
 * Records that somebody saw or took personal data (`record.viewed`), with the hour of `now`, ISO 8601 UTC. `object` is
 * what they saw. Of views with equal `keyParts` one is recorded; without, each is.
 */
export async function appendView(
  ledger: Ledger,
  source: string,
  { actor, object }: { readonly actor: string; readonly object: string },
  now: string,
  keyParts: readonly string[] = [randomUUID()],
): Promise<void> {
  const action = { action: 'record.viewed' as const, actor, object, hour: `${now.slice(0, 13)}:00:00.000Z` };
  await appendAction(ledger, source, action, ['record.viewed', ...keyParts], now);
}
