import {
  ALL_PURPOSES,
  choicesByKey,
  type Judged,
  type Judgement,
  judgeChoice,
  necessaryIn,
  outcomesOf,
  type PurposeChoice,
  type PurposeChoices,
  type PurposeOutcome,
  parsePurposes,
  purposeKey,
} from './consent-judgement.ts';
import type { ConsentState } from './vocabulary.ts';

/** One record of a decision, as in the history. Times are ISO 8601 UTC; flags are 0 or 1. */
export interface ToldDecision {
  readonly seq: number;
  /** Which event of the entry, from 0. */
  readonly part?: number;
  readonly at: string;
  readonly decision_id: string;
  readonly banner_id: string | null;
  readonly state: ConsentState;
  /** JSON object purpose → granted | denied. */
  readonly purposes: string;
  readonly expires_at: string | null;
  readonly policy_id: string | null;
  readonly policy_version: string | null;
  readonly conflicts: number;
}

/**
 * Why it is not proven that a purpose is granted (GDPR Art. 7(1)). `disputed`: the records of the granting decision
 * contradict each other. `unclear`: a later recorded choice could not be read.
 */
type Doubt = 'disputed' | 'unclear';

/** The state of a purpose after a decision. */
export type PurposeState = PurposeOutcome | Doubt | 'expired' | 'terminated' | 'invalidated';

/** Consent to one purpose that nothing later has ended. It keeps the expiry and the policy text of the decision that granted it. */
export interface HeldConsent {
  /** As written in the decision; `*`: consent that named no purpose. */
  readonly purpose: string;
  /** The decision that granted it or left it in doubt, and when it was made. */
  readonly decisionId: string;
  readonly at: string;
  readonly expiresAt: string | null;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  readonly doubt: Doubt | null;
}

/** The consents held by a subject on a banner, by {@link purposeKey}. Expired ones stay until something later replaces them. */
export type HeldConsents = ReadonlyMap<string, HeldConsent>;

/** A decision judged by all its records, given what was held before it. */
export interface JudgedDecision {
  readonly decisionId: string;
  /** When it was made, according to its first record. */
  readonly at: string;
  readonly disputed: boolean;
  readonly label: Judged;
  /** The choice. */
  readonly state: ConsentState;
  readonly purposes: PurposeChoices;
  readonly expiresAt: string | null;
  readonly policyId: string | null;
  readonly policyVersion: string | null;
  /** Purposes whose consent it withdraws, sorted; `*` for consent that named none. */
  readonly withdraws: readonly string[];
  /** Its outcome for each purpose that it mentions, sorted. `*`: consent that named no purpose. */
  readonly outcomes: ReadonlyMap<string, PurposeOutcome | 'disputed'>;
  /** How it ended what was granted before: `expired` … Null: it did not. */
  readonly ended: 'expired' | 'terminated' | 'invalidated' | null;
  /** What is held after it. */
  readonly holds: HeldConsents;
  /** Purposes provably granted after it, sorted. */
  readonly stands: readonly string[];
}

/** A decision with all its records. */
export interface TimedDecision<Row extends ToldDecision> extends JudgedDecision {
  readonly bannerId: string | null;
  readonly rows: readonly [Row, ...Row[]];
  /** Named purposes that need no consent. */
  readonly necessary: readonly string[];
}

const endings = ['expired', 'terminated', 'invalidated'] as const;

/**
 * The most distinct records of one decision that are judged. A visitor does not produce more for one choice, so a
 * decision with more versions is disputed; its further records are kept but not considered.
 */
export const MAX_SAYINGS = 8;

/**
 * Above this number of purposes, grants of earlier decisions are dropped: no banner asks for more, and each history row
 * lists everything held. The grants of a decision are kept or dropped as a whole; those of the latest decision are
 * always kept.
 */
const ENOUGH_HELD = 50;

