import { sql } from 'kysely';
import type { DecisionFact } from '../../receivers/consent.ts';
import { decisionIdOf } from '../../receivers/read.ts';
import type { Action } from '../core/action.ts';
import {
  type Choice,
  choiceOf,
  choicesThatDiffer,
  contradicts,
  isNecessary,
  type Judged as Judgement,
  type PurposeChoices,
  purposeKey,
} from '../core/consent-judgement.ts';
import {
  type HeldConsents,
  holdsOf,
  type JudgedDecision,
  judgeDecision,
  MAX_SAYINGS,
  type StoredJudgement,
  storedJudgement,
  togetherOf,
} from '../core/consent-timeline.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { Query } from '../store/store.ts';
import { forEachReading, joinKey, KeysBySource, partColumns, quarterOf } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, type Row, replaceIn } from './projection.ts';

type HistoryRow = Row<'decision_history'>;
type Telling = Pick<
  HistoryRow,
  | 'seq'
  | 'part'
  | 'at'
  | 'source'
  | 'decision_id'
  | 'subject'
  | 'banner_id'
  | 'state'
  | 'purposes'
  | 'policy_id'
  | 'policy_version'
  | 'expires_at'
  | 'conflicts'
  | 'region'
>;
type Said = Telling & StoredJudgement & Pick<HistoryRow, 'via' | 'occurred_basis' | 'occurred_counts'>;

/**
 * Consent decisions. One decision may be reported twice, by a delivery and by a pulled row: both rows are in the
 * history under one `decision_id`; totals count the first; a later one that contradicts an earlier one is marked. The
 * current state of a subject on a banner is its decision with the latest time, or the later entry if times are equal. A
 * decision belongs to the first subject that its records name; until one does, it has only a history.
 *
 * Each decision is judged by all its records and by what the subject's earlier decisions left standing
 * (core/consent-timeline.ts). Rows are never rewritten: if a record says something new, or a decision becomes known
 * after later ones, that decision and those after it are judged again, and `decision_judgements` holds what changed,
 * from the entry that made it known. So the judgement of a decision at any asOf is its latest one up to there, or that
 * of its own row if there is none.
 */
export const decisions: Projection = {
  name: 'decisions',
  tables: ['decision_history', 'decision_judgements', 'decisions', 'decision_quarters'],
  async fold(state, batch) {
    const rows = rowsOf(batch);
    if (rows.length === 0) return [];
    const said = await loadSaid(state, rows);
    await loadVersions(state, rows, said);
    const told = rows.map((row) => addRecord(row, said));
    const known = await loadKnown(state, told);
    const timelines = await loadTimelines(state, lateSubjects(told, known));
    const touched = new Map<string, Row<'decisions'>>();
    const judgements: Row<'decision_judgements'>[] = [];
    const counts = new CountsByQuarter();
    for (const one of told) {
      const { row, first, owner, news, earlier } = one;
      if (first !== row) copyJudgement(first, row);
      if (owner === null) {
        if (first === row) {
          copyJudgement(judgedAlone(row), row);
          counts.change(row, null, row.label);
        } else if (news === 'choice') {
          const before = [first, ...earlier.slice(1)] as const;
          const judged = judgeDecision([...before, row], new Map());
          judgements.push(judgementRow(row, judged));
          counts.change(
            first,
            judgedOf(before, judgeDecision(before, new Map()).label),
            judgedOf([...before, row], judged.label),
          );
        }
        continue;
      }
      const key = keyOf(first, owner);
      const before = touched.get(key) ?? known.get(key);
      if (row.via === 'request') takeCircumstances(row, before);
      const timeline = timelines.get(joinKey(row.source, owner))?.of(first.banner_id);
      if (timeline !== undefined) {
        judgements.push(...timeline.add(one, counts));
        touched.set(key, pictureOf(before, timeline.last(), one, owner));
      } else if (first === row) {
        const judged = before === undefined ? judgedAlone(row) : judgedColumns(judgeDecision([row], holdsOf(before)));
        copyJudgement(judged, row);
        counts.change(row, null, row.label);
        touched.set(key, pictureOf(before, { rows: [row], ...judged }, one, owner));
      } else if (before?.decision_id === row.decision_id) touched.set(key, completed(before, row));
    }
    return [
      appendTo('decision_history', rows),
      appendTo('decision_judgements', lastOfEach(judgements)),
      replaceIn('decisions', [...touched.values()]),
      replaceIn('decision_quarters', await counts.rows(state)),
    ];
  },
};

