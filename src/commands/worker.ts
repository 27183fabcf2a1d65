import type { Command } from 'commander';
import { loadProcessConfig } from '../config.ts';
import { startWorker } from '../context/worker.ts';
import { type CommandIo, withJson } from './command-io.ts';
import { withContextOf } from './run-context.ts';

/** `worker`: jobs only, beside `serve --no-worker`. */
export function registerWorker(program: Command, io: CommandIo): void {
  withJson(program.command('worker'))
    .description('do jobs (sync, documents, sealing) until stopped, without listening')
    .action(async (options: { json?: boolean }) => {
      const config = loadProcessConfig();
      await withContextOf(
        config,
        async (context) => {
          const stopped = io.untilStopped();
          context.projector.start((listener) => context.ledger.onAppended(listener));
          const worker = await startWorker(context);
          if (options.json) io.stdout.write('{"status":"working"}\n');
          else io.stderr.write('consent-ledger works on jobs\n');
          await stopped;
          io.stderr.write('stopping: what runs is finished or given back\n');
          await worker.stop();
        },
        config.logLevel,
      );
    });
}