/** The distinct records in ledger order, at most {@link MAX_SAYINGS}. */
function differentOf<Row extends ToldDecision>(rows: readonly Row[]): readonly Row[] {
  if (rows.length === 1) return rows;
  const different = new Map<string, Row>();
  for (const row of rows) {
    const { state, purposes, expires_at, policy_id, policy_version } = row;
    const saying = JSON.stringify([state, expires_at, policy_id, policy_version, purposes]);
    if (!different.has(saying)) different.set(saying, row);
    if (different.size >= MAX_SAYINGS) break;
  }
  return [...different.values()];
}

/** The grants of the latest decisions, each decision all or nothing, up to the limit. */
function latestOf(holds: Map<string, HeldConsent>): Map<string, HeldConsent> {
  if (holds.size <= ENOUGH_HELD) return holds;
  const counts = new Map<string, { readonly at: string; readonly decisionId: string; size: number }>();
  for (const { at, decisionId } of holds.values()) {
    const count = counts.get(decisionId);
    if (count === undefined) counts.set(decisionId, { at, decisionId, size: 1 });
    else count.size += 1;
  }
  const newestFirst = [...counts.values()].sort((a, b) =>
    a.at === b.at ? (a.decisionId < b.decisionId ? 1 : -1) : a.at < b.at ? 1 : -1,
  );
  const kept = new Set<string>();
  let size = 0;
  for (const count of newestFirst) {
    if (size >= ENOUGH_HELD) break;
    kept.add(count.decisionId);
    size += count.size;
  }
  return new Map([...holds].filter(([, { decisionId }]) => kept.has(decisionId)));
}

/** The combined content of a decision's records: each fills in what earlier ones leave out. */
export function togetherOf(rows: readonly Omit<ToldDecision, 'decision_id' | 'banner_id' | 'conflicts'>[]) {
  const purposes = new Map<string, readonly [string, PurposeChoice]>();
  for (const row of rows)
    for (const [key, choice] of choicesByKey(parsePurposes(row.purposes)))
      if (!purposes.has(key)) purposes.set(key, choice);
  return {
    state: rows.find((row) => row.state !== 'unknown')?.state ?? ('unknown' as const),
    purposes: Object.fromEntries(purposes.values()) as PurposeChoices,
    expiresAt: rows.find((row) => row.expires_at !== null)?.expires_at ?? null,
    policyId: rows.find((row) => row.policy_id !== null)?.policy_id ?? null,
    policyVersion: rows.find((row) => row.policy_version !== null)?.policy_version ?? null,
  };
}

/**
 * Judges a decision by its records, in ledger order, given what is held before it. Used by projections, look-up and
 * reports alike.
 */
export function judgeDecision(
  rows: readonly [ToldDecision, ...ToldDecision[]],
  before: HeldConsents,
  disputed = rows.some(({ conflicts }) => Number(conflicts) === 1),
): JudgedDecision {
  const [{ decision_id: decisionId, at }] = rows;
  const different = differentOf(rows);
  const together = togetherOf(different);
  const { state, expiresAt, policyId, policyVersion } = together;
  const standing = [...before.values()].filter((hold) => !isExpired(hold, at)).map(({ purpose }) => purpose);
  // Records that agree count as one; if they contradict each other, each readable one is judged separately.
  const read = different.filter((row) => row.state !== 'unknown');
  const said = disputed
    ? (read.length > 0 ? read : different).map((row) => ({
        // A single record that contradicts itself grants something, or it would not be disputed.
        state: rows.length === 1 && row.state === 'unknown' ? ('given' as const) : row.state,
        purposes: parsePurposes(row.purposes),
      }))
    : [{ state, purposes: together.purposes }];
  const judged = said.map((one): JudgedRecord => {
    const judgement = judgeChoice(standing, one);
    const outcomes = new Map<string, PurposeOutcome | 'disputed'>(outcomesOf(one, judgement.withdraws));
    if (judgement.withdraws.includes(ALL_PURPOSES)) outcomes.set(ALL_PURPOSES, 'withdrawn');
    else if (isGiven(one.state) && Object.keys(one.purposes).length === 0) outcomes.set(ALL_PURPOSES, 'granted');
    return { judgement, outcomes, keys: new Set(judgement.stands.map(purposeKey)) };
  });
  const outcomes = combined(
    judged.map((one) => one.outcomes),
    standing,
    disputed,
  );

  const own = { decisionId, at, expiresAt, policyId, policyVersion };
  const kept = latestOf(holdsAfter(before, judged, { own, state, outcomes, disputed }));
  const [first] = judged;
  return {
    ...together,
    decisionId,
    at,
    disputed,
    label: disputed || first === undefined ? 'disputed' : first.judgement.label,
    withdraws: disputed
      ? [...outcomes].flatMap(([purpose, outcome]) => (outcome === 'withdrawn' ? [purpose] : []))
      : (first?.judgement.withdraws ?? []),
    outcomes,
    ended: disputed ? null : (endings.find((ending) => ending === state) ?? null),
    holds: kept,
    stands: provenAt(kept, at),
  };
}