/** Several events of one entry may judge a decision again: after the entry, the last judgement counts. */
function lastOfEach(judgements: readonly Row<'decision_judgements'>[]): readonly Row<'decision_judgements'>[] {
  if (judgements.length < 2) return judgements;
  return [...new Map(judgements.map((row) => [joinKey(row.source, row.decision_id, String(row.seq)), row])).values()];
}

function rowsOf(batch: readonly ProjectedEntry[]): HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (const entry of batch) {
    const { action } = entry;
    forEachReading(entry, (reading, part) => {
      if (reading.outcome === 'read' && reading.fact.type === 'decision')
        rows.push(decisionRow(entry, part, reading.fact, decisionIdOf(reading.fact)));
    });
    if (action?.action === 'consent.withdrawn-by-request') rows.push(requestRow(entry, action));
  }
  return rows;
}

/** Written out column by column: spreading objects would cost more than the rest of the fold. */
function decisionRow(entry: ProjectedEntry, part: number, fact: DecisionFact, decisionId: string): HistoryRow {
  const { occurred } = fact;
  return {
    seq: entry.seq,
    source: entry.source,
    received_at: entry.receivedAt,
    part,
    occurred_at: occurred.at,
    occurred_basis: occurred.basis,
    occurred_counts: occurred.counts ? 1 : 0,
    at: occurred.counts ? occurred.at : entry.receivedAt,
    via: fact.via,
    decision_id: decisionId,
    record_id: fact.recordId,
    subject: fact.subject,
    banner_id: fact.bannerId,
    banner_version: fact.bannerVersion,
    state: fact.state,
    purposes: purposesText(fact.purposes),
    doubts: fact.doubts.length === 0 ? null : JSON.stringify(fact.doubts),
    label: 'unknown',
    withdraws: '[]',
    stands: '[]',
    held: '[]',
    action: fact.action,
    method: fact.method,
    domain: fact.domain,
    page: fact.page,
    signals: isEmpty(fact.signals) ? null : canonicalJson(fact.signals).toString('utf8'),
    policy_id: fact.policyId,
    policy_version: fact.policyVersion,
    region: fact.region,
    language: fact.language,
    expires_at: fact.expiresAt,
    is_first: 1,
    conflicts: fact.doubts.some(({ reason }) => reason === 'contradiction') ? 1 : 0,
    case_id: null,
    commitment: entry.commitment,
  };
}

/** A withdrawal that an officer carried out for a data subject: a separate decision, recorded as such. */
function requestRow(
  entry: ProjectedEntry,
  action: Extract<Action, { action: 'consent.withdrawn-by-request' }>,
): HistoryRow {
  // If all purposes are withdrawn, none is named, so that a purpose whose earlier consent becomes known later is
  // withdrawn too.
  const denied = action.all ? [] : action.purposes;
  return {
    ...partColumns(entry, 0),
    occurred_at: action.at,
    occurred_basis: 'officer',
    occurred_counts: 1,
    at: action.at,
    via: 'request',
    decision_id: `q:${entry.seq}`,
    record_id: null,
    subject: action.subject,
    banner_id: action.bannerId,
    banner_version: null,
    state: 'withdrawn',
    purposes: purposesText(Object.fromEntries(denied.map((purpose) => [purpose, 'denied' as const]))),
    doubts: null,
    label: 'withdrawn',
    withdraws: '[]',
    stands: '[]',
    held: '[]',
    action: action.kind,
    method: 'request',
    domain: null,
    page: null,
    signals: null,
    policy_id: null,
    policy_version: null,
    region: null,
    language: null,
    expires_at: null,
    is_first: 1,
    conflicts: 0,
    case_id: action.caseId,
    commitment: entry.commitment,
  };
}

