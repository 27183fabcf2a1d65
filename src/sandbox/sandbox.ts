import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type KnownEvent, knownEvents } from '../core/vocabulary.ts';
import { createApp } from './api/app.ts';
import {
  type Agency,
  agencyKeys,
  type ClientSpec,
  createAgency,
  createClient,
  keysOf,
  type SandboxClient,
  specsFor,
} from './clients.ts';
import {
  address,
  composeBytes,
  composeHappening,
  createWebhookFaults,
  LATE_MS,
  oddBody,
  type Parcel,
  type SendOptions,
  subscribers,
} from './compose.ts';
import { MOST_RECORDED } from './consent-log.ts';
import type { Dialect } from './dialect.ts';
import { chooseDialect, type DialectChoice, type DialectOverrides, deliveryIdOf, renderBody } from './dialects.ts';
import { createFaults, type FaultInput, type Faults } from './faults.ts';
import type { Happening } from './happenings.ts';
import { createCursors, deriveText } from './keys.ts';
import { createLimits, type LimitOptions, type LimitValues, limitValues } from './limits.ts';
import { drawMoment, type LiveOptions, playLive, takePlace } from './live.ts';
import { type ClientTraffic, type PlayOptions, playClient } from './play.ts';
import { createQuota, type Quota } from './policy-shelf.ts';
import type { ClientState, SandboxState } from './state.ts';
import { createOutbox, type DeliveryRecord, type Outbox } from './webhooks.ts';
import { createWorld, type World } from './world.ts';

const DAY = 86_400_000;

export interface SandboxOptions {
  /** Everything that looks random follows from this, the clock and the options. */
  readonly seed: number;
  readonly clock: () => Date;
  /** The number of clients, or their specifications. */
  readonly clients: number | readonly ClientSpec[];
  /** Start of the window of traffic and consent rows. Default: 30 days before the clock. */
  readonly startedAt?: Date;
  /** End of the window, exclusive. Default: the clock at creation. Rows later than the clock do not exist yet. */
  readonly endsAt?: Date;
  /** Consent decisions per client in the window. Default 400. */
  readonly consentRows?: number;
  /** Default `plain`; `mixed` draws every open choice from the seed. */
  readonly dialect?: DialectChoice;
  /** Choices set independently of the dialect. */
  readonly overrides?: DialectOverrides;
  /** Generations per client before the quota is used up. Default 500. */
  readonly quota?: number;
  /** Makes the clients those of one agency: keys for all of them, and one shared quota. */
  readonly agency?: { readonly quota: number };
  /** Rates per key; default: the documented ones. */
  readonly limits?: LimitOptions;
  /** Duration of a generation, milliseconds. Default 0; the service takes up to 120,000. */
  readonly generateMs?: number;
  /** Waits this many milliseconds of the sandbox's clock. Default: the machine's. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Waits between attempts of a delivery, milliseconds. Default 500, 2,000, 8,000. */
  readonly backoffMs?: readonly number[];
  /** How long an endpoint may take, milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** How many decisions made while it runs are kept for all clients, at least 100 each. Default 200,000. */
  readonly keepRecorded?: number;
  /** Faults from the start; `sandbox.faults` changes them later. */
  readonly faults?: readonly FaultInput[];
  /** The state of an earlier run, whose window is used. */
  readonly state?: SandboxState;
  /** Called whenever the result of `state()` may have changed. */
  readonly changed?: () => void;
  /** Public origin. Default: where the sandbox listens. */
  readonly siteUrl?: string;
}

/** A running stand-in for the service. */
export interface Sandbox {
  readonly app: FastifyInstance;
  readonly clients: readonly SandboxClient[];
  /** Set when the clients are those of an agency. */
  readonly agency: Agency | null;
  readonly worlds: readonly World[];
  readonly dialect: Dialect;
  /** The settings of the sandbox. */
  readonly settings: {
    readonly seed: number;
    readonly quota: number;
    readonly generateMs: number;
    readonly limits: LimitValues;
  };
  readonly window: { readonly start: Date; readonly end: Date };
  readonly outbox: Outbox;
  /** Faults on demand. */
  readonly faults: Faults;
  /** What was added since the beginning, for `SandboxOptions.state`. */
  state(): SandboxState;
  /** API root ending in /api/v1. Needs `listen` or the option `siteUrl`. */
  baseUrl(): string;
  siteUrl(): string;
  listen(options?: {
    readonly port?: number;
    readonly host?: string;
  }): Promise<{ readonly baseUrl: string; readonly siteUrl: string }>;
  /**
   * Makes one event happen now and delivers it to the client's endpoints (or `url`), with retries. Later answers of the
   * API (the consent log, the list of policies) include it. Throws if there is no such client, event, policy or
   * address.
   */
  send(client: string, event: string, options?: SendOptions): Promise<DeliveryRecord[]>;
  /**
   * Plays the traffic of a range (default: the whole window) for all clients at once. The same sandbox and range give
   * the same bytes.
   */
  playTraffic(options?: Partial<PlayOptions>): Promise<ClientTraffic[]>;
  /** Plays the sites from now on until the signal, with `perMinute` happenings a minute on average; returns their number. */
  playLive(
    options: Pick<LiveOptions, 'perMinute' | 'signal'> & Partial<Pick<LiveOptions, 'onHappening' | 'wait'>>,
  ): Promise<number>;
  /** Abandons deliveries in progress and closes the server. */
  close(): Promise<void>;
}

