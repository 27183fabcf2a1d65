import { ALL_PURPOSES, judgeChoice, necessaryIn, outcomesOf, type PurposeChoices } from './consent-judgement.ts';
import type { ConsentState } from './vocabulary.ts';

/** One record of a decision, as the history has it. Times are ISO 8601 UTC; flags are 0 or 1. */
export interface ToldDecision {
  readonly seq: number;
  readonly received_at: string;
  readonly at: string;
  readonly via: string;
  readonly decision_id: string;
  readonly banner_id: string | null;
  readonly state: ConsentState;
  /** JSON object purpose → granted | denied. */
  readonly purposes: string;
  readonly expires_at: string | null;
  readonly conflicts: number;
}

/**
 * How a purpose stands by a decision. `disputed`: the records of the decision contradict each other, so that nobody can say it was granted
 * (GDPR Art. 7(1)).
 */
export type PurposeState = 'granted' | 'refused' | 'withdrawn' | 'disputed' | 'expired' | 'terminated' | 'invalidated';

/** One decision with all its records, and what it means for each purpose that needs consent. */
export interface TimedDecision<Row extends ToldDecision> {
  readonly decisionId: string;
  readonly bannerId: string | null;
  /** When it was made, by its first record. */
  readonly at: string;
  readonly rows: readonly [Row, ...Row[]];
  readonly disputed: boolean;
  /** What was chosen, of all records together. */
  readonly purposes: PurposeChoices;
  /** What is no consent: purposes that need none, and are only named. */
  readonly necessary: readonly string[];
  readonly expiresAt: string | null;
  /** Purposes that it says something about, sorted. `*`: consent that named no purpose. */
  readonly outcomes: ReadonlyMap<string, PurposeState>;
  /** It ended what was granted before, and this way: `expired` … Null: it did not. */
  readonly ended: 'expired' | 'terminated' | 'invalidated' | null;
  /** Purposes granted once it has been made. */
  readonly stands: readonly string[];
}

/**
 * The decisions of one person in the order in which they were made, each judged with what the earlier ones on the same banner left standing
 * (consent-judgement.ts). The rows may come in any order; all of them, or only those known by some time.
 */
export function timelineOf<Row extends ToldDecision>(rows: Iterable<Row>): readonly TimedDecision<Row>[] {
  const byDecision = new Map<string, Row[]>();
  for (const row of rows) {
    const known = byDecision.get(row.decision_id);
    if (known === undefined) byDecision.set(row.decision_id, [row]);
    else known.push(row);
  }
  const told = [...byDecision.values()].map((all) => all.sort((a, b) => a.seq - b.seq) as [Row, ...Row[]]);
  told.sort(([a], [b]) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq));
  const standing = new Map<string, readonly string[]>();
  return told.map((all) => {
    const banner = all[0].banner_id ?? '';
    const decision = judge(all, standing.get(banner) ?? []);
    standing.set(banner, decision.stands);
    return decision;
  });
}

const endings = ['expired', 'terminated', 'invalidated'] as const;

