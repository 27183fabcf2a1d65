import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { UsageError } from '../core/errors.ts';
import { errorForms, listForms, publishBodies } from '../sandbox/dialect.ts';
import { describeDialect, dialectChoices } from '../sandbox/dialects.ts';
import { type FaultInput, faultSchema, isScenarioName, type ScenarioName, scenarios } from '../sandbox/faults.ts';
import { limitHeaderForms, OTHERS_PER_MINUTE } from '../sandbox/limits.ts';
import { MOST_PER_MINUTE } from '../sandbox/live.ts';
import type { ClientTraffic } from '../sandbox/play.ts';
import type { StartedSandbox, StartRow } from '../sandbox/start.ts';
import { StateFileError } from '../sandbox/state.ts';
import {
  type CommandIo,
  counted,
  createProgress,
  type OptionsOf,
  printResult,
  tableText,
  wholeNumber,
  withJson,
} from './command-io.ts';
import {
  registerSandboxDeliveries,
  registerSandboxKeys,
  registerSandboxRedeliver,
  registerSandboxTrigger,
} from './sandbox-control.ts';

/** Adds `sandbox`: a stand-in for the service on a local port, until it is interrupted. */
export function registerSandbox(program: CommandUnknownOpts, io: CommandIo): void {
  const command = sandboxCommand(program);
  command.action((flags) => runSandbox(flags, io));
  registerSandboxTrigger(command, io);
  registerSandboxDeliveries(command, io);
  registerSandboxRedeliver(command, io);
  registerSandboxKeys(command, io);
}

function sandboxCommand(program: CommandUnknownOpts) {
  const command = program
    .command('sandbox')
    .description('simulate the service for tests: API, consent logs, signed webhooks')
    .option('--port <number>', 'port to listen on; 0 for any free port', wholeNumber(0, 65_535), 4010)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <number>', 'seed of all random values', wholeNumber(0, 4_294_967_295), 1)
    .option('--clients <number>', 'number of clients of the service to simulate', wholeNumber(1, 1000), 2)
    .option('--rows <number>', 'consent decisions per client in the last 30 days', wholeNumber(0, 100_000_000), 400)
    .option('--quota <number>', 'number of generations the plan allows', wholeNumber(0, 1_000_000), 500)
    .option('--agency', 'clients belong to one agency: shared API keys and one quota')
    .option('--generate-ms <number>', 'duration of a generation in milliseconds', wholeNumber(0, 600_000), 0)
    .option(
      '--other-limit <number>',
      'requests per minute and key for endpoints without a documented limit; 0 for no limit',
      wholeNumber(0, 1_000_000),
      OTHERS_PER_MINUTE,
    )
    .addOption(
      new Option('--dialect <name>', 'form of everything that is not documented; mixed chooses each form by the seed')
        .choices([...dialectChoices])
        .default('plain'),
    )
    .addOption(
      new Option(
        '--list-form <form>',
        'GET /policies as {count, policies} or {data, next_cursor} (default: by dialect)',
      ).choices([...listForms]),
    )
    .addOption(
      new Option('--rate-limit-headers <form>', 'spelling of the rate limit headers (default: by dialect)').choices([
        ...limitHeaderForms,
      ]),
    )
    .addOption(
      new Option('--error-form <form>', 'form of error responses (default: by dialect)').choices([...errorForms]),
    )
    .addOption(
      new Option(
        '--publish-body <how>',
        'whether publishing requires a JSON object as body (default: by dialect)',
      ).choices([...publishBodies]),
    )
    .option('--state <file>', 'keep everything generated, published and recorded in this file across restarts')
    .option(
      '--traffic-to <url>',
      'send a month of webhooks to this address, then those of --traffic; {client} is replaced by the slug, which is also appended after /webhooks',
      httpUrl,
    )
    .option(
      '--traffic [per-minute]',
      'keep producing visitors, requests, scans and policy changes, 60 per minute by default',
      wholeNumber(1, MOST_PER_MINUTE),
    )
    .addOption(
      new Option('--scenario <name>', 'set of faults')
        .choices(Object.keys(scenarios))
        .default('calm')
        .argParser(scenarioName),
    )
    .addOption(
      new Option('--fault <name:key=value,…>', 'single fault, repeatable, e.g. server-error:rate=0.1,on=consent-logs')
        .default([], 'none')
        .argParser(oneFault),
    );
  return withJson(command);
}

type SandboxFlags = OptionsOf<ReturnType<typeof sandboxCommand>>;

/** Starts the sandbox, plays the requested traffic, and ends when the process is interrupted. */
async function runSandbox(flags: SandboxFlags, io: CommandIo): Promise<void> {
  const stop = new AbortController();
  const started = await start(flags);
  // Abandons deliveries in flight at once, including waits between retries.
  const stopped = io.untilStopped().then(async () => {
    stop.abort();
    await started.sandbox.outbox.close();
  });
  try {
    if (flags.json !== true) io.stdout.write(`${startText(started.rows)}\n`);
    const traffic = flags.trafficTo === undefined ? null : await play(started, flags.trafficTo, io, stop.signal);
    if (flags.json === true) printResult(io, flags, asJson(started, traffic), () => '');
    if (!stop.signal.aborted) {
      io.stderr.write('The sandbox is serving. Press Ctrl-C to stop.\n');
      if (flags.traffic !== undefined)
        await goOn(started, flags.traffic === true ? 60 : flags.traffic, io, stop.signal);
      await stopped;
    }
  } finally {
    await started.sandbox.close();
    io.stderr.write('The sandbox has stopped.\n');
  }
}

