import { randomUUID } from 'node:crypto';
import { isoNow } from '../core/clock.ts';
import { appendAction } from '../ledger/append-action.ts';
import { lastSeq } from '../store/queries/fold-position.ts';
import type { Query } from '../store/store.ts';
import { loadBannerIds, loadCompletedBanners } from './banners.ts';
import { appendPage, findKnown, isAllKnown } from './log-pages.ts';
import { joinGaps, planOf } from './periods-to-read.ts';
import { countRecounted, loadBeginning, noteRecount, type RecountSummary } from './position.ts';
import { failureOfError, failureOfFault, type PullDeps, type PullRequest, unreachable } from './pull-result.ts';
import { readPlan } from './read-plan.ts';
import { addPage, countNew, noTotals } from './row.ts';

interface RecountDeps extends PullDeps {
  /** Waits until the read models hold everything now in the ledger. */
  readonly catchUp: () => Promise<unknown>;
}

interface RecountRequest extends Pick<PullRequest, 'source' | 'bannerId' | 'actor' | 'signal' | 'pageRows'> {
  /** Days to go back, default 7. */
  readonly days?: number | undefined;
}

/**
 * `not-due`: no run has finished yet, so there is nothing to compare. `failed`: nothing was recorded; the next recount
 * starts over.
 */
type RecountResult = { readonly bannerId: string | null } & (
  | ({ readonly outcome: 'counted' } & RecountSummary)
  | { readonly outcome: 'failed'; readonly error: string }
  | { readonly outcome: 'not-due' }
);

const RECOUNT_DAYS = 7;
const DAY = 86_400_000;
/**
 * Rows this close to an end of the window may fall on either side of it: which of a row's times the service filters by
 * is not documented.
 */
const MARGIN = 3_600_000;
/** The entry names at most this many; the counts cover all. */
const NAMED = 100;

/**
 * Reads the log of recent days from the beginning, ignoring stored cursors, and compares it with the ledger: rows that
 * no run had brought are stored and counted as found; decisions pulled earlier that the service no longer returns are
 * named as gone. Nothing is deleted or corrected. It runs alongside other runs of the banner, moves neither cursor nor
 * watermark, and starts over if interrupted. Errors: StoreUnavailable; the signal's reason if it was aborted.
 */
