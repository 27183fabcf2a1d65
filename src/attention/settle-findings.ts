import { type Clock, isoNow } from '../core/clock.ts';
import { ACCEPTED_DAYS, conclusions, FINDING_REASON, type FindingKind, OPEN_AGAIN } from '../core/finding.ts';
import { asOneLine } from '../core/validation.ts';
import { addDays, dateIn } from '../core/zoned-days.ts';
import { entryOf } from '../ledger/append-action.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { loadFindingStates } from '../store/queries/settled-findings.ts';
import type { Store } from '../store/store.ts';

/** The most findings that one request settles. */
export const FINDINGS_TOGETHER = 500;

export interface SettlingDeps {
  readonly store: Pick<Store, 'read'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly config: { readonly timeZone: string };
  readonly projector: { catchUp(): Promise<number> };
}

export interface SettleRequest {
  readonly kind: FindingKind;
  readonly findings: readonly {
    readonly source: string;
    readonly key: string;
    /** The newest entry of the finding that the officer saw; null: the newest one now. */
    readonly upTo: number | null;
    /** The entry of the conclusion that this one replaces; absent: there is none. */
    readonly replaces?: number;
  }[];
  readonly conclusion: string;
  /** '' or null: not stated. */
  readonly reason: string | null;
  /** YYYY-MM-DD; '' or null: none. */
  readonly until: string | null;
  readonly actor: string;
  /** Whether the person may see a source: findings of others count as unknown. */
  readonly sees: (source: string) => boolean;
}

export type SettleOutcome =
  | {
      readonly outcome: 'settled';
      /** The entries made. */
      readonly seqs: readonly number[];
      /** Findings that had been settled before, or were open already. */
      readonly before: number;
    }
  /** Nothing was recorded. `conflict`: entries about some of the findings came in after the officer looked. */
  | { readonly outcome: 'refused' | 'conflict'; readonly problems: readonly string[] };

/**
 * Records what an officer found out about findings, one entry each, all or none: `finding.settled`. A finding that
 * somebody else settled meanwhile stays as it is. Nothing counts as consent because of it.
 */
export async function settleFindings(deps: SettlingDeps, request: SettleRequest): Promise<SettleOutcome> {
  const { kind, findings, conclusion, actor } = request;
  const [reason, until] = [request.reason?.trim() || null, request.until?.trim() || null];
  const today = dateIn(isoNow(deps.clock), deps.config.timeZone);
  const problems = [...whyNot({ kind, conclusion, reason, until, today })];
  if (findings.length === 0) problems.unshift('Tick at least one.');
  if (findings.length > FINDINGS_TOGETHER) problems.push(`At most ${FINDINGS_TOGETHER} can be settled at once.`);
  if (problems.length > 0) return { outcome: 'refused', problems };
  if (!findings.every(({ source }) => request.sees(source))) return { outcome: 'refused', problems: [UNKNOWN] };
  await deps.projector.catchUp();

  const chosen = new Map(findings.map((one) => [JSON.stringify([one.source, one.key]), one]));
  const entries: Parameters<Ledger['append']>[0][number][] = [];
  let [changed, before] = [0, 0];
  for (const source of new Set(findings.map((one) => one.source))) {
    const own = [...chosen.values()].filter((one) => one.source === source);
    const states = await loadFindingStates(deps.store.read, { source, kind, keys: own.map(({ key }) => key) });
    for (const { key, upTo, replaces = 0 } of own) {
      const state = states.get(key);
      if (state === undefined) return { outcome: 'refused', problems: [UNKNOWN] };
      const isHeld = state.upTo >= state.newest && (state.until === null || state.until >= today);
      if (conclusion === OPEN_AGAIN ? state.upTo === 0 : isHeld && replaces !== state.settledBy) before += 1;
      else if (upTo !== null && upTo < state.newest) changed += 1;
      else {
        const action = {
          ...{ action: 'finding.settled' as const, actor, kind, key, conclusion, upTo: state.newest },
          reason: reason === null ? null : asOneLine(reason, FINDING_REASON),
          ...(until === null ? {} : { until }),
        };
        // Of two officers who act on the same state, one is recorded.
        const keyParts = [action.action, source, kind, key, String(state.newest), String(state.settledBy)];
        entries.push(entryOf(deps.ledger, source, { action, keyParts }, isoNow(deps.clock)));
      }
    }
  }
  if (changed > 0)
    return {
      outcome: 'conflict',
      problems: [
        `Something new has arrived about ${changed === 1 ? 'one of them' : `${changed} of them`}. Look at the list again.`,
      ],
    };
  const appended = entries.length === 0 ? [] : await deps.ledger.append(entries);
  const seqs = appended.flatMap(({ outcome, seq }) => (outcome === 'stored' ? [seq] : []));
  return { outcome: 'settled', seqs, before: before + appended.length - seqs.length };
}

/** Says nothing about whether there is such a finding of a source that the person may not see. */
const UNKNOWN = 'There is no such finding (any more). Look at the list again.';

function* whyNot({
  kind,
  conclusion,
  reason,
  until,
  today,
}: Pick<SettleRequest, 'kind' | 'conclusion' | 'reason' | 'until'> & { readonly today: string }): Generator<string> {
  const chosen =
    conclusion === OPEN_AGAIN
      ? { id: OPEN_AGAIN, label: 'Open again' }
      : conclusions[kind].find(({ id }) => id === conclusion);
  if (chosen === undefined) {
    yield 'Choose what was found.';
    return;
  }
  if (chosen.needsReason === true && reason === null) yield `“${chosen.label}” needs a reason.`;
  if (reason !== null && reason.length > FINDING_REASON)
    yield `The reason is longer than ${FINDING_REASON} characters.`;
  if (chosen.needsUntil !== true) {
    if (until !== null) yield `“${chosen.label}” takes no day: leave it empty.`;
    return;
  }
  if (until === null || !/^\d{4}-\d{2}-\d{2}$/.test(until) || Number.isNaN(Date.parse(until)))
    yield 'Enter the last day on which it is accepted.';
  else if (until < today) yield 'The last day is in the past.';
  else if (until > addDays(today, ACCEPTED_DAYS)) yield `Accept it for at most ${ACCEPTED_DAYS} days.`;
}
