import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { UsageError } from '../core/errors.ts';
import type { Job } from '../jobs/job.ts';
import { type CommandIo, printable, printResult, withJson } from './command-io.ts';
import { withContext } from './run-context.ts';

/** A sync or recount that a worker has under way, or will do. */
export interface SyncJob {
  readonly id: string;
  readonly kind: 'sync' | 'recount';
  readonly source: string;
  readonly state: 'waiting' | 'running';
  /** Banners done and in all, and what was read of the present one. */
  readonly progress: Job['progress'];
}

const kinds = ['sync', 'recount'] as const;
const states = ['running', 'waiting'] as const;

/** What workers pull, or are about to, of one source or of all; what runs comes first. */
export async function loadSyncJobs({ jobs }: Pick<Context, 'jobs'>, source?: string): Promise<readonly SyncJob[]> {
  const found: SyncJob[] = [];
  for (const state of states)
    for (const kind of kinds)
      for (const { id, key, progress } of await jobs.list({ kind, state, limit: 10_000 }))
        if (key !== null && (source === undefined || key === source))
          found.push({ id, kind, source: key, state, progress });
  return found;
}

/** `shop: a worker syncs, banner 2 of 3, bnr_1: 400 rows, 400 new`. */
export function sentenceOfJob({ kind, source, state, progress }: SyncJob): string {
  const does = { sync: 'syncs', recount: 'recounts recent days' }[kind];
  if (state === 'waiting') return `${source}: waiting for a worker (${kind})`;
  if (progress === null) return `${source}: a worker ${does}`;
  const { done, total, message } = progress;
  const place = total === null || total < 2 ? '' : `, banner ${Math.min(done + 1, total)} of ${total}`;
  return `${source}: a worker ${does}${place}${message === null ? '' : `, ${printable(message)}`}`;
}

/** `sync cancel`: stops what workers pull. */
export function registerSyncCancel(command: Command, io: CommandIo): void {
  withJson(command.command('cancel'))
    .description(
      'stop the syncs and recounts run by workers; stored rows are kept, and the next sync continues from there',
    )
    .option('--source <slug>', 'only this source')
    .action((options: { source?: string; json?: boolean }) =>
      withContext(async (context) => {
        const { source } = options;
        if (source !== undefined && context.sources.findAny(source) === null)
          throw new UsageError([`Unknown source ${printable(source)}: see \`consent-ledger source list\`.`]);
        const cancelled: (Pick<SyncJob, 'id' | 'kind' | 'source'> & { outcome: 'cancelled' | 'requested' })[] = [];
        for (const job of await loadSyncJobs(context, source)) {
          const outcome = await context.jobs.cancel(job.id);
          if (outcome === 'cancelled' || outcome === 'requested')
            cancelled.push({ id: job.id, kind: job.kind, source: job.source, outcome });
        }
        printResult(io, options, cancelled, () =>
          cancelled.length === 0
            ? 'No syncs or recounts are running or waiting.'
            : cancelled.map((job) => `${job.source}: ${wordsOf(job)}`).join('\n'),
        );
      }),
    );
}

function wordsOf({ kind, outcome }: { kind: SyncJob['kind']; outcome: 'cancelled' | 'requested' }): string {
  return outcome === 'cancelled' ? `waiting ${kind} cancelled` : `running ${kind} asked to stop`;
}
