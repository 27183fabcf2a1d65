import { type Command, InvalidArgumentError, Option } from 'commander';
import { knownEvents } from '../core/vocabulary.ts';
import type { TriggerInput } from '../sandbox/api/control.ts';
import { type DeliveryRecord, deliveryNotes } from '../sandbox/webhooks.ts';
import { type CommandIo, printResult, tableText, wholeNumber, withJson } from './command-io.ts';
import { askSandbox, withSandboxUrl } from './sandbox-control.ts';

interface TriggerFlags {
  readonly sandbox: string;
  readonly client?: string;
  readonly policy?: string;
  readonly set: Readonly<Record<string, unknown>>;
  readonly to?: string;
  readonly count: number;
  readonly note?: DeliveryRecord['note'];
  readonly json?: boolean;
}

/** Adds `sandbox trigger <event>`: makes a running sandbox deliver an event now. */
export function registerSandboxTrigger(sandbox: Command, io: CommandIo): void {
  const command = withSandboxUrl(
    sandbox
      .command('trigger')
      .description('make a running sandbox deliver an event now')
      .argument('<event>', knownEvents.join(', ')),
  )
    .option('--client <slug>', 'client of the event (default: the first one)')
    .option('--policy <id>', 'policy that is updated, published or deleted (default: any suitable one)')
    .option('--set <field=value>', 'set a payload field, repeatable; JSON values are parsed', setField, {})
    .option('--to <url>', "send to this address instead of the client's endpoints")
    .option('--count <number>', 'number of deliveries', wholeNumber(1, 10_000), 1)
    .addOption(
      new Option(
        '--note <how>',
        'fault of the delivery: sent twice, a day late, badly signed, unknown event, not JSON',
      ).choices([...deliveryNotes]),
    );
  // `--json` may be taken by `sandbox`, which has it too.
  withJson(command).action((event: string) => trigger(event, command.optsWithGlobals<TriggerFlags>(), io));
}

async function trigger(event: string, flags: TriggerFlags, io: CommandIo): Promise<void> {
  const input: TriggerInput = {
    event,
    set: flags.set,
    count: flags.count,
    ...(flags.client === undefined ? {} : { client: flags.client }),
    ...(flags.policy === undefined ? {} : { happening: { policyId: flags.policy } }),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(flags.note === undefined ? {} : { note: flags.note }),
  };
  const result = await askSandbox<{ deliveries: DeliveryRecord[] }>(
    { sandbox: flags.sandbox, path: '/trigger', body: input },
    io,
  );
  if (result === null) return;
  const { deliveries } = result;
  printResult(io, flags, result, () =>
    tableText(
      ['delivery', 'event', 'to', 'outcome', 'answers'],
      deliveries.map(({ id, event: name, url, outcome, attempts }) => [
        id,
        name,
        url,
        outcome,
        attempts.map(({ status, error }) => status ?? error).join(', '),
      ]),
      'Nothing was delivered.',
    ),
  );
  if (deliveries.some(({ outcome }) => outcome !== 'accepted')) io.exitCode = 1;
}

function setField(text: string, before: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const [, field, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (field === undefined || value === undefined) throw new InvalidArgumentError('Use field=value.');
  return { ...before, [field]: jsonOrText(value) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
