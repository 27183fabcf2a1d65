import { basename } from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context/contract.ts';
import { UsageError } from '../core/errors.ts';
import type { Source } from '../core/source.ts';
import { findPlan, loadPlanItems, loadSentBatches, MAX_BATCH_ITEMS, planBulk, runBulk } from '../policies/bulk.ts';
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
    .description('have the service generate every policy of a file, in batches paced by its limits; can be resumed')
    .requiredOption(
      '--file <file>',
      'CSV or JSON; fields: policy_type, jurisdiction, language, business_name, domain, industry, business_type',
    )
    .option('--source <slug>', 'whose account')
    .option('--resume', 'go on with this file where it was left; nothing is sent twice')
    .option('--retry-failed', 'with --resume: also those that the service failed to make')
    .option(
      '--again',
      'begin anew what was sent before, with this file or another: everything in it is made a second time',
    )
    .option('--batch-size <number>', 'items of a batch, at most 20', wholeNumberFrom(1), MAX_BATCH_ITEMS)
    .option('--no-wait', 'stop instead of waiting for a free slot of the rate limit')
    .option('--background', 'leave it to the server’s jobs, which also wait for the next day’s batches')
    .option('--out <file>', 'write the result of each item to this CSV file')
    .action((flags: BulkFlags) =>
      withContext(async (context) => {
        const items = await readBulkItems(flags.file);
        if (flags.batchSize > MAX_BATCH_ITEMS)
          throw new UsageError([`--batch-size is at most ${MAX_BATCH_ITEMS}: the service takes no larger batch.`]);
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
    throw new UsageError(['--resume goes on with what was begun, --again begins anew: give one of them.']);
  if (flags.retryFailed === true && flags.resume !== true) throw new UsageError(['--retry-failed goes with --resume.']);
  if (flags.resume === true) {
    const plan = await findPlan(context.policies, source.slug, items);
    if (plan === null)
      throw new UsageError([
        `Nothing was begun with these items for ${source.slug}: leave out --resume. A changed file is another one.`,
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
    `This file was begun on ${plan.created_at.slice(0, 16)} (${summaryOf(counts)}). Go on with --resume; --again would make everything in it a second time.`,
  ]);
}

function sentBefore({ positions, first }: SentBefore, total: number): UsageError {
  const numbers = positions.slice(0, SHOWN).map((position) => position + 1);
  const named = `${numbers.join(', ')}${positions.length > SHOWN ? ', …' : ''}`;
  return new UsageError([
    `${positions.length} of ${counted(total, 'item')} ${positions.length === 1 ? 'was' : 'were'} made before, or may have been (item ${named}), the first with ${printable(first.file ?? first.id)} of ${first.at.slice(0, 16)}. Leave them out; --again would make them a second time.`,
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
      ? `The server’s jobs are at it already (${planId}).`
      : `Left to the server’s jobs (${planId}). \`${resumeCommand(flags)}\` shows how far it is and sends the rest from here.`,
  );
}

/** The command that goes on with a file, as a shell takes it. */
function resumeCommand({ file, source }: BulkFlags): string {
  const quoted = /^[\w./:=@%+-]+$/.test(file) ? file : `'${printable(file).replaceAll("'", "'\\''")}'`;
  return `consent-ledger policy bulk --file ${quoted}${source === undefined ? '' : ` --source ${source}`} --resume`;
}
