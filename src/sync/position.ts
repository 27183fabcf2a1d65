import { z } from 'zod';
import { columnsOf, type Tables } from '../store/schema.ts';
import type { Query } from '../store/store.ts';
import { completeTo, joinGaps, type Piece, type Plan, planSchema } from './plan.ts';
import { type RequestForm, requestFormSchema, usualForm } from './query-form.ts';

/** How far the pull of one banner has come. */
export type SyncPosition = Readonly<
  Omit<Tables['sync_positions'], 'unreadable_total' | 'run_unreadable'> & {
    unreadable_total: number;
    run_unreadable: number;
  }
>;

/** The run that is going on: its window, and when it began. Times ISO 8601. */
export interface Run {
  readonly source: string;
  /** Null where no banner is named. */
  readonly bannerId: string | null;
  readonly runId: string;
  readonly from: string | null;
  readonly to: string | null;
  /** By our clock or the service's Date header at the first page, whichever is earlier. */
  readonly asOf: string;
}

/** The banner of a position. A key in SQL cannot be null: '' stands there for the log that is pulled without naming a banner. */
export function bannerOf(column: string): string | null {
  return column === '' ? null : column;
}

export function columnOf(bannerId: string | null): string {
  return bannerId ?? '';
}

const positionColumns = columnsOf('sync_positions');

/** The position of a banner, or of the log as a whole (null); null before its first run. */
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

/** What the open run of a position still has to read; null without one. */
export function planOfPosition(position: Pick<SyncPosition, 'cursor' | 'run_plan'> | null): Plan | null {
  if (position === null || position.run_plan === null) return null;
  return { ...planSchema.parse(JSON.parse(position.run_plan)), cursor: position.cursor };
}

/** Periods of a banner's log that the service did not give to their end. */
export function gapsOfPosition(position: Pick<SyncPosition, 'gaps'> | null): readonly Piece[] {
  return position?.gaps == null ? [] : planSchema.shape.pieces.parse(JSON.parse(position.gaps));
}

