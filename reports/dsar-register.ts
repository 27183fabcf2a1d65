import { dateIn } from '../src/core/zoned-days.ts';
import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { counted, formatComputation, formatCount, formatDate, formatShare, formatTime } from './format.ts';
import { type RegisterRow, type RegisterTotals, registerRows, registerTotals } from './register-rows.ts';
import { type Block, fine } from './render/blocks.ts';
import { type CsvColumn, renderCsv } from './render/csv-json.ts';
import type { ReportInput } from './report.ts';
import { caseStateWord, kindsWord, kindWord, notStated } from './words.ts';

const title = 'Register of data subject requests';

const columns = (input: ReportInput): readonly CsvColumn<RegisterRow>[] => [
  { title: 'case', value: (row) => row.caseId },
  { title: 'received', value: (row) => row.receivedAt },
  { title: 'receipt_basis', value: (row) => row.receiptBasis },
  { title: 'nature', value: (row) => rightsOf(row).join(' + ') },
  { title: 'jurisdiction', value: (row) => row.jurisdiction },
  { title: 'language', value: (row) => row.language },
  { title: 'manner', value: (row) => row.channel },
  { title: 'regime', value: (row) => row.regime },
  { title: 'law', value: (row) => row.law },
  { title: 'aim_for', value: (row) => row.aimFor },
  { title: 'legal_limit', value: (row) => row.legalLimit },
  { title: 'not_recorded', value: (row) => row.notRecorded.join(' ') || null },
  { title: 'own_target', value: (row) => row.ownTarget },
  { title: 'in_time', value: (row) => timeWord(row) },
  { title: 'days', value: (row) => row.days },
  { title: 'computation', value: (row) => formatComputation(row.computation, row.citation) },
  { title: 'citation', value: (row) => row.citation },
  { title: 'acknowledged', value: (row) => row.acknowledgedAt },
  { title: 'acknowledge_by', value: (row) => row.acknowledgeBy },
  { title: 'acknowledged_in_time', value: (row) => acknowledgedInTime(row, input) },
  { title: 'identity', value: (row) => row.identity },
  { title: 'identity_date', value: (row) => row.identityAt },
  { title: 'extended', value: (row) => (row.extension === null ? 'no' : 'yes') },
  { title: 'extension_notice', value: (row) => row.extension?.noticeAt ?? null },
  { title: 'extension_reason', value: (row) => row.extension?.reasons ?? null },
  { title: 'state', value: (row) => row.state },
  { title: 'response_date', value: (row) => row.responseAt },
  { title: 'outcome', value: (row) => row.outcome },
  { title: 'response', value: (row) => row.response },
  { title: 'basis_of_denial', value: (row) => row.basisOfDenial },
  { title: 'last_entry', value: (row) => row.lastEntry },
];

/** Every request received in the period with its dates and outcome (the fields of 11 CCR 7101 and the counts of 7102). */
export const dsarRegister = createReport({
  name: 'dsar-register',
  title,
  description:
    'Every request received in the period: date, nature, manner, deadline with its computation, acknowledgement, identity, extension, what was done and whether in time; totals by kind (11 CCR 7101, 7102).',
  csv: (input) => renderCsv(columns(input), registerRows(input)),
  json: async (input) => ({ totals: await registerTotals(input), requests: registerRows(input) }),
  blocks,
});