function judge<Row extends ToldDecision>(
  rows: readonly [Row, ...Row[]],
  before: readonly string[],
): TimedDecision<Row> {
  const [first] = rows;
  const disputed = rows.some(({ conflicts }) => Number(conflicts) === 1);
  const choices = rows.map(({ purposes }) => JSON.parse(purposes) as PurposeChoices);
  // Records that agree complete each other; what one of them leaves out, another may name.
  const purposes: PurposeChoices = choices.toReversed().reduce((all, one) => ({ ...all, ...one }), {});
  const state = rows.find((row) => row.state !== 'unknown')?.state ?? 'unknown';
  const said = disputed
    ? rows.map((row, place) => ({ state: row.state, purposes: choices[place] ?? {} }))
    : [{ state, purposes }];
  const judged = said.map((one) => {
    const judgement = judgeChoice(before, one);
    const outcomes = new Map<string, PurposeState>(outcomesOf(one, judgement.withdraws));
    if (judgement.withdraws.includes(ALL_PURPOSES)) outcomes.set(ALL_PURPOSES, 'withdrawn');
    else if (judgement.stands.includes(ALL_PURPOSES) && Object.keys(one.purposes).length === 0 && isGiven(one.state))
      outcomes.set(ALL_PURPOSES, 'granted');
    return { judgement, outcomes };
  });
  const named = [...new Set(judged.flatMap(({ outcomes }) => [...outcomes.keys()]))].sort();
  const outcomes = new Map(
    named.map((purpose): [string, PurposeState] => {
      const states = new Set(judged.flatMap((one) => one.outcomes.get(purpose) ?? []));
      const [only = 'disputed', ...more] = states;
      return [purpose, disputed && (more.length > 0 || only === 'granted') ? 'disputed' : only];
    }),
  );
  return {
    decisionId: first.decision_id,
    bannerId: first.banner_id,
    at: first.at,
    rows,
    disputed,
    purposes,
    necessary: necessaryIn(purposes),
    expiresAt: rows.find((row) => row.expires_at !== null)?.expires_at ?? null,
    outcomes,
    ended: endings.find((ending) => ending === state) ?? null,
    stands: [...new Set(judged.flatMap(({ judgement }) => judgement.stands))].sort(),
  };
}

function isGiven(state: ConsentState): boolean {
  return state === 'given' || state === 'renewed-given';
}

/** How one purpose stands on one banner. */
export interface PurposeStanding {
  /** `*`: consent that named no purpose. */
  readonly purpose: string;
  readonly state: PurposeState;
  /** Since when: the decision's time, or when it expired. */
  readonly since: string;
  /** The decision that made it so. */
  readonly decisionId: string;
}

export interface BannerStanding {
  readonly bannerId: string | null;
  readonly purposes: readonly PurposeStanding[];
  /** Purposes that need no consent and were named: listed apart, for they are no consent. */
  readonly necessary: readonly string[];
}

/** How consent stood at a moment (decisions made then count): banner by banner, purpose by purpose. */
export function standingAt(timeline: readonly TimedDecision<ToldDecision>[], at: string): readonly BannerStanding[] {
  const banners = new Map<
    string,
    { id: string | null; purposes: Map<string, PurposeStanding>; necessary: Set<string> }
  >();
  const byId = new Map(timeline.map((decision) => [decision.decisionId, decision]));
  for (const decision of timeline) {
    if (decision.at > at) break;
    const { bannerId, decisionId } = decision;
    let banner = banners.get(bannerId ?? '');
    if (banner === undefined)
      banners.set(bannerId ?? '', (banner = { id: bannerId, purposes: new Map(), necessary: new Set() }));
    for (const purpose of decision.necessary) banner.necessary.add(purpose);
    for (const [purpose, state] of decision.outcomes)
      banner.purposes.set(purpose, { purpose, state, since: decision.at, decisionId });
    for (const [purpose, standing] of banner.purposes) {
      if (standing.decisionId === decisionId || (standing.state !== 'granted' && standing.state !== 'disputed'))
        continue;
      if (decision.ended !== null)
        banner.purposes.set(purpose, { purpose, state: decision.ended, since: decision.at, decisionId });
      // A choice by purpose replaces a consent that named none.
      else if (purpose === ALL_PURPOSES && !decision.stands.includes(ALL_PURPOSES)) banner.purposes.delete(purpose);
    }
  }
  return [...banners.values()]
    .sort((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1))
    .map(({ id, purposes, necessary }) => ({
      bannerId: id,
      purposes: [...purposes.values()]
        .map((standing) => expire(standing, byId.get(standing.decisionId)?.expiresAt ?? null, at))
        .sort((a, b) => (a.purpose < b.purpose ? -1 : 1)),
      necessary: [...necessary].sort(),
    }));
}

function expire(standing: PurposeStanding, expiresAt: string | null, at: string): PurposeStanding {
  return standing.state === 'granted' && expiresAt !== null && expiresAt <= at
    ? { ...standing, state: 'expired', since: expiresAt }
    : standing;
}
