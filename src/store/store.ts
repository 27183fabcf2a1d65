import type { Insertable, Kysely } from 'kysely';
import type { Entry } from '../crypto/entry.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import type { TableName, Tables } from './schema.ts';

/** A row or key that must be unique exists already, or a required value is missing. */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
}

/** Typed query builder over the tables. The same queries run on both databases. */
export type Query = Kysely<Tables>;

/** The head of the ledger: what the next entries are numbered from. */
export interface LedgerHead {
  /** Highest seq, 0 when empty. */
  readonly seq: number;
  /** Highest source_seq of each of the sources asked for, 0 where it has no entry. */
  readonly sourceSeq: ReadonlyMap<string, number>;
  /** Where the installation has moved to; null while it is here. */
  readonly movedTo: string | null;
}

/** Which entry an append would repeat. */
export interface EntryKey {
  readonly source: string;
  readonly kind: EntryKind;
  readonly dedupeKey: Uint8Array;
}

/** How {@link StoreTransaction.insertMany} treats a row whose key exists: fail (default), keep the old one, or replace all its columns. */
export type OnConflict = 'fail' | 'keep' | 'replace';

/** What can be done inside one write transaction. Everything in it commits together or not at all. */
export interface StoreTransaction {
  readonly query: Query;
  /** Inserts rows in one statement however many they are; every row must have the same columns. */
  insertMany<T extends TableName>(
    table: T,
    rows: readonly Insertable<Tables[T]>[],
    onConflict?: OnConflict,
  ): Promise<void>;
  head(sources: readonly string[]): Promise<LedgerHead>;
  /** Seqs of those keys that exist already, in the order given; null for the others. */
  findSeqs(keys: readonly EntryKey[]): Promise<readonly (number | null)[]>;
  /** Inserts numbered, hashed entries. Fails when any number or key exists. */
  insertEntries(entries: readonly Entry[]): Promise<void>;
  /** Counts repeats of entries: count and the first hundred times (design: arrivals). */
  countArrivals(repeats: readonly { readonly seq: number; readonly at: string }[]): Promise<void>;
}

/** How a store is really set, as the database itself answers. */
export interface StoreInspection {
  /** Number of migrations applied. */
  readonly schemaVersion: number;
  /** What is not as it has to be for a commit to survive a power cut and for erased content to be gone; empty when all is. */
  readonly deviations: readonly string[];
  /** What a check of the file's structure found; empty when it is sound, null when it was not asked for. */
  readonly damage: readonly string[] | null;
}

/**
 * The database: one writer, any number of readers that never block it.
 * Errors: every method rejects with StoreUnavailable (core/errors.ts) when the database cannot be read or written at the moment.
 */
export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  /** Reads committed rows; never waits for the writer. */
  readonly read: Query;
  /** Runs `work` with a view of the database as of one moment, however long it takes: later commits do not show. Never blocks the writer. One query at a time. */
  snapshot<T>(work: (read: Query) => Promise<T>): Promise<T>;
  /** Runs `work` under the write lock; durable when it resolves. Keep it short: appends wait meanwhile. */
  transaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /**
   * Runs `work` under the write lock of the read models, where it writes them and nothing else; {@link transaction} writes everything else, and neither waits for the
   * other. A power cut may undo the last ones: they can be folded again.
   */
  foldTransaction<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /**
   * The fast path of an append: one statement, one commit, which inserts the entries only if the ledger still ends at
   * `expectedSeq`. False when it does not, or when a number or key exists: nothing was written then.
   */
  insertEntriesAt(expectedSeq: number, entries: readonly Entry[]): Promise<boolean>;
  /**
   * The append without looking keys up: takes the write lock, reads the head, inserts what `place` makes of it, does what `also` adds, and
   * commits, in as few round trips as the database allows, for everyone else waits meanwhile. Resolves with what `place` made; null, with
   * nothing written, when a number or key exists. What `place` or `also` throws undoes it.
   */
  insertEntriesAfter<T extends { readonly entries: readonly Entry[] }>(
    sources: readonly string[],
    place: (head: LedgerHead) => T,
    also?: (tx: StoreTransaction, placed: T) => Promise<void>,
  ): Promise<T | null>;
  /** Looks at the settings of the writing connection and, if asked, reads through the file for damage (seconds per GiB). */
  inspect(options: { readonly readThrough: boolean }): Promise<StoreInspection>;
  /**
   * What of the tables, columns, indexes and triggers (on PostgreSQL also rules, policies and heirs) is not as the migrations make it, in phrases.
   * Empty when all is: such a thing could drop or alter rows that were answered "stored". `quick`, for every start, leaves out columns,
   * constraints and indexes on PostgreSQL, where comparing them takes tenths of a second.
   */
  schemaDifferences(options: { readonly quick: boolean }): Promise<readonly string[]>;
  /** Bytes the database takes on disk. */
  sizeOnDisk(): Promise<number>;
  /** Removes residue of erased content from the files. */
  compact(): Promise<void>;
  close(): Promise<void>;
}
