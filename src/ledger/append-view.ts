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
  {
    actor,
    object,
    keyParts = [randomUUID()],
  }: { readonly actor: string; readonly object: string; readonly keyParts?: readonly string[] },
  now: string,
): Promise<void> {
  const action = { action: 'record.viewed' as const, actor, object, hour: hourOf(now) };
  await appendAction(ledger, source, action, ['record.viewed', ...keyParts], now);
}

/** Records that a session sees an object with personal data: once for each hour of `now`, ISO 8601 UTC. */
export function recordView(
  ledger: Ledger,
  source: string,
  { session, actor, object }: { readonly session: string; readonly actor: string; readonly object: string },
  now: string,
): Promise<void> {
  return appendView(ledger, source, { actor, object, keyParts: [session, hourOf(now), object] }, now);
}

/** The hour in which a time (ISO 8601 UTC) lies, in the same form. */
export function hourOf(time: string): string {
  return `${time.slice(0, 13)}:00:00.000Z`;
}