/** One record of a decision, judged separately. */
interface JudgedRecord {
  readonly judgement: Judgement;
  readonly outcomes: ReadonlyMap<string, PurposeOutcome | 'disputed'>;
  /** Keys of the purposes that are granted after it. */
  readonly keys: ReadonlySet<string>;
}

/** What is held after a decision: what it grants, and what it leaves of earlier grants. */
function holdsAfter(
  before: HeldConsents,
  judged: readonly JudgedRecord[],
  decision: {
    readonly own: Omit<HeldConsent, 'purpose' | 'doubt'>;
    readonly state: ConsentState;
    readonly outcomes: JudgedDecision['outcomes'];
    readonly disputed: boolean;
  },
): Map<string, HeldConsent> {
  const { own, state, outcomes, disputed } = decision;
  const { decisionId, at } = own;
  const holds = new Map<string, HeldConsent>();
  const hold = (purpose: string, doubt: Doubt | null) =>
    holds.set(purposeKey(purpose), { purpose, ...own, doubt: disputed ? 'disputed' : doubt });
  const granted = (state: PurposeOutcome | 'disputed' | undefined) => state === 'granted' || state === 'disputed';
  const outcomeOf = new Map([...outcomes].map(([purpose, outcome]) => [purposeKey(purpose), outcome]));
  for (const [key, held] of before) {
    if (outcomeOf.has(key)) continue;
    // Consent to all purposes renews each of them; a choice by purpose replaces it.
    if (granted(outcomeOf.get(ALL_PURPOSES))) hold(held.purpose, null);
    else if (isExpired(held, at)) {
      if (judged.some(({ judgement }) => judgement.endsAll)) continue;
      if (key !== ALL_PURPOSES || outcomes.size === 0) holds.set(key, held);
    } else if (judged.some(({ keys }) => keys.has(key))) {
      if (!judged.every(({ keys }) => keys.has(key))) hold(held.purpose, 'disputed');
      else holds.set(key, state === 'unknown' ? { ...held, decisionId, at, doubt: 'unclear' } : held);
    }
  }
  for (const [purpose, outcome] of outcomes) if (granted(outcome)) hold(purpose, null);
  return holds;
}

/**
 * The combined outcome of one decision's records for each purpose: contradictions are disputed, and so is what a
 * disputed decision grants.
 */
