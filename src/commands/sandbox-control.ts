import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { knownEvents } from '../core/vocabulary.ts';
import type { TriggerInput } from '../sandbox/api/control.ts';
import type { ApiKey } from '../sandbox/keys.ts';
import { type DeliveryRecord, deliveryNotes } from '../sandbox/webhooks.ts';
import {
  type CommandIo,
  type OptionsOf,
  printResult,
  tableText,
  wholeNumber,
  withJson,
  withOptions,
} from './command-io.ts';

/** An option of every command that controls a running sandbox. */
const sandboxOption = new Command().option(
  '--sandbox <url>',
  'address of the sandbox',
  httpUrl,
  'http://127.0.0.1:4010',
);

/** A request to the controls of a running sandbox (docs/sandbox.md). */
interface ControlRequest {
  /** Where the sandbox listens. */
  readonly sandbox: string;
  /** Below /_sandbox. */
  readonly path: string;
  /** Sent by POST; without it the request is a GET. */
  readonly body?: unknown;
}

/**
 * Sends a request to a running sandbox. Null if it refused or did not respond: this was reported on standard error, and
 * the exit code is 1.
 */
async function askSandbox<T>({ sandbox, path, body }: ControlRequest, io: CommandIo): Promise<T | null> {
  const answer = await fetch(new URL(`/_sandbox${path}`, sandbox), {
    ...(body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => null);
  // A response that is not JSON comes from another program on this port.
  const result = (await answer?.json().catch(() => null)) as (T & { error?: { message?: string } }) | null | undefined;
  if (answer === null || typeof result !== 'object' || result === null) {
    io.stderr.write(`No sandbox answers at ${sandbox}. Start one with \`consent-ledger sandbox\`, or use --sandbox.\n`);
    io.exitCode = 1;
    return null;
  }
  if (!answer.ok) {
    io.stderr.write(`The sandbox refused: ${result.error?.message ?? `status ${answer.status}`}\n`);
    io.exitCode = 1;
    return null;
  }
  return result;
}

/** An http or https address, as an option. */
function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('Use an http or https address.');
  return text;
}

/** Adds `sandbox deliveries`: the delivery log of a running sandbox, oldest first. */
export function registerSandboxDeliveries(sandbox: CommandUnknownOpts, io: CommandIo): void {
  const command = deliveriesCommand(sandbox);
  command.action(() => listDeliveries(command.optsWithGlobals(), io));
}

function deliveriesCommand(sandbox: CommandUnknownOpts) {
  const command = withOptions(sandbox.command('deliveries'), sandboxOption)
    .description('list what a running sandbox has delivered, oldest first')
    .option('--client <slug>', 'only this client')
    .option('--event <event>', 'only this event');
  return withJson(command);
}

async function listDeliveries(flags: OptionsOf<ReturnType<typeof deliveriesCommand>>, io: CommandIo): Promise<void> {
  const result = await askSandbox<{ deliveries: DeliveryRecord[] }>({ ...flags, path: '/deliveries' }, io);
  if (result === null) return;
  const deliveries = result.deliveries.filter(
    ({ client, event }) =>
      (flags.client === undefined || client === flags.client) && (flags.event === undefined || event === flags.event),
  );
  printResult(io, flags, { deliveries }, () => deliveriesText(deliveries, 'No such deliveries.'));
}

/** Adds `sandbox redeliver <delivery-id>`: sends a delivery of a running sandbox once more, with the same id and body. */
export function registerSandboxRedeliver(sandbox: CommandUnknownOpts, io: CommandIo): void {
  const command = redeliverCommand(sandbox);
  command.action((id) => redeliver(id, command.optsWithGlobals(), io));
}

function redeliverCommand(sandbox: CommandUnknownOpts) {
  const command = withOptions(sandbox.command('redeliver'), sandboxOption)
    .description('make a running sandbox send a delivery again, with the same bytes and id')
    .argument('<delivery-id>', 'id from `sandbox deliveries`')
    .option('--to <url>', 'which address, if it was sent to several (default: the last one)', httpUrl);
  return withJson(command);
}

async function redeliver(
  id: string,
  flags: OptionsOf<ReturnType<typeof redeliverCommand>>,
  io: CommandIo,
): Promise<void> {
  const path = `/deliveries/${encodeURIComponent(id)}/redeliver`;
  const body = flags.to === undefined ? {} : { to: flags.to };
  const delivery = await askSandbox<DeliveryRecord>({ sandbox: flags.sandbox, path, body }, io);
  if (delivery === null) return;
  printResult(io, flags, delivery, () => deliveriesText([delivery], ''));
  if (delivery.outcome !== 'accepted') io.exitCode = 1;
}

/** Deliveries as a table, one line each, with the last attempt. */
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

/** A key as transmitted by the controls. */
type Key = Omit<ApiKey, 'lastUsedAt'> & { readonly lastUsedAt: string | null };

/** Adds `sandbox keys` and `sandbox revoke <api-key>`; the service has these in its dashboard (docs/service.md §2.5). */
export function registerSandboxKeys(sandbox: CommandUnknownOpts, io: CommandIo): void {
  const list = withJson(withOptions(sandbox.command('keys'), sandboxOption)).description(
    'list the API keys of a running sandbox and their last use',
  );
  list.action(async () => {
    const flags = list.optsWithGlobals();
    const result = await askSandbox<{ keys: Key[] }>({ ...flags, path: '/keys' }, io);
    if (result !== null) printResult(io, flags, result, () => keysText(result.keys));
  });
  const revoke = withJson(withOptions(sandbox.command('revoke'), sandboxOption))
    .description('revoke an API key of a running sandbox, which then answers 401')
    .argument('<api-key>', 'key from `sandbox keys`');
  revoke.action(async (value) => {
    const flags = revoke.optsWithGlobals();
    const key = await askSandbox<Key>({ ...flags, path: '/keys/revoke', body: { key: value } }, io);
    if (key !== null) printResult(io, flags, key, () => keysText([key]));
  });
}

function keysText(keys: readonly Key[]): string {
  return tableText(
    ['clients', 'scopes', 'state', 'last used', 'key'],
    keys.map(({ clients, scopes, revoked, lastUsedAt, value }) => [
      clients.length > 3 ? `${clients.length} clients` : clients.join(', '),
      scopes.join(', '),
      revoked ? 'revoked' : 'active',
      lastUsedAt ?? 'never',
      value,
    ]),
    'No keys.',
  );
}

/** Adds `sandbox trigger <event>`: makes a running sandbox deliver an event now. */
export function registerSandboxTrigger(sandbox: CommandUnknownOpts, io: CommandIo): void {
  const command = triggerCommand(sandbox);
  // The parent command `sandbox` also has `--json` and may consume it.
  command.action((event) => trigger(event, command.optsWithGlobals(), io));
}

function triggerCommand(sandbox: CommandUnknownOpts) {
  const command = withOptions(sandbox.command('trigger'), sandboxOption)
    .description('make a running sandbox deliver an event now')
    .argument('<event>', knownEvents.join(', '))
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
  return withJson(command);
}

async function trigger(
  event: string,
  flags: OptionsOf<ReturnType<typeof triggerCommand>>,
  io: CommandIo,
): Promise<void> {
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
