import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { renderCsv, spreadsheetNote } from '../../reports/render/csv-json.ts';
import type { Context } from '../context/context.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import {
  type BulkEnd,
  findPlan,
  loadPlanItems,
  loadSentBatches,
  planBulk,
  runBulk,
  type SentBatch,
  sentBeforeText,
} from '../policies/bulk.ts';
import { parseBulkItems } from '../policies/bulk-file.ts';
import type { FormA } from '../policies/generate.ts';
import type { ItemRow } from '../policies/settle-calls.ts';
import { MAX_BATCH_ITEMS } from '../service/policies.ts';
import {
  type CommandIo,
  cannotRead,
  counted,
  minuteText,
  type OptionsOf,
  printable,
  printResult,
  tableText,
  timeText,
  wholeNumberFrom,
  withJson,
  writeOut,
} from './command-io.ts';
import { callableSource, patienceOf, refusedText, unknownText } from './policy-call.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';

type BulkFlags = OptionsOf<ReturnType<typeof bulkCommand>>;

/** `policy bulk`: a file of policies in batches of at most 20 (docs/service.md §4.2), resumable. */
export function registerPolicyBulk(policy: CommandUnknownOpts, io: CommandIo): void {
  bulkCommand(policy).action((flags) =>
    withContext(async (context) => {
      const items = await readBulkItems(flags.file);
      if (flags.batchSize > MAX_BATCH_ITEMS)
        throw new UsageError([`Invalid --batch-size: the service accepts at most ${MAX_BATCH_ITEMS} items per batch.`]);
      const source = callableSource(context, flags.source);
      const planId = await choosePlan(context, source, items, flags);
      if (flags.background === true) return enqueue(context, io, flags, { source, planId });
      const { line, ...patience } = patienceOf(io, flags);
      const ended = await runBulk(context.policies, {
        source,
        planId,
        actor: COMMAND_LINE_ACTOR,
        batchSize: flags.batchSize,
        retryFailed: flags.retryFailed,
        onProgress: ({ done, total }) => line.say(`${done} of ${total} items sent`),
        ...patience,
      });
      line.end();
      const results = await loadPlanItems(context.policies, planId);
      const unwritten = flags.out === undefined ? null : await writeOut(flags.out, await resultCsv(results));
      const isDone = ended.outcome === 'finished' && results.every(({ state }) => state === 'created');
      if (!isDone || unwritten !== null) io.exitCode = 1;
      const waiting = await loadSentBatches(context.policies, planId);
      const value = {
        planId,
        ...ended,
        counts: countsOf(results),
        waitedFor: waiting,
        items: results.map(shownItem),
      };
      printResult(io, flags, unwritten === null ? value : { ...value, unwritten }, () =>
        [
          bulkText({ planId, ended, items: results, waiting, resume: resumeCommand(flags) }),
          ...(unwritten === null ? [] : [unwritten]),
        ].join('\n'),
      );
    }),
  );
}

function bulkCommand(policy: CommandUnknownOpts) {
  return withJson(policy.command('bulk'))
    .description('generate every policy listed in a file, in batches within the service’s limits; can be resumed')
    .requiredOption(
      '--file <file>',
      'CSV or JSON; fields: policy_type, jurisdiction, language, business_name, domain, industry, business_type',
    )
    .option('--source <slug>', 'source whose account to use')
    .option('--resume', 'continue an interrupted run of this file; nothing is sent twice')
    .option('--retry-failed', 'with --resume: also send items again that the service failed to generate')
    .option('--again', 'start over with items that were already sent: every item is generated a second time')
    .option('--batch-size <number>', 'items per batch, at most 20', wholeNumberFrom(1), MAX_BATCH_ITEMS)
    .option('--no-wait', 'stop instead of waiting for the rate limit')
    .option('--background', 'run it as a job of the server, which continues the next day if necessary')
    .option('--out <file>', `write the result of each item to this CSV file. ${spreadsheetNote}`);
}

