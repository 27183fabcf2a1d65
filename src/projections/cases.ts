import { blankRequest, type RequestFact } from '../../receivers/dsar.ts';
import type { Reading } from '../../receivers/read.ts';
import { applyMove, openCaseFromAction, openCaseFromRequest } from '../cases/fold.ts';
import type { Action } from '../core/action.ts';
import { canonicalJson } from '../crypto/canonical.ts';
import type { Query } from '../store/store.ts';
import { forEachReading, joinKey, KeysBySource, partColumns } from './columns.ts';
import { appendTo, type ProjectedEntry, type Projection, quarantineRows, type Row, replaceIn } from './projection.ts';

type CaseAction = Extract<Action, { action: 'case.opened' | 'case.moved' }>;

/**
 * Data subject requests. Any signed `dsar.*` opens a case, even if none of its fields was understood. If the service
 * reports a request again under the same id, it is the same case: the later report is recorded in its history as
 * `reported-again`, without a new version, so that it cannot make an officer's move stale.
 */
export const cases: Projection = {
  name: 'cases',
  tables: ['case_history', 'cases'],
  async fold(state, batch) {
    const events = eventsOf(batch);
    if (events.length === 0) return [];
    const inFold = await loadCases(state, events);
    for (const { entry, part, request, action } of events) {
      if (request !== null) foldRequest(inFold, entry, part, request);
      if (action !== null) foldAction(inFold, entry, action);
    }
    return [
      appendTo('case_history', inFold.history),
      replaceIn(
        'cases',
        [...inFold.touched].map((id) => inFold.byId.get(id) as Row<'cases'>),
      ),
      quarantineRows(inFold.refused),
    ];
  },
};

/** A request in an entry, or what was done about a case. */
interface CaseEvent {
  readonly entry: ProjectedEntry;
  readonly part: number;
  readonly request: RequestFact | null;
  readonly action: CaseAction | null;
}

function eventsOf(batch: readonly ProjectedEntry[]): readonly CaseEvent[] {
  const events: CaseEvent[] = [];
  for (const entry of batch) {
    const action = caseActionOf(entry);
    if (action !== null) events.push({ entry, part: 0, request: null, action });
    if (entry.kind !== 'webhook') continue;
    forEachReading(entry, (reading, part) => {
      const request = requestOf(reading, entry.receivedAt);
      if (request !== null) events.push({ entry, part, request, action: null });
    });
  }
  return events;
}

/** The cases that a batch concerns, as of the entry being folded. */
interface CasesInFold {
  readonly byId: Map<string, Row<'cases'>>;
  /** Case ids by source and the service's request id. */
  readonly byRequest: Map<string, string>;
  readonly touched: Set<string>;
  readonly history: Row<'case_history'>[];
  readonly refused: Row<'quarantine'>[];
}

async function loadCases(state: Query, events: readonly CaseEvent[]): Promise<CasesInFold> {
  const ids = new Set<string>();
  const requests = new KeysBySource();
  for (const { entry, request, action } of events) {
    if (action !== null) ids.add(action.caseId);
    const requestId = request?.requestId ?? null;
    if (requestId !== null) requests.add(entry.source, requestId);
  }
  const byId = new Map<string, Row<'cases'>>();
  const byRequest = new Map<string, string>();
  const loaded = [
    ids.size === 0
      ? []
      : await state
          .selectFrom('cases')
          .selectAll()
          .where('case_id', 'in', [...ids])
          .execute(),
    requests.empty ? [] : await state.selectFrom('cases').selectAll().where(requests.where('request_id')).execute(),
  ];
  for (const row of loaded.flat()) {
    byId.set(row.case_id, row);
    if (row.request_id !== null) byRequest.set(joinKey(row.source, row.request_id), row.case_id);
  }
  return { byId, byRequest, touched: new Set(), history: [], refused: [] };
}

function foldRequest(cases: CasesInFold, entry: ProjectedEntry, part: number, fact: RequestFact): void {
  const requestKey = fact.requestId === null ? null : joinKey(entry.source, fact.requestId);
  const knownId = requestKey === null ? undefined : cases.byRequest.get(requestKey);
  const known = knownId === undefined ? undefined : cases.byId.get(knownId);
  if (known === undefined) {
    const opened = openCaseFromRequest(fact, { ...entry, part });
    if (requestKey !== null) cases.byRequest.set(requestKey, opened.row.case_id);
    record(cases, opened);
    return;
  }
  const { type: _, ...reported } = fact;
  record(cases, {
    row: { ...known, last_seq: entry.seq },
    history: {
      ...partColumns(entry, part),
      case_id: known.case_id,
      version: known.version,
      move: 'reported-again',
      from_state: known.state,
      to_state: known.state,
      actor: 'service',
      details: canonicalJson(reported).toString('utf8'),
    },
  });
}

function foldAction(cases: CasesInFold, entry: ProjectedEntry, action: CaseAction): void {
  const known = cases.byId.get(action.caseId);
  if (action.action === 'case.opened') {
    if (known === undefined) record(cases, openCaseFromAction(action, { ...entry, part: 0 }));
    else refuse(cases, entry, `case ${action.caseId} was opened before`);
    return;
  }
  if (known === undefined) {
    refuse(cases, entry, `there is no case ${action.caseId}`);
    return;
  }
  const moved = applyMove(known, action, { ...entry, part: 0 });
  if (moved.outcome === 'moved') record(cases, moved);
  else refuse(cases, entry, moved.reason);
}

function record(cases: CasesInFold, folded: { row: Row<'cases'>; history: Row<'case_history'> }): void {
  cases.byId.set(folded.row.case_id, folded.row);
  cases.touched.add(folded.row.case_id);
  cases.history.push(folded.history);
}

/** Records a move without effect, so that it is visible. */
function refuse(cases: CasesInFold, entry: ProjectedEntry, reason: string): void {
  const event = entry.action?.action ?? null;
  cases.refused.push({ seq: entry.seq, source: entry.source, event, reason, received_at: entry.receivedAt });
}

function caseActionOf(entry: ProjectedEntry): CaseAction | null {
  const { action } = entry;
  return action?.action === 'case.opened' || action?.action === 'case.moved' ? action : null;
}

/** The request in an event; with every field empty for a `dsar.*` that could not be read. */
function requestOf(reading: Reading, receivedAt: string): RequestFact | null {
  if (reading.outcome === 'read') return reading.fact.type === 'request' ? reading.fact : null;
  if (!reading.event?.startsWith('dsar.')) return null;
  return blankRequest(receivedAt);
}
