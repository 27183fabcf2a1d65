import { REFUSED_COUNT_DAYS } from '../../src/core/vocabulary.ts';
import { dateIn, datesBetween } from '../../src/core/zoned-days.ts';
import type { DecisionTotals } from '../../src/store/queries/history-decision-counts.ts';
import type { BannerReconciliation } from '../../src/store/queries/history-reconciliation.ts';
import type { Period } from '../../src/store/queries/scope.ts';
import { byText, counted, formatCount, formatTime } from '../format.ts';
import { type BannerPull, knownPart, type Span } from '../pulls.ts';
import {
  type Agreement,
  type Coverage,
  loadAgreement,
  type ObservedCounters,
  refusedByReason,
  refusedSince,
} from '../reconciliation/agreement.ts';
import {
  agreementConcerns,
  contradictionsTable,
  coverageBlocks,
  gapBlocks,
  outageBlocks,
  waysInTable,
} from '../reconciliation/agreement-blocks.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import { type ReportInput, reportPeriod } from '../report.ts';
import { bannerWord, notStated, readWords, verdictWord } from '../words.ts';

const GAPS_SHOWN = 20;

/** How complete the records are: first the concerns, then the counts. */
export function* completenessBlocks(found: Completeness, totals: DecisionTotals, input: ReportInput): Generator<Block> {
  const { pulls, agreement } = found;
  const concerns = concernsOf(found, totals, input);
  yield concerns.length === 0
    ? {
        block: 'notice',
        tone: 'information',
        title: 'Nothing found missing',
        text: 'No gap, conflict, refused delivery or unreadable entry was seen in the period.',
      }
    : {
        block: 'notice',
        tone: 'warning',
        title: 'What to know before relying on the totals',
        text: '',
        items: concerns,
      };
  yield waysInTable(agreement);
  yield* coverageBlocks(agreement, input);
  yield* gapBlocks(agreement, input, GAPS_SHOWN);
  if (agreement.undelivered.longer > 0) yield* outageBlocks(agreement, input);
  if (agreement.contradictions.length > 0)
    yield contradictionsTable(agreement.contradictions, agreement.totals.conflicting, input);
  yield table({
    caption: 'Pulls of the consent log in the period; a row counts each time it was returned',
    columns: [
      {
        title: 'Banner',
        share: 3,
        value: (pull) => (pull.bannerId === null ? 'all banners' : bannerWord(pull.bannerId, input)),
      },
      { title: 'Runs', share: 1.4, align: 'right', value: (pull) => formatCount(pull.runs) },
      { title: 'Failed', share: 1.4, align: 'right', value: (pull) => formatCount(pull.failedRuns) },
      { title: 'Rows', share: 1.6, align: 'right', value: (pull) => formatCount(pull.rows) },
      { title: 'New', share: 1.6, align: 'right', value: (pull) => formatCount(pull.stored) },
      { title: 'Known', share: 1.6, align: 'right', value: (pull) => formatCount(pull.duplicates) },
      { title: 'Malformed', share: 1.7, align: 'right', value: (pull) => formatCount(pull.malformed) },
    ],
    rows: pulls,
    empty:
      'No consent log was pulled for the period: decisions are based on deliveries only, and anything undelivered is unknown.',
  });
  yield table({
    caption: 'Deliveries kept, by event and verdict of the signature check',
    columns: [
      { title: 'Event', share: 4, value: (row) => row.event ?? notStated },
      { title: 'Signature', share: 4, value: (row) => verdictWord(row.verdict) },
      { title: 'Read as', share: 2.4, value: (row) => readWords[row.outcome] ?? row.outcome },
      { title: 'Deliveries', share: 2, align: 'right', value: (row) => formatCount(row.deliveries) },
    ],
    rows: found.deliveries,
    total: ['All', '', '', formatCount(found.deliveries.reduce((sum, row) => sum + row.deliveries, 0))],
    empty: 'No delivery was received in the period.',
  });
  yield* countersBlocks(agreement.counters, input);
}

/** Repeats and refusals, which are counted outside the ledger; the numbers come from the entry that recorded them. */
function* countersBlocks(counters: ObservedCounters | null, input: ReportInput): Generator<Block> {
  yield { block: 'heading', level: 2, text: 'Refused and repeated deliveries' };
  if (counters === null) {
    yield {
      block: 'paragraph',
      text: 'Unknown: refused and repeated deliveries have no entries of their own, and their counts had not been recorded for this period up to this position in the ledger.',
    };
    return;
  }
  const { seq, observedAt, repeats, ambiguous } = counters;
  const refused = refusedByReason(counters);
  yield {
    block: 'table',
    caption: `Refused and repeated deliveries of the period, as entry ${formatCount(seq)} states`,
    columns: [
      { title: 'What', share: 7 },
      { title: 'Count', share: 2, align: 'right' },
    ],
    rows: [
      ...refused.map((row) => [`Refused: ${row.reason.replaceAll(/[_-]/g, ' ')}`, formatCount(row.deliveries)]),
      ...(refused.length === 0 ? [['Refused deliveries', '0']] : []),
      [
        `Repeats (of ${counted(repeats.deliveries, 'delivery', 'deliveries')}), not counted again`,
        formatCount(repeats.repeats),
      ],
      [
        'Deliveries with neither id nor time that were repeated (each repeat may have been a new choice)',
        formatCount(ambiguous.deliveries),
      ],
      ...(ambiguous.deliveries > ambiguous.unresolved
        ? [
            [
              `  of these settled from the pulled log (${formatCount(ambiguous.newChoices)} with a new choice among the repeats)`,
              formatCount(ambiguous.deliveries - ambiguous.unresolved),
            ],
          ]
        : []),
    ],
    empty: '',
  };
  yield fine(
    `Refused and repeated deliveries have no entries of their own. Their counters were read at ${formatTime(observedAt, input.timeZone)} and recorded in the ledger. A checkpoint covers the recorded values, not the counters themselves.`,
  );
}

