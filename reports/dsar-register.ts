import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { formatComputation, formatDate, formatTime } from './format.ts';
import { type RegisterRow, registerRows } from './register-rows.ts';
import type { Block } from './render/blocks.ts';
import { type CsvColumn, renderCsv } from './render/csv.ts';
import type { ReportInput } from './report.ts';
import { notStated } from './words.ts';

const title = 'Register of data subject requests';

const columns: readonly CsvColumn<RegisterRow>[] = [
  { title: 'case', value: (row) => row.caseId },
  { title: 'received', value: (row) => row.receivedAt },
  { title: 'receipt_basis', value: (row) => row.receiptBasis },
  { title: 'nature', value: (row) => row.kind },
  { title: 'jurisdiction', value: (row) => row.jurisdiction },
  { title: 'manner', value: (row) => row.channel },
  { title: 'regime', value: (row) => row.regime },
  { title: 'aim_for', value: (row) => row.aimFor },
  { title: 'legal_limit', value: (row) => row.legalLimit },
  { title: 'computation', value: (row) => formatComputation(row.computation, row.citation) },
  { title: 'citation', value: (row) => row.citation },
  { title: 'extended', value: (row) => (row.extended ? 'yes' : 'no') },
  { title: 'state', value: (row) => row.state },
  { title: 'response_date', value: (row) => row.responseAt },
  { title: 'response', value: (row) => row.response },
  { title: 'basis_of_denial', value: (row) => row.basisOfDenial },
  { title: 'last_entry', value: (row) => row.lastEntry },
];

/** Every request received in the period with its dates and its outcome (the fields of 11 CCR 7101). */
export const dsarRegister = createReport({
  name: 'dsar-register',
  title,
  description:
    'Every request received in the period: date, nature, manner, deadline with its computation, response, basis of a denial (11 CCR 7101).',
  csv: (input) => renderCsv(columns, registerRows(input)),
  json: async (input) => ({ requests: registerRows(input) }),
  blocks,
});

async function* blocks(input: ReportInput): AsyncGenerator<Block> {
  yield* openingBlocks(title, input, { scope: 'requests of every kind', time: 'received' });
  yield { block: 'heading', level: 1, text: '1  Requests' };
  yield {
    block: 'table',
    caption: 'In the order of their arrival',
    columns: [
      { title: 'Case', share: 2.6 },
      { title: 'Received', share: 2.2 },
      { title: 'Nature', share: 2 },
      { title: 'Manner', share: 1.7 },
      { title: 'Law', share: 1.7 },
      { title: 'Due', share: 2 },
      { title: 'State', share: 2 },
      { title: 'Response', share: 3.6 },
    ],
    rows: shortRows(input),
    empty: 'No request was received in the period.',
  };
  yield { block: 'heading', level: 1, text: '2  How the dates were computed' };
  yield {
    block: 'table',
    caption: 'Aim for: without roll-over and pause. Legal limit: the last day on which the answer is in time.',
    columns: [
      { title: 'Case', share: 2.6 },
      { title: 'Aim for', share: 1.8 },
      { title: 'Legal limit', share: 1.8 },
      { title: 'Computation', share: 9 },
    ],
    rows: computedRows(input),
    empty: 'No request was received in the period.',
  };
  yield* closingBlocks(input, 3, [
    'It lists the requests that reached the service or were entered by an officer. What arrived elsewhere and was not entered is not here.',
  ]);
}

async function* shortRows(input: ReportInput): AsyncGenerator<string[]> {
  for await (const row of registerRows(input)) {
    const arrival = row.receiptBasis === 'received' ? '\n(arrival of the webhook)' : '';
    yield [
      row.caseId,
      `${formatTime(row.receivedAt, input.timeZone).replace(' ', '\n')}${arrival}`,
      row.kind,
      row.channel,
      `${row.regime}${row.jurisdiction === null ? `\n(${notStated})` : ''}`,
      `${formatDate(row.legalLimit)}${row.extended ? '\nextended' : ''}`,
      row.state,
      row.responseAt === null
        ? 'none yet'
        : `${formatTime(row.responseAt, input.timeZone)}\n${row.response ?? ''}${row.basisOfDenial === null ? '' : `\nBasis: ${row.basisOfDenial}`}`,
    ];
  }
}

async function* computedRows(input: ReportInput): AsyncGenerator<string[]> {
  for await (const row of registerRows(input))
    yield [
      row.caseId,
      row.aimFor,
      row.legalLimit,
      `${formatComputation(row.computation, row.citation)}; ${row.citation}`,
    ];
}
