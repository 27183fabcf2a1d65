import { counted, formatCount, formatDuration, formatShare, formatShares, formatTime, listed } from '../format.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import { type ReportInput, reportPeriod } from '../report.ts';
import { bannerWord, viaWords } from '../words.ts';
import {
  type Agreement,
  type BannerAgreement,
  type Contradiction,
  lengthOf,
  type Outage,
  refusedSince,
} from './agreement.ts';

const BANNERS_SHOWN = 50;

/** How many decisions came through which channel. */
export function waysInTable({ totals }: Agreement): Block {
  const counts = [totals.both, totals.onlyWebhook, totals.onlyPulled];
  const shares = formatShares(counts);
  const row = (words: string, place: number) => [words, formatCount(counts[place] ?? 0), shares[place] ?? '–'];
  return {
    block: 'table',
    caption: 'Each decision once, by its stated time',
    columns: [
      { title: 'Known from', share: 5 },
      { title: 'Decisions', share: 2, align: 'right' },
      { title: 'Share', share: 2, align: 'right' },
    ],
    rows: [
      row('Delivery and consent log', 0),
      row(`${viaWords['webhook']} only`, 1),
      row(`${viaWords['pull']} only`, 2),
    ],
    total: ['All', formatCount(totals.decisions), formatShare(totals.decisions, totals.decisions)],
    empty: '',
  };
}

/** By banner: how the two channels agree, and how much of the period was pulled. */
export function* coverageBlocks(agreement: Agreement, input: ReportInput): Generator<Block> {
  const { banners, totals, pulled, byBannerOnly, recounts } = agreement;
  const shown = banners.slice(0, BANNERS_SHOWN);
  yield table({
    caption:
      shown.length < banners.length
        ? `The first ${BANNERS_SHOWN} of ${formatCount(banners.length)} banners: how the two channels agree, and how much of the period was pulled`
        : 'By banner: how the two channels agree, and how much of the period was pulled',
    columns: [
      { title: 'Banner', share: 3, value: (banner) => bannerWord(banner.bannerId, input) },
      { title: 'Both', share: 1.4, align: 'right', value: (banner) => formatCount(banner.both) },
      { title: 'Only delivered', share: 1.6, align: 'right', value: (banner) => formatCount(banner.onlyWebhook) },
      { title: 'Only pulled', share: 1.4, align: 'right', value: (banner) => formatCount(banner.onlyPulled) },
      { title: 'Contradict', share: 1.7, align: 'right', value: (banner) => formatCount(banner.conflicting) },
      { title: 'Pulled', share: 4, value: (banner) => pulledWord(banner, input) },
    ],
    rows: shown,
    total: [
      'All',
      formatCount(totals.both),
      formatCount(totals.onlyWebhook),
      formatCount(totals.onlyPulled),
      formatCount(totals.conflicting),
      '',
    ],
    empty: pulled
      ? 'No decision of the period is known.'
      : 'No decision of the period is known, and no log was pulled for it.',
  });
  const notes = [
    byBannerOnly
      ? 'The log was requested banner by banner. A banner named neither in the settings of this source nor in a delivery was not requested.'
      : '',
    recounts.recounts > 0
      ? `Days of the period were read again ${recounts.recounts === 1 ? 'once' : `${formatCount(recounts.recounts)} times`}, from the beginning: ${counted(recounts.found, 'row', 'rows')} had not come with any pull before, ${recounts.found === 1 ? 'and is' : 'and are'} in the ledger since.`
      : '',
  ].filter((note) => note !== '');
  if (notes.length > 0) yield fine(notes.join(' '));
}

function pulledWord({ notPulled, lastPulled, gaps }: BannerAgreement, input: ReportInput): string {
  if (notPulled || lastPulled === null) return 'no finished pull';
  const isWhole = lastPulled === reportPeriod(input).to;
  if (gaps.length === 0 && isWhole) return 'the whole period';
  const upTo = isWhole ? '' : `up to ${formatTime(lastPulled, input.timeZone)}`;
  const missing = gaps.length === 0 ? '' : `except ${counted(gaps.length, 'stretch', 'stretches')}`;
  return [upTo, missing].filter((part) => part !== '').join(',\n');
}

/** Periods that were not pulled; no block if there are none. */
export function* gapBlocks({ gaps }: Agreement, input: ReportInput, limit: number): Generator<Block> {
  if (gaps.length === 0) return;
  yield table({
    caption:
      gaps.length > limit
        ? `The first ${limit} of ${formatCount(gaps.length)} stretches of the period that no finished pull covers`
        : 'Stretches of the period that no finished pull covers',
    columns: [
      {
        title: 'Banner',
        share: 3,
        value: (gap) => (gap.bannerIds === null ? 'all' : listed(gap.bannerIds.map((id) => bannerWord(id, input)))),
      },
      { title: 'From', share: 3, value: (gap) => formatTime(gap.from, input.timeZone) },
      { title: 'To', share: 3, value: (gap) => formatTime(gap.to, input.timeZone) },
      { title: 'Length', share: 1.5, align: 'right', value: (gap) => formatDuration(lengthOf(gap)) },
    ],
    rows: gaps.slice(0, limit),
  });
}