async function* blocks(input: ReportInput): AsyncGenerator<Block> {
  const totals = await registerTotals(input);
  yield* openingBlocks(title, input, { scope: 'requests of every kind', time: 'received' });
  yield* summaryBlocks(totals, input);
  yield { block: 'heading', level: 1, text: '2  Requests' };
  yield {
    block: 'table',
    caption: 'In the order of their arrival',
    columns: [
      { title: 'Case', share: 2.2, whole: true },
      { title: 'Received', share: 2.2 },
      { title: 'Request, law', share: 3 },
      { title: 'Due', share: 2.1 },
      { title: 'In time', share: 1.9 },
      { title: 'What was done', share: 5.4 },
    ],
    rows: shortRows(input),
    empty: 'No request was received in the period.',
  };
  yield { block: 'heading', level: 1, text: '3  Acknowledgement, identity and extension' };
  yield {
    block: 'table',
    caption: 'Steps between receipt and answer',
    columns: [
      { title: 'Case', share: 2.2, whole: true },
      { title: 'Manner', share: 1.8 },
      { title: 'Acknowledged', share: 3 },
      { title: 'Identity', share: 2.6 },
      { title: 'Extension', share: 4.6 },
      { title: 'Last entry', share: 1.4, align: 'right' },
    ],
    rows: stepRows(input),
    empty: 'No request was received in the period.',
  };
  yield { block: 'heading', level: 1, text: '4  How the deadlines were calculated' };
  yield {
    block: 'table',
    caption: 'Aim for: without roll-over and pause. Legal limit: the last day on which the answer is in time.',
    columns: [
      { title: 'Case', share: 2.2, whole: true },
      { title: 'Aim for', share: 1.9 },
      { title: 'Legal limit', share: 1.9 },
      { title: 'Computation', share: 9 },
    ],
    rows: computedRows(input),
    empty: 'No request was received in the period.',
  };
  yield* closingBlocks(input, 5, [
    'It lists the requests that reached the service or were entered by an officer. Requests that arrived elsewhere and were not entered are missing.',
  ]);
}

/** Every right of a request. */
function rightsOf({ kind, rights }: RegisterRow): readonly string[] {
  return rights?.map((right) => right.kind) ?? [kind];
}

/** The counts on the first page, by kind: outcomes, in time or late, days (11 CCR 7102(a)). */
function* summaryBlocks(
  { byKind, all }: { byKind: readonly RegisterTotals[]; all: RegisterTotals },
  input: ReportInput,
): Generator<Block> {
  const open = all.outcomes.open;
  yield {
    block: 'figures',
    figures: [
      {
        value: formatCount(all.received),
        label: all.received === 1 ? 'request received' : 'requests received',
        note: open === 0 ? 'none is open' : `${formatCount(open)} still open`,
      },
      {
        value: formatShare(all.answeredInTime, all.answeredWithLimit),
        label: 'answered in time',
        note: `${formatCount(all.answeredInTime)} of ${formatCount(all.answeredWithLimit)} answered${all.answeredWithLimit === all.answered ? '' : ' that have a legal limit'}`,
      },
      {
        value: daysWord(all.medianDays),
        label: 'median days to answer',
        note: all.meanDays === null ? 'none was answered' : `mean ${daysWord(all.meanDays)}`,
      },
      {
        value: formatCount(all.openLate),
        label: 'open and late',
        note: `on ${formatDate(dateIn(input.generatedAt, input.timeZone))}`,
      },
    ],
  };
  yield { block: 'heading', level: 1, text: '1  Summary' };
  const cells = (name: string, of: RegisterTotals): string[] => [
    name,
    formatCount(of.received),
    formatCount(of.outcomes.complied),
    formatCount(of.outcomes['in-part']),
    formatCount(of.outcomes.denied),
    formatCount(of.outcomes['no-match'] + of.outcomes['not-recorded']),
    formatCount(of.outcomes.withdrawn + of.outcomes.duplicate),
    formatCount(of.outcomes.open),
    formatShare(of.answeredInTime, of.answeredWithLimit),
    daysWord(of.medianDays),
  ];
  yield {
    block: 'table',
    caption: 'Requests by kind and outcome (the counts of 11 CCR 7102(a))',
    columns: [
      { title: 'Kind', share: 3.3 },
      { title: 'Received', share: 1.6, align: 'right' },
      { title: 'Complied in whole', share: 1.7, align: 'right' },
      { title: 'in part', share: 1.2, align: 'right' },
      { title: 'Denied', share: 1.4, align: 'right' },
      { title: 'Other answer', share: 1.5, align: 'right' },
      { title: 'Withdrawn or duplicate', share: 2.2, align: 'right' },
      { title: 'Open', share: 1.2, align: 'right' },
      { title: 'In time', share: 1.7, align: 'right' },
      { title: 'Median days', share: 1.6, align: 'right' },
    ],
    rows: byKind.map((one) => cells(kindWord(one.kind ?? 'unknown'), one)),
    total: cells('All', all),
    empty: 'No request was received in the period.',
  };
  const noMatch = all.outcomes['no-match'];
  const unrecorded = all.outcomes['not-recorded'];
  yield fine(
    'In time: of the requests that were answered or refused, those answered by their legal limit. Days are calendar days from receipt to answer. Other answer: ' +
      `${formatCount(noMatch)} told that no record could be linked, ${formatCount(unrecorded)} without a record of what was done.`,
  );
  if (all.notRecorded > 0)
    yield fine(
      `${counted(all.notRecorded, 'request comes', 'requests come')} under a law that is not recorded here, which may set a date or an earlier one: whether they were answered in time under it is not stated.`,
    );
}

