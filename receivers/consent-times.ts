import type { NamedField } from './consent-names.ts';
import type { Statements } from './consent-statements.ts';
import type { Occurred } from './occurred.ts';
import type { Payload } from './payload.ts';

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
  { whole, purposes }: Statements,
): DecisionTimes {
  const own = ownTimes(payload, fields);
  const ofPurposes = purposes.times.flatMap((value) => payload.timeOf(value) ?? []);
  const ofChoice = [...own.choice, ...own.change, ...(own.choice.length + own.change.length === 0 ? ofPurposes : [])];
  const counting = ofChoice.filter(({ counts }) => counts).sort(byTime);
  const latest = counting.at(-1) ?? ofChoice[0];
  const withdrawn = own.withdrawal
    .filter(({ counts }) => counts)
    .sort(byTime)
    .at(-1);
  const decidedAt = latest ?? own.event ?? payload.occurred('occurredAt', 'consentCreatedAt');
  const grants =
    whole.some(({ choice }) => choice === 'given' || choice === 'renewed-given') ||
    [...purposes.choices.values()].includes('granted');
  const isOlder = withdrawn !== undefined && (grants || own.grants) && latest !== undefined && withdrawn.at < latest.at;
  const [first] = counting;
  const end = withdrawn === undefined || isOlder ? latest : withdrawn;
  const isLater = first !== undefined && end !== undefined && Date.parse(end.at) - Date.parse(first.at) >= LATER_MS;
  return {
    decidedAt,
    withdrawnAt: withdrawn === undefined || isOlder ? null : withdrawn,
    firstAt: isLater ? first.at : null,
    grants: own.grants,
  };
}

interface OwnTimes {
  readonly choice: Occurred[];
  readonly change: Occurred[];
  readonly withdrawal: Occurred[];
  /** The time of the event, or else when the record was created; null: the content has neither. */
  readonly event: Occurred | null;
  /** One of them is when consent was given, by its name. */
  readonly grants: boolean;
}

/** The record's own times of a choice, by the names in the table and by what other names say. */
function ownTimes(payload: Payload, fields: readonly NamedField[]): OwnTimes {
  const named = (field: 'consentedAt' | 'changedAt' | 'withdrawnAt') =>
    payload
      .times(field)
      .flatMap(({ beside, path, ...occurred }) => (beside && field !== 'withdrawnAt' ? [] : [{ path, occurred }]));
  const found = { choice: named('consentedAt'), change: named('changedAt'), withdrawal: named('withdrawnAt') };
  const seen = new Set([...found.choice, ...found.change, ...found.withdrawal].map(({ path }) => path));
  let grants = false;
  let event = ownTime(payload, 'occurredAt') ?? ownTime(payload, 'consentCreatedAt');
  for (const { path, value, role } of fields) {
    if (role.time === null || (role.time === 'event' && event !== null) || (seen.has(path) && !role.timeGrants))
      continue;
    const occurred = payload.timeOf(value);
    if (occurred === null) continue;
    grants ||= role.timeGrants && occurred.counts;
    if (role.time === 'event') event ??= occurred;
    else if (!seen.has(path)) found[role.time].push({ path, occurred });
  }
  const times = (some: readonly { readonly occurred: Occurred }[]) => some.map(({ occurred }) => occurred);
  return {
    choice: times(found.choice),
    change: times(found.change),
    withdrawal: times(found.withdrawal),
    event,
    grants,
  };
}

function ownTime(payload: Payload, field: 'occurredAt' | 'consentCreatedAt'): Occurred | null {
  const first = payload.times(field).find(({ beside }) => !beside);
  return first === undefined ? null : { at: first.at, basis: first.basis, counts: first.counts };
}

function byTime(a: Occurred, b: Occurred): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}
