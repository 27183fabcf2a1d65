import { setTimeout as sleep } from 'node:timers/promises';
import type { KnownEvent } from '../core/vocabulary.ts';
import { drawChoice } from './decisions.ts';
import type { DecisionHappening, Happening } from './happenings.ts';
import { drawMoment, takePlace } from './moment.ts';
import { mix, mulberry32, pick, pickWeighted, type Random } from './prng.ts';
import type { World } from './world.ts';

/** More a minute is refused: what one process and one receiver on the same machine can still make sense of. */
export const MOST_PER_MINUTE = 6_000;
/** Visitors of each client who may come back. */
const REMEMBERED = 500;
/** Nothing new happens while so many deliveries are under way. */
const MOST_UNDER_WAY = 200;

export interface LiveOptions {
  readonly worlds: readonly World[];
  readonly clock: () => Date;
  readonly seed: number;
  /** Happenings a minute on average, over all clients, 1 to 6,000. */
  readonly perMinute: number;
  readonly signal: AbortSignal;
  /** Numbers what is made on demand. */
  readonly nextNumber: () => number;
  /** Queues the webhooks of a happening. */
  readonly notify: (world: World, happening: Happening) => number;
  readonly underWay: () => number;
  readonly onHappening?: (world: World, happening: Happening) => void;
  /** Waits, milliseconds. Default: of the machine's clock. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** How often what happens on a site. */
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
 * Plays the sites of all clients from now on until the signal: visitors who decide and come back to change their mind or withdraw,
 * requests, scans, integrations, policies that are revised and published again. What happens is in the consent log and the list
 * of policies as well. Answers how much happened.
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
    // Visitors come independently of each other. A machine that slept does not make up for more than a second.
    due = Math.max(due + (-Math.log(1 - random()) * 60_000) / options.perMinute, clock().getTime() - started - 1_000);
    const ms = due - (clock().getTime() - started);
    if (ms > 1) await wait(ms, signal);
    while (options.underWay() >= MOST_UNDER_WAY && !signal.aborted) await wait(20, signal);
    if (signal.aborted) break;
    const world = pick(random, worlds);
    for (const happening of happen(world, known.get(world) ?? [], random, number, options)) {
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
  random: Random,
  number: number,
  { clock }: LiveOptions,
): Happening[] {
  const at = clock();
  const kind = pickWeighted(random, kinds);
  if (kind === 'revision') return revise(world, random, at);
  const returning = kind === 'return' && known.length > 0 ? Math.floor(random() * known.length) : null;
  const event = kind === 'return' ? 'consent.recorded' : kind;
  const drawn = drawMoment(world, event, number, at);
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
    const happening = drawMoment(world, event, n, at, id);
    takePlace(world, happening);
    return happening;
  });
}
