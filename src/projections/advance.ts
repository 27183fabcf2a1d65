import { StoreUnavailable } from '../core/errors.ts';
import type { TableName } from '../store/schema.ts';
import type { Query, Store, StoreTransaction } from '../store/store.ts';
import type { LoadedPage } from './load-entries.ts';
import { movePosition, type Position, type PositionName } from './position.ts';
import { type ProjectedEntry, type Projection, type ProjectorLog, quarantineRows, type Write } from './projection.ts';

/** Where projections write, and how far they have got: the live tables, or those of a rebuild. */
export interface Target {
  readonly store: Pick<Store, 'foldTransaction'>;
  /** The same query builder, over the target's tables by their plain names. */
  state(query: Query): Query;
  readonly position: PositionName;
  /** The table's name in this target. */
  tableName(table: TableName): TableName;
  /** Called with every write, before it commits. */
  onWrite?(write: Write): void;
}

/** What writes into a target, and where its failures are reported. */
interface Fold {
  readonly target: Target;
  readonly projections: readonly Projection[];
  readonly log: ProjectorLog;
}

/** The page to project after a position in the same transaction; null: no more. */
export type LoadPage = (after: Position) => Promise<LoadedPage | null>;

/**
 * Projects consecutive pages of entries, rows and position in one transaction: what several of them change in the same
 * place of an index is then written once. Resolves with the seq reached; null if another process moved the position
 * first, and nothing was written.
 *
 * If a projection fails (a bug), the others must go on and its entry must not be skipped silently: the first page is
 * projected alone and halved until the entry is found, which goes to the quarantine and is projected by all the others.
 * Outages (StoreUnavailable) are thrown: they are not the fault of an entry.
 */
export async function advance(fold: Fold, pages: LoadPage, from: Position): Promise<number | null> {
  let first: LoadedPage | null = null;
  const remembered: LoadPage = async (after) => {
    const page = await pages(after);
    first ??= page;
    return page;
  };
  try {
    return await commit(fold, remembered, from);
  } catch (error) {
    if (!(error instanceof ProjectionFailure) || first === null) throw error;
    return attempt(fold, first, from, []);
  }
}

/** A projection that failed on an entry and is left out for it. */
interface Failure {
  readonly projection: string;
  readonly reason: string;
}

async function attempt(
  fold: Fold,
  page: LoadedPage,
  from: Position,
  failures: readonly Failure[],
): Promise<number | null> {
  try {
    const only: LoadPage = ({ seq }) => Promise.resolve(seq === from.seq ? page : null);
    return await commit(fold, only, from, quarantineFailures(page.entries, failures));
  } catch (error) {
    if (!(error instanceof ProjectionFailure)) throw error;
    const [first, ...rest] = page.entries;
    if (first === undefined || failures.some(({ projection }) => projection === error.projection)) throw error.cause;
    if (rest.length > 0) {
      const [half, other] = cutInHalves(page);
      if ((await attempt(fold, half, from, [])) === null) return null;
      return attempt(fold, other, { ...from, seq: half.to }, []);
    }
    fold.log.error(
      { seq: first.seq, projection: error.projection, err: error.cause },
      'a projection failed on an entry',
    );
    const others = fold.projections.filter(({ name }) => name !== error.projection);
    return attempt({ ...fold, projections: others }, page, from, [
      ...failures,
      { projection: error.projection, reason: error.message },
    ]);
  }
}

function cutInHalves(page: LoadedPage): [LoadedPage, LoadedPage] {
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

/** Projects pages from a position in one transaction. Null: another process moved the position first. */
async function commit(
  { target, projections }: Pick<Fold, 'target' | 'projections'>,
  pages: LoadPage,
  from: Position,
  also: readonly ProjectionWrite[] = [],
): Promise<number | null> {
  try {
    return await target.store.foldTransaction(async (tx) => {
      const state = target.state(tx.query);
      let at = from;
      for (let page = await pages(at); page !== null; page = await pages(at)) {
        if (!(await movePosition(tx, target.position, at, page.to))) throw new LostRace();
        await writeAll(tx, target, await foldPage(state, projections, page.entries));
        at = { ...at, seq: page.to };
      }
      await writeAll(tx, target, also);
      return at.seq;
    });
  } catch (error) {
    if (error instanceof LostRace) return null;
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
