import { ALL_PURPOSES } from '../../src/core/consent-judgement.ts';
import { closingBlocks, openingBlocks } from '../create-report.ts';
import { earlierReadingBlocks } from '../earlier-readings.ts';
import {
  counted,
  formatCount,
  formatDate,
  formatDayShort,
  formatDuration,
  formatPeriod,
  formatShare,
  formatShares,
  formatTime,
} from '../format.ts';
import { describeText } from '../policy-texts.ts';
import { type Block, fine, table } from '../render/blocks.ts';
import type { StackedBars } from '../render/chart.ts';
import type { ReportInput } from '../report.ts';
import { scanBlocks } from '../scan-audit.ts';
import { notStated, stateWords } from '../words.ts';
import { bannerBlocks } from './banner-evidence.ts';
import { completenessBlocks } from './completeness-blocks.ts';
import {
  CHECKPOINT_SECTION,
  countOf,
  coverBlocks,
  glossaryBlocks,
  monthTable,
  ROWS_SHOWN,
  sections,
  totals,
} from './cover.ts';
import { auditLimits, type ConsentAudit, type PolicyConsents, sumOf } from './gather.ts';
import { subjectBlocks } from './subject.ts';

/** The pages of the report. Lists that could grow without limit are cut and say so; the JSON has them in full. */
export function* auditBlocks(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  yield* opening(audit, input);
  yield { block: 'heading', level: 1, text: sections.time };
  yield { block: 'chart', chart: decisionsChart(audit, input) };
  yield monthTable(audit);
  yield { block: 'heading', level: 1, text: sections.completeness };
  yield* completenessBlocks(audit.completeness, audit.totals, input);
  yield* earlierReadingBlocks(audit.readings ?? [], input.timeZone);
  yield { block: 'heading', level: 1, text: sections.totals };
  yield* totals(audit, input);
  yield { block: 'heading', level: 1, text: sections.withdrawals };
  yield* withdrawals(audit, input);
  yield { block: 'heading', level: 1, text: sections.policies };
  yield* policies(audit, input);
  yield* policyTexts(audit, input);
  yield { block: 'heading', level: 2, text: 'Banners as they were shown' };
  yield* bannerBlocks(audit.banners, input);
  yield { block: 'heading', level: 1, text: sections.standing };
  yield* standing(audit, input);
  yield { block: 'heading', level: 1, text: sections.scans };
  yield* scanBlocks(audit.scans, input, { rows: ROWS_SHOWN });
  yield { block: 'heading', level: 1, text: sections.access };
  yield* access(audit, input);
  yield* glossaryBlocks();
  yield* closingBlocks(input, CHECKPOINT_SECTION, auditLimits);
  if (audit.subjectAppendix !== null) yield* subjectBlocks(audit.subjectAppendix, input);
}

function* opening(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const { totals: t, completeness } = audit;
  yield* openingBlocks('Consent audit', input, {
    scope: 'all banners, regions and states',
    more: [['Time used', audit.timeUsed]],
  });
  const given = audit.byState
    .filter(({ state }) => state === 'given' || state === 'renewed-given')
    .reduce((sum, { decisions }) => sum + decisions, 0);
  const partly = countOf(audit.byState, 'partly-given');
  const { pulled, gaps } = completeness.agreement;
  yield {
    block: 'figures',
    figures: [
      {
        value: formatCount(t.decisions),
        label: t.decisions === 1 ? 'decision' : 'decisions',
        note: `of ${formatCount(t.subjects)} hashed ${t.subjects === 1 ? 'subject' : 'subjects'}`,
      },
      {
        value: formatShare(given, t.decisions),
        label: 'consent given',
        note: `${formatCount(given)} decisions; ${formatCount(partly)} more in part`,
      },
      {
        value: formatCount(audit.withdrawals.decisions),
        label: audit.withdrawals.decisions === 1 ? 'withdrawal' : 'withdrawals',
        note: formatShare(audit.withdrawals.decisions, t.decisions),
      },
      {
        value: pulled ? formatCount(gaps.length + t.conflicts) : 'not pulled',
        label: pulled ? 'gaps and conflicts' : 'consent log',
        note: `${pulled ? `${counted(gaps.length, 'gap', 'gaps')} in the pulled log` : 'based on deliveries only'}, ${counted(t.conflicts, 'conflict', 'conflicts')}`,
      },
    ],
  };
  yield* coverBlocks(audit, input);
  yield { block: 'page-break' };
  if (audit.missingFromProfile.length > 0) {
    yield {
      block: 'notice',
      tone: 'warning',
      title: 'Missing from the controller profile',
      text: 'The controller profile does not state the following. Nothing is assumed in its place:',
      items: audit.missingFromProfile,
    };
  }
}

