import { basename } from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { findPlan, loadPlanItems, loadSentBatches, planBulk, runBulk } from '../policies/bulk.ts';
import { MAX_BATCH_ITEMS } from '../service/bulk.ts';
import type { FormA } from '../policies/generate.ts';
import type { SentBefore } from '../policies/sent-before.ts';
import { type CommandIo, counted, printable, printResult, wholeNumberFrom, withJson } from './command-io.ts';
import { bulkText, countsOf, resultCsv, SHOWN, shownItem, summaryOf } from './policy-bulk-text.ts';
import { readBulkItems } from './policy-items.ts';
import { callableSource, patienceOf } from './policy-source.ts';
import { COMMAND_LINE_ACTOR, withContext } from './run-context.ts';
import { writeOut } from './write-out.ts';

interface BulkFlags {
  readonly source?: string;
  readonly file: string;
  readonly resume?: boolean;
  readonly again?: boolean;
  readonly retryFailed?: boolean;
  readonly batchSize: number;
  readonly wait: boolean;
  readonly background?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

/** `policy bulk`: a file of policies in batches of at most 20 (docs/service.md §4.2), resumable. */
export function registerPolicyBulk(policy: Command, io: CommandIo): void {
  withJson(policy.command('bulk'))
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
    .option('--background', 'let the server’s jobs do it, which also continue on the next day')
    .option('--out <file>', 'write the result of each item to this CSV file')
    .action((flags: BulkFlags) =>
      withContext(async (context) => {
        const items = await readBulkItems(flags.file);
        if (flags.batchSize > MAX_BATCH_ITEMS)
          throw new UsageError([
            `Invalid --batch-size: the service accepts at most ${MAX_BATCH_ITEMS} items per batch.`,
          ]);
        const source = callableSource(context, flags.source);
        const planId = await choosePlan(context, source, items, flags);
        if (flags.background === true) return enqueue(context, io, flags, source, planId);
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
            bulkText(planId, ended, results, waiting, resumeCommand(flags)),
            ...(unwritten === null ? [] : [unwritten]),
          ].join('\n'),
        );
      }),
    );
}

async function choosePlan(
  context: Context,
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
  if (planned.outcome === 'sent-before') throw sentBefore(planned, items.length);
  const { plan } = planned;
  const counts = countsOf(await loadPlanItems(context.policies, plan.plan_id));
  throw new UsageError([
    `A run of this file was started on ${plan.created_at.slice(0, 16)} (${summaryOf(counts)}). Continue it with --resume; --again would generate every item a second time.`,
  ]);
}

function sentBefore({ positions, first }: SentBefore, total: number): UsageError {
  const numbers = positions.slice(0, SHOWN).map((position) => position + 1);
  const named = `${numbers.join(', ')}${positions.length > SHOWN ? ', …' : ''}`;
  return new UsageError([
    `${positions.length} of ${counted(total, 'item')} ${positions.length === 1 ? 'was' : 'were'} already sent (item ${named}), the first with ${printable(first.file ?? first.id)} on ${first.at.slice(0, 16)}. Remove them from the file; --again would generate them a second time.`,
  ]);
}

async function enqueue(
  context: Context,
  io: CommandIo,
  flags: BulkFlags,
  source: Source,
  planId: string,
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

/** The command that goes on with a file, as a shell takes it. */
function resumeCommand({ file, source }: BulkFlags): string {
  const quoted = /^[\w./:=@%+-]+$/.test(file) ? file : `'${printable(file).replaceAll("'", "'\\''")}'`;
  return `consent-ledger policy bulk --file ${quoted}${source === undefined ? '' : ` --source ${source}`} --resume`;
}
