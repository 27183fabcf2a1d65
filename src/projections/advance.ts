import { StoreUnavailable } from '../core/errors.ts';
import type { TableName } from '../store/schema.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import type { Page } from './load-entries.ts';
import { movePosition, type Position, type PositionName } from './position.ts';
import { type Projection, type ProjectedEntry, type ProjectorLog, quarantineRows, type Write } from './projection.ts';

/** Where projections write, and how far they have got: the live tables, or those of a rebuild. */
export interface Target {
  readonly store: Pick<Store, 'foldTransaction'>;
  /** Reads the target's tables by their plain names. */
  readonly state: Query;
  readonly position: PositionName;
  /** The table's name in this target. */
  tableName(table: TableName): TableName;
  /** Called with every write, before it commits. */
  onWrite?(write: Write): void;
}

/** `moved`: the page is written, exactly once. `lost`: another process moved the position first, and nothing was written. */
type Advance = 'moved' | 'lost';

/**
 * Projects one page of entries: rows and position in one transaction.
 *
 * If a projection fails (a bug), the others must go on and its entry must not be skipped silently: the page is halved
 * until the entry is found, which goes to the quarantine and is projected by all the others. Outages (StoreUnavailable)
 * are thrown: they are not the fault of an entry.
 */
export async function advance(
  target: Target,
  projections: readonly Projection[],
  page: Page,
  from: Position,
  log: ProjectorLog,
): Promise<Advance> {
  return attempt(target, projections, page, from, log, []);
}

/** A projection that failed on an entry and is left out for it. */
interface Failure {
  readonly projection: string;
  readonly reason: string;
}

async function attempt(
  target: Target,
  projections: readonly Projection[],
  page: Page,
  from: Position,
  log: ProjectorLog,
  failures: readonly Failure[],
): Promise<Advance> {
  try {
    const writes = await foldPage(target.state, projections, page.entries);
    writes.push(...quarantineFailures(page.entries, failures));
    return await commit(target, writes, from, page.to);
  } catch (error) {
    if (!(error instanceof ProjectionFailure)) throw error;
    const [first, ...rest] = page.entries;
    if (first === undefined || failures.some(({ projection }) => projection === error.projection)) throw error.cause;
    if (rest.length > 0) {
      const halves = cutInHalves(page);
      const moved = await attempt(target, projections, halves[0], from, log, []);
      if (moved === 'lost') return 'lost';
      return attempt(target, projections, halves[1], { ...from, seq: halves[0].to }, log, []);
    }
    log.error({ seq: first.seq, projection: error.projection, err: error.cause }, 'a projection failed on an entry');
    return attempt(
      target,
      projections.filter(({ name }) => name !== error.projection),
      page,
      from,
      log,
      [...failures, { projection: error.projection, reason: error.message }],
    );
  }
}

function cutInHalves(page: Page): [Page, Page] {
  const middle = page.entries.length >> 1;
  const first = page.entries.slice(0, middle);
  return [
    { ...page, to: (first.at(-1) as ProjectedEntry).seq, entries: first },
    { ...page, entries: page.entries.slice(middle) },
  ];
}

/** Collects the writes of all projections for these entries. */
export async function foldPage(
  state: Query,
  projections: readonly Projection[],
  entries: readonly ProjectedEntry[],
): Promise<ProjectionWrite[]> {
  const folded: ProjectionWrite[] = [];
  if (entries.length === 0) return folded;
  // Sequential, because `state` may be the single connection of a transaction.
  for (const { name, fold } of projections) {
    try {
      for (const write of await fold(state, entries)) folded.push({ projection: name, write });
    } catch (error) {
      throw asFailure(name, error);
    }
  }
  return folded;
}

interface ProjectionWrite {
  readonly projection: string;
  readonly write: Write;
}

class LostRace extends Error {}

async function commit(
  target: Target,
  writes: readonly ProjectionWrite[],
  from: Position,
  to: number,
): Promise<Advance> {
  try {
    await target.store.foldTransaction(async (tx) => {
      if (!(await movePosition(tx, target.position, from, to))) throw new LostRace();
      await writeAll(tx, target, writes);
    });
    return 'moved';
  } catch (error) {
    if (error instanceof LostRace) return 'lost';
    throw error;
  }
}

/** Writes the folded rows into the target's tables. */
export async function writeAll(
  tx: StoreTransaction,
  target: Pick<Target, 'tableName' | 'onWrite'>,
  writes: readonly ProjectionWrite[],
): Promise<void> {
  for (const { projection, write } of writes) {
    if (write.rows.length === 0) continue;
    try {
      await tx.insertMany(target.tableName(write.table), write.rows, write.onConflict);
      target.onWrite?.(write);
    } catch (error) {
      throw asFailure(projection, error);
    }
  }
}

function quarantineFailures(entries: readonly ProjectedEntry[], failures: readonly Failure[]): ProjectionWrite[] {
  const [entry] = entries;
  if (entry === undefined || failures.length === 0) return [];
  const { seq, source, receivedAt, reading, meta } = entry;
  const named = reading?.event ?? meta['action'];
  const event = typeof named === 'string' ? named : null;
  const reason = `projection failed: ${failures.map((failure) => `${failure.projection}: ${failure.reason}`).join('; ')}`;
  const write = quarantineRows([{ seq, source, event, reason, received_at: receivedAt }]);
  return [{ projection: 'failed projections', write }];
}

/** A projection could not fold entries, or its rows could not be written: a bug, located by halving the page. */
export class ProjectionFailure extends Error {
  readonly projection: string;
  constructor(projection: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'ProjectionFailure';
    this.projection = projection;
  }
}

/** Wraps an error as the projection's failure, unless it is an outage. */
function asFailure(projection: string, error: unknown): unknown {
  return error instanceof StoreUnavailable ? error : new ProjectionFailure(projection, error);
}