/** The decisions over the period, stacked by state. */
function decisionsChart(audit: ConsentAudit, input: ReportInput): StackedBars {
  const { unit, spans } = audit.overTime;
  const used = stateWords.filter(({ state }) => spans.some(({ states }) => states.some((one) => one.state === state)));
  const series = used.map(({ state, word, colour }) => ({
    name: word,
    colour,
    values: spans.map(({ states }) => countOf(states, state)),
  }));
  const sums = spans.map(({ states }) => sumOf(states));
  const peak = sums.indexOf(Math.max(0, ...sums));
  const peakName = spans[peak]?.span;
  return {
    title: `Decisions per ${unit} by state`,
    description:
      `Stacked bars of the decisions per ${unit}, ${formatPeriod(input.from, input.to)}. ` +
      `${series.map(({ name, values }) => `${name}: ${formatCount(values.reduce((a, b) => a + b, 0))}`).join('; ') || 'No decisions'}.` +
      (peakName === undefined || (sums[peak] ?? 0) === 0
        ? ''
        : ` Most in the ${unit} ${peakName}: ${formatCount(sums[peak] ?? 0)}.`),
    xTitle: `${unit === 'day' ? 'Day' : unit === 'week' ? 'Week from' : 'Month'} (${input.timeZone})`,
    yTitle: `Decisions per ${unit}`,
    categories: spans.map(({ span }) => (unit === 'month' ? span : formatDayShort(span))),
    series,
  };
}

function* withdrawals(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const { decisions, partly, byRequest, recordedWithin: within, withoutOwnTime, longest } = audit.withdrawals;
  if (decisions === 0) {
    yield { block: 'paragraph', text: 'No withdrawal was recorded in the period.' };
    yield* consentAfter(audit, input);
    return;
  }
  const timed = decisions - withoutOwnTime;
  const shares = formatShares([within.minute, within.hour, within.day, within.longer]);
  yield {
    block: 'paragraph',
    text: `${formatCount(decisions)} ${decisions === 1 ? 'decision is a withdrawal' : 'decisions are withdrawals'}, ${formatCount(partly)} of them in part; ${formatCount(byRequest)} ${byRequest === 1 ? 'was' : 'were'} carried out at the request of a data subject. The table shows how long after its stated time each was recorded in the ledger.`,
  };
  yield {
    block: 'table',
    caption: 'Time until the withdrawal was recorded',
    columns: [
      { title: 'Recorded within', share: 5 },
      { title: 'Withdrawals', share: 2, align: 'right' },
      { title: 'Share', share: 2, align: 'right' },
    ],
    rows: [
      ['one minute', formatCount(within.minute), shares[0] ?? '–'],
      ['one hour', formatCount(within.hour), shares[1] ?? '–'],
      ['one day', formatCount(within.day), shares[2] ?? '–'],
      ['longer', formatCount(within.longer), shares[3] ?? '–'],
    ],
    total: ['With a stated time', formatCount(timed), formatShare(timed, timed)],
    empty: '',
  };
  const notes = [
    longest === null ? '' : `The longest took ${formatDuration(longest)}.`,
    withoutOwnTime === 0 ? '' : `${formatCount(withoutOwnTime)} state no usable time.`,
  ].filter(Boolean);
  if (notes.length > 0) yield fine(notes.join(' '));
  yield* consentAfter(audit, input);
}

