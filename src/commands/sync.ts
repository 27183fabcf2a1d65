import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { UsageError } from '../core/errors.ts';
import { dismissBanner } from '../sync/banners.ts';
import type { PullResult } from '../sync/pull-result.ts';
import { type BannerStatus, loadSyncStatus } from '../sync/status.ts';
import { cancelSyncJobs, loadSyncJobs, type SyncJob } from '../sync/sync-jobs.ts';
import { type SyncResult, syncSource } from '../sync/sync-source.ts';
import {
  type CommandIo,
  counted,
  createStatusLine,
  dayText,
  printable,
  printResult,
  tableText,
  timeOf,
  withJson,
} from './command-io.ts';
import { NO_API_ACCESS } from './policy-call.ts';
import { COMMAND_LINE_ACTOR, findSource, noSuchSource, withContext } from './run-context.ts';

/** `sync`, `sync status` and `sync cancel`: pull consent logs now; position, lag, last error; stop what workers pull. */
export function registerSync(program: CommandUnknownOpts, io: CommandIo): void {
  const command = withJson(program.command('sync'))
    .description('pull the consent log of every source (or one) now; continues an interrupted run')
    .option('--source <slug>', 'only this source')
    .option('--banner <id>', 'only this banner')
    .option('--from <time>', 'pull from this ISO 8601 date or time (UTC if without an offset)')
    .option('--to <time>', 'pull up to this ISO 8601 date or time')
    .option('--full', 'pull everything the service has')
    .action((options) =>
      withContext(async (context) => {
        if (options.full && (options.from !== undefined || options.to !== undefined)) {
          throw new UsageError(['--full cannot be combined with --from and --to.']);
        }
        // Only to name the flag: a day is sent as a day.
        for (const [flag, time] of [
          ['--from', options.from],
          ['--to', options.to],
        ] as const)
          if (time !== undefined) timeOf(time, flag, 'UTC');
        await context.projector.catchUp();
        const one = options.source === undefined ? null : findSource(context, options.source);
        const pullable = context.sources.list().filter(({ baseUrl, apiKey }) => baseUrl !== null && apiKey !== null);
        const sources = one === null ? pullable : [one];
        if (sources.length === 0) {
          throw new UsageError([NO_API_ACCESS]);
        }
        const results: SyncResult[] = [];
        const stop = new AbortController();
        void io.untilStopped().then(() => stop.abort(new Error('stopped')));
        for (const source of sources) {
          const { banner, from, to, full } = options;
          const line = createStatusLine(io, true);
          results.push(
            await syncSource(context.sync, {
              source,
              actor: COMMAND_LINE_ACTOR,
              signal: stop.signal,
              ...(banner === undefined ? {} : { banners: [banner] }),
              from,
              to,
              full,
              onProgress: ({ bannerId, rows, stored }) =>
                line.say(
                  `${source.slug}, ${printable(bannerId ?? 'all banners')}: ${counted(rows, 'row')}, ${stored} new`,
                ),
            }),
          );
          line.end();
          if (stop.signal.aborted) break;
        }
        if (results.some(failed)) io.exitCode = 1;
        printResult(io, options, results, () => results.map(sentenceOf).join('\n'));
      }),
    );

  registerStatus(command, io);
  registerSyncCancel(command, io);

  registerDismiss(command, io);
}

function registerStatus(command: CommandUnknownOpts, io: CommandIo): void {
  withJson(command.command('status'))
    .description('show the sync status of every source and banner: position, lag, progress, last error and gaps')
    .option('--source <slug>', 'only this source')
    .action((options) =>
      withContext(async (context) => {
        const { source: slug } = options;
        if (slug !== undefined) findSource(context, slug);
        await context.projector.catchUp();
        const sources = context.sources
          .list()
          .filter(({ slug }) => options.source === undefined || slug === options.source);
        const status = await loadSyncStatus(context.store.read, context.clock, sources);
        const jobs = await loadSyncJobs(context.jobs, slug);
        const now = context.clock().getTime();
        // A source may have a sync and a recount; the running one comes first.
        const withJobs = status.map((row) => ({
          ...row,
          job: jobs.find(({ source }) => source === row.source) ?? null,
        }));
        printResult(io, options, withJobs, () => statusText(status, jobs, now));
      }),
    );
}

function registerDismiss(command: CommandUnknownOpts, io: CommandIo): void {
  withJson(command.command('dismiss'))
    .description('stop pulling a banner that the service no longer knows; its rows are kept')
    .requiredOption('--source <slug>', 'source of the banner')
    .requiredOption('--banner <id>', 'banner id')
    .option('--restore', 'resume pulling the banner')
    .action((options) =>
      withContext(async (context) => {
        const source = findSource(context, options.source);
        await context.projector.catchUp();
        const isRestored = options.restore === true;
        const request = { source, bannerId: options.banner, actor: COMMAND_LINE_ACTOR, isRestored };
        const dismissal = await dismissBanner(context.sync, request);
        if (dismissal.outcome === 'unknown')
          throw new UsageError([`Unknown banner ${printable(options.banner)}: see \`consent-ledger sync status\`.`]);
        await context.projector.catchUp();
        const does = isRestored ? 'pulled again' : 'no longer pulled; its rows are kept';
        printResult(io, options, dismissal, () => `${source.slug}, banner ${printable(options.banner)}: ${does}.`);
      }),
    );
}

