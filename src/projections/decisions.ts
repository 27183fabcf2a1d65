import type { Action } from '../core/action.ts';
import { canonicalJson } from '../core/canonical.ts';
import { judgeChoice, type Judgement, type PurposeChoices } from '../core/consent-judgement.ts';
import type { DecisionFact } from '../core/fact.ts';
import type { Query } from '../store/store.ts';
import { historyColumns } from './columns.ts';
import { joinKey, KeysBySource } from './keys.ts';
import { appendTo, type Projection, type ProjectedEntry, type Readers, replaceIn, type Row } from './projection.ts';

type HistoryRow = Row<'decision_history'>;
type Said = Pick<
  HistoryRow,
  'subject' | 'banner_id' | 'state' | 'purposes' | 'policy_id' | 'policy_version' | 'label' | 'withdraws' | 'stands'
>;

/**
 * Consent decisions. One decision may be told twice, by a delivery and by a pulled row: both rows stand in the history under
 * one `decision_id`, the first of them is the one that totals count, and a later one that contradicts an earlier one is
 * marked. The present picture of a subject on a banner is its decision with the latest time, and of the later entry where
 * times are equal; a decision without a subject has a history only.
 *
 * Each decision is judged with what the subject's decisions before it, by time, left standing (core/consent-judgement.ts). Rows are never
 * rewritten: a decision that becomes known after later ones has these judged again, and `decision_judgements` holds what changed, from the
 * entry on that made it known. So the label of a decision at any asOf is that of its latest judgement up to there, else its own.
 */
export function createDecisions(readers: Pick<Readers, 'decisionIdOf'>): Projection {
  return {
    name: 'decisions',
    tables: ['decision_history', 'decision_judgements', 'decisions'],
    async fold(state, batch) {
      const rows = rowsOf(batch, readers);
      if (rows.length === 0) return [];
      const said = await loadSaid(state, rows);
      const known = await loadKnown(state, rows);
      for (const row of rows) markRepeat(row, said);
      const timelines = await loadTimelines(state, lateSubjects(rows, known));
      const touched = new Map<string, Row<'decisions'>>();
      const judgements: Row<'decision_judgements'>[] = [];
      for (const row of rows) {
        if (row.is_first === 0) copyJudgement(said.get(joinKey(row.source, row.decision_id))?.[0] ?? row, row);
        if (row.subject === null) {
          if (row.is_first === 1) setJudgement(row, judgeChoice([], saidOf(row)));
          continue;
        }
        const key = keyOf(row, row.subject);
        const before = touched.get(key) ?? known.get(key);
        if (row.via === 'request') takeCircumstances(row, before);
        const next = foldDecision(before, row, row.subject);
        if (row.is_first === 1) {
          const timeline = timelines.get(joinKey(row.source, row.subject))?.of(row.banner_id);
          if (timeline === undefined) setJudgement(row, judgeChoice(listOf(before?.stands), saidOf(row)));
          else judgements.push(...timeline.add(row));
          copyJudgement(timeline?.last() ?? row, next);
        }
        touched.set(key, next);
      }
      return [
        appendTo('decision_history', rows),
        appendTo('decision_judgements', judgements),
        replaceIn('decisions', [...touched.values()]),
      ];
    },
  };
}

function rowsOf(batch: readonly ProjectedEntry[], readers: Pick<Readers, 'decisionIdOf'>): HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (const entry of batch) {
    const { reading, action } = entry;
    if (reading?.outcome === 'read' && reading.fact.type === 'decision') {
      rows.push(decisionRow(entry, reading.fact, readers.decisionIdOf(reading.fact)));
    } else if (action?.action === 'consent.withdrawn-by-request') rows.push(requestRow(entry, action));
  }
  return rows;
}

/** Written out column by column: spreading objects into it would cost more than all the rest of the fold. */
function decisionRow(entry: ProjectedEntry, fact: DecisionFact, decisionId: string): HistoryRow {
  const { occurred } = fact;
  return {
    seq: entry.seq,
    source: entry.source,
    received_at: entry.receivedAt,
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
    label: 'unknown',
    withdraws: '[]',
    stands: '[]',
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
    conflicts: 0,
    case_id: null,
    commitment: entry.commitment,
  };
}