export async function recountConsentLogs(deps: RecountDeps, request: RecountRequest): Promise<RecountResult> {
  const { source, bannerId } = request;
  const { position, form } = await loadBeginning(deps.store.read, source.slug, bannerId);
  if (position === null || position.last_success_at === null) return { bannerId, outcome: 'not-due' };
  const to = isoNow(deps.clock);
  const from = new Date(Date.parse(to) - (request.days ?? RECOUNT_DAYS) * DAY).toISOString();
  const runId = randomUUID();
  const reading = {
    ...request,
    runId,
    asking: { form, cursorWorked: false, clock: deps.clock },
    loadBannerIds: async () => (bannerId === null ? await loadBannerIds(deps.store.read, source) : []),
  };
  const totals = noTotals();
  const seen = new Set<number>();
  const foundSeqs: number[] = [];
  const upTo = await lastSeq(deps.store.read);
  try {
    for await (const step of readPlan(deps, reading, planOf({ from, to }))) {
      if (step.type === 'fault') return { bannerId, outcome: 'failed', error: failureOfFault(step.fault).error };
      if (step.type === 'read') {
        const gaps = joinGaps(step.plan.unreachable);
        if (gaps.length > 0) return { bannerId, outcome: 'failed', error: unreachable(gaps).error };
        continue;
      }
      const { rows } = step.page;
      const known = await findKnown(deps, rows);
      const appended = isAllKnown(known)
        ? known
        : await appendPage(deps, rows, known, (tx, outcome) =>
            countRecounted(tx.query, { source: source.slug, bannerId, ...countNew(rows, outcome) }),
          );
      addPage(totals, rows, countNew(rows, appended).stored);
      for (const { outcome, seq } of appended) {
        if (seq !== null) seen.add(seq);
        if (outcome === 'stored' && foundSeqs.length < NAMED) foundSeqs.push(seq);
      }
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    const failure = failureOfError(error);
    if (failure === null) throw error;
    return { bannerId, outcome: 'failed', error: failure.error };
  }
  await deps.catchUp();
  const gone = await findGone(deps.store.read, { source: source.slug, bannerId, from, to, upTo }, seen);
  const summary = { from, to, rows: totals.rows, found: totals.stored, gone: gone.length };
  const action = {
    action: 'sync.recounted' as const,
    actor: request.actor,
    bannerId,
    runId,
    ...summary,
    foundSeqs,
    goneSeqs: gone.slice(0, NAMED),
  };
  const at = isoNow(deps.clock);
  await appendAction(deps.ledger, source.slug, action, [action.action, source.slug, bannerId ?? '', runId], at, (tx) =>
    noteRecount(tx.query, { source: source.slug, bannerId, summary, at }),
  );
  return { bannerId, outcome: 'counted', ...summary };
}

interface Counted {
  readonly source: string;
  readonly bannerId: string | null;
  readonly from: string;
  readonly to: string;
  /** The last entry when the recount began: rows stored by others since then may lie on pages already read. */
  readonly upTo: number;
}

const CHUNK = 2000;

/** Entries of pulled decisions in the window that no row matched; one entry per decision, ordered by time. */
async function findGone(read: Query, counted: Counted, seen: ReadonlySet<number>): Promise<number[]> {
  const to = new Date(Date.parse(counted.to) - MARGIN).toISOString();
  let after = { at: new Date(Date.parse(counted.from) + MARGIN).toISOString(), seq: 0 };
  const missing = new Map<string, number>();
  // The whole log may leave out banners that are pulled by name; those are recounted separately.
  const byThemselves =
    counted.bannerId === null ? (await loadCompletedBanners(read, counted.source)).filter((id) => id !== null) : [];
  for (;;) {
    const { at, seq } = after;
    let query = read
      .selectFrom('decision_history')
      .select(['seq', 'at', 'decision_id'])
      .where('source', '=', counted.source)
      .where('via', '=', 'pull')
      .where('occurred_counts', '=', 1)
      .where('seq', '<=', counted.upTo)
      // A separate lower bound on the time: if it is only inside the `or`, SQLite walks the source's whole history up
      // to it for every chunk.
      .where('at', '>=', at)
      .where('at', '<', to)
      .where((eb) => eb.or([eb('at', '>', at), eb('seq', '>', seq)]))
      .orderBy('at')
      .orderBy('seq')
      .limit(CHUNK);
    if (counted.bannerId !== null) query = query.where('banner_id', '=', counted.bannerId);
    else if (byThemselves.length > 0)
      query = query.where((eb) => eb.or([eb('banner_id', 'is', null), eb('banner_id', 'not in', byThemselves)]));
    const rows = await query.execute();
    for (const row of rows)
      if (!seen.has(row.seq) && !missing.has(row.decision_id)) missing.set(row.decision_id, row.seq);
    const last = rows.at(-1);
    if (rows.length < CHUNK || last === undefined) break;
    after = { at: last.at, seq: last.seq };
  }
  await dropChanged(read, counted.source, missing, seen);
  return [...missing.values()];
}

/** Removes decisions that came with a changed row; they are not gone. */
async function dropChanged(
  read: Query,
  source: string,
  missing: Map<string, number>,
  seen: ReadonlySet<number>,
): Promise<void> {
  const ids = [...missing.keys()];
  for (let start = 0; start < ids.length; start += 500) {
    const rows = await read
      .selectFrom('decision_history')
      .select(['seq', 'decision_id'])
      .where('source', '=', source)
      .where('decision_id', 'in', ids.slice(start, start + 500))
      .execute();
    for (const row of rows) if (seen.has(row.seq)) missing.delete(row.decision_id);
  }
}