async function* shortRows(input: ReportInput): AsyncGenerator<string[]> {
  for await (const row of registerRows(input)) {
    const arrival = row.receiptBasis === 'received' ? '\n(arrival of the webhook)' : '';
    yield [
      row.caseId,
      `${formatTime(row.receivedAt, input.timeZone).replace(' ', '\n')}${arrival}`,
      `${kindsWord(rightsOf(row))}\n${row.law}${row.jurisdiction === null ? `\n(place ${notStated})` : ` (${row.jurisdiction})`}${row.caveat === null ? '' : `\n${row.caveat}`}`,
      `${row.legalLimit === null ? 'no date' : formatDate(row.legalLimit)}${row.extension === null ? '' : '\nextended'}${row.ownTarget === null ? '' : `\nown target ${formatDate(row.ownTarget)}`}`,
      `${timeWord(row)}\n${counted(row.days, 'day', 'days')}${row.responseAt === null ? ' so far' : ''}`,
      row.responseAt === null
        ? `None yet: ${caseStateWord(row.state)}`
        : `${formatTime(row.responseAt, input.timeZone)}\n${row.response ?? ''}${row.basisOfDenial === null ? '' : `\nBasis: ${row.basisOfDenial}`}`,
    ];
  }
}

async function* stepRows(input: ReportInput): AsyncGenerator<string[]> {
  const on = (at: string) => formatDate(dateIn(at, input.timeZone));
  for await (const row of registerRows(input)) {
    const by = row.acknowledgeBy === null ? '' : ` (due ${formatDate(row.acknowledgeBy)})`;
    yield [
      row.caseId,
      row.channel === 'webhook' ? 'online (webhook)' : row.channel,
      `${row.acknowledgedAt === null ? 'not recorded' : on(row.acknowledgedAt)}${by}${
        acknowledgedInTime(row, input) === 'no' ? ', late' : ''
      }`,
      `${row.identity}${row.identityAt === null ? '' : ` ${on(row.identityAt)}`}`,
      row.extension === null
        ? 'none'
        : `notice of ${on(row.extension.noticeAt)}${row.extension.until === null ? '' : `, until ${formatDate(row.extension.until)}`}: ${row.extension.reasons}`,
      formatCount(row.lastEntry),
    ];
  }
}

async function* computedRows(input: ReportInput): AsyncGenerator<string[]> {
  for await (const row of registerRows(input))
    yield [
      row.caseId,
      row.aimFor ?? '–',
      row.legalLimit ?? '–',
      [formatComputation(row.computation, row.citation), row.citation].filter((part) => part !== '').join('; '),
    ];
}

/** `in time`, `late`, `open`, `open, late`; a dash if no recorded law sets a date or no answer was due. */
function timeWord({ outcome, isLate }: RegisterRow): string {
  if (outcome === 'withdrawn' || outcome === 'duplicate') return '–';
  if (isLate === null) return outcome === 'open' ? 'open' : '–';
  if (outcome === 'open') return isLate ? 'open, late' : 'open';
  return isLate ? 'late' : 'in time';
}

/** Whether receipt was confirmed by the legal date; null: there is none, or it has not passed yet. */
function acknowledgedInTime(
  { acknowledgedAt, acknowledgeBy, outcome }: RegisterRow,
  input: ReportInput,
): string | null {
  if (acknowledgeBy === null || (outcome === 'duplicate' && acknowledgedAt === null)) return null;
  const day = dateIn(acknowledgedAt ?? input.generatedAt, input.timeZone);
  if (day > acknowledgeBy) return 'no';
  return acknowledgedAt === null ? null : 'yes';
}

function daysWord(days: number | null): string {
  return days === null ? '–' : days.toFixed(Number.isInteger(days) ? 0 : 1);
}
