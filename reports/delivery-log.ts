import type { DeliveryRow } from '../src/store/queries/history-evidence.ts';
import type { Period } from '../src/store/queries/history.ts';
import { limitsBlocks, verificationBlocks } from './closing.ts';
import { formatCount, formatDate, formatPeriod, formatTime } from './format.ts';
import type { Block } from './render/blocks.ts';
import { renderCsv, type CsvColumn } from './render/csv.ts';
import { renderJson } from './render/json.ts';
import { renderHtml } from './render/html.tsx';
import { renderPdf } from './render/pdf.ts';
import { documentIdOf, periodOf, reportFrame, unknownFormat, type Report, type ReportInput } from './report.ts';
import { notStated } from './words.ts';

const name = 'delivery-log';
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
  { title: 'body_sha256', value: (row) => row.body_sha256 },
];

/** What arrived on the webhook endpoint: totals on pages, every delivery as CSV or JSON. */
export const deliveryLog: Report = {
  name,
  title,
  description:
    'What arrived on the webhook endpoint: by event, signature and day. CSV and JSON: one row per delivery, with the hash of its body.',
  formats: ['pdf', 'html', 'json', 'csv'],
  async *produce(input) {
    const period = periodOf(input);
    switch (input.format) {
      case 'csv':
        yield* renderCsv(columns, input.history.deliveryRows(period));
        return;
      case 'json': {
        const document = {
          id: documentIdOf(name, input),
          name,
          title,
          generator: `consent-ledger ${input.version}`,
          generatedAt: input.generatedAt,
          sample: input.sample,
        };
        yield* renderJson({
          document,
          source: input.source,
          period,
          totals: await input.history.deliveryCounts(period),
          deliveries: itemsOf(input, period),
          checkpoint: input.checkpoint,
        });
        return;
      }
      case 'pdf':
        yield* renderPdf(reportFrame(name, title, input), blocks(input, period));
        return;
      case 'html':
        yield* renderHtml(reportFrame(name, title, input), blocks(input, period));
        return;
      default:
        throw unknownFormat(name, input.format);
    }
  },
};

async function* itemsOf(input: ReportInput, period: Period): AsyncGenerator<Record<string, string | number | null>> {
  for await (const row of input.history.deliveryRows(period))
    yield Object.fromEntries(columns.map(({ title: key, value }) => [key, value(row)]));
}

async function* blocks(input: ReportInput, period: Period): AsyncGenerator<Block> {
  const counts = await input.history.deliveryCounts(period);
  const days = await input.history.deliveriesByDay(period);
  const total = counts.reduce((sum, row) => sum + row.deliveries, 0);
  yield { block: 'title', text: title, subtitle: formatPeriod(input.from, input.to) };
  yield {
    block: 'facts',
    pairs: [
      ['Controller', input.profile?.name ?? 'no controller profile is configured'],
      ['Scope', `source ${input.source} (${input.sourceName})`],
      [
        'Period',
        `received from ${formatDate(input.from)} 00:00 to before ${formatDate(input.to)} 00:00, ${input.timeZone}`,
      ],
      ['Position', `entries 1 to ${formatCount(input.asOf)} of the ledger`],
      ['Made', `${formatTime(input.generatedAt, input.timeZone)} by consent-ledger ${input.version}`],
    ],
  };
  yield { block: 'heading', level: 1, text: '1  By event' };
  yield {
    block: 'table',
    caption: 'Deliveries kept',
    columns: [
      { title: 'Event', share: 4 },
      { title: 'Signature', share: 4 },
      { title: 'Read as', share: 2.4 },
      { title: 'Deliveries', share: 2, align: 'right' },
      { title: 'Bytes', share: 2, align: 'right' },
    ],
    rows: counts.map((row) => [
      row.event ?? notStated,
      row.verdict,
      row.outcome,
      formatCount(row.deliveries),
      formatCount(row.bytes),
    ]),
    total: ['All', '', '', formatCount(total), formatCount(counts.reduce((sum, row) => sum + row.bytes, 0))],
    empty: 'No delivery was received in the period.',
  };
  yield { block: 'heading', level: 1, text: '2  By day' };
  yield {
    block: 'table',
    caption: 'Deliveries kept per day (UTC)',
    columns: [
      { title: 'Day', share: 5 },
      { title: 'Deliveries', share: 2, align: 'right' },
    ],
    rows: days.map(({ day, deliveries }) => [formatDate(day), formatCount(deliveries)]),
    total: ['All', formatCount(total)],
    empty: 'No delivery was received in the period.',
  };
  yield { block: 'heading', level: 1, text: '3  Checkpoint and verification' };
  yield* verificationBlocks(input.checkpoint, input.asOf);
  yield { block: 'heading', level: 1, text: '4  Limits of this report' };
  yield* limitsBlocks(['Refused deliveries are not in this log: their bodies are not kept in the ledger.']);
}