function concernsOf(found: Completeness, totals: DecisionTotals, input: ReportInput): string[] {
  const concerns: string[] = [];
  const failed = found.pulls.reduce((sum, pull) => sum + pull.failedRuns, 0);
  const unread = found.quarantine.reduce((sum, row) => sum + row.entries, 0);
  concerns.push(...agreementConcerns(found.agreement, input));
  if (failed > 0) concerns.push(`${counted(failed, 'pull', 'pulls')} of the consent log failed.`);
  concerns.push(...counterConcerns(found.agreement.counters, input));
  if (unread > 0)
    concerns.push(
      `${counted(unread, 'entry', 'entries')} could not be read and ${unread === 1 ? 'is' : 'are'} in quarantine.`,
    );
  if (totals.timesNotCounted > 0)
    concerns.push(
      `${counted(totals.timesNotCounted, 'decision states', 'decisions state')} an impossible time; the time of receipt is used instead.`,
    );
  if (totals.timedByReceipt > 0)
    concerns.push(
      `${counted(totals.timedByReceipt, 'decision states', 'decisions state')} no time; the time of receipt is used instead.`,
    );
  if (totals.offsetAssumed > 0)
    concerns.push(
      `${counted(totals.offsetAssumed, 'decision states', 'decisions state')} a time without an offset from UTC; the configured one was assumed.`,
    );
  if (totals.withoutSubject > 0)
    concerns.push(`${counted(totals.withoutSubject, 'decision names', 'decisions name')} no subject.`);
  const silent = found.daysWithoutDelivery;
  if (silent.length > 0) {
    const listed = silent.slice(0, 10).join(', ');
    concerns.push(
      `${counted(silent.length, 'day', 'days')} without any delivery: ${listed}${silent.length > 10 ? ` and ${silent.length - 10} more` : ''}.`,
    );
  }
  return concerns;
}

function counterConcerns(counters: ObservedCounters | null, input: ReportInput): string[] {
  if (counters === null)
    return ['The number of refused and repeated deliveries of the period had not been recorded up to this position.'];
  const concerns: string[] = [];
  const { unresolved } = counters.ambiguous;
  if (unresolved > 0)
    concerns.push(
      `${counted(unresolved, 'delivery', 'deliveries')} with neither id nor time arrived again: each repeat may have been a new choice.`,
    );
  const refused = refusedByReason(counters).reduce((sum, row) => sum + row.deliveries, 0);
  if (refused > 0)
    concerns.push(
      `${counted(refused, 'delivery was', 'deliveries were')} refused (wrong or missing signature, or too large).`,
    );
  const since = refusedSince(counters);
  if (reportPeriod(input).from < since)
    concerns.push(
      `Counts of refused deliveries are kept for ${REFUSED_COUNT_DAYS} days: those from before ${formatTime(since, input.timeZone)} are no longer available.`,
    );
  return concerns;
}

export interface Completeness {
  readonly conflicts: number;
  readonly deliveries: readonly { event: string | null; verdict: string; outcome: string; deliveries: number }[];
  readonly daysWithoutDelivery: readonly string[];
  readonly quarantine: readonly { event: string | null; entries: number }[];
  readonly pulls: readonly BannerPull[];
  /** What each channel covers, and where the two disagree. */
  readonly agreement: Agreement;
}

/** The audit lists only the worst; the reconciliation report lists everything. */
const AGREEMENT_LIMITS = { stretches: 10, contradictions: 10 } as const;

/** How complete the records of a period are, according to everything that this installation could see. */
export async function loadCompleteness(
  input: ReportInput,
  period: Period,
  {
    coverage,
    counts,
    conflicts,
  }: { readonly coverage: Coverage; readonly counts: readonly BannerReconciliation[]; readonly conflicts: number },
): Promise<Completeness> {
  const { history } = input;
  const { pulls } = coverage;
  const agreement = await loadAgreement(input, period, { coverage, counts }, AGREEMENT_LIMITS);
  const { byEvent, byDay } = await history.deliveryCounts(period, input.timeZone);
  const deliveries = byEvent.map(({ bytes: _, ...count }) => count);
  const seen = new Set(byDay.map(({ day }) => day));
  return {
    conflicts,
    deliveries: deliveries.sort(byText(({ event, verdict, outcome }) => `${event ?? '\uffff'} ${verdict} ${outcome}`)),
    daysWithoutDelivery: daysOf(input, knownPart(input, period)).filter((day) => !seen.has(day)),
    quarantine: [...(await history.quarantineCounts(period))].sort(byText(({ event }) => event)),
    pulls,
    agreement,
  };
}

/** The days of the report's time zone that lie entirely in a window. */
function daysOf({ from: first, timeZone }: ReportInput, { to }: Span): readonly string[] {
  return datesBetween(first, dateIn(to, timeZone));
}
