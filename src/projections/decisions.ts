import type { DecisionFact } from '../core/fact.ts';
import type { Query } from '../store/store.ts';
import { factsOf } from './columns.ts';
import { joinKey, KeysBySource } from './keys.ts';
import { appendTo, type Projection, type ProjectedEntry, type Readers, replaceIn, type Row } from './projection.ts';

type Said = Pick<
  Row<'decision_history'>,
  'subject' | 'banner_id' | 'state' | 'purposes' | 'policy_id' | 'policy_version'
>;

/**
 * Consent decisions. One decision may be told twice, by a delivery and by a pulled row: both rows stand in the history under
 * one `decision_id`, the first of them is the one that totals count, and a later one that contradicts an earlier one is
 * marked. The present picture of a subject on a banner is its decision with the latest time, and of the later entry where
 * times are equal; a decision without a subject has a history only.
 */
export function createDecisions(readers: Pick<Readers, 'decisionIdOf'>): Projection {
  return {
    name: 'decisions',
    tables: ['decision_history', 'decisions'],
    async fold(state, batch) {
      const found = factsOf(batch, 'decision');
      if (found.length === 0) return [];
      const rows = found.map(({ entry, fact }) => decisionRow(entry, fact, readers.decisionIdOf(fact)));
      const said = await loadSaid(state, rows);
      const known = await loadKnown(state, rows);
      const touched = new Map<string, Row<'decisions'>>();
      for (const row of rows) {
        markRepeat(row, said);
        if (row.subject === null) continue;
        const key = joinKey(row.source, row.subject, row.banner_id ?? '');
        touched.set(key, foldDecision(touched.get(key) ?? known.get(key), row, row.subject));
      }
      return [appendTo('decision_history', rows), replaceIn('decisions', [...touched.values()])];
    },
  };
}

/** Written out column by column: spreading objects into it would cost more than all the rest of the fold. */
function decisionRow(entry: ProjectedEntry, fact: DecisionFact, decisionId: string): Row<'decision_history'> {
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
    state: fact.state,
    purposes: purposesText(fact.purposes),
    policy_id: fact.policyId,
    policy_version: fact.policyVersion,
    region: fact.region,
    language: fact.language,
    expires_at: fact.expiresAt,
    is_first: 1,
    conflicts: 0,
    commitment: entry.commitment,
  };
}

/** What earlier rows of these decisions say, each different saying once: few, however often a decision was repeated. */
async function loadSaid(state: Query, rows: readonly Row<'decision_history'>[]): Promise<Map<string, Said[]>> {
  const keys = new KeysBySource();
  for (const row of rows) keys.add(row.source, row.decision_id);
  const earlier = await state
    .selectFrom('decision_history')
    .select(['source', 'decision_id', 'subject', 'banner_id', 'state', 'purposes', 'policy_id', 'policy_version'])
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

async function loadKnown(
  state: Query,
  rows: readonly Row<'decision_history'>[],
): Promise<Map<string, Row<'decisions'>>> {
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
function markRepeat(row: Row<'decision_history'>, said: Map<string, Said[]>): void {
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

const plainFields = ['subject', 'banner_id', 'policy_id', 'policy_version'] as const;

function sameSaying(a: Said, b: Said): boolean {
  return a.state === b.state && a.purposes === b.purposes && plainFields.every((field) => a[field] === b[field]);
}

/**
 * Whether two rows of one decision cannot both be right. A row that leaves something out (the delivery without a policy
 * version, the pulled row that also lists the necessary purpose) contradicts nothing.
 */
export function contradicts(a: Said, b: Said): boolean {
  if (a.state !== b.state && a.state !== 'unknown' && b.state !== 'unknown') return true;
  for (const field of plainFields) {
    if (a[field] !== null && b[field] !== null && a[field] !== b[field]) return true;
  }
  if (a.purposes === b.purposes) return false;
  const first = JSON.parse(a.purposes) as Record<string, string>;
  const second = JSON.parse(b.purposes) as Record<string, string>;
  return Object.keys(first).some((purpose) => Object.hasOwn(second, purpose) && first[purpose] !== second[purpose]);
}

/** A subject's picture on a banner after one more row of the history. */
export function foldDecision(
  before: Row<'decisions'> | undefined,
  row: Row<'decision_history'>,
  subject: string,
): Row<'decisions'> {
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