async function start(flags: SandboxFlags): Promise<StartedSandbox> {
  // Imported here: it loads a web server, which no other command needs.
  const { startSandbox } = await import('../sandbox/start.ts');
  // A full hour, so that a restart within the same hour gives the same result.
  const now = Date.now();
  try {
    return await startSandbox({
      seed: flags.seed,
      clock: () => new Date(),
      clients: flags.clients,
      endsAt: new Date(now - (now % 3_600_000)),
      consentRows: flags.rows,
      quota: flags.quota,
      generateMs: flags.generateMs,
      ...(flags.agency === true ? { agency: { quota: flags.quota } } : {}),
      limits: { otherPerMinute: flags.otherLimit === 0 ? null : flags.otherLimit },
      dialect: flags.dialect,
      overrides: {
        ...(flags.listForm === undefined ? {} : { list: flags.listForm }),
        ...(flags.rateLimitHeaders === undefined ? {} : { limitHeaders: flags.rateLimitHeaders }),
        ...(flags.errorForm === undefined ? {} : { errors: flags.errorForm }),
        ...(flags.publishBody === undefined ? {} : { publishBody: flags.publishBody }),
      },
      faults: [...scenarios[flags.scenario], ...flags.fault],
      port: flags.port,
      host: flags.host,
      ...(flags.state === undefined ? {} : { stateFile: flags.state }),
      ...(flags.trafficTo === undefined ? {} : { webhookUrl: flags.trafficTo }),
    });
  } catch (error) {
    if (error instanceof StateFileError) throw new UsageError([error.message]);
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EADDRINUSE')
      throw new UsageError([`Port ${flags.port} is in use. Choose another with --port, or 0 for any free port.`]);
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES')
      throw new UsageError([`Cannot listen on ${flags.host}:${flags.port} (${code}).`]);
    throw error;
  }
}

async function goOn({ sandbox }: StartedSandbox, perMinute: number, io: CommandIo, signal: AbortSignal): Promise<void> {
  io.stderr.write(`Live traffic: ${perMinute} events per minute on average.\n`);
  const count = await sandbox.playLive({ perMinute, signal });
  io.stderr.write(`${counted(count, 'live event')} happened.\n`);
}

async function play(
  { sandbox }: StartedSandbox,
  url: string,
  io: CommandIo,
  signal: AbortSignal,
): Promise<ClientTraffic[]> {
  io.stderr.write(`Playing a month of traffic to ${url}\n`);
  const progress = createProgress(io, 'deliveries sent');
  let sent = 0;
  const traffic = await sandbox.playTraffic({
    signal,
    onDelivery: () => {
      sent += 1;
      progress.report(sent, null);
    },
  });
  progress.end();
  for (const one of traffic) io.stderr.write(`${trafficText(one)}\n`);
  return traffic;
}

function trafficText(one: ClientTraffic): string {
  const { lost, conflicts, oldSecret } = one.faults;
  const sent = `${counted(one.sent, 'delivery', 'deliveries')}, ${one.accepted} accepted, ${one.refused} refused, ${one.unreachable} without answer`;
  const toFind = `${counted(lost.length, 'lost webhook')}, ${counted(conflicts.length, 'contradicting row')}, ${oldSecret.length} signed with the old secret`;
  return `${one.client}: ${sent}; to find: ${toFind}${one.stopped === null ? '' : `; stopped: ${one.stopped}`}`;
}

function startText(rows: readonly StartRow[]): string {
  return tableText(
    ['client', 'what', 'value'],
    rows.map(({ client, what, value }, index) => [
      client === null || client === rows[index - 1]?.client ? '' : client,
      what,
      value,
    ]),
    'nothing',
  );
}

function asJson({ sandbox, baseUrl, siteUrl }: StartedSandbox, traffic: ClientTraffic[] | null): unknown {
  return {
    baseUrl,
    siteUrl,
    mcpUrl: `${siteUrl}/api/mcp`,
    ...sandbox.settings,
    dialect: sandbox.dialect.name,
    choices: Object.fromEntries(describeDialect(sandbox.dialect)),
    faults: sandbox.faults.list(),
    agency: sandbox.agency,
    window: sandbox.window,
    clients: sandbox.worlds.map(({ client: { seed: _seed, ...client }, decisions, events }) => ({
      ...client,
      loaded: { decisions: decisions.total, otherEvents: events.length },
    })),
    traffic,
  };
}

function httpUrl(text: string): string {
  const tried = text.replaceAll('{client}', 'client');
  if (!URL.canParse(tried) || !/^https?:$/.test(new URL(tried).protocol))
    throw new InvalidArgumentError('Use an http or https address.');
  return text;
}

function scenarioName(text: string): ScenarioName {
  if (!isScenarioName(text)) throw new InvalidArgumentError(`Choose one of ${Object.keys(scenarios).join(', ')}.`);
  return text;
}

/** `name:key=value,key=value`; numbers, true, false and null are parsed as such. */
function oneFault(text: string, before: readonly FaultInput[]): FaultInput[] {
  const [name = '', ...rest] = text.split(':');
  const pairs = rest
    .join(':')
    .split(',')
    .filter((pair) => pair !== '');
  const fields = pairs.map((pair): [string, unknown] => {
    const [key = '', value = ''] = pair.split('=', 2);
    return [key, /^(-?\d+(\.\d+)?|true|false|null)$/.test(value) ? (JSON.parse(value) as unknown) : value];
  });
  const parsed = faultSchema.safeParse({ name, ...Object.fromEntries(fields) });
  if (!parsed.success) {
    const names = faultSchema.options.map(({ shape }) => shape.name.value);
    const issue = parsed.error.issues[0];
    const problem =
      issue === undefined || issue.path[0] === 'name' ? 'Unknown fault' : `${issue.path.join('.')} ${issue.message}`;
    throw new InvalidArgumentError(`${problem}. Faults: ${names.join(', ')}.`);
  }
  return [...before, parsed.data];
}
