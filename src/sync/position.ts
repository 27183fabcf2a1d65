import type { ExpressionBuilder } from 'kysely';
import { z } from 'zod';
import { columnsOf, type Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { type LookBack, startOfRun } from './look-back.ts';
import { completeTo, joinGaps, type Piece, type Plan, planSchema } from './periods-to-read.ts';
import { type RequestForm, requestFormSchema, usualForm } from './query-form.ts';

/** How far the pull of one banner has got. */
export type SyncPosition = Readonly<
  Omit<Tables['sync_positions'], 'unreadable_total' | 'run_unreadable'> & {
    unreadable_total: number;
    run_unreadable: number;
  }
>;

/** The current run: its window, and when it began. Times ISO 8601. */
export interface Run {
  readonly source: string;
  /** Null if no banner is named. */
  readonly bannerId: string | null;
  readonly runId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** Time of the first page: our clock or the service's Date header, whichever is earlier. */
  readonly asOf: string;
}

/** The banner of a position. SQL keys cannot be null, so '' stands for the log pulled without naming a banner. */
export function bannerOf(column: string): string | null {
  return column === '' ? null : column;
}

export function columnOf(bannerId: string | null): string {
  return bannerId ?? '';
}

const positionColumns = columnsOf('sync_positions');

/** The position of a banner, or of the log as a whole (null bannerId); null before its first run. */
export async function loadPosition(
  query: Query,
  source: string,
  bannerId: string | null,
): Promise<SyncPosition | null> {
  const row = await query
    .selectFrom('sync_positions')
    .select(positionColumns)
    .where('source', '=', source)
    .where('banner_id', '=', columnOf(bannerId))
    .executeTakeFirst();
  return row ?? null;
}

/** All positions of a source, ordered by banner; that of the log as a whole comes first. */
export function loadPositions(query: Query, source: string): Promise<readonly SyncPosition[]> {
  return query
    .selectFrom('sync_positions')
    .select(positionColumns)
    .where('source', '=', source)
    .orderBy('banner_id')
    .execute();
}

/** Where the pull of a banner begins: its position, and the form in which its source accepts requests. */
export interface Beginning {
  readonly position: SyncPosition | null;
  readonly form: RequestForm;
}

/** The beginning of a banner's next pull. */
export async function loadBeginning(query: Query, source: string, bannerId: string | null): Promise<Beginning> {
  const positions = await query
    .selectFrom('sync_positions')
    .select(positionColumns)
    .where('source', '=', source)
    .where((eb) => eb.or([eb('banner_id', '=', columnOf(bannerId)), eb('form', 'is not', null)]))
    // The banner's own, and one with the form.
    .orderBy((eb) => eb.case().when('banner_id', '=', columnOf(bannerId)).then(0).else(1).end())
    .limit(2)
    .execute();
  return beginningOf(positions, bannerId);
}

/** The same, from the positions of the source. */
export function beginningOf(positions: readonly SyncPosition[], bannerId: string | null): Beginning {
  const form = positions.find((position) => position.form !== null)?.form ?? null;
  return {
    position: positions.find(({ banner_id }) => banner_id === columnOf(bannerId)) ?? null,
    form: form === null ? usualForm : requestFormSchema.parse(JSON.parse(form)),
  };
}

/** What the open run of a position still has to read; null if no run is open. */
export function planOfPosition(position: Pick<SyncPosition, 'cursor' | 'run_plan'> | null): Plan | null {
  if (position === null || position.run_plan === null) return null;
  return { ...planSchema.parse(JSON.parse(position.run_plan)), cursor: position.cursor };
}

/** Periods of a banner's log that could not be read to their end. */
export function gapsOfPosition(position: Pick<SyncPosition, 'gaps'> | null): readonly Piece[] {
  return position?.gaps == null ? [] : planSchema.shape.pieces.parse(JSON.parse(position.gaps));
}

/** Records, for all banners of the source, a form that the service accepted. Call it in a write transaction. */
export async function noteForm(query: Query, source: string, form: RequestForm): Promise<void> {
  await query
    .updateTable('sync_positions')
    .set({ form: JSON.stringify(form) })
    .where('source', '=', source)
    .execute();
}

/** The changes that a committed page makes to the position. */
interface PageStep {
  /** What is left to read after the page. */
  readonly plan: Plan;
  /** Rows that are new in the ledger, and unreadable pieces that are. */
  readonly stored: number;
  readonly unreadable: number;
  /** The page will be requested again, because its next cursor was lost. */
  readonly isCut: boolean;
  /** Earliest time of a row that counts, if it may be earlier than all before; otherwise null. */
  readonly earliest: string | null;
  readonly isFirst: boolean;
  /** It continues an interrupted run and takes over its count of unreadable pieces. */
  readonly carriesOn: boolean;
  readonly at: string;
}

/**
 * Moves the position to the next page, in the transaction that stores the page. `superseded`: another run of the same
 * banner has begun since; the position was not moved, and this run should stop.
 */
export async function advancePosition(query: Query, run: Run, step: PageStep): Promise<'advanced' | 'superseded'> {
  const toAskAgain = step.isCut ? 0 : step.unreadable;
  if (!step.isFirst) {
    const own = query
      .updateTable('sync_positions')
      .where('source', '=', run.source)
      .where('banner_id', '=', columnOf(run.bannerId));
    const { numUpdatedRows } = await own
      .set((eb) => ({
        ...planColumns(step.plan),
        rows_total: eb('rows_total', '+', step.stored),
        unreadable_total: eb('unreadable_total', '+', step.unreadable),
        run_unreadable: eb('run_unreadable', '+', toAskAgain),
        ...(step.earliest === null ? {} : { earliest: earlierThan(eb, step.earliest) }),
        updated_at: step.at,
      }))
      .where('run_id', '=', run.runId)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return 'advanced';
    await own
      .set((eb) => ({
        rows_total: eb('rows_total', '+', step.stored),
        unreadable_total: eb('unreadable_total', '+', step.unreadable),
        run_unreadable: eb('run_unreadable', '+', toAskAgain),
      }))
      .execute();
    return 'superseded';
  }
  const before = await loadPosition(query, run.source, run.bannerId);
  await writePosition(query, before, run, {
    ...planColumns(step.plan),
    run_id: run.runId,
    run_from: run.from,
    run_to: run.to,
    run_as_of: run.asOf,
    rows_total: (before?.rows_total ?? 0) + step.stored,
    unreadable_total: (before?.unreadable_total ?? 0) + step.unreadable,
    run_unreadable: (step.carriesOn ? (before?.run_unreadable ?? 0) : 0) + toAskAgain,
    earliest: earlier(before?.earliest ?? null, step.earliest),
    updated_at: step.at,
  });
  return 'advanced';
}

function earlierThan(eb: ExpressionBuilder<Tables, 'sync_positions'>, earliest: string) {
  return eb.case().when('earliest', '<', earliest).then(eb.ref('earliest')).else(earliest).end();
}

function planColumns({ cursor, ...plan }: Plan): { readonly cursor: string | null; readonly run_plan: string } {
  return { cursor, run_plan: JSON.stringify(plan) };
}

/**
 * Ends a run that has read everything it can reach: clears its plan and advances the watermark if possible. If the run
 * was superseded, writes nothing. If something in the window could not be read as rows, the next run requests the
 * window again. Unreachable periods are kept as gaps, and the watermark stays at the beginning of the first. `error`:
 * describes the gaps. `begins`: set if no page of the run was recorded. `stored`, `earliest`: of its last page.
 */
export async function finishPosition(
  query: Query,
  run: Run,
  end: {
    readonly plan: Plan;
    readonly error: string | null;
    readonly at: string;
    readonly begins: Pick<PageStep, 'carriesOn'> | null;
    readonly stored: number;
    readonly earliest: string | null;
    /** The position as read before the run: with `begins`, usually nothing has changed since, and one statement suffices. */
    readonly position: SyncPosition | null;
    readonly lookBack: LookBack;
  },
): Promise<{ readonly outcome: 'ended' | 'superseded'; readonly watermark: string | null }> {
  const { begins, position: known, stored, earliest } = end;
  if (begins !== null && known !== null) {
    const change = endOfRun(known, run, end);
    const isEarlier = earliest !== null && (known.earliest === null || earliest < known.earliest);
    const { numUpdatedRows } = await query
      .updateTable('sync_positions')
      .set((eb) => ({
        ...change,
        rows_total: eb('rows_total', '+', stored),
        ...(isEarlier ? { earliest: earlierThan(eb, earliest) } : {}),
      }))
      .where('source', '=', run.source)
      .where('banner_id', '=', columnOf(run.bannerId))
      .where('watermark', 'is not distinct from', known.watermark)
      .where('read_to', 'is not distinct from', known.read_to)
      .where('run_unreadable', '=', known.run_unreadable)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return { outcome: 'ended', watermark: change.watermark };
  }
  const before = await loadPosition(query, run.source, run.bannerId);
  const isSuperseded = begins === null && before !== null && before.run_id !== null && before.run_id !== run.runId;
  if (isSuperseded) return { outcome: 'superseded', watermark: before.watermark };
  const change = endOfRun(before, run, end);
  await writePosition(query, before, run, {
    ...change,
    rows_total: (before?.rows_total ?? 0) + stored,
    earliest: earlier(before?.earliest ?? null, earliest),
  });
  return { outcome: 'ended', watermark: change.watermark };
}

/** What the end of a run changes; depends on the watermark, `read_to` and `run_unreadable` of the position. */
function endOfRun(
  before: SyncPosition | null,
  run: Run,
  { plan, error, at, begins, lookBack }: Parameters<typeof finishPosition>[2],
) {
  const isHeldBack = before !== null && before.run_unreadable > 0 && begins?.carriesOn !== false;
  const [readBefore, completeBefore] = [readToOf(before), completeBeforeGaps(before)];
  const complete = isHeldBack ? completeBefore : nextWatermark(completeBefore, run);
  const readTo = isHeldBack ? readBefore : nextReadTo(readBefore, run, lookBack);
  const gaps = joinGaps([...plan.gapsLeft, ...plan.unreachable]);
  return {
    ...noRun,
    watermark: completeTo(complete, gaps),
    read_to: readTo,
    gaps: gaps.length === 0 ? null : JSON.stringify(gaps),
    last_success_at: at,
    last_error: error,
    last_error_at: error === null ? null : at,
    updated_at: at,
  };
}

/** The time up to which everything reachable was read, with the look-back before it. ISO 8601 UTC. */
export function readToOf(position: Pick<SyncPosition, 'read_to' | 'watermark'> | null): string | null {
  return position?.read_to ?? position?.watermark ?? null;
}

/**
 * The time up to which everything reachable was read, also by windows that began after the look-back would have. ISO
 * 8601 UTC.
 */
export function completeBeforeGaps(position: Pick<SyncPosition, 'read_to' | 'watermark'> | null): string | null {
  return (
    [position?.read_to, position?.watermark]
      .filter((time) => time != null)
      .sort()
      .at(-1) ?? null
  );
}

/**
 * Records why a run stopped. With `forget`, its plan is dropped and the next run starts over from where everything was
 * read; otherwise the next run continues the plan.
 */
export async function failPosition(
  query: Query,
  run: Run,
  { error, forget, at }: { readonly error: string; readonly forget: boolean; readonly at: string },
): Promise<void> {
  const before = await loadPosition(query, run.source, run.bannerId);
  const isOwn = before === null || before.run_id === null || before.run_id === run.runId;
  await writePosition(query, before, run, {
    ...(forget && isOwn ? noRun : {}),
    last_error: error,
    last_error_at: at,
    updated_at: at,
  });
}

/** Releases a run that was stopped on request: its position is kept, but it no longer counts as running. */
export async function releasePosition(query: Query, run: Run): Promise<void> {
  await query
    .updateTable('sync_positions')
    .set({ run_id: null })
    .where('source', '=', run.source)
    .where('banner_id', '=', columnOf(run.bannerId))
    .where('run_id', '=', run.runId)
    .execute();
}

/** Adds the rows and unreadable pieces that a recount stored, in the transaction that stores them. */
export async function countRecounted(
  query: Query,
  counted: {
    readonly source: string;
    readonly bannerId: string | null;
    readonly stored: number;
    readonly unreadable: number;
  },
): Promise<void> {
  await query
    .updateTable('sync_positions')
    .set((eb) => ({
      rows_total: eb('rows_total', '+', counted.stored),
      unreadable_total: eb('unreadable_total', '+', counted.unreadable),
    }))
    .where('source', '=', counted.source)
    .where('banner_id', '=', columnOf(counted.bannerId))
    .execute();
}

/** Records the result of a recount. */
export async function noteRecount(
  query: Query,
  noted: {
    readonly source: string;
    readonly bannerId: string | null;
    readonly summary: RecountSummary;
    readonly at: string;
  },
): Promise<void> {
  const { source, bannerId, summary, at } = noted;
  await query
    .updateTable('sync_positions')
    .set({ recounted_at: at, recount: JSON.stringify(summary) })
    .where('source', '=', source)
    .where('banner_id', '=', columnOf(bannerId))
    .execute();
}

/**
 * The watermark after a window was read. It moves only if the window leaves no gap behind it, never moves backwards,
 * and never depends on a row's own time, which anyone may have set (docs/architecture.md, Time). A watermark in the
 * future was set by a wrong clock; a run over everything corrects it.
 */
function nextWatermark(watermark: string | null, run: Pick<Run, 'from' | 'to' | 'asOf'>): string | null {
  const leavesGap = run.from !== null && (watermark === null || Date.parse(run.from) > Date.parse(watermark));
  if (leavesGap) return watermark;
  const end = Math.min(Date.parse(run.asOf), run.to === null ? Number.POSITIVE_INFINITY : Date.parse(run.to));
  const isAll = run.from === null && run.to === null;
  const best =
    watermark === null || (isAll && isBeyond(watermark, new Date(end))) ? end : Math.max(end, Date.parse(watermark));
  return new Date(best).toISOString();
}

/**
 * `read_to` after a window was read. A window that begins after an incremental run would have may have missed rows shown
 * late, so it does not move it.
 */
function nextReadTo(readTo: string | null, run: Pick<Run, 'from' | 'to' | 'asOf'>, lookBack: LookBack): string | null {
  const next = nextWatermark(readTo, run);
  if (readTo === null || next === null || run.from === null) return next;
  const isFarEnough = Date.parse(run.from) <= startOfRun(Date.parse(readTo), Date.parse(next), lookBack);
  return isFarEnough ? next : readTo;
}

/** A watermark further ahead than this was set by a wrong clock; the clocks of one installation differ by less. */
const AHEAD_MS = 60 * 60 * 1000;

/** Whether a watermark is in the future and therefore meaningless. */
export function isBeyond(watermark: string, now: Date): boolean {
  return Date.parse(watermark) > now.getTime() + AHEAD_MS;
}

function earlier(one: string | null, other: string | null): string | null {
  return [one, other].filter((time) => time !== null).sort()[0] ?? null;
}

const noRun = {
  cursor: null,
  run_id: null,
  run_from: null,
  run_to: null,
  run_as_of: null,
  run_plan: null,
  run_unreadable: 0,
};

type Change = Partial<Omit<SyncPosition, 'source' | 'banner_id'>> & { updated_at: string };

/** Must run in the write transaction in which `before` was read, so nothing can race with it. */
async function writePosition(
  query: Query,
  before: SyncPosition | null,
  run: Pick<Run, 'source' | 'bannerId'>,
  change: Change,
): Promise<void> {
  if (before === null) {
    await query
      .insertInto('sync_positions')
      .values({
        source: run.source,
        banner_id: columnOf(run.bannerId),
        ...noRun,
        watermark: null,
        read_to: null,
        gaps: null,
        form: null,
        dismissed_at: null,
        rows_total: 0,
        last_success_at: null,
        last_error: null,
        last_error_at: null,
        earliest: null,
        recounted_at: null,
        recount: null,
        ...change,
      })
      .execute();
  } else {
    await query
      .updateTable('sync_positions')
      .set(change)
      .where('source', '=', run.source)
      .where('banner_id', '=', columnOf(run.bannerId))
      .execute();
  }
}

/** Sets a banner aside, or brings it back with null. Call it in a write transaction. */
export async function setDismissed(
  query: Query,
  {
    source,
    bannerId,
    dismissedAt,
  }: { readonly source: string; readonly bannerId: string; readonly dismissedAt: string | null },
  at: string,
): Promise<void> {
  const before = await loadPosition(query, source, bannerId);
  const change = { ...noRun, dismissed_at: dismissedAt, last_error: null, last_error_at: null, updated_at: at };
  await writePosition(query, before, { source, bannerId }, change);
}

/** The result of comparing recent days with the ledger. Kept with the position as JSON. */
export const recountSummarySchema = z.object({
  /** The window that was counted, ISO 8601 UTC. */
  from: z.string(),
  to: z.string(),
  /** Rows that the service returned. */
  rows: z.number().int(),
  /** Rows among them that no run had brought before: they came late, or changed under their id. */
  found: z.number().int(),
  /** Decisions pulled earlier that the service no longer returns. */
  gone: z.number().int(),
});
export type RecountSummary = z.infer<typeof recountSummarySchema>;

/** A refusal may have been temporary: after this long the whole log is requested again. */
const ASK_AGAIN_MS = 24 * 60 * 60 * 1000;

type Given = Pick<SyncPosition, 'run_id' | 'run_plan' | 'rows_total' | 'last_success_at'>;
type Refused = Given & Pick<SyncPosition, 'banner_id' | 'last_error'>;

/**
 * For a source without configured banners: whether the log ever came without naming a banner, and whether that was
 * refused lately.
 */
export function wholeLogOf(
  positions: readonly SyncPosition[],
  now: Date,
): { readonly wasGiven: boolean; readonly isRefused: boolean } {
  const position = positions.find(({ banner_id }) => bannerOf(banner_id) === null);
  if (position === undefined) return { wasGiven: false, isRefused: false };
  const isLate = now.getTime() - Date.parse(position.updated_at) > ASK_AGAIN_MS;
  return { wasGiven: wasGiven(position), isRefused: isRefusal(position) && !isLate };
}

/**
 * Whether a position records only that the service requires a banner. Requests that failed in another way leave an
 * error in it.
 */
export function isRefusal(position: Refused): boolean {
  return bannerOf(position.banner_id) === null && !wasGiven(position) && position.last_error === null;
}

/** Records that the service does not return this source's log without a banner. Call it in a write transaction. */
export async function noteRefusal(query: Query, source: string, at: string): Promise<void> {
  const position = await loadPosition(query, source, null);
  if (position !== null && wasGiven(position)) return;
  const refusal = { cursor: null, run_plan: null, last_error: null, last_error_at: null, updated_at: at };
  if (position !== null) {
    const own = query
      .updateTable('sync_positions')
      .where('source', '=', source)
      .where('banner_id', '=', columnOf(null));
    await own.set(refusal).execute();
    return;
  }
  const nothing = { run_id: null, run_from: null, run_to: null, run_as_of: null, watermark: null };
  const unknown = { earliest: null, read_to: null, gaps: null, form: null, dismissed_at: null };
  const never = { rows_total: 0, last_success_at: null, recounted_at: null, recount: null };
  await query
    .insertInto('sync_positions')
    .values({ source, banner_id: columnOf(null), ...nothing, ...unknown, ...never, ...refusal })
    .execute();
}

/** An interrupted run has a plan, even if all of its rows were stored before. */
function wasGiven({ run_id, run_plan, rows_total, last_success_at }: Given): boolean {
  return run_id !== null || run_plan !== null || rows_total > 0 || last_success_at !== null;
}

/** The ids of the banners of a source whose log is pulled, in order, at most `limit`. */
export async function listPulledBanners(read: Query, source: string, limit: number): Promise<readonly string[]> {
  const rows = await read
    .selectFrom('sync_positions')
    .select('banner_id')
    .where('source', '=', source)
    .where('banner_id', '!=', columnOf(null))
    .orderBy('banner_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.banner_id);
}
