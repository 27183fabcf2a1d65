import { formatCount, formatTime } from '../format.ts';
import type { Block } from '../render/blocks.ts';
import { periodOf, type ReportInput } from '../report.ts';
import { notStated } from '../words.ts';
import type { Agreement, Contradiction, Outage } from './agreement.ts';

/** What somebody must know who relies on the records of the period, one sentence each; empty when the two ways in agree. */
export function agreementConcerns(agreement: Agreement, input: ReportInput): string[] {
  const { totals, banners, undelivered, nothingBefore } = agreement;
  const period = periodOf(input);
  const concerns: string[] = [];
  const never = banners.filter(({ neverPulled }) => neverPulled);
  if (never.length > 0)
    concerns.push(
      `${counted(never.length, 'banner was', 'banners were')} never pulled (${listed(never.map(({ bannerId }) => bannerWord(bannerId)))}): what was not delivered for ${never.length === 1 ? 'it' : 'them'} is not known.`,
    );
  if (nothingBefore !== null && nothingBefore > period.from)
    concerns.push(
      `The service returned nothing before ${formatTime(nothingBefore, input.timeZone)}: whether there were decisions before is known from deliveries alone.`,
    );
  const missing = banners.reduce((sum, banner) => sum + banner.missingFromLog, 0);
  if (missing > 0)
    concerns.push(
      `${counted(missing, 'decision was', 'decisions were')} delivered but ${missing === 1 ? 'is' : 'are'} not in the pulled log, although ${missing === 1 ? 'its' : 'their'} time was pulled: removed upstream, or shown late.`,
    );
  const notYet = totals.onlyWebhook - missing;
  if (notYet > 0)
    concerns.push(
      `${counted(notYet, 'decision was', 'decisions were')} delivered in stretches that were not pulled, so nothing confirms ${notYet === 1 ? 'it' : 'them'}.`,
    );
  if (totals.onlyPulled > 0) {
    const single = totals.onlyPulled - undelivered.inLonger;
    const parts = [
      undelivered.longer > 0
        ? `${formatCount(undelivered.inLonger)} in ${counted(undelivered.longer, 'stretch', 'stretches')} without any delivery`
        : '',
      single > 0 ? `${formatCount(single)} singly` : '',
    ].filter((part) => part !== '');
    concerns.push(
      `${counted(totals.onlyPulled, 'decision arrived', 'decisions arrived')} only by the pulled log: ${parts.join(', ')}.`,
    );
  }
  if (totals.conflicting > 0)
    concerns.push(
      `${counted(totals.conflicting, 'decision has', 'decisions have')} records that contradict each other; the first record is counted.`,
    );
  return concerns;
}

/** By banner: how the two ways in agree, and how far the log was pulled. */
export function coverageTable({ banners, totals }: Agreement, input: ReportInput): Block {
  return {
    block: 'table',
    caption: 'By banner: how the two ways in agree, and from the beginning of the period up to when the log was pulled',
    columns: [
      { title: 'Banner', share: 3 },
      { title: 'Both', share: 1.4, align: 'right' },
      { title: 'Only delivered', share: 1.6, align: 'right' },
      { title: 'Only pulled', share: 1.4, align: 'right' },
      { title: 'Contradict', share: 1.7, align: 'right' },
      { title: 'Pulled up to', share: 4 },
    ],
    rows: banners.map((banner) => [
      bannerWord(banner.bannerId),
      formatCount(banner.both),
      formatCount(banner.onlyWebhook),
      formatCount(banner.onlyPulled),
      formatCount(banner.conflicting),
      pulledWord(banner, input),
    ]),
    total: [
      'All',
      formatCount(totals.both),
      formatCount(totals.onlyWebhook),
      formatCount(totals.onlyPulled),
      formatCount(totals.conflicting),
      '',
    ],
    empty: 'No decision of the period is known, and no log was pulled for it.',
  };
}

function pulledWord({ neverPulled, pulledUpTo, gaps }: Agreement['banners'][number], input: ReportInput): string {
  if (neverPulled) return 'never pulled';
  if (gaps.length === 0) return 'the whole period';
  return pulledUpTo === null ? 'not from its beginning' : formatTime(pulledUpTo, input.timeZone);
}

/** Stretches of time in which decisions were made and none was delivered. */
export function outagesTable(outages: readonly Outage[], total: number, input: ReportInput): Block {
  const time = (at: string | null, otherwise: string) => (at === null ? otherwise : formatTime(at, input.timeZone));
  return {
    block: 'table',
    caption:
      outages.length < total
        ? `The ${formatCount(outages.length)} longest of ${formatCount(total)} stretches without a delivery`
        : 'Stretches without a delivery',
    columns: [
      { title: 'Delivered before', share: 3.8 },
      { title: 'Delivered after', share: 3.8 },
      { title: 'Only by pull', share: 1.5, align: 'right' },
      { title: 'Entries', share: 2.2, align: 'right' },
      { title: 'Meanwhile', share: 3 },
    ],
    rows: outages.map((outage) => [
      time(outage.deliveredBefore, 'none in the period'),
      time(outage.deliveredAfter, 'none in the period'),
      formatCount(outage.decisions),
      `${formatCount(outage.firstSeq)} – ${formatCount(outage.lastSeq)}`,
      meanwhileWord(outage),
    ]),
    empty: 'No two decisions that follow each other are known from the pulled log alone.',
  };
}

function meanwhileWord({ keptMeanwhile, refusedMeanwhile }: Outage): string {
  const parts = [
    keptMeanwhile > 0 ? `${formatCount(keptMeanwhile)} kept` : '',
    refusedMeanwhile > 0 ? `${formatCount(refusedMeanwhile)} refused` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing arrived' : parts.join(', ');
}

/** Records that contradict each other, by name. */
export function contradictionsTable(found: readonly Contradiction[], total: number, input: ReportInput): Block {
  return {
    block: 'table',
    caption:
      found.length < total
        ? `The first ${formatCount(found.length)} records that contradict an earlier one (${counted(total, 'decision', 'decisions')} in all)`
        : 'Records that contradict an earlier one',
    columns: [
      { title: 'Time', share: 3.9 },
      { title: 'Banner', share: 2.4 },
      { title: 'Entry', share: 1.2, align: 'right' },
      { title: 'Contradicts', share: 1.6, align: 'right' },
      { title: 'First record / later record', share: 5 },
    ],
    rows: found.map((one) => [
      formatTime(one.at, input.timeZone),
      bannerWord(one.bannerId),
      formatCount(one.other),
      formatCount(one.first),
      one.differs.join('; '),
    ]),
    empty: 'No two records of one decision contradict each other.',
  };
}

export function bannerWord(bannerId: string | null): string {
  return bannerId ?? notStated;
}

export function counted(n: number, one: string, many: string): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, 5).join(', ')}${words.length > 5 ? ` and ${words.length - 5} more` : ''}`;
}
