import type { Fact, Reading } from '../../src/core/fact.ts';
import type { SourceOptions } from '../../src/core/source.ts';
import type { FieldName } from '../field-names.ts';
import { parseBody } from '../parse.ts';
import { readConsentRow, readDelivery } from '../read.ts';
import { isJsonObject, type JsonObject } from '../text.ts';
import { proposeEvents } from './events.ts';
import { gatherPaths, type PathFacts, type PathShape } from './paths.ts';
import { type Wanted, wantedFields } from './wanted.ts';

/** A delivery, or a row of the consent log, to look at. */
export interface DiscoverySample {
  readonly kind: 'delivery' | 'row';
  readonly body: Uint8Array;
  /** ISO 8601 UTC. */
  readonly receivedAt: string;
}

/** Where a field seems to stand. */
interface FieldProposal {
  readonly field: FieldName;
  readonly what: string;
  readonly path: string;
  /** Shape of what stands there. */
  readonly shape: string;
  /** Why: in words. */
  readonly because: readonly string[];
  /** Found in how many of the payloads before, and with the proposal. */
  readonly foundBefore: number;
  readonly foundAfter: number;
}

/** Payloads of one event. */
export interface EventDiscovery {
  /** Documented name of the event, `row` for rows of the consent log, null where it is not known. */
  readonly event: string | null;
  readonly samples: number;
  readonly paths: readonly PathShape[];
  /** Fields that are understood in every payload, and those that are in none or only in some. */
  readonly understood: readonly string[];
  readonly missing: readonly string[];
  /** Paths that nothing was read from. */
  readonly unread: readonly string[];
  readonly proposals: readonly FieldProposal[];
}

export interface Discovery {
  readonly samples: number;
  /** Bodies that are no JSON objects: nothing can be proposed for them. */
  readonly notJson: number;
  readonly events: readonly EventDiscovery[];
  /** To be set in the source's options; empty where nothing is to be changed. */
  readonly fieldNames: Readonly<Record<string, readonly string[]>>;
  readonly eventNames: Readonly<Record<string, string>>;
}

type Options = Pick<SourceOptions, 'fieldNames' | 'assumedOffset' | 'eventNames'>;

interface Parsed extends DiscoverySample {
  readonly json: JsonObject;
}

/**
 * Looks at payloads of a source and proposes where the fields stand that are not understood: by the kinds of values, by parts of names, and by
 * how often values repeat (wanted.ts). A proposal is kept only where reading the same payloads with it finds more than before. Pure; what it
 * returns holds names and shapes, no value of a payload.
 */
export function discover(samples: readonly DiscoverySample[], options: Options): Discovery {
  const parsed: Parsed[] = samples.flatMap((sample) => {
    const body = parseBody(sample.body);
    return 'json' in body && isJsonObject(body.json) ? [{ ...sample, json: body.json }] : [];
  });
  const nameless = parsed.filter(
    (one) => one.kind === 'delivery' && readWith(one, options).outcome === 'unknown-event',
  );
  const events = proposeEvents(
    nameless.map(({ json }) => json),
    options,
  );
  const named: Options = {
    ...options,
    fieldNames:
      events.path === null
        ? options.fieldNames
        : { ...options.fieldNames, event: [...new Set([events.path, ...(options.fieldNames['event'] ?? [])])] },
    eventNames: { ...options.eventNames, ...events.names },
  };
  const useful = nameless.some((one) => readWith(one, named).outcome !== 'unknown-event');
  const base = useful ? named : options;
  const groups = new Map<string | null, Parsed[]>();
  for (const one of parsed) {
    const event = one.kind === 'row' ? 'row' : knownEventOf(readWith(one, base));
    groups.set(event, [...(groups.get(event) ?? []), one]);
  }
  const fieldNames: Record<string, string[]> = {};
  if (useful && events.path !== null) fieldNames['event'] = [events.path];
  const found = [...groups].map(([event, payloads]) => {
    const one = discoverEvent(event, payloads, base);
    for (const { field, path } of one.proposals) fieldNames[field] = [...new Set([...(fieldNames[field] ?? []), path])];
    return one;
  });
  return {
    samples: samples.length,
    notJson: samples.length - parsed.length,
    events: found.sort((a, b) => b.samples - a.samples),
    fieldNames,
    eventNames: useful ? events.names : {},
  };
}

