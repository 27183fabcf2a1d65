import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { showCase } from '../cases/list-cases.ts';
import { moveLatest } from '../cases/move-case.ts';
import { type MoveName, TASK_DAYS, TASK_DAYS_MAX, taskOutcomes } from '../cases/moves.ts';
import type { Context } from '../context/context.ts';
import { publicUrlOf } from '../core/address.ts';
import { isoNow } from '../core/clock.ts';
import { UsageError, unknownCase } from '../core/errors.ts';
import { problemOfTaskMail, taskMailJob } from '../hand-over/mail-task.ts';
import { findTask, shareTask, summariseTasks } from '../hand-over/task-link.ts';
import {
  type CommandIo,
  printable,
  printResult,
  tableText,
  timeText,
  warnOfPublicUrl,
  wholeNumber,
  withJson,
} from './command-io.ts';
import { COMMAND_LINE_ACTOR, withCaughtUp } from './run-context.ts';

/** `dsar task add|list|link|revoke|mail|finish`: tasks for the owners of other systems. */
export function registerTask(dsar: CommandUnknownOpts, io: CommandIo): void {
  const task = dsar
    .command('task')
    .description('tasks for the owners of other systems, who report through a link when they are done');

  withJson(task.command('add'))
    .description('add a task to a case')
    .argument('<case>', 'case id from `dsar list`')
    .requiredOption('--what <text>', 'what has to be done, e.g. "Delete the customer in the shop"')
    .requiredOption('--due <date>', 'due date: YYYY-MM-DD')
    .option('--owner <name>', 'person responsible')
    .option('--owner-email <address>', 'e-mail address of the owner')
    .option('--instructions <text>', 'instructions for the owner, who can read them without signing in')
    .addHelpText(
      'after',
      `
Example:
  $ consent-ledger dsar task add default-3 --what "Delete the customer in the shop" --due 2026-08-01 --owner Anna --owner-email anna@example.org
  $ consent-ledger dsar task link default-3 1`,
    )
    .action((caseId, options) => {
      const { what, due, owner, ownerEmail, instructions } = options;
      return record(io, caseId, options, {
        move: 'add-task',
        details: {
          what,
          due,
          ...(owner === undefined ? {} : { owner }),
          ...(ownerEmail === undefined ? {} : { ownerEmail }),
          ...(instructions === undefined ? {} : { instructions }),
        },
      });
    });

  withJson(task.command('list'))
    .description('list the tasks of a case')
    .argument('<case>', 'case id')
    .action((caseId, options) => withCaughtUp((context) => printTasks(context, io, caseId, options)));

  withJson(task.command('link'))
    .description('create a link to a task for its owner; it replaces an earlier one')
    .argument('<case>', 'case id')
    .argument('<task>', 'number from `dsar task list`')
    .option(
      '--days <days>',
      `how long the link is valid, 1 to ${TASK_DAYS_MAX}`,
      wholeNumber(1, TASK_DAYS_MAX),
      TASK_DAYS,
    )
    .action((caseId, number, options) => link(io, caseId, number, options));

  withJson(task.command('revoke'))
    .description('end the link to a task at once')
    .argument('<case>', 'case id')
    .argument('<task>', 'number from `dsar task list`')
    .action((caseId, number, options) =>
      record(io, caseId, options, { move: 'unshare-task', details: { task: number } }),
    );

  withJson(task.command('mail'))
    .description('mail a task to its owner with a link to it; a worker sends it')
    .argument('<case>', 'case id')
    .argument('<task>', 'number from `dsar task list`')
    .action((caseId, number, options) => mail(io, caseId, number, options));

  withJson(task.command('finish'))
    .description('record the outcome of a task')
    .argument('<case>', 'case id')
    .argument('<task>', 'number from `dsar task list`')
    .addOption(new Option('--outcome <outcome>', 'the outcome').choices(taskOutcomes).makeOptionMandatory())
    .option('--note <text>', 'what was done, or why it was not; required for not-done')
    .action((caseId, number, options) => {
      const { outcome, note } = options;
      const details = { task: number, outcome, ...(note === undefined ? {} : { note }) };
      return record(io, caseId, options, { move: 'finish-task', details });
    });
}

/** Makes a move of the case and prints its tasks. */
async function record(
  io: CommandIo,
  caseId: string,
  options: { json?: boolean },
  { move, details }: { readonly move: MoveName; readonly details: Record<string, unknown> },
): Promise<void> {
  await withCaughtUp(async (context) => {
    const input = { caseId, move, details, actor: COMMAND_LINE_ACTOR };
    const moved = await moveLatest(context.cases, input, () => context.projector.catchUp());
    if (moved.outcome === 'not-found') throw new UsageError([unknownCase(printable(caseId))]);
    if (moved.outcome === 'refused') throw new UsageError(moved.problems);
    await context.projector.catchUp();
    await printTasks(context, io, caseId, options);
  });
}

async function link(
  io: CommandIo,
  caseId: string,
  task: string,
  options: { days: number; json?: boolean },
): Promise<void> {
  await withCaughtUp(async (context) => {
    const { config } = context;
    warnOfPublicUrl(io, config.publicUrl);
    const publicUrl = publicUrlOf(config, config.port);
    const shared = await shareTask(context, {
      caseId,
      task,
      days: options.days,
      actor: COMMAND_LINE_ACTOR,
      publicUrl,
    });
    if (shared.outcome === 'not-found') throw new UsageError([unknownCase(printable(caseId))]);
    if (shared.outcome === 'refused') throw new UsageError(shared.problems);
    const { link, expiresAt } = shared;
    printResult(io, options, { caseId, task, link, expiresAt }, () =>
      [`${pc.green('✓')} valid until ${timeText(expiresAt)}`, link].join('\n'),
    );
  });
}

async function mail(io: CommandIo, caseId: string, task: string, options: { json?: boolean }): Promise<void> {
  await withCaughtUp(async (context) => {
    const found = await findTask(context.cases, caseId, task);
    if (found === null) throw new UsageError([`Unknown task ${printable(task)} of case ${printable(caseId)}.`]);
    const problem = problemOfTaskMail(context, found);
    warnOfPublicUrl(io, context.config.publicUrl);
    if (problem !== null) throw new UsageError([problem]);
    const { id } = await context.jobs.enqueue(taskMailJob(found, COMMAND_LINE_ACTOR));
    printResult(io, options, { caseId, task, job: id }, () => `${pc.green('✓')} job ${id}: a worker sends it`);
  });
}

async function printTasks(
  context: Pick<Context, 'epoch' | 'cases' | 'clock'>,
  io: CommandIo,
  caseId: string,
  options: { json?: boolean },
): Promise<void> {
  const shown = await showCase(context.cases, caseId, isoNow(context.clock));
  if (shown === null) throw new UsageError([unknownCase(printable(caseId))]);
  const tasks = await summariseTasks(context, shown.view);
  printResult(io, options, tasks, () =>
    tableText(
      ['task', 'what', 'owner', 'due', 'state', 'link until', 'note'],
      tasks.map((one) => [
        one.task,
        printable(one.what),
        printable(one.owner ?? one.ownerEmail ?? '–'),
        one.due,
        one.state,
        one.linkUntil ?? '–',
        printable(one.note ?? '–'),
      ]),
      'No tasks.',
    ),
  );
}
