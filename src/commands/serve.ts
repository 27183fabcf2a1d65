import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import pc from 'picocolors';
import { loadProcessConfig } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import { StoreUnavailable, UsageError } from '../core/errors.ts';
import { closeWithin } from '../jobs/time-limits.ts';
import { createSetUpLink } from '../people/links.ts';
import { hasPeople } from '../people/people.ts';
import type { PeopleDeps } from '../people/sessions.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { type CommandIo, keepHeapSmall, STOP_ALL_MS, timeText, wholeNumberFrom, withJson } from './command-io.ts';
import { withContextOf } from './run-context.ts';

/** `serve`: the public and the admin listener, with jobs unless `--no-worker`. */
export function registerServe(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('serve'))
    .description('receive webhooks and serve the admin pages until stopped')
    .option('--no-worker', 'do not run jobs (sync, documents, sealing) in this process')
    .option(
      '--drain <seconds>',
      'on shutdown, report not ready at /readyz and keep serving for this long so that a load balancer can switch over',
      wholeNumberFrom(0),
      0,
    )
    .action(async (options) => {
      keepHeapSmall();
      const config = loadProcessConfig();
      await withContextOf(
        config,
        async (context) => {
          for (const warning of config.warnings) context.log.warn(warning);
          // Fails now if the policy is invalid; otherwise the job that needs it would fail every hour.
          await context.witnessPolicy();
          await warnOfProfiles(context);
          // Registered before the listeners answer, so that a stop at any moment is graceful.
          const stopped = io.untilStopped();
          // Also if the start still waits for the database then.
          void stopped.then(() => io.endWithin?.(options.drain * 1000 + STOP_ALL_MS));
          // Imported here so that other commands start without loading the listeners and their pages.
          const { startServer } = await import('../http/server.ts');
          const server = await startServer(context);
          let worker: Worker | null = null;
          try {
            worker = options.worker ? await startWorker(context) : null;
            const facts = {
              publicUrl: server.publicUrl,
              adminUrl: server.adminUrl,
              sources: context.sources.list().map(({ slug }) => slug),
            };
            if (options.json) io.stdout.write(`${JSON.stringify(facts)}\n`);
            else io.stderr.write(startText(facts));
            io.stderr.write(await signInText(context, config.adminUrl ?? server.adminUrl));
            receiveFirst();
            await stopped;
            if (options.drain > 0) {
              io.stderr.write(`stopping in ${options.drain} s; /readyz now reports not ready\n`);
              await server.drain(options.drain * 1000);
            }
            io.stderr.write('stopping after the requests in progress are answered\n');
          } finally {
            // Also needed if the start failed half way: the listeners would keep the process running without a ledger.
            // Each part has a time limit, whatever the database, Redis or a slow sender does.
            const { log } = context;
            await Promise.all([
              closeWithin(STOP_MS, 'listeners', () => server.close(), log),
              closeWithin(2 * STOP_MS, 'worker', async () => worker?.stop(), log),
            ]);
          }
          await closeWithin(STOP_MS, 'seal', () => sealAtStop(context), context.log);
        },
        { logLevel: config.logLevel, creates: true },
      );
    });
}

/** How much lower the other threads' priority is. A user may lower a priority, but not raise it again. */
const NICER = 10;

/**
 * On Linux, which schedules threads and not processes, gives the thread that answers deliveries priority over those of
 * the database, of folding and of garbage collection. It wakes them, and they would otherwise often interrupt it even
 * though another CPU is free (docs/decisions.md#deliveries-go-first).
 */
function receiveFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    const niceness = Math.min(getPriority() + NICER, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync('/proc/self/task').map(Number))
      if (thread !== process.pid) setPriority(thread, niceness);
  } catch {
    // The thread has just ended, or the system forbids it. Without this, only the order of work changes.
  }
}

/** Milliseconds that a part may take to stop. */
const STOP_MS = 15_000;

/** An unreadable profile prevents letters and reports, but not receiving deliveries. */
async function warnOfProfiles(context: Pick<Context, 'config' | 'sources' | 'loadProfile' | 'log'>): Promise<void> {
  const own = context.sources.list().filter(({ options }) => options.controllerFile !== null);
  for (const source of [null, ...own])
    try {
      await context.loadProfile(source);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const about =
        source !== null
          ? `the controller profile of ${source.slug}`
          : context.config.controllerFile === null
            ? 'the controller profile in DATA_DIR'
            : 'CONTROLLER_FILE';
      context.log.warn(
        { problems: error.problems },
        `${about} cannot be used: no letters or reports can be made until it is corrected`,
      );
    }
}

/** If sealing fails, it is done after the next start. */
async function sealAtStop(context: Pick<Context, 'seal' | 'log'>): Promise<void> {
  try {
    await context.seal();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    context.log.warn({ err: error }, 'the last entries could not be sealed; they will be sealed after the next start');
  }
}

/**
 * Where to sign in; if there is no account yet, a one-time link that creates the first one. If the store cannot write
 * at the moment, the server still serves.
 */
async function signInText(context: PeopleDeps & Pick<Context, 'log'>, adminUrl: string): Promise<string> {
  try {
    if (await hasPeople(context)) return `  sign in   ${adminUrl}/sign-in\n`;
    const { token, expiresAt } = await createSetUpLink(context, 'server start');
    return `  set up    ${adminUrl}/join?token=${token}\n            creates the first account; works once, until ${timeText(expiresAt)}; for another link, run consent-ledger people set-up\n`;
  } catch (error) {
    context.log.warn({ err: error }, 'could not create a set-up link');
    return '  set up    no link at the moment; run consent-ledger people set-up later\n';
  }
}

function startText(facts: { publicUrl: string; adminUrl: string; sources: readonly string[] }): string {
  const webhooks = facts.sources.map((slug) => `  webhooks  ${facts.publicUrl}/webhooks/${slug}`);
  const none = '  webhooks  none yet: set WEBHOOK_SECRETS, or run `consent-ledger source add`';
  return [
    pc.bold('consent-ledger is serving'),
    ...(webhooks.length > 0 ? webhooks : [none]),
    `  admin     ${facts.adminUrl}`,
    '',
  ].join('\n');
}