/** Builds a sandbox that does not listen yet. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const dialect = chooseDialect(options.dialect ?? 'plain', options.seed, {
    ...options.overrides,
    ...(options.limits?.headers === undefined ? {} : { limitHeaders: options.limits.headers }),
  });
  const { state } = options;
  const end = options.endsAt ?? options.clock();
  const window = state?.window ?? { start: options.startedAt ?? new Date(end.getTime() - 30 * DAY), end };
  const faults = createFaults(options.seed, options.faults);
  const agency = options.agency === undefined ? null : createAgency(options.seed, options.agency.quota);
  const pool = agency === null ? null : createQuota(agency.quota, Object.values(state?.clients ?? {})[0]?.used);
  const worlds = createWorlds(options, { window, pool, faults });
  const clients = worlds.map(({ client }) => client);
  const outbox = createOutbox({
    clock: options.clock,
    backoffMs: options.backoffMs ?? [500, 2_000, 8_000],
    timeoutMs: options.timeoutMs ?? 10_000,
    remember: 10_000,
    disturb: createWebhookFaults(faults, clients),
  });
  const closing = new AbortController();
  const count = { made: state?.made ?? 0, batches: state?.batches ?? 0 };
  const changed = options.changed ?? ((): void => undefined);
  const nextId = (): string => deliveryIdOf(dialect, options.seed, 'live', (count.made += 1));
  const siteUrl = (): string => {
    if (options.siteUrl !== undefined) return options.siteUrl;
    const at = app.server.address() as AddressInfo | null;
    if (at === null) throw new Error('the sandbox is not listening yet');
    return `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`;
  };
  const notify = ({ client }: World, happening: Happening): number => {
    const urls = subscribers(client, happening.event);
    for (const url of urls)
      outbox.enqueue(address(composeHappening(client, dialect, { happening, id: nextId() }), client, url));
    return urls.length;
  };
  const keys = [...clients.flatMap(keysOf), ...(agency === null ? [] : agencyKeys(agency, clients))];
  for (const key of keys) if (state?.revoked.includes(key.value)) key.revoked = true;
  const app: FastifyInstance = createApp({
    worlds,
    keys,
    clock: options.clock,
    dialect,
    cursors: createCursors(deriveText(32, options.seed, 'cursors')),
    siteUrl,
    generateMs: options.generateMs ?? 0,
    wait: options.wait ?? ((ms) => sleep(ms, undefined, { signal: closing.signal })),
    faults,
    limits: createLimits(options.limits ?? {}, dialect.limitHeaders),
    notify,
    changed,
    nextBatch: () => (count.batches += 1),
    clients,
    outbox,
    send: (slug, event, choices) => send(slug, event, choices),
  });

  const send: Sandbox['send'] = async (slug, event, choices = {}) => {
    const known = knownEvents.find((one) => one === event);
    const world = worlds.find(({ client }) => client.slug === slug);
    if (world === undefined) throw new Error(`unknown client: ${slug}`);
    if (known === undefined) throw new Error(`unknown event: ${event}; use one of ${knownEvents.join(', ')}`);
    const urls = choices.url === undefined ? subscribers(world.client, known) : [choices.url];
    if (urls.length === 0) throw new Error(`the client ${slug} has no endpoint for ${event}`);
    const id = nextId();
    const parcel = makeParcel({ world, dialect, now: options.clock(), made: count.made }, known, id, choices);
    changed();
    const sent = await Promise.all(urls.map((url) => deliver(outbox, parcel, world.client, url)));
    return sent.flat();
  };

  return {
    app,
    clients,
    agency,
    worlds,
    dialect,
    settings: {
      seed: options.seed,
      quota: agency?.quota ?? options.quota ?? 500,
      generateMs: options.generateMs ?? 0,
      limits: limitValues(options.limits ?? {}),
    },
    window,
    outbox,
    faults,
    state: () => ({
      version: 1,
      seed: options.seed,
      savedAt: options.clock(),
      window,
      ...count,
      revoked: keys.flatMap(({ value, revoked }) => (revoked ? [value] : [])),
      clients: Object.fromEntries(worlds.map((world) => [world.client.slug, stateOf(world)])),
    }),
    baseUrl: () => `${siteUrl()}/api/v1`,
    siteUrl,
    listen: async ({ port = 0, host = '127.0.0.1' } = {}) => {
      await app.listen({ port, host });
      return { baseUrl: `${siteUrl()}/api/v1`, siteUrl: siteUrl() };
    },
    send,
    playTraffic: (range = {}) =>
      Promise.all(
        worlds.map((world) => playClient(world, dialect, outbox, { from: window.start, to: window.end, ...range })),
      ),
    playLive: (given) =>
      playLive({
        ...given,
        signal: AbortSignal.any([given.signal, closing.signal]),
        worlds,
        clock: options.clock,
        seed: options.seed,
        nextNumber: () => (count.made += 1),
        notify: (world, happening) => {
          changed();
          return notify(world, happening);
        },
        underWay: outbox.underWay,
      }),
    close: async () => {
      closing.abort();
      await outbox.close();
      await app.close();
    },
  };
}

/** Delivers an event to one address: twice if it is to be a repeat. */
async function deliver(outbox: Outbox, parcel: Parcel, client: SandboxClient, url: string): Promise<DeliveryRecord[]> {
  const delivery = address(parcel, client, url);
  if (parcel.note !== 'repeat') return [await outbox.deliver(delivery)];
  return [await outbox.deliver({ ...delivery, note: 'sound' }), await outbox.deliver(delivery)];
}

