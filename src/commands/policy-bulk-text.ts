import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { renderCsv } from '../../reports/render/csv.ts';
import type { BulkEnd, SentBatch } from '../policies/bulk.ts';
import type { FormA } from '../policies/generate.ts';
import type { ItemRow } from '../policies/evidence.ts';
import { counted, tableText } from './command-io.ts';
import { refusedText, unknownText } from './policy-text.ts';

type Counts = Readonly<Partial<Record<ItemRow['state'], number>>>;

/** How many items stand how. */
export function countsOf(items: readonly ItemRow[]): Counts {
  const counts: Partial<Record<ItemRow['state'], number>> = {};
  for (const { state } of items) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

const words: Readonly<Record<ItemRow['state'], string>> = {
  created: 'created',
  skipped: 'skipped (beyond the quota)',
  failed: 'failed',
  unknown: 'unknown',
  sent: 'sent, no response yet',
  planned: 'not sent',
};

/** The same in words. */
export function summaryOf(counts: Counts): string {
  return (Object.keys(words) as ItemRow['state'][])
    .filter((state) => counts[state] !== undefined)
    .map((state) => `${counts[state]} ${words[state]}`)
    .join(', ');
}

/** Items of the table for people; the rest is in --out and --json. */
export const SHOWN = 60;

/** What came of a run, for people: a row per item, the counts, and what to do next. */
export function bulkText(
  planId: string,
  ended: BulkEnd,
  items: readonly ItemRow[],
  waiting: readonly SentBatch[],
  resume: string,
): string {
  const rows = items.map(shownItem);
  const columns: readonly (readonly [string, (row: Shown) => string | number | null])[] = [
    ['item', (row) => row.item],
    ['type', (row) => row.policyType],
    ['jurisdiction', (row) => row.jurisdiction],
    ['language', (row) => row.language],
    ['business', (row) => row.businessName],
    ['result', (row) => words[row.state]],
    ['policy', (row) => row.policyId],
  ];
  // A column that the file does not have is left out.
  const used = columns.filter(([, valueOf]) => rows.some((row) => valueOf(row) !== null));
  const table = tableText(
    used.map(([title]) => title),
    rows.slice(0, SHOWN).map((row) => used.map(([, valueOf]) => valueOf(row))),
    'No items.',
  );
  return [
    table,
    ...(rows.length > SHOWN ? [`… and ${rows.length - SHOWN} more: --out writes all of them to a CSV file.`] : []),
    '',
    `${counted(items.length, 'item')}: ${summaryOf(countsOf(items))} (${planId})`,
    ...waiting.map(
      ({ askedAt, dueAt, items: count }) =>
        `${counted(count, 'item')} of the batch of ${askedAt.slice(0, 19)} ${count === 1 ? 'is' : 'are'} waiting for the answer. If the process that sent the batch has ended, ${count === 1 ? 'it counts' : 'they count'} as unknown from ${dueAt.slice(0, 19)}.`,
    ),
    ...endText(ended, items, resume),
  ].join('\n');
}

function endText(ended: BulkEnd, items: readonly ItemRow[], resume: string): string[] {
  switch (ended.outcome) {
    case 'finished':
      return [
        ...(items.some(({ state }) => state === 'failed')
          ? [`To send the failed ones again: ${resume} --retry-failed`]
          : []),
        ...(items.some(({ state }) => state === 'unknown' || state === 'sent')
          ? [
              'Items whose outcome is unknown are not sent again automatically. A webhook about them settles them; for the rest, see `consent-ledger policy calls --open` and `policy settle`. All other items were sent.',
            ]
          : []),
      ];
    case 'quota':
      return [`The quota of the plan is used up. When quota is available again: ${resume}`];
    case 'stopped':
      return [`Stopped. To continue: ${resume}`];
    case 'waiting':
      return [
        `The rate limit allows nothing more before ${ended.until.toISOString()} (${ended.limit}). Then run: ${resume}`,
        'With --background, the server’s jobs wait and continue automatically.',
      ];
    case 'refused':
      return [refusedText(ended.error), `Then continue with: ${resume}`];
    case 'unknown': {
      const isRest = items.some(({ state }) => state === 'planned' || state === 'skipped');
      return [
        unknownText(ended.requestId, ended.error),
        '    --items 3,4 settles only these items of the file.',
        ...(isRest ? [`The rest was not sent. To continue: ${resume}`] : []),
      ];
    }
    case 'not-configured':
      return [ended.reason];
  }
}

type Shown = ReturnType<typeof shownItem>;

/** An item as --json and --out show it. */
export function shownItem(row: ItemRow) {
  const item = JSON.parse(row.item) as FormA;
  return {
    item: row.position + 1,
    policyType: item.policy_type,
    jurisdiction: item.jurisdiction,
    language: item.language ?? null,
    businessName: item.business_name ?? null,
    state: row.state,
    policyId: row.policy_id,
    requestId: row.request_id,
    attempts: row.attempts,
  };
}

/** The result of each item as CSV. */
export function resultCsv(items: readonly ItemRow[]): Promise<Buffer> {
  const columns = [
    { title: 'item', value: (row: Shown) => row.item },
    { title: 'policy_type', value: (row: Shown) => row.policyType },
    { title: 'jurisdiction', value: (row: Shown) => row.jurisdiction },
    { title: 'language', value: (row: Shown) => row.language },
    { title: 'business_name', value: (row: Shown) => row.businessName },
    { title: 'result', value: (row: Shown) => (row.state === 'planned' ? 'not sent' : row.state) },
    { title: 'policy_id', value: (row: Shown) => row.policyId },
    { title: 'request_id', value: (row: Shown) => row.requestId },
  ];
  return buffer(Readable.from(renderCsv(columns, items.map(shownItem))));
}
