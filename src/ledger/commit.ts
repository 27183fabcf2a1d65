import { StoreUnavailable } from '../core/errors.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import { type Entry, placeEntry } from '../crypto/entry.ts';
import type { LedgerHead, Store, StoreTransaction } from '../store/store.ts';
import type { HighWater } from './high-water.ts';
import type { Appended, Batch, Prepared, WaitingLine } from './waiting-line.ts';

/** The end of the ledger and of sources within it, from which the next entries are numbered. */
interface End {
  readonly seq: number;
  readonly sourceSeq: Map<string, number>;
}

const FEW_SOURCES = 64;

/** A ledger that ends at `end`, although a process saw it end at `seen`. */
export interface Loss {
  readonly end: number;
  readonly seen: number;
}

export interface CommitOptions {
  /** Appends although the installation has moved. */
  readonly undoesMove?: boolean;
  /** What other processes saw; null: only what this one saw counts. */
  readonly seen?: Pick<HighWater, 'highest' | 'note'> | null;
  /** Called when entries were found to be lost, before the append is refused. */
  readonly onLost?: (loss: Loss) => void;
}

/** A batch with assigned numbers. */
interface Numbered {
  /** The end of the ledger before it. */
  readonly after: Pick<LedgerHead, 'seq' | 'sourceSeq'>;
  /** The new entries, hashed and ready to be inserted. */
  readonly entries: readonly Entry[];
  /** The outcome of each entry of the batch. */
  readonly appended: readonly Appended[];
  /** To be counted. A row that was read again is not: its run counts it (sync.finished). */
  readonly repeats: readonly { readonly seq: number; readonly at: string }[];
  /** The new end, and the sources with new entries. */
  readonly end: End;
}

/**
 * Commits one batch after the other, each in one of three ways:
 *
 * 1. at the known end: one statement without waiting for the lock, while no other process appends;
 * 2. as new: under the write lock, without looking up keys, if the last batch of this kind was new (SQLite takes the
 *    known end here too, if it still is the end);
 * 3. looked up: under the write lock, after looking up each key.
 *
 * The first two are guesses that the inserting statement checks: if one is wrong, nothing is written and the batch is
 * committed in the third way, which always works but takes twice as long.
 */
export class Committer {
  readonly #store: Store;
  readonly #appendKey: Uint8Array;
  readonly #line: WaitingLine;
  readonly #undoesMove: boolean;
  /** The end of the ledger when this process last saw it; null if unknown. */
  #knownEnd: End | null = null;
  /**
   * Whether the ledger, when last read, ended where this process had left it. While others append, the first way would
   * usually fail.
   */
  #alone = true;
  /** Kinds whose last batch was entirely new, as with rows of a log pulled for the first time, but not when it is read again. */
  readonly #newLately = new Set<EntryKind>();
  readonly #seen: Pick<HighWater, 'highest' | 'note'> | null;
  readonly #onLost: (loss: Loss) => void;
  /** The highest seq that this process, or another that shares its marks, ever saw. A ledger that ends below it has lost entries. */
  #highest = 0;

  /** Appends waiting in `line` may join a batch that has waited for the lock. */
  constructor(
    store: Store,
    appendKey: Uint8Array,
    line: WaitingLine,
    { undoesMove = false, seen = null, onLost = () => undefined }: CommitOptions = {},
  ) {
    this.#store = store;
    this.#appendKey = appendKey;
    this.#line = line;
    this.#undoesMove = undoesMove;
    this.#seen = seen;
    this.#onLost = onLost;
  }

  /** Returns the outcome of each entry. Rejects, with nothing written, if any of them cannot be stored. */
  async commit(batch: Batch): Promise<readonly Appended[]> {
    try {
      this.#highest = Math.max(this.#highest, this.#seen?.highest() ?? 0);
      const { appended } = (await this.#commitByGuess(batch)) ?? (await this.#commitLookedUp(batch));
      return appended;
    } catch (error) {
      this.#knownEnd = null;
      throw error;
    }
  }

  /** Null if there is no basis for a guess, or if the guess was wrong. */
  async #commitByGuess(batch: Batch): Promise<Numbered | null> {
    if (batch.hasRepeats) return null;
    if (this.#alone && !batch.changesMore) return this.#commitAtKnownEnd(batch);
    return batch.kind !== undefined && this.#newLately.has(batch.kind) ? this.#commitAsNew(batch) : null;
  }

  async #commitAtKnownEnd(batch: Batch): Promise<Numbered | null> {
    const end = this.#endOf(batch);
    if (end === null) return null;
    const numbered = this.#number(batch.prepared, end);
    if (!(await this.#store.insertEntriesAt(end.seq, numbered.entries))) return null;
    this.#moveTo(numbered);
    return numbered;
  }

  /** The known end, if no process saw entries after it and it tells the end of each source of the batch. */
  #endOf(batch: Batch): End | null {
    const end = this.#knownEnd;
    return end !== null && end.seq >= this.#highest && [...batch.sources].every((source) => end.sourceSeq.has(source))
      ? end
      : null;
  }

  async #commitAsNew(batch: Batch): Promise<Numbered | null> {
    const end = this.#alone ? this.#endOf(batch) : null;
    const place = (head: LedgerHead) => {
      this.#assertContinues(head);
      // Do as much as possible while holding the lock, since other processes wait for it.
      this.#line.fillUp(batch, head.sourceSeq);
      return this.#number(batch.prepared, head);
    };
    const also = (tx: StoreTransaction, { appended }: Numbered) => batch.also(tx, appended);
    const expected = end === null ? undefined : { ...end, movedTo: null };
    const numbered = await this.#store.insertEntriesAfter(this.#sourcesAround(batch), place, also, expected);
    if (numbered !== null) this.#moveTo(numbered);
    return numbered;
  }

