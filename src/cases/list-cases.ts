import { dateIn } from '../core/zoned-days.ts';
import type { ControllerProfile } from '../law/profile.ts';
import {
  asksFor,
  assignedTo,
  type CasesVersion,
  casesVersion,
  changedSince,
  hasOpenMessage,
  mentionsText,
  type Requester,
  readLikelyRequesters,
  readManyCases,
} from '../store/queries/cases.ts';
import { type ConsentAfterWithdrawal, createWithdrawalQueries } from '../store/queries/history-withdrawals.ts';
import type { Query } from '../store/store.ts';
import { isApprovalOutdated } from './approval.ts';
import { listSame, type SameRequest, wantedOf } from './duplicates.ts';
import type { CaseHistoryRow, CaseRow } from './fold.ts';
import { type CaseTask, parseFolded } from './folded.ts';
import { type Match, matchCase } from './match-subject.ts';
import { type Disclosure, isOpen, type messageKinds, moves, openStates } from './moves.ts';
import { caseReadiness, disclosureOf, type Readiness } from './readiness.ts';
import { type CaseReading, type CaseView, viewCase } from './view.ts';

interface CaseFilter {
  readonly source?: string;
  /** Only these sources; absent: all. */
  readonly sources?: readonly string[];
  readonly state?: string;
  readonly kind?: string;
  /** The id of an account, or the text that names someone without one; null: unassigned. */
  readonly assignee?: string | null;
  /** Text in a name, an address, an identifier or a case number. */
  readonly text?: string;
  /** Only cases whose requester still waits. */
  readonly open?: boolean;
  /** Only cases with a message that nobody has answered yet, or only the others. */
  readonly openMessages?: boolean;
  /** Only settled ones after this one in order of receipt; null: from the first. */
  readonly settledAfter?: Pick<CaseRow, 'receipt_at' | 'opened_seq'> | null;
  /** ISO 8601 UTC. */
  readonly now: string;
  /** At most this many settled cases, by latest receipt, default 500. Open ones are always included. */
  readonly limit?: number;
}