/** Periods with decisions but no delivery. */
export function* outageBlocks({ undelivered, counters }: Agreement, input: ReportInput): Generator<Block> {
  const { outages, longer } = undelivered;
  const time = (at: string | null, otherwise: string) => (at === null ? otherwise : formatTime(at, input.timeZone));
  const countedSince = counters === null ? null : refusedSince(counters);
  yield table({
    caption:
      outages.length < longer
        ? `The ${formatCount(outages.length)} longest of ${formatCount(longer)} stretches in which no decision was delivered`
        : 'Stretches in which no decision was delivered',
    columns: [
      { title: 'Delivered before', share: 3.8, value: (outage) => time(outage.deliveredBefore, 'none in the period') },
      { title: 'Delivered after', share: 3.8, value: (outage) => time(outage.deliveredAfter, 'none in the period') },
      { title: 'Only by pull', share: 1.5, align: 'right', value: (outage) => formatCount(outage.decisions) },
      {
        title: 'Entries',
        share: 2.2,
        align: 'right',
        value: (outage) => `${formatCount(outage.firstSeq)} – ${formatCount(outage.lastSeq)}`,
      },
      { title: 'Meanwhile', share: 3, value: (outage) => meanwhileWord(outage, countedSince) },
    ],
    rows: outages,
    empty: 'No two consecutive decisions are known only from the pulled log.',
  });
  if (outages.length > 0)
    yield fine(
      `Meanwhile: deliveries of any event that were kept or refused from the first to the last of these decisions, by the clock of this installation. The first of them may belong to earlier decisions. ${
        counters === null
          ? 'How many were refused is unknown: the counts had not been recorded by this position.'
          : `Refused ones are counted by the ${counters.refused.per} (entry ${formatCount(counters.seq)}).`
      }`,
    );
}

function meanwhileWord(outage: Outage, countedSince: string | null): string {
  const { keptMeanwhile, refusedMeanwhile, firstAt, lastAt } = outage;
  const parts = [
    keptMeanwhile > 0 ? `${formatCount(keptMeanwhile)} kept` : '',
    refusedMeanwhile !== null && refusedMeanwhile > 0 ? `${formatCount(refusedMeanwhile)} refused` : '',
  ].filter((part) => part !== '');
  if (parts.length > 0) return parts.join(', ');
  if (firstAt === lastAt) return '–';
  return countedSince === null || firstAt < countedSince ? 'nothing kept' : 'nothing arrived';
}

/** Contradicting records by name. */
export function contradictionsTable(found: readonly Contradiction[], total: number, input: ReportInput): Block {
  return table({
    caption:
      found.length < total
        ? `The first ${formatCount(found.length)} records that contradict an earlier one (${counted(total, 'decision', 'decisions')} in all)`
        : 'Records that contradict an earlier one',
    columns: [
      { title: 'Time', share: 3.9, value: (one) => formatTime(one.at, input.timeZone) },
      { title: 'Banner', share: 2.4, value: (one) => bannerWord(one.bannerId, input) },
      { title: 'Entry', share: 1.2, align: 'right', value: (one) => formatCount(one.other) },
      { title: 'Contradicts', share: 1.6, align: 'right', value: (one) => formatCount(one.first) },
      {
        title: 'First record / later record',
        share: 5,
        value: (one) => one.differs.join('; ') || 'not stated in the remaining records',
      },
    ],
    rows: found,
    empty: 'No two records of one decision contradict each other.',
  });
}

/** What anyone relying on the period's records must know, one sentence each; empty if the two channels agree. */
export function agreementConcerns(agreement: Agreement, input: ReportInput): string[] {
  const { totals, erasedEntries } = agreement;
  const concerns: string[] = [];
  if (input.generatedAt < reportPeriod(input).to) concerns.push('The period was not over when this report was made.');
  if (totals.both === 0 && totals.onlyWebhook > 0 && totals.onlyPulled > 0)
    concerns.push(
      'No delivery matches a row of the log. The two may name their records differently; if so, each decision is counted twice and the rest of this report does not show what is missing. “consent-ledger source discover” shows the fields of both.',
    );
  concerns.push(...pullConcerns(agreement, input), ...deliveryConcerns(agreement, input));
  if (totals.conflicting > 0)
    concerns.push(
      `${counted(totals.conflicting, 'decision has', 'decisions have')} records that contradict each other; counted as disputed, and never as granted.`,
    );
  const unmatchable = totals.unmatchableDelivered + totals.unmatchablePulled;
  if (unmatchable > 0)
    concerns.push(
      `${counted(unmatchable, 'decision was', 'decisions were')} reported with neither a record id nor a time (${formatCount(totals.unmatchableDelivered)} by delivery, ${formatCount(totals.unmatchablePulled)} by the pulled log), so that ${unmatchable === 1 ? 'it' : 'they'} cannot be matched: the same choice may be counted once from either.`,
    );
  if (erasedEntries > 0)
    concerns.push(
      `The content of ${counted(erasedEntries, 'entry', 'entries')} of this source was erased. If one of the two records of a decision is gone, the decision may be listed as known from one channel only.`,
    );
  return concerns;
}