/** The clients with their worlds, newly drawn or restored from a saved state. */
function createWorlds(
  options: SandboxOptions,
  { window, pool, faults }: { window: Sandbox['window']; pool: Quota | null; faults: Faults },
): readonly World[] {
  const { state } = options;
  const specs = typeof options.clients === 'number' ? specsFor(options.clients) : options.clients;
  return specs.map((spec, position) => {
    const before = state?.clients[spec.slug];
    const world = createWorld({
      client: createClient(options.seed, spec),
      position,
      window,
      rows: options.consentRows ?? 400,
      quota: pool ?? createQuota(options.quota ?? 500, before?.used),
      rowDelay: faults.rowDelay,
      keep: Math.max(100, Math.floor((options.keepRecorded ?? MOST_RECORDED) / specs.length)),
    });
    if (state !== undefined && before !== undefined) restoreWorld(world, before, state.savedAt);
    return world;
  });
}

/**
 * The delivery of an event made on demand. The event takes place at the service, unless it is sent as someone else's or
 * is not an event.
 */
function makeParcel(
  { world, dialect, now, made }: { world: World; dialect: Dialect; now: Date; made: number },
  event: KnownEvent,
  id: string,
  choices: SendOptions,
): Parcel {
  const { client } = world;
  const { note = 'sound', set } = choices;
  const compose = (name: string, body: Buffer): Parcel =>
    composeBytes(client, dialect, { event: name, body: set === undefined ? body : setFields(body, set), id, note });
  if (note === 'not-json' || note === 'unknown-event') {
    const odd = oddBody(note, client);
    return note === 'not-json'
      ? composeBytes(client, dialect, { event: odd.event, body: odd.body, id, note })
      : compose(odd.event, odd.body);
  }
  const at = new Date(now.getTime() - (note === 'late' ? LATE_MS : 0));
  const policyId = choices.happening?.['policyId'];
  const drawn = drawMoment(world, event, {
    n: made,
    at,
    policyId: typeof policyId === 'string' ? policyId : undefined,
  });
  const happening = { ...drawn, ...choices.happening };
  if (note !== 'forged' && note !== 'unsigned') takePlace(world, happening);
  return compose(event, renderBody(dialect, happening, id));
}

function stateOf({ client, shelf, log }: World): ClientState {
  const { generated, policies, deleted } = shelf.changes();
  return {
    generated,
    deleted: [...deleted],
    used: shelf.used(),
    policies: policies.map((policy) => ({ ...policy, clauses: [...policy.clauses] })),
    decisions: [...log.recorded()],
    endpoints: client.endpoints.map(({ url, events }) => ({ url, events: events === 'all' ? events : [...events] })),
    account: client.account,
  };
}

function restoreWorld({ client, shelf, log }: World, before: ClientState, at: Date): void {
  shelf.restore(before, at);
  for (const decision of before.decisions) log.record(decision);
  client.endpoints.splice(0, client.endpoints.length, ...before.endpoints);
  client.account = before.account;
}

function setFields(body: Buffer, set: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify({ ...(JSON.parse(body.toString('utf8')) as object), ...set }), 'utf8');
}
