import { z } from 'zod';
import type { RowEntry } from './row.ts';

/**
 * A period that a run still has to read. A run begins with its whole window as the only piece. If the service refuses
 * its own cursor, so that a piece cannot be read to its end, the piece is divided: by days, by seconds, then by banner.
 * Each half is read from its own beginning, so nothing depends on the order of the rows or on which time of a row the
 * service filters by.
 */
const pieceSchema = z.object({
  /** As sent to the service; null: from the beginning, to the end. */
  from: z.string().nullable(),
  to: z.string().nullable(),
  /** Only this banner; absent: the banner of the run. */
  bannerId: z.string().optional(),
  /** Part of the window, with bounds that we chose. */
  isPart: z.boolean().optional(),
  /** The day of which this is a part: its first millisecond, ISO 8601. */
  day: z.string().optional(),
  /** A whole day that ends a millisecond earlier, for a service that reads `to` as a whole day. */
  isTight: z.boolean().optional(),
  /** Rows of this period were seen already: if none come now, the service does not filter by the period. */
  expectsRows: z.boolean().optional(),
});
export type Piece = z.infer<typeof pieceSchema>;

/** The state of a run, written with the position in each commit of a page. */
export const planSchema = z.object({
  /** In reading order; the first is being read. Empty: everything is read, only the end has to be recorded. */
  pieces: z.array(pieceSchema),
  /** Pieces that could not be read to their end, however small. */
  unreachable: z.array(pieceSchema).default([]),
  /** Known gaps that this run does not request. */
  gapsLeft: z.array(pieceSchema).default([]),
  /** A cursor was refused, and the piece was started over: at the next refusal, divide it. */
  hasRestarted: z.boolean().default(false),
  /** The service ignores times within a day. */
  isByDay: z.boolean().default(false),
});
export interface Plan extends z.infer<typeof planSchema> {
  /** Where the first piece continues; null: from its beginning. */
  readonly cursor: string | null;
}

const SECOND = 1000;
const DAY = 86_400_000;
const YEAR = 365 * DAY;

/** A run over one window, and over gaps of earlier runs that are tried again. */
export function planOf(
  window: { readonly from: string | null; readonly to: string | null },
  gaps: { readonly again?: readonly Piece[]; readonly left?: readonly Piece[] } = {},
): Plan {
  const { from, to } = window;
  return {
    pieces: [{ from, to }, ...(gaps.again ?? [])],
    unreachable: [],
    gapsLeft: [...(gaps.left ?? [])],
    hasRestarted: false,
    isByDay: false,
    cursor: null,
  };
}

/** What happened while the first piece of a plan was read. */
export type PlanEvent =
  /** `asked`: the cursor that the page was requested with. `isCut`: its next cursor was lost. */
  | {
      readonly type: 'page';
      readonly nextCursor: string | null;
      readonly asked: string | null;
      readonly isCut: boolean;
    }
  /** The service cannot filter by periods as small as this piece: it ignores or rejects them. */
  | { readonly type: 'period-ignored' }
  | ({ readonly type: 'cursor-refused' } & Attempt)
  /** A page of this piece is over the size limit. */
  | ({ readonly type: 'too-large' } & Attempt);

export interface Attempt {
  readonly seen: Seen;
  /** Whether it began with the cursor of an earlier run. */
  readonly isResumed: boolean;
  /** Whether the service accepts whole days only. */
  readonly isByDay: boolean;
  readonly now: number;
}

/**
 * The next plan of a run after an event. The plan is the run's whole state and is committed with each page, so an
 * interrupted run resumes with the same next step. The run ends when no pieces are left.
 * - `page`: goes on to its next cursor, or to the next piece; a cut page is requested again.
 * - `period-ignored`: reads the whole day instead of its parts; then by banner; then gives it up as unreachable.
 * - `cursor-refused`: starts the piece over once; after that reads halves, or by banner, or gives it up as unreachable.
 * - `too-large`: reads halves at once.
 */
export function nextPlan(plan: Plan, event: PlanEvent, bannerIds: readonly string[]): Plan {
  switch (event.type) {
    case 'page':
      if (event.isCut) return { ...plan, cursor: event.asked };
      return event.nextCursor === null
        ? { ...plan, pieces: plan.pieces.slice(1), cursor: null }
        : { ...plan, cursor: event.nextCursor };
    case 'period-ignored':
      return giveUpPeriod(plan, bannerIds);
    case 'cursor-refused':
      // The cursor of an earlier run may simply have expired.
      if (!plan.hasRestarted || (event.isResumed && event.seen.pages === 0))
        return { ...plan, cursor: null, hasRestarted: true };
      return divide(plan, event, bannerIds);
    case 'too-large':
      return divide(plan, event, bannerIds);
  }
}

/** What was seen while a piece was read from its beginning. Times in milliseconds since 1970. */
interface Seen {
  pages: number;
  rows: number;
  earliest: number;
  latest: number;
  /** Middle of the times on the first and on the last page, which show the order of the rows. */
  first: number | null;
  last: number | null;
  timed: number;
  /** Rows dated outside the piece by more than clocks and time zones explain. */
  outside: number;
}

