import { parsePurposes } from '../src/core/consent-judgement.ts';
import type { ReconciledDecision, ReconciliationFinding } from '../src/store/queries/history-reconciliation.ts';
import type { Period } from '../src/store/queries/scope.ts';
import { closingBlocks, createReport, openingBlocks } from './create-report.ts';
import { counted, formatCount, formatTime } from './format.ts';
import {
  type Agreement,
  contradictionsOf,
  loadAgreement,
  loadCoverage,
  windowsOf,
} from './reconciliation/agreement.ts';
import {
  agreementConcerns,
  contradictionsTable,
  coverageBlocks,
  gapBlocks,
  outageBlocks,
  waysInTable,
} from './reconciliation/agreement-blocks.ts';
import { type Block, fine } from './render/blocks.ts';
import { type CsvColumn, renderCsv } from './render/csv-json.ts';
import { type ReportInput, reportPeriod } from './report.ts';
import { bannerWord, stateWord } from './words.ts';

const title = 'Reconciliation of deliveries and consent log';

const findings: readonly ReconciliationFinding[] = ['only-webhook', 'only-pulled', 'conflicting'];
const SHOWN = 50;
const LIMITS = { stretches: 50, contradictions: SHOWN } as const;

/** A decision on which the two channels disagree. */
interface FoundDecision extends ReconciledDecision {
  readonly finding: ReconciliationFinding;
}

const columns: readonly CsvColumn<FoundDecision>[] = [
  { title: 'finding', value: ({ finding }) => finding },
  { title: 'decision', value: ({ decisionId }) => decisionId },
  { title: 'time', value: ({ rows }) => rows[0]?.at ?? null },
  { title: 'time_basis', value: ({ rows }) => rows[0]?.occurred_basis ?? null },
  { title: 'banner', value: ({ rows }) => rows[0]?.banner_id ?? null },
  { title: 'subject', value: ({ rows }) => rows[0]?.subject ?? null },
  { title: 'state', value: ({ rows }) => rows[0]?.state ?? null },
  { title: 'purposes', value: ({ rows }) => rows[0]?.purposes ?? null },
  { title: 'entries_delivered', value: (found) => seqsOf(found, 'webhook') },
  { title: 'entries_pulled', value: (found) => seqsOf(found, 'pull') },
  { title: 'first_received', value: ({ rows }) => rows[0]?.received_at ?? null },
  { title: 'contradicts', value: (found) => differencesText(found) },
  { title: 'commitments', value: ({ rows }) => rows.map(({ commitment }) => commitment).join(' ') },
];

/** Compares deliveries with the pulled consent log: the completeness of a period's records. */
export const reconciliation = createReport({
  name: 'reconciliation',
  title,
  description:
    'How far deliveries and the pulled consent log agree: decisions found in both, in only one, or contradictory; outages of the endpoint, and what was never pulled. CSV and JSON: every decision on which they disagree, with its entries.',
  tellsCounters: true,
  csv: (input) => renderCsv(columns, allFindings(input, reportPeriod(input))),
  async json(input) {
    const period = reportPeriod(input);
    const agreement = await gather(input, period);
    return {
      agreement,
      concerns: agreementConcerns(agreement, input),
      onlyDelivered: itemsOf(input, period, 'only-webhook'),
      onlyPulled: itemsOf(input, period, 'only-pulled'),
      contradicting: itemsOf(input, period, 'conflicting'),
    };
  },
  blocks,
});

async function gather(input: ReportInput, period: Period): Promise<Agreement> {
  const coverage = await loadCoverage(input, period);
  const counts = await input.history.reconciliationByBanner(period, windowsOf(coverage));
  return loadAgreement(input, period, { coverage, counts }, LIMITS);
}

async function* allFindings(input: ReportInput, period: Period): AsyncGenerator<FoundDecision> {
  for (const finding of findings)
    for await (const decision of input.history.reconciledDecisions(period, finding)) yield { ...decision, finding };
}

async function* itemsOf(
  input: ReportInput,
  period: Period,
  finding: ReconciliationFinding,
): AsyncGenerator<Record<string, unknown>> {
  for await (const decision of input.history.reconciledDecisions(period, finding)) {
    const { rows, decisionId } = decision;
    yield {
      decision: decisionId,
      recordId: rows[0]?.record_id ?? null,
      time: rows[0]?.at ?? null,
      timeBasis: rows[0]?.occurred_basis ?? null,
      bannerId: rows[0]?.banner_id ?? null,
      subject: rows[0]?.subject ?? null,
      state: rows[0]?.state ?? null,
      purposes: rows[0] === undefined ? null : parsePurposes(rows[0].purposes),
      ...(finding === 'conflicting' ? { contradictions: contradictionsOf(decision) } : {}),
      entries: rows.map(({ seq, via, received_at, commitment }) => ({
        seq,
        via,
        receivedAt: received_at,
        commitment,
      })),
    };
  }
}

