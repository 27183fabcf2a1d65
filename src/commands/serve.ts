import type { Command } from 'commander';
import pc from 'picocolors';
import { loadProcessConfig } from '../config.ts';
import { startWorker } from '../context/worker.ts';
import { startServer } from '../http/server.ts';
import { type CommandIo, withJson } from './command-io.ts';
import { withContextOf } from './run-context.ts';

/** `serve`: the public and the admin listener, jobs included unless `--no-worker`. */
export function registerServe(program: Command, io: CommandIo): void {
  withJson(program.command('serve'))
    .description('receive webhooks and serve the admin pages until stopped')
    .option('--no-worker', 'leave jobs (sync, documents, sealing) to other processes')
    .action(async (options: { worker: boolean; json?: boolean }) => {
      const config = loadProcessConfig();
      await withContextOf(
        config,
        async (context) => {
          for (const warning of config.warnings) context.log.warn(warning);
          // Asked for before the listeners answer, so that a stop at any moment is a graceful one.
          const stopped = io.untilStopped();
          const server = await startServer(context);
          const worker = options.worker ? await startWorker(context) : null;
          const facts = { publicUrl: server.publicUrl, adminUrl: server.adminUrl, sources: context.sources.list().map(({ slug }) => slug) };
          if (options.json) io.stdout.write(`${JSON.stringify(facts)}\n`);
          else io.stderr.write(startText(facts));
          await stopped;
          io.stderr.write('stopping: what is in flight is answered first\n');
          await server.close();
          await worker?.stop();
          await context.seal();
        },
        config.logLevel,
      );
    });
}

function startText(facts: { publicUrl: string; adminUrl: string; sources: readonly string[] }): string {
  const webhooks = facts.sources.map((slug) => `  webhooks  ${facts.publicUrl}/webhooks/${slug}`);
  const none = '  webhooks  none yet: set WEBHOOK_SECRETS, or run `consent-ledger source add`';
  return [pc.bold('consent-ledger serves'), ...(webhooks.length > 0 ? webhooks : [none]), `  admin     ${facts.adminUrl}`, ''].join('\n');
}
