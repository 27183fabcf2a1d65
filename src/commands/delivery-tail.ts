import { setTimeout as delay } from 'node:timers/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { loadDeliveries, type StoredDelivery } from '../attention/deliveries.ts';
import type { Context } from '../context.ts';
import type { RejectedItem } from '../rejected/ring.ts';
import { type CommandIo, printable, timeText, wholeNumberFrom } from './command-io.ts';
import { findSource, withContext } from './run-context.ts';

const LOOK_MS = 1000;
const PAGE = 500;

/** `delivery tail`: deliveries as they arrive, for those who set up a source. */
export function registerDeliveryTail(delivery: CommandUnknownOpts, io: CommandIo): void {
  delivery
    .command('tail')
    .description('show the last deliveries, then each new one as it arrives, refused ones too, until Ctrl-C')
    .option('--source <slug>', 'only this source')
    .option('--event <name>', 'only this event; leaves out refused deliveries, whose event is unknown')
    .option('--lines <number>', 'number of earlier deliveries to show first', wholeNumberFrom(0), 10)
    .option('--json', 'print one JSON object on each line')
    .action((options) =>
      withContext(async (context) => {
        const { source, event, lines, json = false } = options;
        if (source !== undefined) findSource(context, source);
        const stop = new AbortController();
        void io.untilStopped().then(() => stop.abort());
        const refusedSince = event === undefined ? refusedDeliveries(context, source) : async () => [];
        await refusedSince();
        await context.projector.catchUp();
        const { read } = context.store;
        const print = (rows: readonly Shown[]) => {
          for (const row of rows) io.stdout.write(`${json ? JSON.stringify(row) : lineOf(row)}\n`);
        };
        const filter = { source, event };
        const newest = await loadDeliveries(read, { ...filter, limit: Math.max(lines, 1) });
        let last = newest[0]?.seq ?? 0;
        print(newest.slice(0, lines).reverse());
        while (!stop.signal.aborted) {
          await context.projector.catchUp();
          const rows = await loadDeliveries(read, { ...filter, after: last, limit: PAGE });
          last = rows.at(-1)?.seq ?? last;
          print(rows);
          print(await refusedSince());
          if (rows.length < PAGE) await delay(LOOK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
        }
      }),
    );
}

type Shown = StoredDelivery | (RejectedItem & { readonly refused: true });

/** What was refused since the last call, oldest first. */
function refusedDeliveries({ rejected }: Pick<Context, 'rejected'>, source: string | undefined) {
  let last = 0;
  return async () => {
    const kept = await rejected.list(source === undefined ? { limit: PAGE } : { source, limit: PAGE });
    const fresh = kept.filter(({ id }) => id > last).sort((a, b) => a.id - b.id);
    last = fresh.at(-1)?.id ?? last;
    return fresh.map((item) => ({ ...item, refused: true as const }));
  };
}

function lineOf(row: Shown): string {
  const cells =
    'refused' in row
      ? [timeText(row.receivedAt), 'refused', row.source, row.reason, `${row.bytes} bytes`, `from ${row.address}`]
      : [
          timeText(row.receivedAt),
          String(row.seq),
          row.source,
          row.event ?? '–',
          row.verdict,
          row.outcome,
          `${row.bytes} bytes`,
          ...(row.note === null ? [] : [row.note]),
        ];
  return cells.map(printable).join('  ');
}