/** Concerns about the pulled log. */
function pullConcerns(agreement: Agreement, input: ReportInput): string[] {
  const { totals, banners, pulled, pulledSoFar, gaps, nothingBefore, recounts } = agreement;
  const { from } = reportPeriod(input);
  if (!pulled)
    return [
      totals.onlyWebhook === 0
        ? 'No finished pull of the consent log covers any part of the period: anything undelivered is unknown.'
        : 'No finished pull of the consent log covers any part of the period: anything undelivered is unknown, and nothing confirms what was delivered.',
    ];
  const concerns: string[] = [];
  if (pulledSoFar !== null)
    concerns.push(
      `The log was pulled up to ${formatTime(pulledSoFar, input.timeZone)} so far: anything undelivered since then is unknown.`,
    );
  const never = banners.filter(({ notPulled }) => notPulled);
  if (never.length > 0)
    concerns.push(
      `For ${counted(never.length, 'banner', 'banners')} (${namesOf(never, input)}) no finished pull covers any part of the period: anything undelivered for ${never.length === 1 ? 'it' : 'them'} is unknown.`,
    );
  const longest = Math.max(0, ...gaps.map(lengthOf));
  if (gaps.length > 0)
    concerns.push(
      `${counted(gaps.length, 'stretch', 'stretches')} of the period, ${gaps.length === 1 ? '' : 'the longest '}of ${formatDuration(longest)}, ${gaps.length === 1 ? 'was' : 'were'} not covered by a finished pull of the consent log: anything undelivered then is unknown.`,
    );
  if (nothingBefore !== null && nothingBefore > from)
    concerns.push(
      `The service returned nothing before ${formatTime(nothingBefore, input.timeZone)}: earlier decisions are known only from deliveries.`,
    );
  const { goneSeqs, moreGone } = recounts;
  if (goneSeqs.length > 0)
    concerns.push(
      `${moreGone ? 'At least ' : ''}${counted(goneSeqs.length, 'decision', 'decisions')} that had been pulled ${goneSeqs.length === 1 ? 'was' : 'were'} missing when the log of those days was read again: removed there, or left out of that response (${goneSeqs.length === 1 ? 'entry' : 'entries'} ${listed(goneSeqs.map(formatCount))}). The records are still here.`,
    );
  const missing = sumOf(banners, ({ missingFromLog }) => missingFromLog);
  if (missing > 0)
    concerns.push(
      `${counted(missing, 'decision was', 'decisions were')} delivered but ${missing === 1 ? 'is' : 'are'} not in the pulled log, although a pull covered ${missing === 1 ? 'its' : 'their'} time: removed upstream, shown late, or never recorded there.`,
    );
  const notYet = totals.onlyWebhook - totals.unmatchableDelivered - missing;
  if (notYet > 0)
    concerns.push(
      `${counted(notYet, 'decision was', 'decisions were')} delivered in stretches that were not pulled, or in the six hours before the last pull, whose rows may still come: nothing confirms ${notYet === 1 ? 'it' : 'them'}.`,
    );
  return concerns;
}

/** Concerns about the deliveries. */
function deliveryConcerns({ totals, banners, undelivered }: Agreement, input: ReportInput): string[] {
  const concerns: string[] = [];
  const silent = banners.filter(({ both, onlyWebhook, onlyPulled }) => both + onlyWebhook === 0 && onlyPulled > 0);
  if (silent.length > 0)
    concerns.push(
      totals.both + totals.onlyWebhook === 0
        ? 'No decision of the period was delivered: what is known comes only from the pulled log. Is the webhook registered with the service, for all events?'
        : `For ${counted(silent.length, 'banner', 'banners')} (${namesOf(silent, input)}) no decision was delivered: what is known of ${silent.length === 1 ? 'it' : 'them'} (${counted(
            sumOf(silent, ({ onlyPulled }) => onlyPulled),
            'decision',
            'decisions',
          )}) comes only from the pulled log.`,
    );
  const { stretches, longer, inLonger, untimed } = undelivered;
  if (totals.onlyPulled > 0) {
    const parts = [
      longer > 0
        ? `${formatCount(inLonger)} in ${counted(longer, 'stretch', 'stretches')} without any decision delivered`
        : '',
      stretches > longer ? `${formatCount(stretches - longer)} singly, between others that were delivered` : '',
      untimed > 0 ? `${formatCount(untimed)} whose time is unknown` : '',
    ].filter((part) => part !== '');
    concerns.push(
      `${counted(totals.onlyPulled, 'decision', 'decisions')} came only from the pulled log: ${parts.join(', ')}.`,
    );
  }
  return concerns;
}

function namesOf(banners: readonly BannerAgreement[], input: ReportInput): string {
  return listed(banners.map(({ bannerId }) => bannerWord(bannerId, input)));
}

function sumOf(banners: readonly BannerAgreement[], read: (banner: BannerAgreement) => number): number {
  return banners.reduce((sum, banner) => sum + read(banner), 0);
}
