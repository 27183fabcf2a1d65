import { setTimeout as delay } from 'node:timers/promises';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { loadDeliveries, type StoredDelivery } from '../attention/deliveries.ts';
import type { Context } from '../context/context.ts';
import { OutsideError, UsageError } from '../core/errors.ts';
import { sendAgain } from '../outside/resend.ts';
import type { RejectedItem } from '../rejected/ring.ts';
import { type CommandIo, printable, timeText, wholeNumberFrom } from './command-io.ts';
import { assertSafe, loadResend, targetOf } from './delivery-resend.ts';
import { findSource, withContext } from './run-context.ts';

const LOOK_MS = 1000;
const PAGE = 500;

/** `delivery tail`: shows deliveries as they arrive, for people who set up a source. */
export function registerDeliveryTail(delivery: CommandUnknownOpts, io: CommandIo): void {
  delivery
    .command('tail')
    .description('show the last deliveries, then each new one as it arrives, refused ones too, until Ctrl-C')
    .option('--source <slug>', 'only this source')
    .option('--event <name>', 'only this event; leaves out refused deliveries, whose event is unknown')
    .option('--lines <number>', 'number of earlier deliveries to show first', wholeNumberFrom(0), 10)
    .option('--to <url>', 'also send each of them to this address, signed again, like `delivery resend`', targetOf)
    .option('--json', 'print one JSON object on each line')
    .action((options) =>
      withContext(async (context) => {
        const { source, event, lines, to, json = false } = options;
        if (to !== undefined) assertSafe(to, context);
        if (source !== undefined) findSource(context, source);
        const stop = new AbortController();
        void io.untilStopped().then(() => stop.abort());
        const refusedSince = event === undefined ? refusedDeliveries(context, source) : async () => [];
        await refusedSince();
        await context.projector.catchUp();
        const { read } = context.store;
        const show = async (rows: readonly Shown[]) => {
          for (const row of rows) {
            if (stop.signal.aborted) return;
            const forwarded = to === undefined || 'refused' in row ? null : await forward(context, row.seq, to);
            const shown = forwarded === null ? row : { ...row, forwarded };
            io.stdout.write(
              `${json ? JSON.stringify(shown) : [lineOf(row), ...(forwarded === null ? [] : [`  → ${printable(forwarded.answered)}`])].join('')}\n`,
            );
          }
        };
        const filter = { source, event };
        const newest = await loadDeliveries(read, { ...filter, limit: Math.max(lines, 1) });
        let last = newest[0]?.seq ?? 0;
        await show(newest.slice(0, lines).reverse());
        while (!stop.signal.aborted) {
          await context.projector.catchUp();
          const rows = await loadDeliveries(read, { ...filter, after: last, limit: PAGE });
          last = rows.at(-1)?.seq ?? last;
          await show(rows);
          await show(await refusedSince());
          if (rows.length < PAGE) await delay(LOOK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
        }
      }),
    );
}

type Shown = StoredDelivery | (RejectedItem & { readonly refused: true });

const FORWARD_MS = 15_000;

/**
 * Forwards one delivery. A receiver under development may be down or respond with anything: the outcome is shown, and
 * the next delivery is sent anyway.
 */
async function forward(
  context: Pick<Context, 'store' | 'sources'>,
  seq: number,
  to: string,
): Promise<{ readonly answered: string }> {
  try {
    const { status, milliseconds } = await sendAgain(
      await loadResend(context, seq, { unsigned: false }),
      to,
      FORWARD_MS,
    );
    return { answered: `HTTP ${status} after ${milliseconds} ms` };
  } catch (error) {
    if (!(error instanceof OutsideError || error instanceof UsageError)) throw error;
    return { answered: error.message };
  }
}

/** Deliveries refused since the last call, oldest first. */
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
