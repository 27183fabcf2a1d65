import { Temporal } from 'temporal-polyfill';
import type { RequestKind } from '../core/vocabulary.ts';
import { addDays } from '../core/zoned-days.ts';
import { deadlineOfLaw } from './deadline-of-law.ts';
import type { LawDeadline, LawInput } from './deadline-words.ts';
import type { UnrecordedLaw } from './not-recorded.ts';
import type { IdentityRule, RegimeRow } from './regime-schema.ts';
import {
  countryOf,
  type Establishment,
  findLaws,
  findRegimeRows,
  normaliseJurisdiction,
  placeOfCode,
  placeOfEstablishment,
  type RegimeTable,
} from './regime-table.ts';

export type { LawDeadline, RequestedItem } from './deadline-words.ts';

export interface DeadlinesInput extends Omit<LawInput, 'suspendByGuidance'> {
  readonly kind: RequestKind;
  /**
   * The person's place: ISO 3166-1 alpha-2, ISO 3166-2 for a part of a country, or `EU`. Null: unknown, or it could not
   * be mapped; the case then asks an officer to choose it.
   */
  readonly place: string | null;
  /** The given place, if it could not be mapped. */
  readonly placeAsGiven?: string | null;
  readonly controller: Establishment & {
    /** IANA time zone used to count days. */
    readonly timeZone: string;
  };
  readonly regimes: RegimeTable;
  /** The controller's own target where a law was not looked at, days from receipt; null or absent: it has none. */
  readonly ownTargetDays?: number | null;
}

/** When an identity check may or must be made in a case, considering all of its laws (docs/deadlines.md, Identity). */
interface CaseIdentity {
  readonly rule: IdentityRule;
  /** Nothing may be requested without a recorded doubt (GDPR Art. 12(6)). */
  readonly doubtFirst: boolean;
  /** What a requester with an unconfirmed identity may receive. */
  readonly unverified: 'nothing' | 'categories-only';
}

/**
 * When a request must be answered under each applicable law, and under the strictest of them for each step. Dates are
 * YYYY-MM-DD in the controller's time zone; null if no recorded law sets one.
 */
export interface Deadlines {
  /** The day of receipt. */
  readonly receivedOn: string;
  /** The last day for a timely answer under every law. */
  readonly limit: string | null;
  /** The request takes effect at once (a withdrawal of consent, GDPR Art. 7(3)): `limit` is the day of receipt. */
  readonly atOnce: boolean;
  /** The deciding law's period without roll-over and pauses; never after `limit`. */
  readonly aimFor: string | null;
  /** The day by which a notice of extension must be sent to count under every law. */
  readonly firstLimit: string | null;
  readonly acknowledgeBy: string | null;
  /** The working day before the limit, if the deciding law states no roll-over. */
  readonly warnOn: string | null;
  /** Id of the deciding law; null: no recorded law gives a right to an answer. */
  readonly law: string | null;
  /** Every applicable law that gives such a right; those of the establishment first. */
  readonly laws: readonly LawDeadline[];
  /** Assumptions, and what an officer has to settle, in sentences. */
  readonly says: readonly string[];
  /** Laws that may apply and were not looked at: `limit` does not rest on them. */
  readonly unrecorded: readonly UnrecordedLaw[];
  /** The controller's own target, only if a law was not looked at. It is no law's. */
  readonly ownTarget: string | null;
  /** The law cannot be determined until the person's place is chosen. */
  readonly placeMissing: boolean;
  readonly flags: LawDeadline['flags'];
  readonly identity: CaseIdentity;
}

/**
 * Computes every deadline of a request: under the law of the controller's establishment and that of the person's place,
 * each by its own rules, and for each step the strictest. No pause, roll-over, extension or identity rule of one law
 * loosens another's. Pure. Throws RangeError if a time or zone cannot be read.
 */
