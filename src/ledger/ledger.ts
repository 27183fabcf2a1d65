import type { NewEntry } from '../core/entry.ts';
import type { StoreTransaction } from '../store/store.ts';

/** Where an entry ended up: newly stored, or already there under this seq. */
export interface Appended {
  readonly outcome: 'stored' | 'duplicate';
  readonly seq: number;
}

/** The one way into the ledger. */
export interface Ledger {
  /**
   * Appends entries in the order given: deduplicated, numbered without gaps, durable when it resolves.
   * `alsoInTransaction` commits together with them (a page and its cursor); it gets the outcome of each entry.
   * Rejects with StoreUnavailable when the store cannot write, with CodedError `overloaded` when the waiting line is full,
   * with RangeError when more than one entry is more than 256 entries or 4 MiB of meta and body.
   */
  append(
    entries: readonly NewEntry[],
    alsoInTransaction?: (tx: StoreTransaction, appended: readonly Appended[]) => Promise<void>,
  ): Promise<readonly Appended[]>;
  /** A deduplication key over these parts (core/keys.ts dedupeKeyOf under this installation's key). */
  keyOf(...parts: readonly (string | Uint8Array)[]): Buffer;
  /** Called after each commit with the highest seq then known. Returns the way to stop it. */
  onAppended(listener: (seq: number) => void): () => void;
  /** Waits for what is in the waiting line, then refuses more. */
  close(): Promise<void>;
}