function combined(
  all: readonly ReadonlyMap<string, PurposeOutcome | 'disputed'>[],
  standing: readonly string[],
  disputed: boolean,
): ReadonlyMap<string, PurposeOutcome | 'disputed'> {
  const byKey = new Map<string, [purpose: string, states: Set<PurposeOutcome | 'disputed'>]>();
  for (const outcomes of all) {
    for (const [purpose, state] of outcomes) {
      const known = byKey.get(purposeKey(purpose));
      if (known === undefined) byKey.set(purposeKey(purpose), [purpose, new Set([state])]);
      else known[1].add(state);
    }
  }
  // For a purpose held before, one record may end it while another, which consents to all purposes, continues it.
  if (disputed && all.some((outcomes) => outcomes.get(ALL_PURPOSES) === 'granted'))
    for (const purpose of standing) byKey.get(purposeKey(purpose))?.[1].add('granted');
  return new Map(
    [...byKey.values()]
      .map(([purpose, states]): [string, PurposeOutcome | 'disputed'] => {
        if (disputed && states.has('granted')) return [purpose, 'disputed'];
        // What all of them deny is denied.
        const [only = 'disputed'] = states;
        return [purpose, states.has('withdrawn') ? 'withdrawn' : only];
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function isGiven(state: ConsentState): boolean {
  return state === 'given' || state === 'renewed-given';
}

/** Whether a consent has expired at a given time. */
export function isExpired({ expiresAt }: Pick<HeldConsent, 'expiresAt'>, at: string): boolean {
  return expiresAt !== null && expiresAt <= at;
}

/** Purposes provably granted at a given time, sorted. */
function provenAt(holds: HeldConsents, at: string): readonly string[] {
  return [...holds.values()]
    .filter((hold) => hold.doubt === null && !isExpired(hold, at))
    .map(({ purpose }) => purpose)
    .sort();
}

/** Compares records by entry, and by event within one that holds several. */
function inLedgerOrder(a: Pick<ToldDecision, 'seq' | 'part'>, b: Pick<ToldDecision, 'seq' | 'part'>): number {
  return a.seq - b.seq || (a.part ?? 0) - (b.part ?? 0);
}

/**
 * The decisions of one person in the order they were made, each judged by what earlier ones on the same banner left in
 * force. Rows may come in any order: all of them, or only those known by some time.
 */
export function timelineOf<Row extends ToldDecision>(rows: Iterable<Row>): readonly TimedDecision<Row>[] {
  const byDecision = new Map<string, Row[]>();
  for (const row of rows) {
    const known = byDecision.get(row.decision_id);
    if (known === undefined) byDecision.set(row.decision_id, [row]);
    else known.push(row);
  }
  const told = [...byDecision.values()].map((all) => all.sort(inLedgerOrder) as [Row, ...Row[]]);
  told.sort(([a], [b]) => (a.at < b.at ? -1 : a.at > b.at ? 1 : inLedgerOrder(a, b)));
  const held = new Map<string, HeldConsents>();
  return told.map((all) => {
    const [{ banner_id: bannerId }] = all;
    const judged = judgeDecision(all, held.get(bannerId ?? '') ?? new Map());
    held.set(bannerId ?? '', judged.holds);
    return { ...judged, bannerId, rows: all, necessary: necessaryIn(judged.purposes) };
  });
}

/** The state of one purpose on one banner. */
interface PurposeStanding {
  /** `*`: consent that named no purpose. */
  readonly purpose: string;
  readonly state: PurposeState;
  /** The decision's time, or when the consent expired. */
  readonly since: string;
  /** The decision that caused this state. */
  readonly decisionId: string;
}

export interface BannerStanding {
  readonly bannerId: string | null;
  readonly purposes: readonly PurposeStanding[];
  /** Named purposes that need no consent, listed separately because naming them is not consent. */
  readonly necessary: readonly string[];
}

/** The consent at a given time, including decisions made at that time, by banner and purpose. */
export function standingAt(timeline: readonly TimedDecision<ToldDecision>[], at: string): readonly BannerStanding[] {
  type Banner = {
    id: string | null;
    purposes: Map<string, PurposeStanding>;
    necessary: Set<string>;
    holds: HeldConsents;
  };
  const banners = new Map<string, Banner>();
  for (const decision of timeline) {
    if (decision.at > at) break;
    const { bannerId, holds } = decision;
    const known = banners.get(bannerId ?? '');
    const banner: Banner = known ?? { id: bannerId, purposes: new Map(), necessary: new Set(), holds };
    banners.set(bannerId ?? '', banner);
    for (const purpose of decision.necessary) banner.necessary.add(purpose);
    takeOutcomes(banner.purposes, decision);
    for (const [key, { purpose, doubt, ...held }] of holds)
      banner.purposes.set(key, { purpose, state: doubt ?? 'granted', since: held.at, decisionId: held.decisionId });
    banner.holds = holds;
  }
  return [...banners.values()]
    .sort((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1))
    .map(({ id, purposes, necessary, holds }) => {
      for (const [key, held] of holds) {
        const { purpose, decisionId, expiresAt } = held;
        if (held.doubt === null && expiresAt !== null && isExpired(held, at))
          purposes.set(key, { purpose, state: 'expired', since: expiresAt, decisionId });
      }
      return {
        bannerId: id,
        purposes: [...purposes.values()].sort((a, b) => (a.purpose < b.purpose ? -1 : 1)),
        necessary: [...necessary].sort(),
      };
    });
}

/** Applies a decision's outcome to each purpose, and ends what it ends of earlier ones. */
function takeOutcomes(purposes: Map<string, PurposeStanding>, decision: TimedDecision<ToldDecision>): void {
  const { decisionId, holds, outcomes, ended, at: since } = decision;
  const all = outcomes.get(ALL_PURPOSES);
  for (const [key, standing] of purposes) {
    if (holds.has(key)) continue;
    const held = ['granted', 'disputed', 'unclear'].includes(standing.state);
    // Consent to all purposes replaces each refusal, and a choice by purpose replaces consent to all.
    const replaced = key === ALL_PURPOSES && ended === null && (held || outcomes.size > 0);
    if (all === 'granted' || all === 'disputed' || replaced) purposes.delete(key);
    else if (held) purposes.set(key, { ...standing, state: ended ?? 'refused', since, decisionId });
  }
  for (const [purpose, state] of outcomes) purposes.set(purposeKey(purpose), { purpose, state, since, decisionId });
}

/**
 * A judgement as stored in the read models: `held` contains what is held in addition to the purposes that the decision
 * itself grants without doubt.
 */
export interface StoredJudgement {
  label: Judged;
  /** JSON arrays of names. */
  withdraws: string;
  stands: string;
  /** JSON array of {@link HeldConsent}. */
  held: string;
}

export function storedJudgement(judged: JudgedDecision): StoredJudgement {
  const plain = (hold: HeldConsent) =>
    hold.decisionId === judged.decisionId && hold.doubt === null && !isExpired(hold, judged.at);
  const held = [...judged.holds].filter(([, hold]) => !plain(hold)).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    label: judged.label,
    withdraws: JSON.stringify(judged.withdraws),
    stands: JSON.stringify(judged.stands),
    held: JSON.stringify(held.map(([, hold]) => hold)),
  };
}

/** What is held after a decision, from its stored judgement and its own circumstances. */
export function holdsOf(
  stored: Pick<StoredJudgement, 'stands' | 'held'> &
    Pick<ToldDecision, 'decision_id' | 'at' | 'expires_at' | 'policy_id' | 'policy_version'>,
): HeldConsents {
  const held: readonly HeldConsent[] = stored.held === '[]' ? [] : (JSON.parse(stored.held) as HeldConsent[]);
  const holds = new Map(held.map((hold) => [purposeKey(hold.purpose), hold]));
  for (const purpose of stored.stands === '[]' ? [] : (JSON.parse(stored.stands) as string[])) {
    if (holds.has(purposeKey(purpose))) continue;
    holds.set(purposeKey(purpose), {
      purpose,
      decisionId: stored.decision_id,
      at: stored.at,
      expiresAt: stored.expires_at,
      policyId: stored.policy_id,
      policyVersion: stored.policy_version,
      doubt: null,
    });
  }
  return holds;
}