export function computeDeadlines(input: DeadlinesInput): Deadlines {
  const { regimes, kind, controller } = input;
  const place = normaliseJurisdiction(input.place);
  const { timeZone } = controller;
  const receivedOn = Temporal.Instant.from(input.receivedAt).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const home = placeOfEstablishment(controller);
  const found = findLaws(regimes, place, controller);
  const says = [...found.says];
  const unrecorded = [...found.unrecorded];
  const laws: LawDeadline[] = [];
  for (const { regime, why, place: code } of found.laws) {
    const rows = findRegimeRows(regimes, regime.id, kind, { place: code, receivedOn });
    if (rows.length === 0) {
      const [later] = findRegimeRows(regimes, regime.id, kind, { place: code, receivedOn: '9999-12-31' });
      const isNoRight = regime.otherwise === 'no-right';
      const asked = code ?? regime.territory[0] ?? '';
      const lacking = regime.jurisdictions.includes(asked) ? asked : countryOf(asked);
      if (later === undefined) {
        if (!isNoRight) unrecorded.push({ code: lacking, scope: 'kind' });
        says.push(
          isNoRight
            ? `${regime.law} gives no right of this kind.`
            : `${regime.law}: no rule for this kind of request is recorded here. Check with counsel whether it sets a date.`,
        );
      } else {
        if (!isNoRight) unrecorded.push({ code: lacking, scope: 'earlier', from: later.from ?? '' });
        says.push(
          `${regime.law}: this right applies only to requests received on or after ${later.from}${isNoRight ? '' : '; what applied before is not recorded here'}.`,
        );
      }
      continue;
    }
    const disabled = regimes.disabled.has(regime.id);
    const common = { ...input, suspendByGuidance: regimes.suspendByGuidance };
    const each = rows.map((row) =>
      deadlineOfLaw({ ...common, timeZone, regime, row, why, home, place: placeOfCode(place ?? code), disabled }),
    );
    const law = strictest(each);
    if (law === null) continue;
    laws.push(law);
    if (disabled)
      says.push(`${regime.id} is switched off by this installation; it counts where its date is the earlier one.`);
  }
  const deciding = strictest(laws);
  if (place === null) {
    const given = input.placeAsGiven ?? '';
    const shown = given.length > 80 ? `${given.slice(0, 80)}…` : given;
    const unknown = given === '' ? 'is unknown' : `was given as “${shown}”, which is not a known place`;
    says.unshift(
      laws.length === 0
        ? `The place of the requester ${unknown}, so no date can be computed: choose the place now. The period may be running.`
        : `The place of the requester ${unknown}: choose it. Only the law of the controller’s establishment is counted, and another may be stricter.`,
    );
  } else if (laws.length === 0 && unrecorded.length === 0) {
    says.push('No law recorded here gives the requester a right to an answer: check with counsel before you refuse.');
  }
  if (kind === 'unknown' && laws.length > 0)
    says.push(
      'The kind of the request is not settled: the shortest period counts. A withdrawal of consent takes effect at once.',
    );
  const { ownTargetDays = null } = input;
  const isTargeted = unrecorded.length > 0 && ownTargetDays !== null;
  return {
    receivedOn,
    limit: deciding?.limit ?? null,
    atOnce: deciding?.atOnce ?? false,
    aimFor: deciding?.aimFor ?? null,
    firstLimit: earliest(laws.map((law) => law.firstLimit)),
    acknowledgeBy: earliest(laws.map((law) => law.acknowledgeBy)),
    warnOn: deciding?.warnOn ?? null,
    law: deciding?.id ?? null,
    laws,
    says,
    unrecorded,
    ownTarget: isTargeted ? addDays(receivedOn, ownTargetDays) : null,
    placeMissing: place === null,
    flags: deciding?.flags ?? [],
    identity: combineIdentity(laws, kind),
  };
}

/** The deciding law; null if none applies. */
export function decidingLaw(deadlines: Deadlines): LawDeadline | null {
  return deadlines.laws.find((law) => law.id === deadlines.law) ?? null;
}

/** Whether the legal limit follows a rule that the installation wrote, which the statute does not say. */
export function isOwnLimit(deadlines: Deadlines): boolean {
  return decidingLaw(deadlines)?.row.isOwn === true;
}

/** The law with the earliest limit, the first if several; among rows of one law, each step keeps its own strictest date. */
function strictest(laws: readonly LawDeadline[]): LawDeadline | null {
  let first = laws[0] ?? null;
  for (const law of laws) if (first !== null && law.limit < first.limit) first = law;
  if (first === null || laws.some((law) => law.id !== first.id)) return first;
  const required = laws.find((law) => law.row.identity === 'required') ?? first;
  return {
    ...first,
    acknowledgeBy: earliest(laws.map((law) => law.acknowledgeBy)),
    row: {
      ...first.row,
      identity:
        laws.length > 1 && required === first && first.row.identity === 'forbidden'
          ? 'on-recorded-doubt'
          : required.row.identity,
    },
  };
}

function earliest(dates: readonly (string | null)[]): string | null {
  return dates.reduce((first, date) => (date === null || (first !== null && first <= date) ? first : date), null);
}

const disclosing: readonly RequestKind[] = ['access', 'portability', 'erasure', 'rectification', 'unknown'];

/**
 * The laws of the establishment determine whether a check is due; if there are none, all laws do. Among these, a law
 * that requires a recorded doubt (GDPR Art. 12(6)) prevails over one that always requires a check. A ban in any law
 * binds unless a law of the establishment requires the check: what one law merely allows, another may forbid (11 CCR
 * 7060(b)). In any case nothing is requested without a recorded doubt if any law of the case requires one or forbids a
 * check.
 */
function combineIdentity(laws: readonly LawDeadline[], kind: RequestKind): CaseIdentity {
  const own = laws.filter((law) => law.why !== 'place');
  const decisive = own.length > 0 ? own : laws;
  const has = (rule: IdentityRule) => decisive.some((law) => law.row.identity === rule);
  const none: IdentityRule = disclosing.includes(kind) ? 'required' : 'on-recorded-doubt';
  const isForbidden = laws.some((law) => law.row.identity === 'forbidden') && !has('required');
  const rule = isForbidden
    ? 'forbidden'
    : has('on-recorded-doubt')
      ? 'on-recorded-doubt'
      : has('required')
        ? 'required'
        : none;
  return {
    rule,
    doubtFirst: laws.length === 0 ? rule !== 'required' : laws.some((law) => law.row.identity !== 'required'),
    unverified:
      laws.length > 0 && laws.every((law) => law.row.unverified === 'categories-only') ? 'categories-only' : 'nothing',
  };
}

/** Why a request cannot be refused, in words: one of the laws leaves no ground for it (GDPR Art. 7(3)). Null: it can be. */
export function whyNotRefused(deadlines: {
  readonly laws: readonly { readonly row: Pick<RegimeRow, 'refusable' | 'citation'> }[];
}): string | null {
  const row = deadlines.laws.find((law) => !law.row.refusable)?.row;
  return row === undefined
    ? null
    : `This kind of request cannot be refused (${row.citation}): write the answer. It can say that no consent was found, or that it was withdrawn before.`;
}
