import { setTimeout as sleep } from 'node:timers/promises';
import type { KnownEvent } from '../core/vocabulary.ts';
import { drawChoice, drawPerson, visitorOf } from './decisions.ts';
import type { DecisionHappening, Happening, PolicyHappening } from './happenings.ts';
import { deriveText } from './keys.ts';
import { titleOf } from './policy-shelf.ts';
import { mix, mulberry32, pick, pickWeighted, type Random } from './prng.ts';
import { cookiesAt, countsOf, type World } from './world.ts';

/** Higher rates are refused: the most that one process and one receiver on the same machine can usefully handle. */
export const MOST_PER_MINUTE = 6_000;
/** Visitors of each client who may return. */
const REMEMBERED = 500;
/** Nothing new happens while this many deliveries are in progress. */
const MOST_UNDER_WAY = 200;

export interface LiveOptions {
  readonly worlds: readonly World[];
  readonly clock: () => Date;
  readonly seed: number;
  /** Happenings a minute on average, over all clients, 1 to 6,000. */
  readonly perMinute: number;
  readonly signal: AbortSignal;
  /** Returns the number of the next happening made on demand. */
  readonly nextNumber: () => number;
  /** Queues the webhooks of a happening. */
  readonly notify: (world: World, happening: Happening) => number;
  readonly underWay: () => number;
  readonly onHappening?: (world: World, happening: Happening) => void;
  /** Waits this many milliseconds. Default: by the machine's clock. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Relative frequencies of what happens on a site. */
const kinds: readonly (readonly [KnownEvent | 'return' | 'revision', number])[] = [
  ['consent.recorded', 800],
  ['return', 150],
  ['dsar.submitted', 20],
  ['cookie_scan.completed', 12],
  ['revision', 10],
  ['integration.connected', 4],
  ['integration.disconnected', 4],
];

/**
 * Plays the sites of all clients from now on until the signal: visitors decide, and return to change their mind or
 * withdraw; requests, scans, integrations, policies that are revised and published again. Everything also appears in
 * the consent log and the list of policies. Returns the number of happenings.
 */
export async function playLive(options: LiveOptions): Promise<number> {
  const { worlds, clock, signal, notify } = options;
  if (!(options.perMinute >= 1 && options.perMinute <= MOST_PER_MINUTE))
    throw new Error(`from 1 to ${MOST_PER_MINUTE} a minute`);
  const wait = options.wait ?? ((ms, until) => sleep(ms, undefined, { signal: until }).catch(() => undefined));
  const known = new Map<World, DecisionHappening[]>(worlds.map((world) => [world, []]));
  let count = 0;
  let due = 0;
  const started = clock().getTime();
  while (!signal.aborted) {
    const number = options.nextNumber();
    const random = mulberry32(mix(options.seed ^ 0x6c697665, number));
    // Visitors arrive independently of each other. After sleeping, a machine catches up on at most one second.
    due = Math.max(due + (-Math.log(1 - random()) * 60_000) / options.perMinute, clock().getTime() - started - 1_000);
    const ms = due - (clock().getTime() - started);
    if (ms > 1) await wait(ms, signal);
    while (options.underWay() >= MOST_UNDER_WAY && !signal.aborted) await wait(20, signal);
    if (signal.aborted) break;
    const world = pick(random, worlds);
    for (const happening of happen(world, known.get(world) ?? [], { random, number }, options)) {
      if (happening.event === 'consent.recorded') takePlace(world, happening);
      notify(world, happening);
      options.onHappening?.(world, happening);
      count += 1;
    }
  }
  return count;
}

function happen(
  world: World,
  known: DecisionHappening[],
  { random, number }: { readonly random: Random; readonly number: number },
  { clock }: LiveOptions,
): Happening[] {
  const at = clock();
  const kind = pickWeighted(random, kinds);
  if (kind === 'revision') return revise(world, random, at);
  const returning = kind === 'return' && known.length > 0 ? Math.floor(random() * known.length) : null;
  const event = kind === 'return' ? 'consent.recorded' : kind;
  const drawn = drawMoment(world, event, { n: number, at });
  if (drawn.event !== 'consent.recorded') return [drawn];
  const before = returning === null ? undefined : known[returning];
  if (before === undefined || returning === null) {
    known.push(drawn);
    if (known.length > REMEMBERED) known.shift();
    return [drawn];
  }
  const { visitorHash, bannerId, region, language } = before;
  const changed = { ...drawn, visitorHash, bannerId, region, language, ...drawChoice(random, before.choice) };
  known[returning] = changed;
  return [changed];
}

/** A published policy gets a new version, which is published. */
function revise(world: World, random: Random, at: Date): Happening[] {
  const listed = world.shelf.list(at);
  if (listed.length === 0) return [];
  const { id } = pick(random, listed);
  return (['policy.updated', 'policy.published'] as const).map((event, n) => {
    const happening = drawMoment(world, event, { n, at, policyId: id });
    takePlace(world, happening);
    return happening;
  });
}

/**
 * The n-th happening of a kind made on demand, at `at`, for the named policy. The same world, kind, number and time
 * give the same happening. Errors: the client has no such policy.
 */
export function drawMoment(
  world: World,
  event: KnownEvent,
  { n, at, policyId }: { readonly n: number; readonly at: Date; readonly policyId?: string | undefined },
): Happening {
  const { client, shelf } = world;
  const random = mulberry32(mix(client.seed ^ 0x6d6f6d65, n));
  const id = (prefix: string): string => `${prefix}_${deriveText(16, client.seed, 'moment', event, n)}`;
  switch (event) {
    case 'consent.recorded': {
      const visitor = visitorOf(client, 2_000_000_000 + n);
      const policy = shelf.list(at).find(({ policyType }) => policyType === 'cookie-policy');
      return {
        event,
        recordId: id('cr'),
        visitorHash: visitor.hash,
        bannerId: pick(random, client.banners).id,
        ...drawChoice(random, null),
        region: visitor.region,
        language: visitor.language,
        policyId: policy?.id ?? null,
        policyVersion: policy?.version ?? null,
        domain: client.domain,
        expiresAt: new Date(at.getTime() + 365 * 86_400_000),
        at,
      };
    }
    case 'dsar.submitted': {
      const person = drawPerson(client.seed, 950_000_000 + n);
      const kind = pick(random, ['access', 'erasure', 'opt-out', 'portability'] as const);
      const jurisdiction = kind === 'opt-out' ? 'US-CA' : client.home;
      return {
        event,
        requestId: id('dsr'),
        kind,
        ...person,
        visitorHash: null,
        jurisdiction,
        language: 'en',
        message: 'Made by the sandbox.',
        at,
      };
    }
    case 'cookie_scan.completed':
      return {
        event,
        scanId: id('scn'),
        domain: client.domain,
        pages: 40,
        ...countsOf(cookiesAt(client.domain, n + 4)),
        at,
      };
    case 'integration.connected':
    case 'integration.disconnected':
      return {
        event,
        // Always the same, so that what is connected can be lost.
        integrationId: `int_${deriveText(12, client.seed, 'integration', 'newsletter')}`,
        ...{ name: 'newsletter', site: `https://${client.domain}`, at },
        ...(event === 'integration.disconnected' ? { reason: 'The API key was rejected (401 Unauthorized).' } : {}),
      };
    default:
      return policyMoment(world, event, { newId: id('pol'), at, wanted: policyId });
  }
}

/** Errors: none of the client's policies fits. */
function policyMoment(
  { client, shelf }: World,
  event: PolicyHappening['event'],
  { newId, at, wanted }: { readonly newId: string; readonly at: Date; readonly wanted: string | undefined },
): PolicyHappening {
  const known = wanted === undefined ? shelf.candidate(event, at) : shelf.find(wanted, at);
  if (known === null && event !== 'policy.created')
    throw new Error(
      `the client ${client.slug} has no ${wanted === undefined ? 'published policy' : `policy ${wanted}`}`,
    );
  if (known !== null && event !== 'policy.created') {
    const version = known.version + (event === 'policy.updated' ? 1 : 0);
    return shelf.happening({ ...known, version }, event, at);
  }
  return {
    event,
    policyId: wanted ?? newId,
    policyType: 'disclaimer',
    title: titleOf('disclaimer'),
    brandName: client.name,
    jurisdiction: client.home,
    language: client.language,
    userId: client.userId,
    version: 1,
    at,
  };
}

/** Applies a happening to the service's later responses. Scans, requests and integrations appear in no response. */
export function takePlace(world: World, happening: Happening): void {
  switch (happening.event) {
    case 'consent.recorded':
      return world.log.record(happening);
    case 'policy.created':
    case 'policy.updated':
    case 'policy.published':
    case 'policy.deleted':
      return world.shelf.apply(happening);
    default:
  }
}
