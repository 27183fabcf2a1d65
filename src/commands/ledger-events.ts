import { once } from 'node:events';
import { hostname } from 'node:os';
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { asciiJson, type LedgerEvent, octetCounted, readEvents, syslogLine } from '../ledger/events.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import { type CommandIo, counted, timeOf, wholeNumberFrom, withJson } from './command-io.ts';
import { findSource, withContext } from './run-context.ts';

/** `ledger events`: every entry's metadata, for a SIEM. */
export function registerLedgerEvents(ledger: CommandUnknownOpts, io: CommandIo): void {
  withJson(ledger.command('events'))
    .description('write the metadata of every entry, without content or names, as JSON lines or syslog, for a SIEM')
    .option('--after <entry>', 'start after this entry, the last one of the previous run', wholeNumberFrom(0), 0)
    .option('--limit <number>', 'maximum number of entries', wholeNumberFrom(1))
    .option('--source <slug>', 'only this source')
    .option('--event <name>', 'only this documented event, action or call, for example session.refused')
    .option('--since <time>', 'only entries received since this time: ISO 8601, or YYYY-MM-DD in TIME_ZONE')
    .addOption(
      new Option(
        '--format <format>',
        'one JSON object on each line, one message of RFC 5424 on each line, or such messages framed for TCP and TLS (octet counting, RFC 6587)',
      )
        .choices(['jsonl', 'syslog', 'syslog-framed'] as const)
        .default('jsonl' as const),
    )
    .addHelpText(
      'after',
      '\nThe last line on standard error says which entry to continue after. With --json the events are the list of one document.',
    )
    .action((options) =>
      withContext(async (context) => {
        const { after, limit = Number.POSITIVE_INFINITY, source, event: name, format, json } = options;
        const since = options.since === undefined ? '' : timeOf(options.since, '--since', context.config.timeZone);
        const isWanted = (event: LedgerEvent) =>
          (name === undefined || event.name === name) && event.receivedAt >= since;
        if (source !== undefined) findSource(context, source);
        const { read } = context.store;
        await context.projector.catchUp();
        const host = hostname();
        let [written, last] = [0, after];
        const write = async (text: string) => {
          if (!io.stdout.write(text)) await once(io.stdout, 'drain');
        };
        if (json) await write('{"events":[');
        for await (const page of readEvents(read, { after, upTo: await lastSeq(read), source })) {
          const some = page.filter(isWanted).slice(0, limit - written);
          const lines = some.map((event) => (json || format === 'jsonl' ? asciiJson(event) : syslogLine(event, host)));
          if (json) await write(`${written > 0 && lines.length > 0 ? ',' : ''}${lines.join(',\n')}`);
          else if (format === 'syslog-framed') await write(lines.map(octetCounted).join(''));
          else await write(lines.map((line) => `${line}\n`).join(''));
          written += some.length;
          // Skipped entries are not read again either.
          last = (written >= limit ? some : page).at(-1)?.seq ?? last;
          if (written >= limit) break;
        }
        if (json) await write(`],"last":${last}}\n`);
        else io.stderr.write(`${counted(written, 'event')}; continue with --after ${last}\n`);
      }),
    );
}