async function* blocks(input: ReportInput): AsyncGenerator<Block> {
  const period = reportPeriod(input);
  const agreement = await gather(input, period);
  const { totals, undelivered } = agreement;
  const concerns = agreementConcerns(agreement, input);
  yield* openingBlocks(title, input, { scope: 'all banners' });
  yield concerns.length === 0
    ? {
        block: 'notice',
        tone: 'information',
        title: 'Both channels agree',
        text: `${
          totals.decisions === 0
            ? 'No decision of the period is known from either channel'
            : 'Every decision was delivered and is in the pulled log, no two records contradict each other'
        }, and pulls of the log cover the whole period.`,
      }
    : {
        block: 'notice',
        tone: 'warning',
        title: 'What is missing, unconfirmed or contradictory',
        text: '',
        items: concerns,
      };
  yield {
    block: 'paragraph',
    text: 'The service reports each decision twice: it delivers it when it is made (webhook), and it keeps it in its consent log, which this installation pulls. This report compares the two. What is missing from one is listed from the other, with the ledger entry that holds the exact bytes.',
  };
  yield { block: 'heading', level: 1, text: '1  Decisions by channel' };
  yield waysInTable(agreement);
  yield fine(
    `Of all these, ${counted(totals.conflicting, 'decision has', 'decisions have')} records that contradict each other. A delivery and a row are the same decision if they have the same record id or, where one is missing, the same banner, subject, time and choice.`,
  );
  yield { block: 'heading', level: 1, text: '2  What each channel covers' };
  yield* coverageBlocks(agreement, input);
  yield* gapBlocks(agreement, input, SHOWN);
  yield { block: 'heading', level: 1, text: '3  Outages of the endpoint' };
  yield {
    block: 'paragraph',
    text: 'Consecutive decisions known only from the pulled log: between the delivered decisions before and after them, the endpoint was unavailable, refused the deliveries, or was not sent any.',
  };
  yield* outageBlocks(agreement, input);
  const single = undelivered.stretches - undelivered.longer;
  if (single > 0)
    yield fine(
      `${counted(single, `${undelivered.longer > 0 ? 'more ' : ''}decision was`, `${undelivered.longer > 0 ? 'more ' : ''}decisions were`)} not delivered while the decisions before and after ${single === 1 ? 'it' : 'them'} were.`,
    );
  yield { block: 'heading', level: 1, text: '4  Contradictions' };
  yield contradictionsTable(agreement.contradictions, totals.conflicting, input);
  yield { block: 'heading', level: 1, text: '5  Known from one channel only' };
  yield await oneWayTable(input, period, 'only-webhook', totals.onlyWebhook);
  yield await oneWayTable(input, period, 'only-pulled', totals.onlyPulled);
  yield* closingBlocks(input, 6, [
    'A decision that the service neither delivered nor keeps in its log is in neither list. Refused deliveries have no entries of their own: the values of their counters are recorded when a report is made.',
  ]);
}

async function oneWayTable(
  input: ReportInput,
  period: Period,
  finding: 'only-webhook' | 'only-pulled',
  total: number,
): Promise<Block> {
  const shown: string[][] = [];
  const way = finding === 'only-webhook' ? 'Only delivered' : 'Only in the pulled log';
  if (total > 0)
    for await (const { decisionId, rows } of input.history.reconciledDecisions(period, finding, SHOWN)) {
      const [row] = rows;
      if (row === undefined) continue;
      shown.push([
        formatTime(row.at, input.timeZone),
        bannerWord(row.banner_id, input),
        stateWord(row.state),
        row.record_id ?? decisionId,
        formatCount(row.seq),
      ]);
    }
  return {
    block: 'table',
    caption:
      total > shown.length
        ? `${way}: the first ${formatCount(shown.length)} of ${formatCount(total)}; the CSV form of this report has all`
        : way,
    columns: [
      { title: 'Time', share: 3 },
      { title: 'Banner', share: 2 },
      { title: 'State', share: 1.6 },
      { title: 'Record', share: 3.6, face: 'mono' },
      { title: 'Entry', share: 1.2, align: 'right' },
    ],
    rows: shown,
    empty: `${way}: none.`,
  };
}

function seqsOf({ rows }: FoundDecision, via: 'webhook' | 'pull'): string {
  return rows
    .filter((row) => row.via === via)
    .map(({ seq }) => seq)
    .join(' ');
}

function differencesText(found: FoundDecision): string | null {
  if (found.finding !== 'conflicting') return null;
  return contradictionsOf(found)
    .map(({ first, other, differs }) => `${other} contradicts ${first}: ${differs.join('; ')}`)
    .join(' | ');
}