export function nothingSeen(): Seen {
  const [earliest, latest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return { pages: 0, rows: 0, earliest, latest, first: null, last: null, timed: 0, outside: 0 };
}

export function see(seen: Seen, piece: Piece, rows: readonly RowEntry[]): void {
  const margin = piece.day === undefined ? 1.5 * DAY : 2 * SECOND;
  const { start, end } = boundsOf(piece);
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { occurredAt } of rows) {
    if (occurredAt === null) continue;
    seen.timed += 1;
    if (occurredAt < start - margin || occurredAt > end + margin) seen.outside += 1;
    from = Math.min(from, occurredAt);
    to = Math.max(to, occurredAt);
  }
  seen.pages += 1;
  seen.rows += rows.length;
  if (from > to) return;
  seen.earliest = Math.min(seen.earliest, from);
  seen.latest = Math.max(seen.latest, to);
  seen.last = (from + to) / 2;
  seen.first ??= seen.last;
}

/**
 * Whether the service evidently ignores the period of this part: it gave rows of other times, or none where some were
 * seen before.
 */
export function ignoresPeriod(piece: Piece, seen: Seen, isEnded: boolean): boolean {
  if (piece.isPart !== true) return false;
  if (isEnded && piece.expectsRows === true && seen.rows === 0) return true;
  return piece.day === undefined ? seen.outside * 2 > seen.timed : seen.outside > 0;
}

/** The plan without the smaller parts of a day, which the service cannot tell apart. */
function giveUpPeriod(plan: Plan, bannerIds: readonly string[]): Plan {
  const [piece, ...rest] = plan.pieces;
  if (piece === undefined) return plan;
  if (piece.day === undefined) return piece.isTight === true ? lastResort(plan, bannerIds) : drop(plan, piece);
  const { day, bannerId } = piece;
  const whole: Piece = {
    ...(bannerId === undefined ? {} : { bannerId }),
    from: day,
    to: isoOf(Date.parse(day) + DAY),
    isPart: true,
  };
  const others = rest.filter((one) => one.day !== day || one.bannerId !== bannerId);
  return lastResort({ ...plan, isByDay: true, pieces: [whole, ...others], cursor: null }, bannerIds);
}

/**
 * The plan when the current piece cannot be read to its end: in halves, by banner, or without it. If only empty pages
 * came, nothing suggests that a smaller piece has rows, and a service that always gives a cursor would be asked
 * thousands of times: the piece is dropped.
 */
function divide(begun: Plan, { seen, isByDay, now }: Attempt, bannerIds: readonly string[]): Plan {
  const plan = { ...begun, isByDay: begun.isByDay || isByDay };
  const [piece, ...rest] = plan.pieces;
  if (piece === undefined) return plan;
  if (seen.pages > 0 && seen.rows === 0) return drop(plan, piece);
  const halves = halve(piece, seen, now, plan.isByDay);
  if (halves !== null) return { ...plan, pieces: [...halves, ...rest], cursor: null };
  return lastResort(plan, bannerIds);
}

/** The plan when a piece cannot be halved further: ends the day earlier, then by banner, then gives up. */
function lastResort(plan: Plan, bannerIds: readonly string[]): Plan {
  const [piece, ...rest] = plan.pieces;
  if (piece === undefined) return plan;
  const { start, end } = boundsOf(piece);
  if (end - start === DAY && piece.isTight !== true) {
    const tight: Piece = { ...piece, isTight: true, expectsRows: true };
    return { ...plan, pieces: [tight, ...rest], cursor: null };
  }
  if (piece.bannerId === undefined && bannerIds.length > 0) {
    const { isTight: _, expectsRows: __, ...period } = piece;
    return { ...plan, pieces: [...bannerIds.map((bannerId) => ({ ...period, bannerId })), ...rest], cursor: null };
  }
  return drop(plan, piece);
}

function drop(plan: Plan, piece: Piece): Plan {
  const { isTight: _, expectsRows: __, day: ___, ...gap } = piece;
  const unreachable = [...plan.unreachable, { ...gap, isPart: true }];
  return { ...plan, pieces: plan.pieces.slice(1), unreachable, cursor: null };
}