function discoverEvent(event: string | null, payloads: readonly Parsed[], options: Options): EventDiscovery {
  const paths = gatherPaths(payloads.map(({ json }) => json));
  const type = typeOf(event);
  const readings = payloads.map((one) => readWith(one, options));
  const unread = new Set(readings.flatMap((reading) => (reading.outcome === 'read' ? reading.unread : [])));
  const shapes = paths.map(({ path, present, distinct, shapes: masked }) => ({
    path,
    present,
    distinct,
    shapes: masked,
  }));
  const plain = { event, samples: payloads.length, paths: shapes, unread: [...unread].slice(0, 50) };
  if (type === null) return { ...plain, understood: [], missing: [], proposals: [] };
  const wanted = wantedFields[type];
  const count = (some: readonly Reading[], { isFound }: Wanted) =>
    some.filter((reading) => reading.outcome === 'read' && isFound(reading.fact)).length;
  const before = new Map(wanted.map((one) => [one, count(readings, one)]));
  const choices = paths.filter(({ kinds, present }) => (kinds.get('purposes') ?? 0) >= present * 0.8);
  const candidates = paths.filter(
    ({ path, mappable }) =>
      mappable &&
      !choices.some((one) => path.startsWith(`${one.path}.`)) &&
      (readings.some(({ outcome }) => outcome === 'unreadable') ||
        [...unread].some((known) => path === known || path.startsWith(`${known}.`))),
  );
  const chosen = assign(
    wanted.filter((one) => (before.get(one) ?? 0) < payloads.length),
    candidates,
    payloads.length,
  );
  // All together: a payload may be unreadable until several of them are known.
  const tried: Record<string, string[]> = {};
  for (const { wanted: one, path } of chosen) tried[one.field] = [path.path, ...(options.fieldNames[one.field] ?? [])];
  const withAll = payloads.map((one) => readWith(one, { ...options, fieldNames: { ...options.fieldNames, ...tried } }));
  const proposals = chosen.flatMap(({ wanted: one, path, because }): FieldProposal[] => {
    const [foundBefore, foundAfter] = [before.get(one) ?? 0, count(withAll, one)];
    if (foundAfter <= foundBefore) return [];
    const { field, word } = one;
    return [{ field, what: word, path: path.path, shape: path.shapes[0] ?? '', because, foundBefore, foundAfter }];
  });
  return {
    ...plain,
    understood: wanted.filter((one) => before.get(one) === payloads.length).map(({ word }) => word),
    missing: wanted.filter((one) => (before.get(one) ?? 0) < payloads.length).map(({ word }) => word),
    proposals,
  };
}

interface Chosen {
  readonly wanted: Wanted;
  readonly path: PathFacts;
  readonly score: number;
  readonly because: readonly string[];
}

/** Least points that make a proposal: the right kind of value, and something besides that speaks for it. */
const ENOUGH = 3.5;

/** Gives each field the path that speaks most for it; a path goes to one field, the strongest claim first. */
function assign(wanted: readonly Wanted[], paths: readonly PathFacts[], samples: number): readonly Chosen[] {
  const claims: Chosen[] = [];
  for (const one of wanted) {
    const fitting = paths.flatMap((path) => claimOf(one, path, samples) ?? []);
    for (const claim of fitting)
      claims.push(
        fitting.length === 1
          ? { ...claim, score: claim.score + 1.5, because: [...claim.because, 'no other field looks like one'] }
          : claim,
      );
  }
  claims.sort((a, b) => b.score - a.score || wanted.indexOf(a.wanted) - wanted.indexOf(b.wanted));
  const chosen: Chosen[] = [];
  for (const claim of claims) {
    const taken = chosen.some(
      ({ wanted: other, path }) =>
        other === claim.wanted ||
        path === claim.path ||
        path.path.startsWith(`${claim.path.path}.`) ||
        claim.path.path.startsWith(`${path.path}.`),
    );
    if (claim.score >= ENOUGH && !taken) chosen.push(claim);
  }
  return chosen;
}

function claimOf(wanted: Wanted, path: PathFacts, samples: number): Chosen | null {
  const { kinds, names, not, values } = wanted;
  const of = (kind: (typeof kinds)[number]) => path.kinds.get(kind) ?? 0;
  const place = kinds.findIndex((kind) => path.present > 0 && of(kind) >= path.present * 0.8);
  const kind = kinds[place];
  const name = normalName(path.path);
  if (kind === undefined || (not?.test(name) ?? false) || (wanted.named === true && !names.test(name))) return null;
  const because = [`its values look like ${kindWords[kind] ?? kind}`];
  let score = 2 + (place === 0 && kinds.length > 1 ? 0.5 : 0) + (path.present / samples) * 0.5;
  if (names.test(name)) {
    score += 2;
    because.push('its name suggests it');
  }
  if (values !== undefined && samples >= 4) {
    const share = path.distinct / path.present;
    const fits = values === 'many' ? share > 0.9 : share < 0.5;
    score += fits ? 1 : -1;
    if (fits) because.push(values === 'many' ? 'differs in nearly every payload' : 'only a few distinct values');
  }
  return { wanted, path, score, because };
}

const kindWords: Readonly<Record<string, string>> = {
  hash: 'hashes',
  id: 'ids',
  uuid: 'UUIDs',
  time: 'times',
  email: 'e-mail addresses',
  choice: 'words of choice',
  purposes: 'choices by purpose',
  'names-list': 'lists of names',
  region: 'codes of countries or regions',
  language: 'codes of languages',
  'request-kind': 'kinds of requests',
  'policy-type': 'types of policies',
  integer: 'whole numbers',
  number: 'numbers',
  version: 'versions',
  url: 'addresses',
  domain: 'domains',
  word: 'words',
  words: 'text',
};

/** The last two names of a path, with `camelCase` and `snake_case` taken apart. */
function normalName(path: string): string {
  return path
    .split('.')
    .slice(-2)
    .join(' ')
    .replace(/([a-z])([A-Z])/g, '$1_$2');
}

function readWith({ kind, body, receivedAt }: DiscoverySample, options: Options): Reading {
  const context = { receivedAt, options };
  return kind === 'row' ? readConsentRow(body, context) : readDelivery(body, context);
}

function knownEventOf(reading: Reading): string | null {
  return reading.outcome === 'unknown-event' ? null : reading.event;
}

function typeOf(event: string | null): Fact['type'] | null {
  if (event === null) return null;
  if (event === 'row' || event.startsWith('consent')) return 'decision';
  if (event.startsWith('dsar')) return 'request';
  if (event.startsWith('cookie_scan')) return 'scan';
  return event.startsWith('integration') ? 'integration' : event.startsWith('policy') ? 'policy' : null;
}