async function choosePlan(
  context: Pick<Context, 'policies'>,
  source: Source,
  items: readonly FormA[],
  flags: BulkFlags,
): Promise<string> {
  if (flags.resume === true && flags.again === true)
    throw new UsageError(['--resume continues a run and --again starts over: use only one of them.']);
  if (flags.retryFailed === true && flags.resume !== true) throw new UsageError(['--retry-failed requires --resume.']);
  if (flags.resume === true) {
    const plan = await findPlan(context.policies, source.slug, items);
    if (plan === null)
      throw new UsageError([
        `No run with these items exists for ${source.slug}: leave out --resume. A changed file counts as a new one.`,
      ]);
    return plan.plan_id;
  }
  const planned = await planBulk(context.policies, {
    source,
    actor: COMMAND_LINE_ACTOR,
    file: basename(flags.file),
    items,
    again: flags.again,
  });
  if (planned.outcome === 'planned') return planned.planId;
  if (planned.outcome === 'sent-before')
    throw new UsageError([
      `${printable(sentBeforeText(planned, items.length, minuteText))} Remove them from the file; --again would generate them a second time.`,
    ]);
  const { plan } = planned;
  const counts = countsOf(await loadPlanItems(context.policies, plan.plan_id));
  throw new UsageError([
    `A run of this file was started on ${minuteText(plan.created_at)} (${summaryOf(counts)}). Continue it with --resume; --again would generate every item a second time.`,
  ]);
}

async function enqueue(
  context: Pick<Context, 'jobs'>,
  io: CommandIo,
  flags: BulkFlags,
  { source, planId }: { readonly source: Source; readonly planId: string },
): Promise<void> {
  const job = await context.jobs.enqueue({
    kind: 'policy-bulk',
    key: planId,
    payload: {
      source: source.slug,
      planId,
      actor: COMMAND_LINE_ACTOR,
      batchSize: flags.batchSize,
      retryFailed: flags.retryFailed === true,
    },
  });
  printResult(io, flags, { planId, job: job.id, outcome: job.outcome }, () =>
    job.outcome === 'exists'
      ? `The server’s jobs are already working on this file (${planId}).`
      : `Handed over to the server’s jobs (${planId}). \`${resumeCommand(flags)}\` shows the progress and sends the rest from here.`,
  );
}

/** The shell command that continues with a file. */
function resumeCommand({ file, source }: BulkFlags): string {
  const quoted = /^[\w./:=@%+-]+$/.test(file) ? file : `'${printable(file).replaceAll("'", "'\\''")}'`;
  return `consent-ledger policy bulk --file ${quoted}${source === undefined ? '' : ` --source ${source}`} --resume`;
}

type Counts = Readonly<Partial<Record<ItemRow['state'], number>>>;

/** The number of items in each state. */
function countsOf(items: readonly ItemRow[]): Counts {
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

/** The counts in words. */
function summaryOf(counts: Counts): string {
  return (Object.keys(words) as ItemRow['state'][])
    .filter((state) => counts[state] !== undefined)
    .map((state) => `${counts[state]} ${words[state]}`)
    .join(', ');
}

/** Items in the table for people; the rest is in --out and --json. */
const SHOWN = 60;

/** The result of a run for people: a row per item, the counts, and what to do next. */
function bulkText({
  planId,
  ended,
  items,
  waiting,
  resume,
}: {
  readonly planId: string;
  readonly ended: BulkEnd;
  readonly items: readonly ItemRow[];
  readonly waiting: readonly SentBatch[];
  readonly resume: string;
}): string {
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
  // Columns without values are left out.
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
        `${counted(count, 'item')} of the batch of ${minuteText(askedAt)} ${count === 1 ? 'is' : 'are'} waiting for the response. If the process that sent the batch has ended, ${count === 1 ? 'it counts' : 'they count'} as unknown from ${minuteText(dueAt)}.`,
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
        `The rate limit allows nothing more before ${timeText(ended.until.toISOString())} (${ended.limit}). Then run: ${resume}`,
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

/** An item in --json and --out. */
function shownItem(row: ItemRow) {
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
function resultCsv(items: readonly ItemRow[]): Promise<Buffer> {
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

/** Reads the items of a bulk file. Throws UsageError with every problem and its place. */
async function readBulkItems(path: string): Promise<readonly FormA[]> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
  return parseBulkItems(bytes, path);
}
