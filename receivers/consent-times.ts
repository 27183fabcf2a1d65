import { fieldsBeside, isCreation, lastName, type NamedField, type NameRole, roleOf } from './consent-names.ts';
import type { Statements } from './consent-statements.ts';
import type { Occurred } from './occurred.ts';
import { isJsonObject } from './parse.ts';
import type { FoundTime, Payload } from './payload.ts';

/** The times of one record. */
interface DecisionTimes {
  /** When the choice that the record states was made. */
  readonly decidedAt: Occurred;
  /** When consent was withdrawn; null: the record says of no withdrawal that is later than its consent. */
  readonly withdrawnAt: Occurred | null;
  /** When consent was first given, if the choice is a later one, ISO 8601 UTC. */
  readonly firstAt: string | null;
  /** A time is named as that of consent given; it counts if nothing else is said. */
  readonly grants: boolean;
  /** The record says when somebody chose: `choice` by a time of the choice or of its withdrawal; `record` by its own date or a later change; null: neither. */
  readonly dated: () => 'choice' | 'record' | null;
}

/** A later statement differs from the first by at least this, milliseconds: platforms write two times of one choice one after the other. */
const LATER_MS = 5000;

/**
 * When a choice was made: the latest of the record's own times of a choice and of its change; else the time of the event; else when the record
 * was created. Times next to the envelope describe the delivery and are the last resort (docs/assumptions.md). A time of withdrawal counts unless
 * it is implausible or older than the consent that the record states.
 */
export function readTimes(
  payload: Payload,
  fields: readonly NamedField[],
  { whole, purposes, withdrawn: isWithdrawn }: Statements,
): DecisionTimes {
  const own = ownTimes(payload, fields);
  const ofRecord = own.change.length === 0 ? own.choice : [...own.choice, ...own.change];
  const ofChoice = ofRecord.length > 0 ? ofRecord : purposes.times.flatMap((value) => payload.timeOf(value) ?? []);
  const counting = inOrder(ofChoice);
  // A time that cannot be right gives way to one that can.
  const event = counting.length === 0 && own.event?.counts === true ? own.event : undefined;
  const latest = counting.at(-1) ?? event ?? ofChoice[0];
  const withdrawn = inOrder(own.withdrawal).at(-1);
  const around = isWithdrawn && ofRecord.length === 0 ? eventAround(payload, own) : null;
  const ended = around !== null && around.at > (latest?.at ?? '') ? around : null;
  const decidedAt = ended ?? latest ?? own.event ?? dispatched(payload);
  const grants = () =>
    own.grants ||
    whole.some(({ choice }) => choice === 'given' || choice === 'renewed-given') ||
    [...purposes.choices.values()].includes('granted');
  const isOlder = withdrawn !== undefined && latest !== undefined && withdrawn.at < latest.at && grants();
  const [first] = counting;
  const end = withdrawn === undefined || isOlder ? latest : withdrawn;
  const isLater = first !== undefined && end !== undefined && Date.parse(end.at) - Date.parse(first.at) >= LATER_MS;
  return {
    decidedAt,
    withdrawnAt: withdrawn === undefined || isOlder ? null : withdrawn,
    firstAt: isLater ? first.at : null,
    grants: own.grants,
    dated: () => datedBy(payload, own, purposes.times),
  };
}

/**
 * {"eventTime": …, "payload": {"consent": {"status": "REVOKED", "createdDate": …}}}: a consent is not withdrawn when it is created, so a later time that
 * is named as the event's counts, although it stands next to the envelope. Null: there is none, or the content has a time of the event.
 */
function eventAround(payload: Payload, { event, ofCreation }: OwnTimes): Occurred | null {
  if (event !== null && !ofCreation) return null;
  for (const { key, value } of fieldsBeside(payload)) {
    const time = /^(?:event_?time(?:stamp)?|event_?date|occurred_?at)$/i.test(key) ? payload.timeOf(value) : null;
    if (time?.counts === true) return time;
  }
  return null;
}

/** A change at the moment of creation is none: a row that nobody has touched. */
function datedBy(
  payload: Payload,
  { choice, ofRecord, change, withdrawal, event }: OwnTimes,
  ofPurposes: readonly unknown[],
): ReturnType<DecisionTimes['dated']> {
  if (choice.length > ofRecord || withdrawal.length > 0) return 'choice';
  if (ofRecord > 0) return 'record';
  const created = payload.times('consentCreatedAt')[0]?.occurred;
  const isLater = ({ at }: Occurred) =>
    created === undefined || Math.abs(Date.parse(at) - Date.parse(created.at)) >= LATER_MS;
  if (change.some(isLater)) return 'record';
  if (change.length === 0 && ofPurposes.some((value) => payload.timeOf(value) !== null)) return 'choice';
  return event !== null && event.at !== created?.at ? 'record' : null;
}

