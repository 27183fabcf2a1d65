import { counted, formatCount, formatDuration, formatTime, listed } from '../format.ts';
import { periodOf, type ReportInput } from '../report.ts';
import { bannerWord } from '../words.ts';
import { type Agreement, type BannerAgreement, lengthOf } from './agreement.ts';

/** What somebody must know who relies on the records of the period, one sentence each; empty when the two ways in agree. */
export function agreementConcerns(agreement: Agreement, input: ReportInput): string[] {
  const { totals, erasedEntries } = agreement;
  const concerns: string[] = [];
  if (input.generatedAt < periodOf(input).to) concerns.push('The period was not over when this report was made.');
  if (totals.both === 0 && totals.onlyWebhook > 0 && totals.onlyPulled > 0)
    concerns.push(
      'Not one delivery matches a row of the log. The two may name their records differently, and then each decision is counted twice and nothing that follows says what is missing: “consent-ledger source discover” shows what either carries.',
    );
  concerns.push(...pullConcerns(agreement, input), ...deliveryConcerns(agreement));
  if (totals.conflicting > 0)
    concerns.push(
      `${counted(totals.conflicting, 'decision has', 'decisions have')} records that contradict each other; counted as disputed, and never as granted.`,
    );
  const unmatchable = totals.unmatchableDelivered + totals.unmatchablePulled;
  if (unmatchable > 0)
    concerns.push(
      `${counted(unmatchable, 'decision was', 'decisions were')} told with neither a record id nor a time (${formatCount(totals.unmatchableDelivered)} by delivery, ${formatCount(totals.unmatchablePulled)} by the pulled log), so that ${unmatchable === 1 ? 'it' : 'they'} cannot be matched: the same choice may be counted once from either.`,
    );
  if (erasedEntries > 0)
    concerns.push(
      `The content of ${counted(erasedEntries, 'entry', 'entries')} of this source was erased. Where one of the two records of a decision is gone, it may stand among those known one way only.`,
    );
  return concerns;
}

/** What the pulled log leaves open. */
function pullConcerns(agreement: Agreement, input: ReportInput): string[] {
  const { totals, banners, pulled, pulledSoFar, gaps, nothingBefore, recounts } = agreement;
  const { from } = periodOf(input);
  if (!pulled)
    return [
      totals.onlyWebhook === 0
        ? 'No finished pull of the consent log covers any part of the period: what was not delivered is not known.'
        : 'No finished pull of the consent log covers any part of the period: what was not delivered is not known, and nothing confirms what was.',
    ];
  const concerns: string[] = [];
  if (pulledSoFar !== null)
    concerns.push(
      `The log was pulled up to ${formatTime(pulledSoFar, input.timeZone)} so far: what was not delivered since then is not known.`,
    );
  const never = banners.filter(({ notPulled }) => notPulled);
  if (never.length > 0)
    concerns.push(
      `For ${counted(never.length, 'banner', 'banners')} (${namesOf(never)}) no finished pull covers any part of the period: what was not delivered for ${never.length === 1 ? 'it' : 'them'} is not known.`,
    );
  const longest = Math.max(0, ...gaps.map(lengthOf));
  if (gaps.length > 0)
    concerns.push(
      `${counted(gaps.length, 'stretch', 'stretches')} of the period, ${gaps.length === 1 ? '' : 'the longest '}of ${formatDuration(longest)}, ${gaps.length === 1 ? 'was' : 'were'} not covered by a finished pull of the consent log: what was not delivered then is not known.`,
    );
  if (nothingBefore !== null && nothingBefore > from)
    concerns.push(
      `The service returned nothing before ${formatTime(nothingBefore, input.timeZone)}: whether there were decisions before is known from deliveries alone.`,
    );
  const { goneSeqs, moreGone } = recounts;
  if (goneSeqs.length > 0)
    concerns.push(
      `${moreGone ? 'At least ' : ''}${counted(goneSeqs.length, 'decision', 'decisions')} that had been pulled ${goneSeqs.length === 1 ? 'was' : 'were'} not given again when the log of those days was counted once more: removed there, or left out of that answer (${goneSeqs.length === 1 ? 'entry' : 'entries'} ${listed(goneSeqs.map(formatCount))}). The records stand here all the same.`,
    );
  const missing = sumOf(banners, ({ missingFromLog }) => missingFromLog);
  if (missing > 0)
    concerns.push(
      `${counted(missing, 'decision was', 'decisions were')} delivered but ${missing === 1 ? 'is' : 'are'} not in the pulled log, although the log was asked for ${missing === 1 ? 'its' : 'their'} time: removed upstream, shown late, or never recorded there.`,
    );
  const notYet = totals.onlyWebhook - totals.unmatchableDelivered - missing;
  if (notYet > 0)
    concerns.push(
      `${counted(notYet, 'decision was', 'decisions were')} delivered in stretches that were not pulled, so nothing confirms ${notYet === 1 ? 'it' : 'them'}.`,
    );
  return concerns;
}

/** What the deliveries leave open. */
function deliveryConcerns({ totals, banners, undelivered }: Agreement): string[] {
  const concerns: string[] = [];
  const silent = banners.filter(({ both, onlyWebhook, onlyPulled }) => both + onlyWebhook === 0 && onlyPulled > 0);
  if (silent.length > 0)
    concerns.push(
      totals.both + totals.onlyWebhook === 0
        ? 'No decision of the period was delivered: what is known comes from the pulled log alone. Is the webhook registered with the service, for all events?'
        : `For ${counted(silent.length, 'banner', 'banners')} (${namesOf(silent)}) no decision was delivered at all: what is known of ${silent.length === 1 ? 'it' : 'them'} (${counted(
            sumOf(silent, ({ onlyPulled }) => onlyPulled),
            'decision',
            'decisions',
          )}) comes from the pulled log alone.`,
    );
  const { stretches, longer, inLonger, untimed } = undelivered;
  if (totals.onlyPulled > 0) {
    const parts = [
      longer > 0
        ? `${formatCount(inLonger)} in ${counted(longer, 'stretch', 'stretches')} without any decision delivered`
        : '',
      stretches > longer ? `${formatCount(stretches - longer)} one by one between others that were delivered` : '',
      untimed > 0 ? `${formatCount(untimed)} whose time is not known` : '',
    ].filter((part) => part !== '');
    concerns.push(
      `${counted(totals.onlyPulled, 'decision', 'decisions')} came by the pulled log alone: ${parts.join(', ')}.`,
    );
  }
  return concerns;
}

function namesOf(banners: readonly BannerAgreement[]): string {
  return listed(banners.map(({ bannerId }) => bannerWord(bannerId)));
}

function sumOf(banners: readonly BannerAgreement[], read: (banner: BannerAgreement) => number): number {
  return banners.reduce((sum, banner) => sum + read(banner), 0);
}
