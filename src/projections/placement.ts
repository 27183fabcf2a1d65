import { readErasure } from '../core/erasure.ts';
import { CodedError } from '../core/errors.ts';
import { anyRowsOf, findPositionFault, lastSeq, positionFaultText } from '../store/queries/fold-position.ts';
import { readSetting, UNFINISHED_ERASURE } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { LoadedPage } from './load-entries.ts';
import { loadFoldPosition, type Position } from './position.ts';
import type { ProjectorLog } from './projection.ts';

/** Called with what is wrong; repairs the read models ({@link rebuild}). */
export type OnMisplaced = (reason: string) => Promise<unknown>;

/**
 * Checks before each batch that the position fits the ledger and the rows: someone may have changed the database or
 * restored an older file of read models. Without `onMisplaced`, nothing is checked.
 */
export function createPlacementCheck(store: Store, log: ProjectorLog, onMisplaced: OnMisplaced | undefined) {
  /** The last position that was found correct, or to which this process moved it since. */
  let sound: Position | null = null;
  /** Whether another process was rebuilding the read models when this one wanted to. */
  let isElsewhere = false;

  /** What is wrong with the position; null: nothing. Checked only if another process has moved it, and at the end of the ledger. */
  async function misplacement(from: Position, isEnd: boolean): Promise<string | null> {
    if (isElsewhere && (await loadFoldPosition(store.read, 'rebuild')) === null) {
      isElsewhere = false;
      sound = null;
    }
    const isKnown = sound?.seq === from.seq && sound.generation === from.generation;
    if (isKnown && !(isEnd && from.seq > (await lastSeq(store.read)))) return null;
    const fault = await findPositionFault(store.read);
    if (fault === null) sound = from;
    return fault === null ? null : `the read models ${positionFaultText(fault)}`;
  }

  /** Finds rows of erased entries, which an older file of read models brings back. An unfinished erasure removes them itself. */
  async function rowsOfErased(page: LoadedPage | null): Promise<string | null> {
    const erasures = page?.entries.filter(({ kind }) => kind === 'erasure') ?? [];
    for (const { seq, body } of erasures) {
      const { seqs } = readErasure(body) ?? { seqs: [] };
      if ((await anyRowsOf(store.read, seqs)) && (await readSetting(store, UNFINISHED_ERASURE)) === null)
        return `the read models hold rows of what the erasure ${seq} erased`;
    }
    return null;
  }

  async function putRight(reason: string, onMisplaced: OnMisplaced): Promise<void> {
    log.error({}, `${reason}; rebuilding them`);
    try {
      await onMisplaced(reason);
      // Must be checked again, as someone may have changed it in the meantime.
      sound = null;
    } catch (error) {
      if (!(error instanceof CodedError && error.code === 'conflict')) throw error;
      log.info({}, 'another process is rebuilding the read models');
      isElsewhere = true;
      sound = await loadFoldPosition(store.read, 'projector');
    }
  }

  return {
    /** Call it when this process has moved the position. */
    moved(position: Position): void {
      sound = position;
    },
    /**
     * Whether the read models were wrong and have been repaired, so that the position must be read again. Null `page`:
     * the end of the ledger.
     */
    async wasPutRight(from: Position, page: LoadedPage | null): Promise<boolean> {
      if (onMisplaced === undefined) return false;
      const wrong = (await misplacement(from, page === null)) ?? (await rowsOfErased(page));
      if (wrong !== null) await putRight(wrong, onMisplaced);
      return wrong !== null;
    },
  };
}