  async #commitLookedUp(batch: Batch): Promise<Numbered> {
    const { prepared } = batch;
    const numbered = await this.#store.transaction(async (tx) => {
      const existing = await tx.findSeqs(prepared.map(({ entry }) => entry));
      const head = await tx.head([...batch.sources]);
      this.#assertContinues(head);
      const { entries, repeats, appended, ...rest } = this.#number(prepared, head, existing);
      if (entries.length > 0) await tx.insertEntries(entries);
      if (repeats.length > 0) await tx.countArrivals(repeats);
      await batch.also(tx, appended);
      return { entries, repeats, appended, ...rest };
    });
    this.#moveTo(numbered);
    const { kind } = batch;
    if (kind !== undefined && numbered.entries.length < prepared.length) this.#newLately.delete(kind);
    else if (kind !== undefined) this.#newLately.add(kind);
    return numbered;
  }

  /**
   * Sources whose ends to read: those of the batch, and those of appends that may join, unless there are so many that
   * reading them would cost more than it saves.
   */
  #sourcesAround(batch: Batch): readonly string[] {
    const known = this.#knownEnd?.sourceSeq;
    return known === undefined || known.size > FEW_SOURCES
      ? [...batch.sources]
      : [...new Set([...known.keys(), ...batch.sources])];
  }

  /** Gives each entry the next number, unless its key already exists or occurred earlier in the batch. */
  #number(
    prepared: readonly Prepared[],
    after: Numbered['after'],
    existing: readonly (number | null)[] = [],
  ): Numbered {
    const sourceSeq = new Map<string, number>();
    const seqOf = new Map<string, number>();
    const entries: Entry[] = [];
    const repeats: { seq: number; at: string }[] = [];
    const appended = prepared.map(({ entry, identity, salt, commitment }, place): Appended => {
      const earlier = existing[place] ?? seqOf.get(identity);
      if (earlier !== undefined) {
        if (entry.kind !== 'consent-log') repeats.push({ seq: earlier, at: entry.receivedAt });
        return { outcome: 'duplicate', seq: earlier };
      }
      const seq = after.seq + entries.length + 1;
      const ownSeq = (sourceSeq.get(entry.source) ?? after.sourceSeq.get(entry.source) ?? 0) + 1;
      entries.push(placeEntry(entry, seq, ownSeq, salt, commitment, this.#appendKey));
      seqOf.set(identity, seq);
      sourceSeq.set(entry.source, ownSeq);
      return { outcome: 'stored', seq };
    });
    return { after, entries, appended, repeats, end: { seq: after.seq + entries.length, sourceSeq } };
  }

  /** Throws if the ledger has moved elsewhere, or has lost entries that this process saw. */
  #assertContinues({ seq, movedTo }: LedgerHead): void {
    if (movedTo !== null && !this.#undoesMove)
      throw new StoreUnavailable(`The installation has moved to ${movedTo}. Set DATABASE_URL to it, and start again.`);
    if (seq >= this.#highest) return;
    this.#onLost({ end: seq, seen: this.#highest });
    throw new StoreUnavailable(
      `the ledger ends at ${seq}, but ended at ${this.#highest} before: entries were removed from it, and their numbers must not be reused`,
    );
  }

  /** The ends of other sources remain known if nobody else has appended. */
  #moveTo({ after, end }: Numbered): void {
    const known = this.#knownEnd;
    this.#alone = known === null || known.seq === after.seq;
    const sourceSeq = known?.seq === after.seq ? known.sourceSeq : new Map(after.sourceSeq);
    for (const [source, seq] of end.sourceSeq) sourceSeq.set(source, seq);
    this.#knownEnd = { seq: end.seq, sourceSeq };
    this.#highest = end.seq;
    this.#seen?.note(end.seq);
  }
}