function* consentAfter(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const found = audit.withdrawals.consentAfter;
  if (found.length === 0) return;
  yield table({
    caption: 'Consent recorded after a withdrawal by request',
    columns: [
      { title: 'Case', share: 2.4, whole: true, value: (one) => one.caseId },
      { title: 'Withdrawn', share: 2.2, value: (one) => onTwoLines(formatTime(one.withdrawnAt, input.timeZone)) },
      { title: 'Consent recorded', share: 2.2, value: (one) => onTwoLines(formatTime(one.at, input.timeZone)) },
      { title: 'Subject', share: 3.4, face: 'mono', value: (one) => one.subject },
      {
        title: 'Purposes',
        share: 3,
        value: (one) => one.purposes.map((purpose) => (purpose === ALL_PURPOSES ? 'none named' : purpose)).join(', '),
      },
      { title: 'Entry', share: 1.2, align: 'right', value: (one) => formatCount(one.seq) },
    ],
    rows: found.slice(0, ROWS_SHOWN),
  });
  yield fine(
    `The same subject consented again after its consent had been withdrawn at its request${found.length > ROWS_SHOWN ? `; the first ${formatCount(ROWS_SHOWN)} of ${formatCount(found.length)} are shown` : ''}. These records cannot show whether the subject was asked again despite having opted out, or changed its mind.`,
  );
}

function* policies(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const shown = audit.policies.slice(-ROWS_SHOWN);
  yield table({
    caption: 'Policies as the deliveries reported them',
    columns: [
      {
        title: 'Policy',
        share: 3.4,
        value: (policy) =>
          [
            policy.title ?? policy.policyType ?? policy.policyId,
            [policy.policyId, policy.jurisdiction, policy.language].filter((part) => part !== null).join(' · '),
          ].join('\n'),
      },
      { title: 'Version', share: 1.7, value: (policy) => policy.version ?? notStated },
      { title: 'Change', share: 2, value: (policy) => policy.change },
      { title: 'Told of', share: 2.3, value: (policy) => onTwoLines(formatTime(policy.from, input.timeZone)) },
      { title: 'In force', share: 1.3, value: (policy) => (policy.inForceFrom === null ? 'no' : 'yes') },
      {
        title: 'Until',
        share: 2.3,
        value: (policy) =>
          policy.inForceFrom === null
            ? '–'
            : policy.inForceUntil === null
              ? 'open'
              : onTwoLines(formatTime(policy.inForceUntil, input.timeZone)),
      },
      { title: 'Entry', share: 1.2, align: 'right', value: (policy) => formatCount(policy.seq) },
      { title: 'Commitment of the entry', share: 4.9, face: 'mono', value: (policy) => policy.commitment ?? '–' },
    ],
    rows: shown,
    empty: 'No policy was reported up to the end of the period.',
  });
  if (audit.policies.length > shown.length) {
    yield fine(
      `The last ${formatCount(shown.length)} of ${formatCount(audit.policies.length)} changes; the JSON has them all.`,
    );
  }
  yield fine(
    'A policy is in force from its publication until the next publication or its deletion; creating or editing it puts nothing in force. The commitment is that of the ledger entry that reported the change (docs/ledger-format.md, Checking a commitment). Deliveries contain no policy text, so it is not a hash of the text.',
  );
}

function* policyTexts(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const shown = audit.policyTexts.slice(-ROWS_SHOWN);
  const time = (at: string | null) => (at === null ? '–' : onTwoLines(formatTime(at, input.timeZone)));
  yield table({
    caption: 'Policy texts as they were fetched from the service',
    columns: [
      { title: 'Text of', share: 3.4, value: (text) => `${describeText(text)}${text.settled ? '' : '\nprovisional'}` },
      { title: 'Previous text last seen', share: 2.3, value: (text) => time(text.notBefore) },
      { title: 'Seen first', share: 2.3, value: (text) => time(text.firstSeen) },
      {
        title: 'Seen last',
        share: 2.3,
        value: (text) => time(text.lastSeen < text.firstSeen ? text.firstSeen : text.lastSeen),
      },
      { title: 'Entry', share: 1.2, align: 'right', value: (text) => formatCount(text.bodySeq) },
      { title: 'SHA-256 of the text', share: 5.9, face: 'mono', value: (text) => text.textSha256 ?? 'no text' },
    ],
    rows: shown,
    empty: 'No text of a policy was fetched up to the end of the period.',
  });
  const more =
    audit.policyTexts.length > shown.length
      ? ` The last ${formatCount(shown.length)} are shown; the JSON has them all.`
      : '';
  yield fine(
    `A text came into force between the last time the previous one was seen and the first time it was seen itself. The hash is that of the visible text; the entry contains the response itself. Provisional: seen only shortly after a change, when the service may still have shown the previous text. The CSV form of this report gives the text under which each decision was made.${more}`,
  );
}

