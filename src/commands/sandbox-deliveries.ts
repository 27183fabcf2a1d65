import type { Command } from 'commander';
import type { DeliveryRecord } from '../sandbox/webhooks.ts';
import { type CommandIo, printResult, tableText, withJson } from './command-io.ts';
import { askSandbox, httpUrl, withSandboxUrl } from './sandbox-control.ts';

interface DeliveriesFlags {
  readonly sandbox: string;
  readonly client?: string;
  readonly event?: string;
  readonly json?: boolean;
}

interface RedeliverFlags {
  readonly sandbox: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Adds `sandbox deliveries`: the delivery log of a running sandbox, oldest first. */
export function registerSandboxDeliveries(sandbox: Command, io: CommandIo): void {
  const command = withSandboxUrl(
    sandbox.command('deliveries').description('list what a running sandbox has delivered, oldest first'),
  )
    .option('--client <slug>', 'only this client')
    .option('--event <event>', 'only this event');
  withJson(command).action(() => listDeliveries(command.optsWithGlobals<DeliveriesFlags>(), io));
}

/** Adds `sandbox redeliver <delivery-id>`: sends a delivery of a running sandbox once more, with the same id and body. */
export function registerSandboxRedeliver(sandbox: Command, io: CommandIo): void {
  const command = withSandboxUrl(
    sandbox
      .command('redeliver')
      .description('make a running sandbox send a delivery again, with the same bytes and id')
      .argument('<delivery-id>', 'id from `sandbox deliveries`'),
  ).option('--to <url>', 'which address, if it was sent to several (default: the last one)', httpUrl);
  withJson(command).action((id: string) => redeliver(id, command.optsWithGlobals<RedeliverFlags>(), io));
}

async function listDeliveries(flags: DeliveriesFlags, io: CommandIo): Promise<void> {
  const result = await askSandbox<{ deliveries: DeliveryRecord[] }>({ ...flags, path: '/deliveries' }, io);
  if (result === null) return;
  const deliveries = result.deliveries.filter(
    ({ client, event }) =>
      (flags.client === undefined || client === flags.client) && (flags.event === undefined || event === flags.event),
  );
  printResult(io, flags, { deliveries }, () => deliveriesText(deliveries, 'No such deliveries.'));
}

async function redeliver(id: string, flags: RedeliverFlags, io: CommandIo): Promise<void> {
  const path = `/deliveries/${encodeURIComponent(id)}/redeliver`;
  const body = flags.to === undefined ? {} : { to: flags.to };
  const delivery = await askSandbox<DeliveryRecord>({ sandbox: flags.sandbox, path, body }, io);
  if (delivery === null) return;
  printResult(io, flags, delivery, () => deliveriesText([delivery], ''));
  if (delivery.outcome !== 'accepted') io.exitCode = 1;
}

/** Deliveries as a table: one line each, with its last try. */
function deliveriesText(deliveries: readonly DeliveryRecord[], none: string): string {
  return tableText(
    ['time', 'event', 'client', 'to', 'tries', 'last status', 'outcome', 'delivery'],
    deliveries.map(({ id, event, client, url, outcome, attempts }) => {
      const last = attempts.at(-1);
      return [
        last?.at ?? '',
        event,
        client,
        url,
        String(attempts.length),
        String(last?.status ?? last?.error ?? ''),
        outcome,
        id,
      ];
    }),
    none,
  );
}