/** What an officer carried out for a data subject: a decision of its own, by its own way in. */
function requestRow(
  entry: ProjectedEntry,
  action: Extract<Action, { action: 'consent.withdrawn-by-request' }>,
): HistoryRow {
  // Of all purposes none is named, so that one of which an earlier consent becomes known later is withdrawn, too.
  const denied = action.all ? [] : action.purposes;
  return {
    ...historyColumns(entry),
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
    label: 'withdrawn',
    withdraws: '[]',
    stands: '[]',
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

/** What a withdrawal by request leaves standing stands under the policy, and until the end, of the consent before it. */
function takeCircumstances(row: HistoryRow, before: Row<'decisions'> | undefined): void {
  row.policy_id = before?.policy_id ?? null;
  row.policy_version = before?.policy_version ?? null;
  row.region = before?.region ?? null;
  row.expires_at = before?.expires_at ?? null;
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

function keyOf(row: Pick<HistoryRow, 'source' | 'banner_id'>, subject: string): string {
  return joinKey(row.source, subject, row.banner_id ?? '');
}

type Judged = Pick<HistoryRow, 'label' | 'withdraws' | 'stands'>;

function copyJudgement(from: Judged, to: Judged): void {
  to.label = from.label;
  to.withdraws = from.withdraws;
  to.stands = from.stands;
}

function setJudgement(row: Judged, judgement: Judgement): void {
  row.label = judgement.label;
  row.withdraws = JSON.stringify(judgement.withdraws);
  row.stands = JSON.stringify(judgement.stands);
}

function listOf(column: string | undefined): readonly string[] {
  return column === undefined || column === '[]' ? [] : (JSON.parse(column) as string[]);
}

function saidOf(row: Pick<HistoryRow, 'state' | 'purposes'>): Parameters<typeof judgeChoice>[1] {
  return { state: row.state, purposes: JSON.parse(row.purposes) as PurposeChoices };
}

/** Subjects of whom a decision becomes known after one that was made later: only their histories are read again. */
function lateSubjects(rows: readonly HistoryRow[], known: ReadonlyMap<string, Row<'decisions'>>): KeysBySource {
  const late = new KeysBySource();
  const latest = new Map<string, string>();
  for (const row of rows) {
    if (row.subject === null) continue;
    const key = keyOf(row, row.subject);
    const before = latest.get(key) ?? known.get(key)?.at;
    if (before === undefined || row.at >= before) latest.set(key, row.at);
    else if (row.is_first === 1) late.add(row.source, row.subject);
  }
  return late;
}

type Judgeable = Pick<HistoryRow, 'seq' | 'at' | 'source' | 'decision_id' | 'state' | 'purposes'> & Judged;

/** The decisions of a subject on a banner in the order of their times, each as it is judged now. */
class Timeline {
  readonly #decisions: Judgeable[] = [];

  /** A decision that is in the history already. */
  recall(decision: Judgeable): void {
    this.#decisions.splice(this.#placeOf(decision), 0, decision);
  }

  /** Judges a new decision, and those after it again until nothing changes any more. */
  add(row: HistoryRow): Row<'decision_judgements'>[] {
    const place = this.#placeOf(row);
    setJudgement(row, judgeChoice(listOf(this.#decisions[place - 1]?.stands), saidOf(row)));
    this.#decisions.splice(place, 0, { ...row });
    const changed: Row<'decision_judgements'>[] = [];
    for (let next = place + 1; next < this.#decisions.length; next += 1) {
      const decision = this.#decisions[next] as Judgeable;
      const judged = { ...decision };
      setJudgement(judged, judgeChoice(listOf(this.#decisions[next - 1]?.stands), saidOf(decision)));
      const { label, withdraws, stands } = judged;
      if (label === decision.label && withdraws === decision.withdraws && stands === decision.stands) break;
      copyJudgement(judged, decision);
      changed.push({
        seq: row.seq,
        source: row.source,
        decision_id: decision.decision_id,
        label,
        withdraws,
        stands,
      });
    }
    return changed;
  }

  last(): Judgeable | undefined {
    return this.#decisions.at(-1);
  }

  /** Decisions mostly come in order, so the place is looked for from the end. */
  #placeOf({ at, seq }: Judgeable): number {
    let place = this.#decisions.length;
    for (let before = this.#decisions[place - 1]; before !== undefined; before = this.#decisions[place - 1]) {
      if (before.at < at || (before.at === at && before.seq < seq)) break;
      place -= 1;
    }
    return place;
  }
}

/** The timelines of one subject, banner by banner. */
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
  const rows = await state
    .selectFrom('decision_history')
    .select(['seq', 'at', 'source', 'subject', 'banner_id', 'decision_id', 'state', 'purposes'])
    .select(['label', 'withdraws', 'stands'])
    .where(late.where('subject'))
    .where('is_first', '=', 1)
    .orderBy('at')
    .orderBy('seq')
    .execute();
  const judged = await loadJudgements(state, rows);
  for (const [source, subject] of late.pairs()) timelines.set(joinKey(source, subject), new Timelines());
  for (const row of rows) {
    const again = judged.get(joinKey(row.source, row.decision_id));
    if (again !== undefined) copyJudgement(again, row);
    timelines
      .get(joinKey(row.source, row.subject ?? ''))
      ?.of(row.banner_id)
      .recall(row);
  }
  return timelines;
}

/** How decisions are judged by now, where that is not as their own rows say. */
async function loadJudgements(
  state: Query,
  rows: readonly Pick<HistoryRow, 'source' | 'decision_id'>[],
): Promise<ReadonlyMap<string, Judged>> {
  const latest = new Map<string, Judged>();
  for (let start = 0; start < rows.length; start += DECISIONS) {
    const keys = new KeysBySource();
    for (const { source, decision_id } of rows.slice(start, start + DECISIONS)) keys.add(source, decision_id);
    const found = await state
      .selectFrom('decision_judgements')
      .selectAll()
      .where(keys.where('decision_id'))
      .orderBy('seq')
      .execute();
    for (const row of found) latest.set(joinKey(row.source, row.decision_id), row);
  }
  return latest;
}

/** Decisions looked up in one statement. */
const DECISIONS = 1000;

/** What earlier rows of these decisions say, each different saying once: few, however often a decision was repeated. */
async function loadSaid(state: Query, rows: readonly HistoryRow[]): Promise<Map<string, Said[]>> {
  const keys = new KeysBySource();
  for (const row of rows) keys.add(row.source, row.decision_id);
  const earlier = await state
    .selectFrom('decision_history')
    .select(['source', 'decision_id', 'subject', 'banner_id', 'state', 'purposes', 'policy_id', 'policy_version'])
    .select(['label', 'withdraws', 'stands'])
    .distinct()
    .where(keys.where('decision_id'))
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

async function loadKnown(state: Query, rows: readonly HistoryRow[]): Promise<Map<string, Row<'decisions'>>> {
  const keys = new KeysBySource();
  for (const row of rows) if (row.subject !== null) keys.add(row.source, row.subject);
  const known = new Map<string, Row<'decisions'>>();
  if (keys.empty) return known;
  for (const row of await state.selectFrom('decisions').selectAll().where(keys.where('subject')).execute()) {
    known.set(joinKey(row.source, row.subject, row.banner_id), row);
  }
  return known;
}

/** Sets `is_first` and `conflicts` of a row that comes after what was `said`, and adds it there. */
function markRepeat(row: HistoryRow, said: Map<string, Said[]>): void {
  const key = joinKey(row.source, row.decision_id);
  const earlier = said.get(key);
  if (earlier === undefined) {
    said.set(key, [row]);
    return;
  }
  row.is_first = 0;
  row.conflicts = earlier.some((saying) => contradicts(saying, row)) ? 1 : 0;
  if (!earlier.some((saying) => sameSaying(saying, row))) earlier.push(row);
}

type Saying = Omit<Said, 'label' | 'withdraws' | 'stands'>;
const plainFields = ['subject', 'banner_id', 'policy_id', 'policy_version'] as const;

function sameSaying(a: Saying, b: Saying): boolean {
  return a.state === b.state && a.purposes === b.purposes && plainFields.every((field) => a[field] === b[field]);
}

/**
 * Whether two rows of one decision cannot both be right. A row that leaves something out (the delivery without a policy
 * version, the pulled row that also lists the necessary purpose) contradicts nothing.
 */
export function contradicts(a: Saying, b: Saying): boolean {
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown') return true;
  for (const field of plainFields) {
    if (a[field] !== null && b[field] !== null && a[field] !== b[field]) return true;
  }
  if (a.purposes === b.purposes) return false;
  const first = JSON.parse(a.purposes) as Record<string, string>;
  const second = JSON.parse(b.purposes) as Record<string, string>;
  return Object.keys(first).some((purpose) => Object.hasOwn(second, purpose) && first[purpose] !== second[purpose]);
}

/**
 * A subject's picture on a banner after one more row of the history. How it is judged stays as it was: repeats change nothing in that, and for
 * a new decision the caller sets it.
 */
export function foldDecision(before: Row<'decisions'> | undefined, row: HistoryRow, subject: string): Row<'decisions'> {
  const changes = (before?.changes ?? 0) + row.is_first;
  const sameDecision = before?.decision_id === row.decision_id;
  if (before !== undefined && row.at < before.at) {
    if (!sameDecision) return { ...before, changes };
    return {
      ...before,
      policy_id: before.policy_id ?? row.policy_id,
      policy_version: before.policy_version ?? row.policy_version,
      region: before.region ?? row.region,
      expires_at: before.expires_at ?? row.expires_at,
      changes,
    };
  }
  const told = sameDecision ? before : undefined;
  return {
    source: row.source,
    banner_id: row.banner_id ?? '',
    subject,
    decision_id: row.decision_id,
    state: row.state,
    purposes: row.purposes,
    label: before?.label ?? row.label,
    withdraws: before?.withdraws ?? '[]',
    stands: before?.stands ?? '[]',
    policy_id: row.policy_id ?? told?.policy_id ?? null,
    policy_version: row.policy_version ?? told?.policy_version ?? null,
    region: row.region ?? told?.region ?? null,
    expires_at: row.expires_at ?? told?.expires_at ?? null,
    at: row.at,
    first_seq: before?.first_seq ?? row.seq,
    last_seq: row.seq,
    changes,
  };
}

/** RFC 8785 JSON of the purposes: names in UTF-16 order. Written down directly, as it is the hottest JSON there is. */
export function purposesText(purposes: DecisionFact['purposes']): string {
  const names = Object.keys(purposes).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:"${purposes[name]}"`).join(',')}}`;
}
