import { Option } from 'commander';
import type { Context } from '../context.ts';
import { UsageError } from '../core/errors.ts';
import { HUB } from '../texts/snapshot.ts';
import { startOfDay } from '../core/zoned-days.ts';
import { loadPolicyTexts, type TargetTexts } from '../snapshots/texts.ts';
import { printable } from './command-io.ts';

/** Which of the two ways a text was fetched. */
export type Via = 'hosted' | 'embed';

export function viaOption(): Option {
  return new Option('--via <way>', 'the public page or the embed endpoint').choices(['hosted', 'embed']);
}

/** What a target is, in words. */
export function targetText(target: string): string {
  const name = printable(target.slice(target.indexOf(':') + 1));
  if (target.startsWith('hosted:')) return `public page of ${name}`;
  return name === HUB ? 'embed endpoint, list of all (hub)' : `embed endpoint, ${name}`;
}

export function assertSource(context: Pick<Context, 'sources'>, slug: string): void {
  if (context.sources.find(slug) === null)
    throw new UsageError([`Unknown source ${printable(slug)}: see \`consent-ledger source list\`.`]);
}

/** The stored texts of a policy, its public page first; or of a policy type. Throws UsageError where there is none. */
export async function loadTargets(
  context: Pick<Context, 'store'>,
  policyName: string,
  { source, via }: { readonly source: string; readonly via?: Via },
): Promise<readonly [TargetTexts, ...TargetTexts[]]> {
  const { read } = context.store;
  const byId = await loadPolicyTexts(read, { source, policyId: policyName });
  const all = byId.length > 0 ? byId : await loadPolicyTexts(read, { source, policyId: null, policyType: policyName });
  const [first, ...more] = all.filter(({ target }) => via === undefined || target.startsWith(`${via}:`));
  if (first === undefined)
    throw new UsageError([
      `No text of ${printable(policyName)} is stored: fetch it with \`consent-ledger policy snapshot --policy …\`.`,
    ]);
  return [first, ...more];
}

/** A time of a flag: ISO 8601, or a day, which begins at midnight in `timeZone`. ISO 8601 UTC. Throws UsageError for anything else. */
export function timeOf(text: string, flag: string, timeZone: string): string {
  try {
    return isDay(text) ? startOfDay(text, timeZone) : new Date(text).toISOString();
  } catch {
    throw new UsageError([`Invalid time "${printable(text)}" for ${flag}: use an ISO 8601 time or YYYY-MM-DD.`]);
  }
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}