function statusText(status: readonly BannerStatus[], jobs: readonly SyncJob[], now: number): string {
  const table = tableText(
    ['source', 'banner', 'state', 'complete until', 'lag (min)', 'rows', 'nothing before', 'recounted', 'last error'],
    status.map((row) => [
      row.source,
      row.bannerId ?? '(all)',
      row.state,
      row.watermark,
      row.lagMs === null ? null : Math.round(row.lagMs / 60_000),
      row.rows,
      row.earliest,
      row.recount === null ? null : dayText(row.recount.at),
      row.lastError,
    ]),
    'Nothing synced yet: run `consent-ledger sync`.',
  );
  return [table, ...jobs.map(sentenceOfJob), ...status.flatMap((row) => notesOf(row, now))].join('\n');
}

/** Details that do not fit in the table: gaps, unreadable pieces, and the result of the last recount. */
function notesOf(row: BannerStatus, now: number): string[] {
  const name = `${row.source}, ${row.bannerId === null ? 'all banners' : `banner ${printable(row.bannerId)}`}`;
  const { recount, run } = row;
  return [
    run === null ? '' : runText(run, now),
    row.gap === null ? '' : `gap: ${row.gap}`,
    row.form === null ? '' : `the service accepts ${row.form}`,
    row.unreadable === 0
      ? ''
      : `${counted(row.unreadable, 'piece')} of broken pages could not be read as rows; kept with their bytes`,
    recount === null || (recount.found === 0 && recount.gone === 0)
      ? ''
      : `the recount of ${dayText(recount.at)} found ${counted(recount.found, 'row')} that no earlier run had fetched, and ${recount.gone} pulled earlier that the service no longer returns`,
  ].flatMap((note) => (note === '' ? [] : [`${name}: ${note}`]));
}

function runText({ startedAt, lastPageAt, from, to }: NonNullable<BannerStatus['run']>, now: number): string {
  const ago = Math.max(0, Math.round((now - Date.parse(lastPageAt)) / 1000));
  const period = `${from === null ? 'from the beginning' : `from ${from}`}${to === null ? '' : ` to ${to}`}`;
  return `a run that began at ${startedAt} reads ${period}; its last page was stored ${ago < 120 ? `${ago} s` : `${Math.round(ago / 60)} min`} ago`;
}

function failed(result: SyncResult): boolean {
  return (
    result.outcome !== 'done' ||
    result.banners.some(({ outcome }) => outcome !== 'finished' && outcome !== 'unknown-banner')
  );
}

function sentenceOf(result: SyncResult): string {
  if (result.outcome === 'not-configured') return `${result.source}: ${result.reason}`;
  const lines = result.banners.map((banner) => `${result.source}, ${bannerSentence(banner)}`);
  if (result.outcome === 'stopped')
    lines.push(
      `${result.source}: stopped; not tried: ${result.left.map((id) => id ?? 'all banners').join(', ') || 'none'}`,
    );
  return lines.length === 0 ? `${result.source}: no banners known yet` : lines.join('\n');
}

function bannerSentence(banner: PullResult): string {
  const name = banner.bannerId === null ? 'all banners' : `banner ${printable(banner.bannerId)}`;
  const counts = `${counted(banner.rows, 'row')}, ${banner.stored} new, ${banner.duplicates} known`;
  const odd = banner.malformed > 0 ? `, ${banner.malformed} not JSON objects (kept with their bytes)` : '';
  const broken =
    banner.unreadable > 0 ? `, ${counted(banner.unreadable, 'piece')} of broken pages (kept with their bytes)` : '';
  const left =
    banner.suppressed === undefined ? '' : `, ${banner.suppressed} left out because their subject was erased`;
  const malformed = odd + broken + left;
  const until = banner.watermark === null ? '' : `; complete up to ${banner.watermark}`;
  switch (banner.outcome) {
    case 'finished': {
      // Only a run that requested and saw the beginning can tell where the log begins.
      const begins = banner.from === null && !banner.resumed && banner.earliest !== null;
      return `${name}: ${counts}${malformed}${until}${begins ? `; the service returned nothing before ${banner.earliest}` : ''}`;
    }
    case 'failed':
      return `${name}: failed after ${counts}${malformed}: ${printable(banner.error)}`;
    case 'unknown-banner':
      return `${name}: ${printable(banner.error)}`;
    case 'cancelled':
      return `${name}: stopped after ${counts}; the next run continues from there`;
    case 'superseded':
      return `${name}: superseded by another run that started in the meantime`;
    default:
      return banner satisfies never;
  }
}

/** `shop: a worker syncs, banner 2 of 3, bnr_1: 400 rows, 400 new`. */
function sentenceOfJob({ kind, source, state, progress }: SyncJob): string {
  const does = { sync: 'syncs', recount: 'recounts recent days' }[kind];
  if (state === 'waiting') return `${source}: waiting for a worker (${kind})`;
  if (progress === null) return `${source}: a worker ${does}`;
  const { done, total, message } = progress;
  const place = total === null || total < 2 ? '' : `, banner ${Math.min(done + 1, total)} of ${total}`;
  return `${source}: a worker ${does}${place}${message === null ? '' : `, ${printable(message)}`}`;
}

/** `sync cancel`: stops what workers pull. */
function registerSyncCancel(command: CommandUnknownOpts, io: CommandIo): void {
  withJson(command.command('cancel'))
    .description(
      'stop the syncs and recounts run by workers; stored rows are kept, and the next sync continues from there',
    )
    .option('--source <slug>', 'only this source')
    .action((options) =>
      withContext(async (context) => {
        const { source } = options;
        if (source !== undefined && context.sources.findAny(source) === null) throw noSuchSource(source);
        const cancelled = await cancelSyncJobs(context.jobs, source);
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