/** Number of open requests assigned to an account. */
export async function countOpenOf(read: Query, personId: string): Promise<number> {
  const { n } = await read
    .selectFrom('cases')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', 'in', [...openStates])
    .where(assignedTo(read, personId))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/**
 * Cases with their computed deadlines: open ones by legal limit, then settled ones by receipt, latest first. Of open ones
 * alone, the same array while nothing changes.
 */
export async function listCases(deps: CaseReading, filter: CaseFilter): Promise<readonly CaseView[]> {
  let query = deps.store.read.selectFrom('cases').selectAll();
  if (filter.source !== undefined) query = query.where('source', '=', filter.source);
  if (filter.sources !== undefined) query = query.where('source', 'in', [...filter.sources]);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  if (filter.kind !== undefined) query = query.where(asksFor(filter.kind));
  if (filter.assignee !== undefined) query = query.where(assignedTo(deps.store.read, filter.assignee));
  if (filter.text !== undefined) query = query.where(mentionsText(filter.text));
  if (filter.openMessages !== undefined) query = query.where(hasOpenMessage(deps.store.read, filter.openMessages));
  const { settledAfter } = filter;
  const open = settledAfter === undefined ? listOpen(deps, filter, query.where('state', 'in', [...openStates])) : [];
  if (filter.open === true) return open;
  if (settledAfter != null) {
    const { receipt_at: at, opened_seq: seq } = settledAfter;
    query = query
      .where('receipt_at', '<=', at)
      .where((eb) => eb.or([eb('receipt_at', '<', at), eb('opened_seq', '<', seq)]));
  }
  const settled = query
    .where('state', 'not in', [...openStates])
    .orderBy('receipt_at', 'desc')
    .orderBy('opened_seq', 'desc')
    .limit(filter.limit ?? 500)
    .execute()
    .then((rows) => viewAll(deps, rows, filter.now));
  const [first, rest] = await Promise.all([open, settled]);
  return [...first, ...rest];
}

type WantedCases = Parameters<typeof readManyCases>[1];

/** An ordered list of open cases, and its input (see {@link KeptView}). */
interface KeptList {
  readonly regimes: CaseReading['regimes'];
  readonly version: CasesVersion;
  readonly profiles: ReadonlyMap<string, ControllerProfile | null>;
  readonly day: string;
  readonly views: readonly CaseView[];
}

/** Cached lists of open cases of one database. */
const LISTS_KEPT = 4;
const keptLists = new WeakMap<Query, Map<string, KeptList>>();

/** Open cases by legal limit. */
async function listOpen(
  deps: CaseReading,
  { source, sources, state, kind, assignee, text, openMessages, now }: CaseFilter,
  wanted: WantedCases,
): Promise<readonly CaseView[]> {
  const { read } = deps.store;
  const kept = keptLists.get(read) ?? new Map<string, KeptList>();
  keptLists.set(read, kept);
  const key = JSON.stringify({ source, sources, state, kind, assignee, text, openMessages });
  const version = await casesVersion(read);
  const before = await validList(deps, kept.get(key), now);
  const changed = before === null ? null : await changesSince(read, before.version, version);
  const list =
    before === null || changed === null
      ? await readList(deps, wanted, version, now)
      : changed.size === 0
        ? before
        : await withChanges(deps, before, { changed, wanted, version, now });
  kept.delete(key);
  kept.set(key, list);
  for (const oldest of [...kept.keys()].slice(0, -LISTS_KEPT)) kept.delete(oldest);
  return list.views;
}

/** A cached list, unless the day, a profile or the rules have changed since. */
async function validList(deps: CaseReading, list: KeptList | undefined, now: string): Promise<KeptList | null> {
  if (list?.regimes !== deps.regimes || list.day !== dateIn(now, deps.timeZone)) return null;
  const profiles = await loadProfiles(deps, list.profiles.keys());
  return [...profiles].every(([slug, profile]) => list.profiles.get(slug) === profile) ? list : null;
}

async function readList(deps: CaseReading, wanted: WantedCases, version: CasesVersion, now: string): Promise<KeptList> {
  const rows = await readManyCases(deps.store.read, wanted);
  const profiles = await loadProfiles(
    deps,
    rows.map((row) => row.source),
  );
  const views = (await viewAll(deps, rows, now)).sort(byDue);
  return { regimes: deps.regimes, version, profiles, day: dateIn(now, deps.timeZone), views };
}

/** If more cases have changed, all of them are read, which is faster. */
const CHANGES_READ = 500;

/** Ids of the cases changed since; null: all have to be read. */
async function changesSince(
  read: Query,
  before: CasesVersion,
  version: CasesVersion,
): Promise<ReadonlySet<string> | null> {
  if (before.generation !== version.generation) return null;
  if (before.seq === version.seq) return new Set();
  const changed = new Set(await changedSince(read, before, CHANGES_READ + 1));
  return changed.size > CHANGES_READ ? null : changed;
}

interface Changes {
  readonly changed: ReadonlySet<string>;
  readonly wanted: WantedCases;
  readonly version: CasesVersion;
  readonly now: string;
}

/** The list with these cases read again. Some may no longer be among the wanted ones. */
async function withChanges(
  deps: CaseReading,
  before: KeptList,
  { changed, wanted, version, now }: Changes,
): Promise<KeptList> {
  const rows = await wanted.where('case_id', 'in', [...changed]).execute();
  const added = await loadProfiles(
    deps,
    rows.map((row) => row.source),
  );
  const views = before.views.filter(({ row }) => !changed.has(row.case_id));
  for (const view of await viewAll(deps, rows, now)) views.splice(placeByDue(views, view), 0, view);
  return { ...before, version, profiles: new Map([...added, ...before.profiles]), views };
}

/** What a requester has written and nobody has answered yet. */
export interface WaitingMessage {
  readonly caseId: string;
  readonly source: string;
  readonly name: string | null;
  /** Open messages, and what they are: an objection if one of them is. */
  readonly count: number;
  readonly about: (typeof messageKinds)[number];
  /** When the first and the last one came, ISO 8601 UTC. */
  readonly at: string;
  readonly lastAt: string;
}

/** Cases with open messages, settled ones too, the one that waits longest first. Absent `sources`: all. */
export async function listMessages(read: Query, sources?: readonly string[]): Promise<readonly WaitingMessage[]> {
  const rows = await read
    .selectFrom('cases')
    .select(['case_id', 'source', 'requester_name', 'folded'])
    .where(hasOpenMessage(read, true))
    .execute();
  return ofSources(rows, sources)
    .flatMap(({ case_id: caseId, source, requester_name: name, folded }) => {
      const { openMessages = [] } = parseFolded(folded);
      const [first, last] = [openMessages[0], openMessages.at(-1)];
      if (first === undefined || last === undefined) return [];
      const objects = openMessages.some(({ about }) => about === 'objection');
      const about = objects ? 'objection' : first.about;
      return [{ caseId, source, name, count: openMessages.length, about, at: first.at, lastAt: last.at }];
    })
    .sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Filtered here instead of in SQL: SQLite would then read every case of these sources instead of the few that are needed. */
function ofSources<Row extends { readonly source: string }>(
  rows: readonly Row[],
  sources: readonly string[] | undefined,
): readonly Row[] {
  return sources === undefined ? rows : rows.filter(({ source }) => sources.includes(source));
}

/** An open task for the owner of another system that is due. */
export interface DueTask {
  readonly caseId: string;
  /** Its number within the case. */
  readonly task: string;
  readonly what: string;
  readonly owner: string | null;
  /** YYYY-MM-DD. */
  readonly due: string;
}

/** Open tasks due by `day` (YYYY-MM-DD), of open and settled cases, earliest first. Absent `sources`: all. */
export async function listDueTasks(read: Query, day: string, sources?: readonly string[]): Promise<readonly DueTask[]> {
  const rows = await read
    .selectFrom('cases')
    .select(['case_id', 'source', 'folded'])
    .where('case_id', 'in', (added) =>
      added.selectFrom('case_history').select('case_history.case_id').where('move', '=', 'add-task'),
    )
    .execute();
  return ofSources(rows, sources)
    .flatMap(({ case_id: caseId, folded }) =>
      (parseFolded(folded).tasks ?? []).flatMap(({ what, owner, due, outcome }, place) =>
        outcome === null && due <= day ? [{ caseId, task: String(place + 1), what, owner, due }] : [],
      ),
    )
    .sort((a, b) => a.due.localeCompare(b.due) || a.caseId.localeCompare(b.caseId));
}

/** A task as written earlier for a case of the same source, without its instructions, which may name a person. */
export type EarlierTask = Pick<CaseTask, 'what' | 'owner' | 'ownerEmail'> & {
  /** The entry that added it. */
  readonly seq: number;
};

/** The latest moves searched for suggestions, at most this many. */
const EARLIER_LOOKED = 200;

/** Tasks given to other systems before in this source, latest first, without repeats. */
export async function listEarlierTasks(read: Query, source: string): Promise<readonly EarlierTask[]> {
  const rows = await read
    .selectFrom('case_history')
    .select(['seq', 'details'])
    .where('source', '=', source)
    .where('move', '=', 'add-task')
    .orderBy('seq', 'desc')
    .limit(EARLIER_LOOKED)
    .execute();
  const found = new Map<string, EarlierTask>();
  for (const { seq, details } of rows) {
    const parsed = moves['add-task'].details.safeParse(JSON.parse(details));
    if (!parsed.success) continue;
    const { what, owner = null, ownerEmail = null } = parsed.data;
    const key = JSON.stringify([what, owner, ownerEmail]);
    if (!found.has(key)) found.set(key, { seq, what, owner, ownerEmail });
  }
  return [...found.values()];
}

interface CasePage {
  /** Null: all sources. */
  readonly sources: readonly string[] | null;
  readonly state?: string;
  readonly kind?: string;
  /** As in {@link CaseFilter}. */
  readonly assignee?: string | null;
  /** Whether the requester still waits. */
  readonly open?: boolean;
  /** As in {@link CaseFilter}. */
  readonly openMessages?: boolean;
  /** ISO 8601 UTC. */
  readonly now: string;
  /** Only cases opened by an earlier entry; null: from the latest. */
  readonly before: number | null;
  readonly limit: number;
}

/** Cases with their computed deadlines, latest opening first, so pages stay the same while new cases are opened. */
export async function pageCases(deps: CaseReading, page: CasePage): Promise<readonly CaseView[]> {
  let query = deps.store.read.selectFrom('cases').selectAll();
  if (page.sources !== null) query = query.where('source', 'in', [...page.sources]);
  if (page.state !== undefined) query = query.where('state', '=', page.state);
  if (page.kind !== undefined) query = query.where(asksFor(page.kind));
  if (page.assignee !== undefined) query = query.where(assignedTo(deps.store.read, page.assignee));
  if (page.open !== undefined) query = query.where('state', page.open ? 'in' : 'not in', [...openStates]);
  if (page.openMessages !== undefined) query = query.where(hasOpenMessage(deps.store.read, page.openMessages));
  if (page.before !== null) query = query.where('opened_seq', '<', page.before);
  return viewAll(deps, await query.orderBy('opened_seq', 'desc').limit(page.limit).execute(), page.now);
}

/** A view and its complete input (viewCase); of the time, only the day matters. */
interface KeptView {
  readonly row: CaseRow;
  readonly profile: ControllerProfile | null;
  readonly day: string;
  readonly view: CaseView;
}

/** Cached views of one installation by case, so that a list computes only what changed. */
const keptViews = new WeakMap<CaseReading['regimes'], Map<string, KeptView>>();
const VIEWS_KEPT = 10_000;

/** The view of one case: the cached one if its input is unchanged. */
function viewOne(deps: CaseReading, row: CaseRow, profile: ControllerProfile | null, now: string): CaseView {
  const { regimes, timeZone } = deps;
  const before = keptViews.get(regimes)?.get(row.case_id);
  return before?.day === dateIn(now, timeZone) && before.profile === profile && isSameRow(before.row, row)
    ? before.view
    : viewCase(row, { regimes, timeZone, profile, now });
}

/** Computing thousands of deadlines takes a second or two, so it yields to webhooks. */
async function viewAll(deps: CaseReading, rows: readonly CaseRow[], now: string): Promise<CaseView[]> {
  const { regimes, timeZone } = deps;
  const kept = keptViews.get(regimes) ?? new Map<string, KeptView>();
  keptViews.set(regimes, kept);
  if (kept.size > VIEWS_KEPT) kept.clear();
  const profiles = await loadProfiles(
    deps,
    rows.map((row) => row.source),
  );
  const day = dateIn(now, timeZone);
  const views: CaseView[] = [];
  let computed = 0;
  for (const row of rows) {
    const profile = profiles.get(row.source) ?? null;
    const before = kept.get(row.case_id);
    if (before?.day === day && before.profile === profile && isSameRow(before.row, row)) {
      views.push(before.view);
      continue;
    }
    const view = viewCase(row, { regimes, timeZone, profile, now });
    kept.set(row.case_id, { row, profile, day, view });
    views.push(view);
    computed += 1;
    if (computed % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return views;
}

function isSameRow(one: CaseRow, other: CaseRow): boolean {
  return one === other || (Object.keys(one) as (keyof CaseRow)[]).every((column) => one[column] === other[column]);
}

export interface ShownCase {
  readonly view: CaseView;
  readonly profile: ControllerProfile | null;
  readonly history: readonly CaseHistoryRow[];
  readonly match: Match;
  readonly readiness: Readiness;
  readonly disclosure: Disclosure;
  /** Cases of its source whose requester may be the same, to be compared; none if the case is settled. */
  readonly likely: readonly Requester[];
  /** Open cases that may be the same request, earliest receipt first. */
  readonly sameAs: readonly SameRequest[];
  /** Consent recorded after this case had withdrawn it. */
  readonly consentAfter: readonly ConsentAfterWithdrawal[];
  /** Whether a letter, file or pack was added after a second person's approval, which then no longer counts. */
  readonly approvalOutdated: boolean;
}

/** One case with its history, its subject's records and what it lacks; null if the case does not exist. */
export async function showCase(deps: CaseReading, caseId: string, now: string): Promise<ShownCase | null> {
  const row = await findCase(deps.store.read, caseId);
  return row === null ? null : showRow(deps, row, now);
}

export async function findCase(read: Query, caseId: string): Promise<CaseRow | null> {
  return (await read.selectFrom('cases').selectAll().where('case_id', '=', caseId).executeTakeFirst()) ?? null;
}

/** Like {@link showCase}, for a row that was just read. */
export async function showRow(deps: CaseReading, row: CaseRow, now: string): Promise<ShownCase> {
  const { source, case_id: caseId } = row;
  const { read } = deps.store;
  const asOf = Number.MAX_SAFE_INTEGER;
  const [likely, profile, history, match, consentAfter] = await Promise.all([
    isOpen(row.state) ? readLikelyRequesters(read, source, wantedOf(row)) : [],
    deps.profileOf(source),
    read.selectFrom('case_history').selectAll().where('case_id', '=', caseId).orderBy('seq').orderBy('part').execute(),
    matchCase(deps, row),
    createWithdrawalQueries(read).consentsAfterWithdrawal({ source, asOf, caseId }),
  ]);
  const view = viewOne(deps, row, profile, now);
  return {
    view,
    profile,
    history,
    match,
    readiness: caseReadiness(view, profile, match),
    disclosure: disclosureOf(view, match),
    likely,
    sameAs: listSame(view, likely),
    consentAfter,
    approvalOutdated: await isApprovalOutdated(read, row),
  };
}

async function loadProfiles(
  deps: CaseReading,
  sources: Iterable<string>,
): Promise<Map<string, ControllerProfile | null>> {
  const profiles = new Map<string, ControllerProfile | null>();
  await Promise.all([...new Set(sources)].map(async (source) => profiles.set(source, await deps.profileOf(source))));
  return profiles;
}

/** Cases without a limit come first, because their due date is unknown. */
function byDue(a: CaseView, b: CaseView): number {
  const [one, other] = [a.deadline.limit ?? '', b.deadline.limit ?? ''];
  return one < other ? -1 : one > other ? 1 : a.row.opened_seq - b.row.opened_seq;
}

/**
 * Where a view belongs in a list sorted by due date. A binary search, because scanning thousands would take longer than
 * everything else.
 */
function placeByDue(views: readonly CaseView[], view: CaseView): number {
  let [from, to] = [0, views.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = views[middle];
    if (other !== undefined && byDue(other, view) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