/** When a record was written, whether or not anybody had chosen: `recorded_at`, `utc`. */
const OF_RECORD = /^(?:(?:recorded|logged|collected|stored|saved)_?at|datestamp|utc)$/i;

interface OwnTimes {
  readonly choice: Occurred[];
  /** How many of them only say when the record was written. */
  readonly ofRecord: number;
  readonly change: Occurred[];
  readonly withdrawal: Occurred[];
  /** The time of the event, or else when the record was created; null: the content has neither. */
  readonly event: Occurred | null;
  /** `event` is named as the time at which something was created. */
  readonly ofCreation: boolean;
  /** One of them is when consent was given, by its name. */
  readonly grants: boolean;
}

/** The record's own times of a choice, by the names in the table and by what other names say. */
function ownTimes(payload: Payload, fields: readonly NamedField[]): OwnTimes {
  const found = {
    choice: payload.times('consentedAt'),
    change: payload.times('changedAt'),
    withdrawal: payload.times('withdrawnAt', true),
  };
  const seen = new Set<string>();
  for (const times of [found.choice, found.change, found.withdrawal]) for (const { path } of times) seen.add(path);
  let grants = false;
  const named = payload.times('occurredAt')[0] ?? payload.times('consentCreatedAt')[0];
  let event = named?.occurred ?? null;
  let ofCreation = named !== undefined && isCreation(lastName(named.path));
  for (const { key, path, value, role } of fields) {
    if (role.time === null || (role.time === 'event' && event !== null) || (seen.has(path) && !role.timeGrants))
      continue;
    const occurred = payload.timeOf(value);
    if (occurred === null) continue;
    grants ||= role.timeGrants && occurred.counts;
    if (role.time === 'event') [event, ofCreation] = [occurred, isCreation(key)];
    else if (!seen.has(path)) found[role.time].push({ path, occurred });
  }
  if (event === null && found.choice.length + found.change.length + found.withdrawal.length === 0)
    event = onlyTime(payload, fields);
  const times = (some: readonly FoundTime[]) => some.map(({ occurred }) => occurred);
  return {
    choice: times(found.choice),
    ofRecord: found.choice.filter(({ path }) => OF_RECORD.test(lastName(path))).length,
    change: times(found.change),
    withdrawal: times(found.withdrawal),
    event,
    ofCreation,
    grants,
  };
}

/** The time next to the innermost envelope that has one, or the receipt. */
function dispatched(payload: Payload): Occurred {
  const beside = fieldsBeside(payload);
  let deepest = 0;
  for (const { path } of beside) deepest = Math.max(deepest, levelOf(path));
  for (let level = deepest; level > 0; level -= 1) {
    const time = onlyTime(
      payload,
      beside.filter(({ path }) => levelOf(path) === level),
    );
    if (time !== null) return time;
  }
  const named = payload.occurred('occurredAt', 'consentCreatedAt');
  return named.basis === 'received' ? (onlyTime(payload, beside) ?? named) : named;
}

/** How many envelopes are around a field, ten at most. */
function levelOf(path: string): number {
  let level = 0;
  for (let at = path.indexOf('.'); at >= 0 && level < 10; at = path.indexOf('.', at + 1)) level += 1;
  return level;
}

/** The only time in a record, among its fields or in a part of it that describes the record; null if there are several that differ. */
function onlyTime(payload: Payload, fields: readonly NamedField[]): Occurred | null {
  const times = new Map<string, Occurred>();
  const add = (role: NameRole, value: unknown) => {
    if (!role.mayBeTime || typeof value === 'boolean') return;
    const time = payload.timeOf(value);
    if (time?.counts === true) times.set(time.at, time);
  };
  for (const { value, role } of fields) add(role, value);
  if (times.size === 0)
    for (const { value, role } of fields)
      if (isJsonObject(value) && partsWithTimes.has(role.plain))
        for (const [key, inner] of Object.entries(value).slice(0, MAX_MEMBERS)) add(roleOf(key), inner);
  const [only] = times.values();
  return times.size === 1 && only !== undefined ? only : null;
}

const MAX_MEMBERS = 50;
const partsWithTimes: ReadonlySet<string> = new Set(
  'meta metadata log audit proof evidence event context info details header headers request nachweis preuve prueba prova bewijs dowod bevis'.split(
    ' ',
  ),
);

/** The times that count, earliest first. */
function inOrder(times: readonly Occurred[]): readonly Occurred[] {
  return times.filter(({ counts }) => counts).sort(byTime);
}

function byTime(a: Occurred, b: Occurred): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}
