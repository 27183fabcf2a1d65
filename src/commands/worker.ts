import { type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { loadProcessConfig } from '../config/config.ts';
import { startWorker } from '../worker/worker.ts';
import { type CommandIo, keepHeapSmall, STOP_ALL_MS, withJson } from './command-io.ts';
import { withContextOf } from './run-context.ts';

/** `worker`: runs jobs only, next to `serve --no-worker`; there can be any number of workers. */
export function registerWorker(program: CommandUnknownOpts, io: CommandIo): void {
  withJson(program.command('worker'))
    .description('run jobs (sync, documents, calls to the service, sealing) until stopped, without a listener')
    .option(
      '--kinds <list>',
      'only these queues or kinds of jobs, comma-separated; other workers must do the rest',
      names,
    )
    .option('--concurrency <n>', 'parallel jobs per queue, 1 to 100 (default: depends on the queue)', jobsAtOnce)
    .option(
      '--lease <seconds>',
      'seconds after which other workers take over the jobs of an unresponsive worker (default: 30)',
      seconds,
    )
    .action(async ({ kinds, concurrency, lease, json }) => {
      keepHeapSmall();
      const config = loadProcessConfig();
      await withContextOf(
        config,
        async (context) => {
          await context.witnessPolicy();
          const stopped = io.untilStopped();
          // Also if the start still waits for the database then.
          void stopped.then(() => io.endWithin?.(STOP_ALL_MS));
          const worker = await startWorker(context, { kinds, concurrency, lease });
          context.projector.start((listener) => context.ledger.onAppended(listener));
          if (json) io.stdout.write(`${JSON.stringify({ status: 'working', kinds: worker.kinds })}\n`);
          else io.stderr.write(`consent-ledger is running jobs: ${worker.kinds.join(', ')}\n`);
          await stopped;
          io.stderr.write('stopping: running jobs are finished or returned to the queue\n');
          await worker.stop();
        },
        { logLevel: config.logLevel },
      );
    });
}

function names(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function jobsAtOnce(text: string): number {
  const jobs = Number(text);
  if (!/^\d+$/.test(text) || jobs < 1 || jobs > 100) throw new InvalidArgumentError('Use a number from 1 to 100.');
  return jobs;
}

/** Seconds to milliseconds. Below two seconds, a slow database response would look like silence. */
function seconds(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 2 || number > 3600)
    throw new InvalidArgumentError('Use a number from 2 to 3600.');
  return number * 1000;
}