/** Two halves, starting with the one whose rows were seen first; null if the piece is too small. */
function halve(piece: Piece, seen: Seen, now: number, isByDay: boolean): Piece[] | null {
  if (piece.isTight === true) return null;
  const bounds = boundsOf(piece);
  const isDescending = seen.first !== null && seen.last !== null && seen.last < seen.first;
  const seenEnd = isDescending ? seen.earliest : seen.latest;
  const nextDay = (Math.floor(bounds.start / DAY) + 1) * DAY;
  const isWithinDay = Number.isFinite(bounds.start) && nextDay >= bounds.end;
  const grain = isWithinDay ? SECOND : DAY;
  if (grain === SECOND && isByDay) return null;
  const [floor, ceiling] = [Math.floor(seenEnd / grain) * grain, (Math.floor(seenEnd / grain) + 1) * grain];
  const fits = (cut: number) => Number.isFinite(cut) && cut > bounds.start && cut < bounds.end;
  const middle = middleOf(bounds, grain, now);
  const cut = [...(isDescending ? [ceiling, floor] : [floor, ceiling]), middle].find(fits);
  if (cut === undefined) return null;
  const common = {
    ...(piece.bannerId === undefined ? {} : { bannerId: piece.bannerId }),
    isPart: true,
    ...(grain === DAY ? {} : { day: piece.day ?? isoOf(Math.floor(bounds.start / DAY) * DAY) }),
  };
  const part = (from: string | null, to: string | null, start: number, end: number): Piece => {
    const expectsRows = grain === SECOND && isWithin(seen, start, end);
    return { ...common, from, to, ...(expectsRows ? { expectsRows } : {}) };
  };
  const before = part(piece.from, isoOf(cut), bounds.start, cut);
  const after = part(isoOf(cut), endOf(piece), cut, bounds.end);
  return isDescending ? [after, before] : [before, after];
}

interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** Whether the earliest or latest row seen is in the part, which then certainly has a row. */
function isWithin(seen: Seen, start: number, end: number): boolean {
  return [seen.earliest, seen.latest].some((at) => at >= start + SECOND && at < end - SECOND);
}

function boundsOf(piece: Piece): Bounds {
  return {
    start: piece.from === null ? Number.NEGATIVE_INFINITY : Date.parse(piece.from),
    end: piece.to === null ? Number.POSITIVE_INFINITY : Date.parse(endOf(piece) ?? ''),
  };
}

/** A bare date may mean the whole day (docs/assumptions.md). */
function endOf({ to }: Piece): string | null {
  return to !== null && /^\d{4}-\d\d-\d\d$/.test(to) ? isoOf(Date.parse(to) + DAY) : to;
}

/**
 * Where to cut if the rows give no indication. If one end is open, the distance from now doubles with each step; NaN
 * beyond 30 years.
 */
function middleOf({ start, end }: Bounds, grain: number, now: number): number {
  const round = (at: number) => Math.round(at / grain) * grain;
  if (Number.isFinite(start) && Number.isFinite(end)) {
    const middle = round((start + end) / 2);
    return middle > start && middle < end ? middle : Math.floor((start + grain) / grain) * grain;
  }
  if (Number.isFinite(end)) return end < now - 30 * YEAR ? Number.NaN : round(end - Math.max(10 * YEAR, now - end));
  if (Number.isFinite(start) && start > now)
    return start > now + 30 * YEAR ? Number.NaN : round(start + Math.max(DAY, 2 * (start - now)));
  return Number.isFinite(start) && start > now - 2 * DAY ? round(now + DAY) : round(now - DAY);
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** The period to send for a piece. A part ends a millisecond late, in case the service excludes `to`. */
export function periodOf(piece: Piece): { readonly from: string | null; readonly to: string | null } {
  if (piece.isPart !== true || piece.to === null) return { from: piece.from, to: piece.to };
  return { from: piece.from, to: isoOf(boundsOf(piece).end + (piece.isTight === true ? -1 : 1)) };
}

/** Describes the first ten gaps and counts the rest. */
export function describeGaps(gaps: readonly Piece[]): string {
  const texts = gaps.slice(0, 10).map(({ from, to, bannerId }) => {
    const banner = bannerId === undefined ? '' : ` of banner ${bannerId}`;
    if (from === null || to === null) return `${from === null ? 'the beginning' : from} to ${to ?? 'the end'}${banner}`;
    const isDay = from.endsWith('T00:00:00.000Z') && Date.parse(to) - Date.parse(from) === DAY;
    return `${isDay ? from.slice(0, 10) : `${from} to ${to}`}${banner}`;
  });
  const more = gaps.length - texts.length;
  return `${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Gaps without overlaps; adjacent periods are joined. */
export function joinGaps(gaps: readonly Piece[]): Piece[] {
  const startOf = (gap: Piece) => boundsOf(gap).start;
  const sorted = [...gaps].sort(
    (a, b) => (a.bannerId ?? '').localeCompare(b.bannerId ?? '') || startOf(a) - startOf(b) || 0,
  );
  const joined: Piece[] = [];
  for (const gap of sorted) {
    const last = joined.at(-1);
    if (last === undefined || last.bannerId !== gap.bannerId || startOf(gap) > boundsOf(last).end) joined.push(gap);
    else if (boundsOf(gap).end > boundsOf(last).end) joined[joined.length - 1] = { ...last, to: gap.to };
  }
  return joined;
}

/**
 * The time up to which a log is complete, given that it was read to `readTo` except for gaps. ISO 8601 UTC; null:
 * nowhere.
 */
export function completeTo(readTo: string | null, gaps: readonly Piece[]): string | null {
  if (readTo === null || gaps.some(({ from }) => from === null)) return null;
  return [readTo, ...gaps.map((gap) => isoOf(boundsOf(gap).start))].sort()[0] ?? null;
}