/** In which form a source takes requests; the usual one until another was learned. */
export async function loadForm(read: Query, source: string): Promise<RequestForm> {
  const row = await read
    .selectFrom('sync_positions')
    .select('form')
    .where('source', '=', source)
    .where('form', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row?.form == null ? usualForm : requestFormSchema.parse(JSON.parse(row.form));
}

/** Notes a form that the service took, for all banners of the source. In a write transaction. */
export async function noteForm(query: Query, source: string, form: RequestForm): Promise<void> {
  await query
    .updateTable('sync_positions')
    .set({ form: JSON.stringify(form) })
    .where('source', '=', source)
    .execute();
}

/** What the commit of a page does to the position. */
interface PageStep {
  /** What is left to read after the page. */
  readonly plan: Plan;
  /** Rows, and pieces that could not be read, which are new in the ledger. */
  readonly stored: number;
  readonly unreadable: number;
  /** Whether the page is asked for again anyway, because the way on from it was lost. */
  readonly isCut: boolean;
  /** Earliest time of a row that counts, where it may be earlier than all before; else null. */
  readonly earliest: string | null;
  readonly isFirst: boolean;
  /** It continues an interrupted run, and is responsible for what that one could not read. */
  readonly carriesOn: boolean;
  readonly at: string;
}

/**
 * Moves the position to the next page, in the transaction that stores the page.
 * `superseded`: another run of the same banner has begun meanwhile; its place was not moved, and this one should stop.
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
        ...(step.earliest === null
          ? {}
          : {
              earliest: eb
                .case()
                .when('earliest', '<', step.earliest)
                .then(eb.ref('earliest'))
                .else(step.earliest)
                .end(),
            }),
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

function planColumns({ cursor, ...plan }: Plan): { readonly cursor: string | null; readonly run_plan: string } {
  return { cursor, run_plan: JSON.stringify(plan) };
}

/**
 * Ends a run of whose window everything was read that can be reached: no plan, and the watermark where it may move. Superseded: nothing is written.
 * Where something in the window could not be read as rows, the next run asks for the window again; where periods could not be reached, they
 * are kept as gaps, and the watermark stays where the first of them begins. `error`: names them. `begins`: no page of the run was noted before, since
 * its only one was empty.
 */
export async function finishPosition(
  query: Query,
  run: Run,
  end: {
    readonly plan: Plan;
    readonly error: string | null;
    readonly at: string;
    readonly begins: Pick<PageStep, 'carriesOn'> | null;
  },
): Promise<{ readonly watermark: string | null }> {
  const { plan, error, at, begins } = end;
  const before = await loadPosition(query, run.source, run.bannerId);
  const isSuperseded = begins === null && before !== null && before.run_id !== null && before.run_id !== run.runId;
  if (isSuperseded) return { watermark: before.watermark };
  const isHeldBack = before !== null && before.run_unreadable > 0 && begins?.carriesOn !== false;
  const readBefore = readToOf(before);
  const readTo = isHeldBack ? readBefore : nextWatermark(readBefore, run);
  const gaps = joinGaps([...plan.gapsLeft, ...plan.unreachable]);
  const watermark = completeTo(readTo, gaps);
  await writePosition(query, before, run, {
    ...noRun,
    watermark,
    read_to: readTo,
    gaps: gaps.length === 0 ? null : JSON.stringify(gaps),
    last_success_at: at,
    last_error: error,
    last_error_at: error === null ? null : at,
    updated_at: at,
  });
  return { watermark };
}

/** Up to where everything that can be reached was read, ISO 8601 UTC. */
export function readToOf(position: Pick<SyncPosition, 'read_to' | 'watermark'> | null): string | null {
  return position?.read_to ?? position?.watermark ?? null;
}

/**
 * Notes why a run stopped. With `forget`, its plan is given up, and the next run starts over from where all was read; without, it
 * goes on with the plan.
 */
export async function failPosition(query: Query, run: Run, error: string, forget: boolean, at: string): Promise<void> {
  const before = await loadPosition(query, run.source, run.bannerId);
  const isOwn = before === null || before.run_id === null || before.run_id === run.runId;
  await writePosition(query, before, run, {
    ...(forget && isOwn ? noRun : {}),
    last_error: error,
    last_error_at: at,
    updated_at: at,
  });
}

/**
 * Gives a run up that was stopped in order: its place is kept, and nobody takes it for one that is still under way.
 */
export async function releasePosition(query: Query, run: Run): Promise<void> {
  await query
    .updateTable('sync_positions')
    .set({ run_id: null })
    .where('source', '=', run.source)
    .where('banner_id', '=', columnOf(run.bannerId))
    .where('run_id', '=', run.runId)
    .execute();
}

/** Counts rows, and pieces that could not be read, that a recount stored, in the transaction that stores them. */
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

/** Notes how a recount compared. */
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
 * Where the watermark stands after a window: it moves only when the window leaves no gap behind it, never backwards, and
 * never by a row's own time, which anyone may have set (docs/architecture.md, Time). One that lies in the future was set by a clock that was
 * wrong, and a run over everything puts it right.
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

/** A watermark further ahead than this was set by a clock that was wrong; clocks of one installation are nearer to one another. */
const AHEAD_MS = 60 * 60 * 1000;

/** Whether a watermark lies in the future, so that nothing can be told from it. */
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

/** Read and written in one write transaction, so nothing can race with it. */
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

/** Puts a banner aside, or takes it up again with null. In a write transaction. */
export async function setDismissed(
  query: Query,
  source: string,
  bannerId: string,
  dismissedAt: string | null,
  at: string,
): Promise<void> {
  const before = await loadPosition(query, source, bannerId);
  const change = { ...noRun, dismissed_at: dismissedAt, last_error: null, last_error_at: null, updated_at: at };
  await writePosition(query, before, { source, bannerId }, change);
}

/** How a recount of recent days compared with the ledger. Kept with the position as JSON. */
export const recountSummarySchema = z.object({
  /** The window that was counted, ISO 8601 UTC. */
  from: z.string(),
  to: z.string(),
  /** Rows that the service gave. */
  rows: z.number().int(),
  /** Of these, rows that no run had brought before: they came late, or changed under their id. */
  found: z.number().int(),
  /** Decisions pulled earlier that the service gives no more. */
  gone: z.number().int(),
});
export type RecountSummary = z.infer<typeof recountSummarySchema>;

/** A refusal may have been a mishap of the service's: after this long the whole log is asked for once more. */
const ASK_AGAIN_MS = 24 * 60 * 60 * 1000;

type Given = Pick<SyncPosition, 'run_id' | 'rows_total' | 'last_success_at'>;
type Refused = Given & Pick<SyncPosition, 'banner_id' | 'last_error'>;

/** How the log of a source that names no banner is asked for: whether it ever came without a banner, and whether it was refused lately. */
export async function loadWholeLog(
  read: Query,
  source: string,
  now: Date,
): Promise<{ readonly wasGiven: boolean; readonly isRefused: boolean }> {
  const position = await loadPosition(read, source, null);
  if (position === null) return { wasGiven: false, isRefused: false };
  const isLate = now.getTime() - Date.parse(position.updated_at) > ASK_AGAIN_MS;
  return { wasGiven: wasGiven(position), isRefused: isRefusal(position) && !isLate };
}

/** Whether a position only says that the log was not given without a banner; a request that failed otherwise leaves its error there. */
export function isRefusal(position: Refused): boolean {
  return bannerOf(position.banner_id) === null && !wasGiven(position) && position.last_error === null;
}

/** Remembers that the log of a source is not given without a banner. In a write transaction. */
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

function wasGiven({ run_id, rows_total, last_success_at }: Given): boolean {
  return run_id !== null || rows_total > 0 || last_success_at !== null;
}
