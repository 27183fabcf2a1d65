import type { SourceOptions } from '../src/core/source.ts';
import { namesConsent } from './consent-events.ts';
import { eventNames } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import { type Fact, families } from './index.ts';
import { clean, isJsonObject, type JsonObject } from './parse.ts';
import type { Family } from './payload.ts';
import { isNamedAsRequest } from './request-signs.ts';

/** The event that a payload names. */
export interface EventName {
  /** Spelled as in docs/service.md §6 if it is one of those; otherwise as given. */
  readonly event: string;
  readonly asGiven: string;
  readonly family: Family<Fact> | null;
}

/** Spelling without case and separators → the event and its family. */
const knownEvents = new Map<string, { readonly event: string; readonly family: Family<Fact> }>();
for (const family of families) {
  for (const event of family.events) knownEvents.set(normaliseName(event), { event, family });
}
const MAX_EVENT_NAME = 100;

/** Where a source puts the event's name (`fieldNames.event`), and its names for the documented events. */
export type EventOptions = Partial<Pick<SourceOptions, 'fieldNames' | 'eventNames'>>;

/** The event that a payload names, at the top or in an envelope; null if it names none. */
export function findEvent(root: JsonObject, options: EventOptions): EventName | null {
  const aliases = options.eventNames;
  for (const path of options.fieldNames?.['event'] ?? []) {
    const value = valueAt(root, path.split('.').map(normaliseName));
    const own = typeof value === 'string' ? classify(value, aliases) : null;
    if (own !== null) return own;
  }
  // As documented: no further search is needed.
  const documented = typeof root['event'] === 'string' ? classify(root['event'], aliases) : null;
  if (documented?.family) return documented;
  let unknown: EventName | null = null;
  for (const { name, value } of eventCandidates(root, aliases)) {
    const candidate = classify(value, aliases);
    if (candidate === null) continue;
    if (candidate.family !== null) return candidate;
    // A name or action counts as an event only if it looks like one.
    const plausible =
      (name !== 'name' && name !== 'action') || /^[a-z][a-z0-9_]*\.[a-z0-9_.]+$/i.test(candidate.asGiven);
    // {"event": "request.created", "type": "OPT_OUT"} is a request, whatever else looks like a choice.
    const isMoreTelling =
      unknown === null ||
      (!namesConsent(unknown.event) && !isNamedAsRequest(unknown.event) && namesConsent(candidate.event));
    if (plausible && isMoreTelling) unknown = candidate;
  }
  return unknown;
}

const eventPaths = eventNames.map((path) => path.split('.').map(normaliseName));

/** Values in fields for the event's name, first at the top, then in an envelope. */
function* eventCandidates(
  root: JsonObject,
  aliases: EventOptions['eventNames'],
): Generator<{ name: string; value: string }> {
  yield* candidatesIn(root, () => true);
  for (const object of Object.values(root).filter(isJsonObject).slice(0, 20)) {
    // Further inside, only a known event counts: `type` and `name` have many meanings there.
    yield* candidatesIn(object, (value) => Boolean(classify(value, aliases)?.family));
  }
}

function* candidatesIn(
  object: JsonObject,
  counts: (value: string) => boolean,
): Generator<{ name: string; value: string }> {
  const byName = new Map<string, unknown>();
  for (const key of Object.keys(object).slice(0, 200)) {
    const name = normaliseName(key);
    if (!byName.has(name)) byName.set(name, object[key]);
  }
  if (byName.size === 0) return;
  for (const [first = '', second] of eventPaths) {
    let value = byName.get(first);
    if (second !== undefined) value = isJsonObject(value) ? value[second] : undefined;
    if (typeof value === 'string' && counts(value)) yield { name: first, value };
  }
}

/** The event that one of several things in a body names itself: a known one, or a name in the form of one, not a mere `access`. */
export function findOwnEvent(item: JsonObject, options: EventOptions): EventName | null {
  const name = findEvent(item, options);
  return name?.family || /[./:]/.test(name?.event ?? '') ? name : null;
}

/** The value at a path of names, ignoring case and separators. */
function valueAt(root: JsonObject, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const segment of path) {
    if (!isJsonObject(value)) return undefined;
    const object: JsonObject = value;
    const key = Object.keys(object).find((one) => normaliseName(one) === segment);
    value = key === undefined ? undefined : object[key];
  }
  return value;
}

/** The event that a text names. `aliases`: a source's names for the documented events. */
export function classify(value: string, aliases?: EventOptions['eventNames']): EventName | null {
  if (value.length > MAX_EVENT_NAME) return null;
  const asGiven = value;
  if (aliases !== undefined && Object.hasOwn(aliases, value)) {
    const meant = classify(aliases[value] ?? '');
    return meant === null ? null : { ...meant, asGiven };
  }
  const text = clean(value.trim());
  if (text === '') return null;
  const known = knownEvents.get(normaliseName(text));
  if (known !== undefined) return { event: known.event, asGiven, family: known.family };
  const word = /^[a-z]+(?![a-z0-9])/i.exec(text)?.[0].toLowerCase();
  const family = word === undefined ? undefined : families.find((one) => one.anyOf === word);
  if (family !== undefined) return { event: text.toLowerCase(), asGiven, family };
  return { event: text, asGiven, family: null };
}
