import type { DeliveryRow } from '../src/store/queries/history-deliveries.ts';
import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { formatCount, formatDate } from './format.ts';
import { type Block, table } from './render/blocks.ts';
import { type CsvColumn, renderCsv } from './render/csv-json.ts';
import { type ReportInput, reportPeriod } from './report.ts';
import { notStated, readWords, verdictWord } from './words.ts';

const title = 'Delivery log';

const columns: readonly CsvColumn<DeliveryRow>[] = [
  { title: 'entry', value: (row) => row.seq },
  { title: 'received', value: (row) => row.received_at },
  { title: 'event', value: (row) => row.event },
  { title: 'signature', value: (row) => row.verdict },
  { title: 'read_as', value: (row) => row.outcome },
  { title: 'remark', value: (row) => row.reason },
  { title: 'content_type', value: (row) => row.content_type },
  { title: 'bytes', value: (row) => row.bytes },
  { title: 'commitment', value: (row) => row.commitment },
];

/** Arrivals on the webhook endpoint: totals on pages, every delivery in CSV and JSON. */
export const deliveryLog = createReport({
  name: 'delivery-log',
  title,
  description:
    'Deliveries to the webhook endpoint by event, signature and day. CSV and JSON: one row per delivery, with its commitment in the ledger.',
  csv: (input) => renderCsv(columns, input.history.deliveryRows(reportPeriod(input))),
  json: async (input) => ({
    totals: (await input.history.deliveryCounts(reportPeriod(input), input.timeZone)).byEvent,
    deliveries: itemsOf(input),
  }),
  blocks,
});

async function* itemsOf(input: ReportInput): AsyncGenerator<Record<string, string | number | null>> {
  for await (const row of input.history.deliveryRows(reportPeriod(input)))
    yield Object.fromEntries(columns.map(({ title: key, value }) => [key, value(row)]));
}

async function* blocks(input: ReportInput): AsyncGenerator<Block> {
  const period = reportPeriod(input);
  const { byEvent: counts, byDay: days } = await input.history.deliveryCounts(period, input.timeZone);
  const total = counts.reduce((sum, row) => sum + row.deliveries, 0);
  yield* openingBlocks(title, input, { scope: 'deliveries of every event', time: 'received' });
  yield { block: 'heading', level: 1, text: '1  By event' };
  yield table({
    caption: 'Deliveries kept',
    columns: [
      { title: 'Event', share: 4, value: (row) => row.event ?? notStated },
      { title: 'Signature', share: 4, value: (row) => verdictWord(row.verdict) },
      { title: 'Read as', share: 2.4, value: (row) => readWords[row.outcome] ?? row.outcome },
      { title: 'Deliveries', share: 2, align: 'right', value: (row) => formatCount(row.deliveries) },
      { title: 'Bytes', share: 2, align: 'right', value: (row) => formatCount(row.bytes) },
    ],
    rows: counts,
    total: ['All', '', '', formatCount(total), formatCount(counts.reduce((sum, row) => sum + row.bytes, 0))],
    empty: 'No delivery was received in the period.',
  });
  yield { block: 'heading', level: 1, text: '2  By day' };
  yield table({
    caption: `Deliveries kept per day (${input.timeZone})`,
    columns: [
      { title: 'Day', share: 5, value: ({ day }) => formatDate(day) },
      { title: 'Deliveries', share: 2, align: 'right', value: ({ deliveries }) => formatCount(deliveries) },
    ],
    rows: days,
    total: ['All', formatCount(total)],
    empty: 'No delivery was received in the period.',
  });
  yield* closingBlocks(input, 3, ['Refused deliveries are not in this log: their bodies are not kept in the ledger.']);
}
