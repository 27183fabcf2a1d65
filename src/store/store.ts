import type { Insertable, Kysely } from 'kysely';
import type { EntryKind } from '../core/vocabulary.ts';
import type { Entry } from '../crypto/entry.ts';
import type { TableName, Tables } from './schema.ts';

/** A row or key that must be unique exists already, or a required value is missing. */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
}

/** Typed query builder over the tables. The same queries run on both databases. */
export type Query = Kysely<Tables>;

/** The head of the ledger, from which the next entries are numbered. */
export interface LedgerHead {
  /** Highest seq, 0 when empty. */
  readonly seq: number;
  /** Highest source_seq of each requested source; 0 if it has no entry. */
  readonly sourceSeq: ReadonlyMap<string, number>;
  /** Where the installation has moved; null if it is still here. */
  readonly movedTo: string | null;
}

/** Identifies the entry that an append would repeat. */
export interface EntryKey {
  readonly source: string;
  readonly kind: EntryKind;
  readonly dedupeKey: Uint8Array;
}

/**
 * How {@link StoreTransaction.insertMany} treats a row whose key exists: fail (default), keep the old row, or replace
 * all its columns.
 */
export type OnConflict = 'fail' | 'keep' | 'replace';

/** Operations within one write transaction. All of them commit together or not at all. */
export interface StoreTransaction {
  readonly query: Query;
  /** Inserts any number of rows in one statement; all rows must have the same columns. */
  insertMany<T extends TableName>(
    table: T,
    rows: readonly Insertable<Tables[T]>[],
    onConflict?: OnConflict,
  ): Promise<void>;
  head(sources: readonly string[]): Promise<LedgerHead>;
  /** The seq of each key, in the order given; null if it does not exist. */
  findSeqs(keys: readonly EntryKey[]): Promise<readonly (number | null)[]>;
  /** Inserts numbered, hashed entries. Fails if any number or key exists. */
  insertEntries(entries: readonly Entry[]): Promise<void>;
  /** Counts repeats of entries: their number and the times of the first hundred. */
  countArrivals(repeats: readonly { readonly seq: number; readonly at: string }[]): Promise<void>;
}

/** The state of a store as reported by the database. */
/** A fault in the structure of a database file. */
export interface Damage {
  readonly found: string;
  /** The file that contains it, if that file would be rebuilt from the ledger after being deleted. */
  readonly rebuilt: string | null;
}

export interface StoreInspection {
  /** Number of migrations applied. */
  readonly schemaVersion: number;
  /** Settings under which a commit might not survive a power cut, or erased content might remain; empty if there are none. */
  readonly deviations: readonly string[];
  /** What a check of the file's structure found; empty if it is sound, null if no check was requested. */
  readonly damage: readonly Damage[] | null;
}

/**
 * The database: one writer, any number of readers that never block it. Errors: every method rejects with
 * StoreUnavailable (core/errors.ts) if the database cannot be read or written at the moment.
 */
export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /** Reads committed rows; never waits for the writer. */
  readonly read: Query;
  /**
   * Runs `work` with a snapshot of the database: later commits do not show, however long it takes. Never blocks the
   * writer. One query at a time.
   */
  snapshot<T>(work: (read: Query) => Promise<T>): Promise<T>;
  /** Runs `work` under the write lock; durable when it resolves. Keep it short, because appends wait for it. */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /**
   * Runs `work` under the write lock of the read models. It must write them and nothing else; {@link transaction}
   * writes everything else, and neither waits for the other. A power cut may undo the last ones: they can be folded
   * again.
   */
  foldTransaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /**
   * The seq of each key, in the order given, read without the write lock. A key that was found exists for ever; null: it
   * does not exist, or was added a moment ago.
   */
  findSeqs(keys: readonly EntryKey[]): Promise<readonly (number | null)[]>;
  /**
   * The fast path of an append: one statement and one commit that insert the entries only if the ledger still ends at
   * `expectedSeq`. False, with nothing written, if it does not, or if a number or key exists.
   */
  insertEntriesAt(expectedSeq: number, entries: readonly Entry[]): Promise<boolean>;
  /**
   * Appends without looking up keys: takes the write lock, reads the head, inserts the entries that `place` returns,
   * runs `also`, and commits, in as few round trips as possible, because everyone else waits. Resolves with what
   * `place` returned; null, with nothing written, if a number or key exists. If `place` or `also` throws, nothing is
   * written. If the caller expects the head to be `expected`, it may be checked by the insert instead of being read:
   * null if it is another.
   */
  insertEntriesAfter<T extends { readonly entries: readonly Entry[] }>(
    sources: readonly string[],
    place: (head: LedgerHead) => T,
    also?: (tx: StoreTransaction, placed: T) => Promise<void>,
    expected?: LedgerHead,
  ): Promise<T | null>;
  /** Checks the settings of the writing connection and, if asked, reads through the file for damage (seconds per GiB). */
  inspect(options: { readonly readThrough: boolean }): Promise<StoreInspection>;
  /**
   * Differences between the actual tables, columns, indexes and triggers (on PostgreSQL also rules, policies and
   * inheriting tables) and those that the migrations make, in phrases; empty if there are none. Such a difference could
   * drop or alter rows that were acknowledged as stored. `quick`, used at every start, leaves out columns, constraints
   * and indexes on PostgreSQL, where comparing them takes tenths of a second.
   */
  schemaDifferences(options: { readonly quick: boolean }): Promise<readonly string[]>;
  /**
   * Where an index does not match its table, in phrases: queries through it would leave rows out. Reads the whole file
   * (about 20 seconds per million decisions). SQLite only; empty on PostgreSQL, where pg_amcheck does it.
   */
  indexFaults(part: 'ledger' | 'read-models'): Promise<readonly string[]>;
  /** Makes the indexes of the read models again from their rows. SQLite only. */
  reindexReadModels(): Promise<void>;
  /** Bytes that the database takes on disk. */
  sizeOnDisk(): Promise<number>;
  /** Removes the remains of erased content from the files. */
  compact(): Promise<void>;
  /** Lets running statements end; those that read or fold only for a moment, then they reject with StoreUnavailable. */
  close(): Promise<void>;
}
