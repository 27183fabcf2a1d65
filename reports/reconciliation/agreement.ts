import type { Reconciliation, UndeliveredStretch } from '../../src/store/queries/history-reconciliation.ts';
import type { History, Period } from '../../src/store/queries/history.ts';
import { byText } from '../format.ts';
import { type BannerPull, mergeWindows, type Window } from '../pulls.ts';
import { contradictionsOf } from './contradictions.ts';

/** How the two ways in agree on one banner, and what was pulled of it. */
export interface BannerAgreement extends Reconciliation {
  readonly bannerId: string | null;
  /** No finished pull ever asked for it: whatever was not delivered is not known. */
  readonly neverPulled: boolean;
  /** The pulled log has the period from its beginning up to here; null when not even its beginning was pulled. */
  readonly pulledUpTo: string | null;
  readonly gaps: readonly Window[];
  /** Of those that were only delivered: how many lie in stretches that were pulled, so that the log should have them. */
  readonly missingFromLog: number;
}

/** A stretch of only pulled decisions, and what reached the endpoint meanwhile. */
export interface Outage extends UndeliveredStretch {
  /** Deliveries of any event that were kept between the delivered decisions around it, by our clock. */
  readonly keptMeanwhile: number;
  /** Deliveries that were refused meanwhile; counted outside the ledger. */
  readonly refusedMeanwhile: number;
}

/** Two records of one decision that cannot both be right. */
export interface Contradiction {
  readonly decisionId: string;
  readonly at: string;
  readonly bannerId: string | null;
  /** The entry that came first and counts, and the one that contradicts it. */
  readonly first: number;
  readonly other: number;
  /** `state: given / refused`, one for each field that differs. */
  readonly differs: readonly string[];
}

export interface Agreement {
  readonly totals: Reconciliation;
  readonly banners: readonly BannerAgreement[];
  /** The earliest row that the service returned when it was asked for everything; null when it never was. */
  readonly nothingBefore: string | null;
  readonly undelivered: {
    readonly stretches: number;
    /** Of more than one decision: an outage of the endpoint rather than one lost delivery. */
    readonly longer: number;
    readonly inLonger: number;
    /** The longest of these. */
    readonly outages: readonly Outage[];
  };
  readonly contradictions: readonly Contradiction[];
}

export interface AgreementLimits {
  readonly stretches: number;
  readonly contradictions: number;
}

/** Puts together what deliveries and pulled rows of a period say about each other. Lists are bounded; totals are not. */
export async function loadAgreement(
  history: History,
  period: Period,
  pulls: readonly BannerPull[],
  limits: AgreementLimits,
): Promise<Agreement> {
  const byBanner = await history.reconciliationByBanner(period);
  const banners: BannerAgreement[] = [];
  const ids = new Set([...byBanner.map(({ bannerId }) => bannerId), ...pulls.flatMap(namedBanner)]);
  for (const bannerId of [...ids].sort(byText((id) => id))) {
    const counts = byBanner.find((one) => one.bannerId === bannerId) ?? { ...nothing, bannerId };
    banners.push(await bannerAgreement(history, period, counts, pulls));
  }
  const totals = byBanner.reduce(sum, nothing);
  const undelivered =
    totals.onlyPulled === 0 ? { stretches: 0, longer: 0, inLonger: 0 } : await history.undeliveredTotals(period);
  const contradictions: Contradiction[] = [];
  if (totals.conflicting > 0)
    for await (const decision of history.reconciledDecisions(period, 'conflicting')) {
      contradictions.push(...contradictionsOf(decision));
      if (contradictions.length >= limits.contradictions) break;
    }
  return {
    totals,
    banners,
    nothingBefore: pulls.flatMap(({ nothingBefore }) => nothingBefore ?? []).sort()[0] ?? null,
    undelivered: {
      ...undelivered,
      outages: undelivered.longer === 0 ? [] : await loadOutages(history, period, limits.stretches),
    },
    contradictions: contradictions.slice(0, limits.contradictions),
  };
}

async function bannerAgreement(
  history: History,
  period: Period,
  counts: Reconciliation & { readonly bannerId: string | null },
  pulls: readonly BannerPull[],
): Promise<BannerAgreement> {
  // A pull that names no banner covers every banner that the key may see.
  const own = pulls.filter((pull) => pull.bannerId === null || pull.bannerId === counts.bannerId);
  const covered = mergeWindows(own.flatMap((pull) => pull.covered));
  const [begins] = covered;
  let missingFromLog = 0;
  if (counts.onlyWebhook > 0)
    for (const window of covered)
      missingFromLog += await history.onlyDelivered({ ...period, ...window }, counts.bannerId);
  return {
    ...counts,
    neverPulled: own.every(({ runs, failedRuns, covered: some }) => some.length === 0 && runs === failedRuns),
    pulledUpTo: begins !== undefined && begins.from <= period.from ? begins.to : null,
    gaps: own.length === 0 ? [{ from: period.from, to: period.to }] : commonGaps(own),
    missingFromLog,
  };
}

/** What none of the pulls covers. */
function commonGaps(pulls: readonly BannerPull[]): Window[] {
  return pulls
    .map(({ gaps }) => gaps)
    .reduce((common, gaps) =>
      common.flatMap((a) =>
        gaps
          .map((b) => ({ from: a.from > b.from ? a.from : b.from, to: a.to < b.to ? a.to : b.to }))
          .filter(({ from, to }) => from < to),
      ),
    ) as Window[];
}

async function loadOutages(history: History, period: Period, limit: number): Promise<Outage[]> {
  const found: Outage[] = [];
  for (const stretch of await history.undeliveredStretches(period, limit)) {
    if (stretch.decisions < 2) break;
    const { kept, refused } = await history.reachedBetween(
      period,
      stretch.deliveredBefore ?? stretch.firstAt,
      stretch.deliveredAfter ?? stretch.lastAt,
    );
    found.push({ ...stretch, keptMeanwhile: kept, refusedMeanwhile: refused });
  }
  return found.sort(byText(({ firstAt }) => firstAt));
}

function namedBanner({ bannerId }: BannerPull): string[] {
  return bannerId === null ? [] : [bannerId];
}

const nothing: Reconciliation = { decisions: 0, both: 0, onlyWebhook: 0, onlyPulled: 0, conflicting: 0 };

function sum(a: Reconciliation, b: Reconciliation): Reconciliation {
  return {
    decisions: a.decisions + b.decisions,
    both: a.both + b.both,
    onlyWebhook: a.onlyWebhook + b.onlyWebhook,
    onlyPulled: a.onlyPulled + b.onlyPulled,
    conflicting: a.conflicting + b.conflicting,
  };
}