function* standing(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const sum = (read: (row: ConsentAudit['standing'][number]) => number) =>
    audit.standing.reduce((total, row) => total + read(row), 0);
  const old = audit.standing
    .filter(({ superseded }) => superseded)
    .reduce((total, { consents }) => total + consents, 0);
  yield {
    block: 'paragraph',
    text:
      `Consents that stood at the end of the period, before ${formatDate(input.to)}: what one decision of a subject on a banner granted, unless later decisions ended it for every purpose. Each has the expiry and the text of that decision. ` +
      (audit.disputedStanding === 0
        ? ''
        : `What ${counted(audit.disputedStanding, 'subject holds', 'subjects hold')} by a disputed decision, or by one followed by a decision that could not be read, is not proven and not counted. `) +
      `${formatCount(old)} of ${formatCount(sum(({ consents }) => consents))} were given under a version that had been replaced by a newer one.`,
  };
  yield table({
    caption: 'Standing consents by policy version and expiry',
    columns: [
      { title: 'Policy', share: 3.6, value: (row) => row.policyId ?? notStated },
      {
        title: 'Version',
        share: 2.6,
        value: (row) => `${row.policyVersion ?? notStated}${row.superseded ? ' (superseded)' : ''}`,
      },
      { title: 'Consents', share: 1.8, align: 'right', value: (row) => formatCount(row.consents) },
      { title: 'Expired', share: 1.6, align: 'right', value: (row) => formatCount(row.expired) },
      { title: 'Expire in 30 days', share: 1.8, align: 'right', value: (row) => formatCount(row.within30Days) },
      { title: 'In 31 to 90 days', share: 1.8, align: 'right', value: (row) => formatCount(row.within90Days) },
      { title: 'Later', share: 1.4, align: 'right', value: (row) => formatCount(later(row)) },
      { title: 'No expiry stated', share: 1.8, align: 'right', value: (row) => formatCount(row.withoutExpiry) },
    ],
    rows: audit.standing.slice(0, ROWS_SHOWN),
    total: [
      audit.standing.length > ROWS_SHOWN ? `All ${formatCount(audit.standing.length)} (in the JSON)` : 'All',
      '',
      formatCount(sum((row) => row.consents)),
      formatCount(sum((row) => row.expired)),
      formatCount(sum((row) => row.within30Days)),
      formatCount(sum((row) => row.within90Days)),
      formatCount(sum(later)),
      formatCount(sum((row) => row.withoutExpiry)),
    ],
    empty: 'No consent stood at the end of the period.',
  });
}

function* access(audit: ConsentAudit, input: ReportInput): Generator<Block> {
  const { produced, downloaded, lookedUp, last } = audit.access;
  const shown = last.slice(-ROWS_SHOWN);
  const all = produced + downloaded + lookedUp;
  yield {
    block: 'paragraph',
    text: `In the period ${counted(produced, 'document was', 'documents were')} produced, ${counted(downloaded, 'download was', 'downloads were')} recorded and ${counted(lookedUp, 'single subject was', 'single subjects were')} looked up for this source.`,
  };
  yield table({
    caption: shown.length < all ? `The last ${formatCount(shown.length)} of ${formatCount(all)}` : 'All of them',
    columns: [
      { title: 'When', share: 3.4, value: (row) => formatTime(row.at, input.timeZone) },
      { title: 'Who', share: 2.6, value: (row) => row.actor },
      { title: 'What', share: 2, value: (row) => accessWords[row.action] ?? row.action },
      {
        title: 'Document',
        share: 5,
        value: (row) =>
          row.documentId === null ? '–' : row.name === null ? row.documentId : `${row.name}\n${row.documentId}`,
      },
      { title: 'Entry', share: 1.3, align: 'right', value: (row) => formatCount(row.seq) },
    ],
    rows: shown,
    empty: 'Nothing was produced, downloaded or looked up in the period.',
  });
}

const accessWords: Readonly<Record<string, string>> = {
  'document.produced': 'produced',
  'document.downloaded': 'downloaded',
  'consent.looked-up': 'looked up a subject',
};

/** Consents that expire more than 90 days after the period. */
function later({ consents, expired, within30Days, within90Days, withoutExpiry }: PolicyConsents): number {
  return consents - expired - within30Days - within90Days - withoutExpiry;
}

/** The date with the time below it, for narrow columns. */
function onTwoLines(time: string): string {
  return time.replace(' ', '\n');
}