/** A withdrawal by request is counted under the policy and in the region of the consent before it. */
function takeCircumstances(row: HistoryRow, before: Row<'decisions'> | undefined): void {
  row.policy_id = before?.policy_id ?? null;
  row.policy_version = before?.policy_version ?? null;
  row.region = before?.region ?? null;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function keyOf(row: Pick<HistoryRow, 'source' | 'banner_id'>, subject: string): string {
  return joinKey(row.source, subject, row.banner_id ?? '');
}

function copyJudgement(from: StoredJudgement, to: StoredJudgement): void {
  to.label = from.label;
  to.withdraws = from.withdraws;
  to.stands = from.stands;
  to.held = from.held;
}

/** A row of this batch with the first record of its decision, which determines subject and banner. */
interface Told {
  readonly row: HistoryRow;
  /** `row` itself if the decision is new. */
  readonly first: Said;
  /** Each distinct earlier statement of its decision, in ledger order. */
  readonly earlier: readonly Said[];
  /** The subject to whom the decision belongs: the first that its records name. */
  readonly owner: string | null;
  /** It is the first record to name the owner. */
  readonly joins: boolean;
  readonly news: News;
}

/**
 * What a further record adds to a decision: `choice` may change how it is judged; `circumstances` only its expiry or
 * the policy text.
 */
type News = 'choice' | 'circumstances' | null;

/**
 * A platform's id may be the visitor's: it stays the same while the choice changes. So a record with an id that is known, a time of its own and
 * another choice is a decision of its own, `v2:<id>` and so on, and the earlier one remains as it was. Sets `decision_id`, and the subject if no
 * record names one: the id is then the visitor's.
 */
function chooseVersion(row: HistoryRow, said: ReadonlyMap<string, readonly Said[]>): void {
  if (row.record_id === null || row.via === 'request') return;
  const base = row.decision_id;
  const versions: (readonly [id: string, sayings: readonly Said[]])[] = [];
  for (let id = base; ; id = versionOf(base, versions.length + 1)) {
    const sayings = said.get(joinKey(row.source, id));
    if (sayings === undefined) break;
    versions.push([id, sayings]);
  }
  const [only] = versions;
  if (only === undefined || (versions.length === 1 && !isOtherChoice(row, only[1]))) return;
  const isTimed = row.occurred_basis !== 'received' && Number(row.occurred_counts) === 1;
  const sameTime = versions.find(([, [first]]) => first?.at.slice(0, 19) === row.at.slice(0, 19));
  // The latest version before it: a repeat of that choice says nothing new.
  const before = versions
    .filter(([, [first]]) => (first?.at ?? '') <= row.at)
    .sort(([, [a]], [, [b]]) => ((a?.at ?? '') < (b?.at ?? '') ? -1 : 1));
  const nearest = before.at(-1) ?? only;
  const joins =
    sameTime ?? (isTimed && isOtherChoice(row, nearest[1]) ? undefined : isTimed ? nearest : versions.at(-1));
  row.decision_id = joins?.[0] ?? versionOf(base, versions.length + 1);
  row.subject ??= versions.some(([, sayings]) => sayings.some(({ subject }) => subject !== null))
    ? null
    : row.record_id;
}

function versionOf(base: string, number: number): string {
  return number === 1 ? base : `v${number}:${base.slice('r:'.length)}`;
}

/**
 * Within this time, milliseconds, a delivery and a pulled row with different choices contradict each other rather than being two choices: their
 * times come from different clocks.
 */
const ONE_CHOICE_MS = 60_000;

/** Whether a record cannot be another record of the choice in `sayings`. */
function isOtherChoice(row: HistoryRow, sayings: readonly Said[]): boolean {
  const [first] = sayings;
  if (first === undefined || row.occurred_basis === 'received' || Number(row.occurred_counts) !== 1) return false;
  if (first.occurred_basis === 'received' || Number(first.occurred_counts) !== 1) return false;
  const apart = Math.abs(Date.parse(row.at) - Date.parse(first.at));
  if (apart < 1000 || (apart < ONE_CHOICE_MS && !sayings.some(({ via }) => via === row.via))) return false;
  const sameChoice = (one: Said) => one.state === row.state && choicesThatDiffer(one, row).length === 0;
  return !sayings.some(sameChoice);
}

/** Loads the later choices under record ids of this batch that are known already. */
async function loadVersions(state: Query, rows: readonly HistoryRow[], said: Map<string, Said[]>): Promise<void> {
  let known = rows.filter(
    ({ source, record_id, decision_id }) => record_id !== null && said.has(joinKey(source, decision_id)),
  );
  for (let number = 2; known.length > 0; number += 1) {
    const wanted = known.map((row) => ({ ...row, decision_id: versionOf(row.decision_id, number) }));
    const found = await loadSaid(state, wanted);
    for (const [key, sayings] of found) said.set(key, sayings);
    known = known.filter(({ source, decision_id }) => found.has(joinKey(source, versionOf(decision_id, number))));
  }
}

/** Sets `is_first` and `conflicts` of a row that follows the statements in `said`, and adds it to them. */
function addRecord(row: HistoryRow, said: Map<string, Said[]>): Told {
  chooseVersion(row, said);
  const key = joinKey(row.source, row.decision_id);
  const sayings = said.get(key);
  const [first] = sayings ?? [];
  if (sayings === undefined || first === undefined) {
    said.set(key, [row]);
    return { row, first: row, earlier: [], owner: row.subject, joins: row.subject !== null, news: 'choice' };
  }
  const earlier = [...sayings];
  const named = earlier.find(({ subject }) => subject !== null)?.subject ?? null;
  row.is_first = 0;
  const isKnown = earlier.some((saying) => sameSaying(saying, row));
  if (!isKnown && earlier.length >= MAX_SAYINGS) {
    row.conflicts = 1;
    return { row, first, earlier, owner: named, joins: false, news: null };
  }
  const joins = named === null && row.subject !== null;
  const isLast = !isKnown && earlier.length === MAX_SAYINGS - 1;
  row.conflicts = row.conflicts === 1 || isLast || earlier.some((saying) => contradicts(saying, row)) ? 1 : 0;
  const news = joins ? 'choice' : newsOf(row, first, earlier);
  if (!isKnown) sayings.push(row);
  return { row, first, earlier, owner: named ?? row.subject, joins, news };
}

function newsOf(row: HistoryRow, first: Said, earlier: readonly Said[]): News {
  if (earlier.some((saying) => sameSaying(saying, row))) return null;
  if (row.conflicts === 1 || earlier.some(({ conflicts }) => Number(conflicts) === 1)) return 'choice';
  const before = togetherOf(earlier);
  const after = togetherOf([...earlier, row]);
  if (before.state !== after.state || consentsNamed(before.purposes) !== consentsNamed(after.purposes)) return 'choice';
  // Consent that names no purpose covers all of them; consent that names only necessary purposes covers none.
  if (isEmpty(before.purposes) !== isEmpty(after.purposes)) return 'choice';
  const same =
    before.expiresAt === after.expiresAt &&
    before.policyId === after.policyId &&
    before.policyVersion === after.policyVersion;
  if (same) return null;
  // The judgement of a decision that has already expired contains its expiry and policy text.
  return after.expiresAt !== null && after.expiresAt <= first.at ? 'choice' : 'circumstances';
}

/** How many of the named purposes need consent. */
function consentsNamed(purposes: PurposeChoices): number {
  return new Set(Object.keys(purposes).flatMap((name) => (isNecessary(name) ? [] : purposeKey(name)))).size;
}

const comparedColumns = [
  'subject',
  'banner_id',
  'state',
  'purposes',
  'policy_id',
  'policy_version',
  'expires_at',
] as const;

function sameSaying(a: Telling, b: Telling): boolean {
  return comparedColumns.every((column) => a[column] === b[column]);
}

/** Subjects whose history has to be read again, because a decision became known after a later one or is judged again. */
function lateSubjects(told: readonly Told[], known: ReadonlyMap<string, Row<'decisions'>>): KeysBySource {
  const late = new KeysBySource();
  const latest = new Map<string, Pick<HistoryRow, 'at' | 'decision_id'>>();
  for (const { row, first, owner, news } of told) {
    if (owner === null) continue;
    const key = keyOf(first, owner);
    const before = latest.get(key) ?? known.get(key);
    if (first === row) {
      if (before === undefined || row.at >= before.at) latest.set(key, row);
      else late.add(row.source, owner);
    } else if (news === 'choice' || (news === 'circumstances' && before?.decision_id !== row.decision_id)) {
      late.add(row.source, owner);
    }
  }
  return late;
}

/** A decision with its current judgement. */
type Judged = StoredJudgement & Pick<HistoryRow, 'state' | 'purposes'>;
interface Decision extends Judged {
  readonly rows: [TimelineRow, ...TimelineRow[]];
}
type TimelineRow = Telling;

function judgedColumns(judged: JudgedDecision): Judged {
  return { ...storedJudgement(judged), state: judged.state, purposes: purposesText(judged.purposes) };
}

/** Judgements of first decisions, by state and purposes: most decisions are their subject's first, and few combinations occur. */
const judgedBefore = new Map<string, Judged>();
const JUDGEMENTS_KEPT = 1000;
/** Longer combinations are not cached: they are rare, and the sender controls their length. */
const SAYING_LENGTH = 500;

/** Judges the first record of a subject’s first decision. */
function judgedAlone(row: HistoryRow): Judged {
  const saying = `${row.conflicts} ${row.state} ${row.purposes}`;
  const known = judgedBefore.get(saying);
  // If the decision has already expired, the judgement contains its id and time.
  const isOver = row.expires_at !== null && row.expires_at <= row.at;
  if (known !== undefined && !isOver) return known;
  const judged = judgedColumns(judgeDecision([row], new Map()));
  if (!isOver && saying.length <= SAYING_LENGTH && judgedBefore.size < JUDGEMENTS_KEPT)
    judgedBefore.set(saying, judged);
  return judged;
}

function judgementRow({ seq, source }: HistoryRow, judged: JudgedDecision): Row<'decision_judgements'> {
  return { seq, source, decision_id: judged.decisionId, ...judgedColumns(judged) };
}

/** How a decision with these records is judged. */
function judgedOf(rows: readonly Pick<Telling, 'conflicts'>[], label: Judgement): Judgement {
  return rows.some(({ conflicts }) => Number(conflicts) === 1) ? 'disputed' : label;
}

type QuarterRow = Row<'decision_quarters'>;
const columnOfChoice = {
  given: 'given',
  'partly-given': 'partly_given',
  refused: 'refused',
  withdrawn: 'withdrawn',
} as const satisfies Record<Choice, keyof QuarterRow>;

function columnOf(judged: Judgement) {
  const choice = choiceOf(judged);
  return choice === null ? 'other' : columnOfChoice[choice];
}

/** What a batch adds to the counts of decisions by quarter of an hour. */
class CountsByQuarter {
  readonly #added = new Map<string, QuarterRow>();
  readonly #keys = new KeysBySource();

  /** The decision with this first record is judged differently now. `before` null: it is new. */
  change({ source, at }: Pick<Telling, 'source' | 'at'>, before: Judgement | null, after: Judgement): void {
    const from = before === null ? null : columnOf(before);
    const to = columnOf(after);
    if (from === to) return;
    const quarter = quarterOf(at);
    const key = joinKey(source, quarter);
    let row = this.#added.get(key);
    if (row === undefined) {
      row = { source, quarter, given: 0, partly_given: 0, refused: 0, withdrawn: 0, other: 0 };
      this.#added.set(key, row);
      this.#keys.add(source, quarter);
    }
    if (from !== null) row[from] -= 1;
    row[to] += 1;
  }

  /** The rows that changed, with the counts of earlier batches. */
  async rows(state: Query): Promise<readonly QuarterRow[]> {
    if (this.#keys.empty) return [];
    const known = await state.selectFrom('decision_quarters').selectAll().where(this.#keys.where('quarter')).execute();
    for (const before of known) {
      const row = this.#added.get(joinKey(before.source, before.quarter));
      if (row === undefined) continue;
      for (const column of [...Object.values(columnOfChoice), 'other'] as const) row[column] += before[column];
    }
    return [...this.#added.values()];
  }
}

/** A subject's decisions on a banner in order of time, each with its current judgement. */
class Timeline {
  readonly #decisions: Decision[] = [];

  /** Adds a decision that is already in the history. */
  recall(decision: Decision): void {
    this.#decisions.splice(this.#placeOf(decision.rows[0]), 0, decision);
  }

  /** Judges the decision of a row, then later ones again until nothing changes; counts what changed. */
  add({ row, earlier, joins, news }: Told, counts: CountsByQuarter): Row<'decision_judgements'>[] {
    let place: number;
    /** Of the row's own decision, until now. */
    let own: Judgement | null = null;
    if (row.is_first === 1) {
      place = this.#placeOf(row);
      const judged = judgeDecision([row], this.#holdsBefore(place));
      copyJudgement(storedJudgement(judged), row);
      this.#decisions.splice(place, 0, { rows: [row], ...judgedColumns(judged) });
      counts.change(row, null, row.label);
      place += 1;
    } else if (joins) {
      // Until now it was judged on its own.
      const [first, ...others] = earlier as [Said, ...Said[]];
      place = this.#placeOf(first);
      const judged = judgeDecision([first, ...others], new Map());
      own = judgedOf(earlier, judged.label);
      this.#decisions.splice(place, 0, { rows: [first, ...others, row], ...judgedColumns(judged) });
    } else {
      place = this.#decisions.findIndex(({ rows }) => rows[0].decision_id === row.decision_id);
      const decision = this.#decisions[place];
      if (decision !== undefined) own = judgedOf(decision.rows, decision.label);
      decision?.rows.push(row);
      if (news === null) return [];
    }
    const changed: Row<'decision_judgements'>[] = [];
    for (let next = place; next < this.#decisions.length; next += 1) {
      const decision = this.#decisions[next] as Decision;
      const judged = judgeDecision(decision.rows, this.#holdsBefore(next));
      const columns = judgedColumns(judged);
      const isOwn = decision.rows[0].decision_id === row.decision_id;
      const before = isOwn && own !== null ? own : judgedOf(decision.rows, decision.label);
      counts.change(decision.rows[0], before, judgedOf(decision.rows, columns.label));
      if (judgedNames.some((column) => decision[column] !== columns[column])) {
        Object.assign(decision, columns);
        changed.push(judgementRow(row, judged));
      } else if (!isOwn) break;
    }
    return changed;
  }

  last(): Decision {
    return this.#decisions.at(-1) as Decision;
  }

  #holdsBefore(place: number): HeldConsents {
    const before = this.#decisions[place - 1];
    return before === undefined ? new Map() : holdsOf({ ...before, ...circumstancesOf(before) });
  }

  /** Decisions mostly come in order, so search from the end. */
  #placeOf({ at, seq, part }: Pick<TimelineRow, 'at' | 'seq' | 'part'>): number {
    let place = this.#decisions.length;
    for (let before = this.#decisions[place - 1]; before !== undefined; before = this.#decisions[place - 1]) {
      const [first] = before.rows;
      if (first.at < at || (first.at === at && (first.seq < seq || (first.seq === seq && first.part < part)))) break;
      place -= 1;
    }
    return place;
  }
}

const judgedNames = ['label', 'withdraws', 'stands', 'held', 'state', 'purposes'] as const;

/** The combined content of a decision's records, in columns of the read models. */
function circumstancesOf({ rows }: Pick<Decision, 'rows'>) {
  const { expiresAt, policyId, policyVersion } = togetherOf(rows);
  const [{ decision_id, at }] = rows;
  const region = rows.find((row) => row.region !== null)?.region ?? null;
  return { decision_id, at, expires_at: expiresAt, policy_id: policyId, policy_version: policyVersion, region };
}

/** The timelines of one subject, by banner. */
class Timelines {
  readonly #ofBanner = new Map<string, Timeline>();
  of(bannerId: string | null): Timeline {
    let timeline = this.#ofBanner.get(bannerId ?? '');
    if (timeline === undefined) this.#ofBanner.set(bannerId ?? '', (timeline = new Timeline()));
    return timeline;
  }
}

/** By source and subject. */
async function loadTimelines(state: Query, late: KeysBySource): Promise<ReadonlyMap<string, Timelines>> {
  const timelines = new Map<string, Timelines>();
  if (late.empty) return timelines;
  for (const [source, subject] of late.pairs()) timelines.set(joinKey(source, subject), new Timelines());
  // Each decision with all its records: the first may not name the subject.
  const named = state
    .selectFrom('decision_history')
    .select(['source', 'decision_id'])
    .distinct()
    .where(late.where('subject'))
    .as('named');
  const rows = await state
    .selectFrom(named)
    .innerJoin('decision_history as d', (join) =>
      join.onRef('d.source', '=', 'named.source').onRef('d.decision_id', '=', 'named.decision_id'),
    )
    .select([
      'd.seq',
      'd.part',
      'd.at',
      'd.source',
      'd.subject',
      'd.banner_id',
      'd.decision_id',
      'd.state',
      'd.purposes',
    ])
    .select(['d.label', 'd.withdraws', 'd.stands', 'd.held', 'd.region'])
    .select(['d.policy_id', 'd.policy_version', 'd.expires_at', 'd.conflicts'])
    .orderBy('d.seq')
    .orderBy('d.part')
    .execute();
  const records = new Map<string, [TimelineRow & StoredJudgement, ...TimelineRow[]]>();
  for (const row of rows) {
    const key = joinKey(row.source, row.decision_id);
    const known = records.get(key);
    if (known === undefined) records.set(key, [row]);
    else known.push(row);
  }
  const judged = await loadJudgements(
    state,
    [...records.values()].map(([first]) => first),
  );
  for (const [key, told] of records) {
    const [first] = told;
    const owner = told.find(({ subject }) => subject !== null)?.subject ?? '';
    // Purposes whose names differ only in case are judged as one; the row may contain both.
    const { state: stated, purposes } = togetherOf([first]);
    const { label, withdraws, stands, held } = first;
    const asTold: Judged = { label, withdraws, stands, held, state: stated, purposes: purposesText(purposes) };
    const decision: Decision = { ...asTold, ...judged.get(key), rows: told };
    timelines.get(joinKey(first.source, owner))?.of(first.banner_id).recall(decision);
  }
  return timelines;
}

/** The keys of decisions in batches for one statement each. */
function* decisionKeys(rows: readonly Pick<HistoryRow, 'source' | 'decision_id'>[]): Generator<KeysBySource> {
  for (let start = 0; start < rows.length; start += DECISIONS) {
    const keys = new KeysBySource();
    for (const { source, decision_id } of rows.slice(start, start + DECISIONS)) keys.add(source, decision_id);
    yield keys;
  }
}

/** The current judgements of decisions that were judged again since their rows were written. */
async function loadJudgements(
  state: Query,
  rows: readonly Pick<HistoryRow, 'source' | 'decision_id'>[],
): Promise<ReadonlyMap<string, Judged>> {
  const latest = new Map<string, Judged>();
  for (const keys of decisionKeys(rows)) {
    const found = await state
      .selectFrom('decision_judgements')
      .select(['source', 'decision_id', ...judgedNames])
      .where(keys.where('decision_id'))
      .orderBy('seq')
      .execute();
    for (const { source, decision_id, ...judged } of found) latest.set(joinKey(source, decision_id), judged);
  }
  return latest;
}

/** Decisions per statement. */
const DECISIONS = 1000;

/**
 * The distinct statements of these decisions in earlier rows, at most {@link MAX_SAYINGS} of each: few, however often a
 * decision was repeated.
 */
async function loadSaid(state: Query, rows: readonly HistoryRow[]): Promise<Map<string, Said[]>> {
  const keys = new KeysBySource();
  for (const row of rows) keys.add(row.source, row.decision_id);
  const earliest = state
    .selectFrom('decision_history')
    // The first row is the earliest with this statement; its time is the decision's.
    .select((eb) => [
      eb.fn.min<number>(PLACE).as('place'),
      eb.fn.max<string>(eb.case().when('is_first', '=', 1).then(eb.ref('at')).else('').end()).as('at'),
      eb.fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy(['source', 'decision_id']).orderBy(eb.fn.min(PLACE)))
        .as('nth'),
    ])
    .groupBy(['source', 'decision_id', ...comparedColumns])
    .where(keys.where('decision_id'))
    .as('earliest');
  const earlier = await state
    .selectFrom(earliest)
    .innerJoin('decision_history as d', (join) =>
      join
        .on('d.seq', '=', sql<number>`earliest.place / ${sql.lit(PARTS)}`)
        .on('d.part', '=', sql<number>`earliest.place % ${sql.lit(PARTS)}`),
    )
    .select(['d.source', 'd.decision_id', 'd.conflicts', 'd.region', 'd.seq', 'd.part', 'earliest.at'])
    .select(['d.via', 'd.occurred_basis', 'd.occurred_counts'])
    .select(comparedColumns.map((column) => `d.${column}` as const))
    .select(storedNames.map((column) => `d.${column}` as const))
    .where('earliest.nth', '<=', MAX_SAYINGS)
    .orderBy('d.seq')
    .orderBy('d.part')
    .execute();
  const said = new Map<string, Said[]>();
  for (const row of earlier) {
    const key = joinKey(row.source, row.decision_id);
    const sayings = said.get(key);
    if (sayings === undefined) said.set(key, [row]);
    else sayings.push(row);
  }
  return said;
}

/** More than the events of an entry that are read (receivers/batch.ts): seq and part in one number. */
const PARTS = 1000;
const PLACE = sql<number>`seq * ${sql.lit(PARTS)} + part`;
const storedNames = ['label', 'withdraws', 'stands', 'held'] as const;

async function loadKnown(state: Query, told: readonly Told[]): Promise<Map<string, Row<'decisions'>>> {
  const keys = new KeysBySource();
  for (const { first, owner } of told) if (owner !== null) keys.add(first.source, owner);
  const known = new Map<string, Row<'decisions'>>();
  if (keys.empty) return known;
  for (const row of await state.selectFrom('decisions').selectAll().where(keys.where('subject')).execute()) {
    known.set(joinKey(row.source, row.subject, row.banner_id), row);
  }
  return known;
}

/** A subject's state on a banner after one more history row: its latest decision by time. */
function pictureOf(
  before: Row<'decisions'> | undefined,
  latest: Decision,
  { row, joins }: Told,
  subject: string,
): Row<'decisions'> {
  const { label, withdraws, stands, held, state, purposes, rows } = latest;
  return {
    source: row.source,
    banner_id: rows[0].banner_id ?? '',
    subject,
    ...{ state, purposes, label, withdraws, stands, held },
    ...circumstancesOf(latest),
    first_seq: before?.first_seq ?? row.seq,
    last_seq: rows[0].decision_id === row.decision_id ? row.seq : (before?.last_seq ?? row.seq),
    changes: (before?.changes ?? 0) + (joins ? 1 : 0),
  };
}

/** The state after a further record of its decision that does not contradict the others. */
function completed(before: Row<'decisions'>, row: HistoryRow): Row<'decisions'> {
  return {
    ...before,
    policy_id: before.policy_id ?? row.policy_id,
    policy_version: before.policy_version ?? row.policy_version,
    region: before.region ?? row.region,
    expires_at: before.expires_at ?? row.expires_at,
    last_seq: row.seq,
  };
}

/** RFC 8785 JSON of the purposes: names in UTF-16 order. Written by hand because no other JSON is written as often. */
function purposesText(purposes: DecisionFact['purposes']): string {
  const names = Object.keys(purposes).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:"${purposes[name]}"`).join(',')}}`;
}
