import type { Insertable, Selectable } from 'kysely';
import { decisionIdOf, isAnonymousRepeat, readConsentRow, readDelivery } from '../../receivers/read.ts';
import type { Action } from '../core/action.ts';
import type { Reading } from '../core/fact.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import type { TableName, Tables } from '../store/schema.ts';
import type { OnConflict, Query } from '../store/store.ts';

/** A row as it is read. */
export type Row<T extends TableName> = Selectable<Tables[T]>;

/** Why an entry is in the quarantine. */
export interface Fault {
  readonly event: string | null;
  readonly reason: string;
}

/** An entry whose body has been read, once for all projections. Erased entries never get this far. */
export interface ProjectedEntry {
  readonly seq: number;
  readonly source: string;
  readonly kind: EntryKind;
  readonly receivedAt: string;
  /** Parsed meta; an empty object if it is not a JSON object. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** What the ledger commits to of its content, lower-case hex (crypto/entry.ts): documents cite it, never a bare hash of the body. */
  readonly commitment: string;
  /** Deliveries and pulled rows only. */
  readonly reading: Reading | null;
  /** Officer actions only, and only those that this version knows. */
  readonly action: Action | null;
  /** Set when the entry could not be read: it goes to the quarantine and stays visible. */
  readonly fault: Fault | null;
}

/** Rows that one projection wants written, all into one table. */
export type Write = {
  [T in TableName]: {
    readonly table: T;
    readonly rows: readonly Insertable<Tables[T]>[];
    readonly onConflict: OnConflict;
  };
}[TableName];

/**
 * One read model. `fold` is a function of the rows that are there and the entries that come next: it reads what it needs
 * through `state`, and returns what to write. It never writes itself, so the write transaction stays short, and the same
 * fold fills the live tables and those of a rebuild. Its result must not depend on how entries are cut into batches.
 */
export interface Projection {
  readonly name: string;
  /** The tables that only this projection writes (the quarantine is shared). */
  readonly tables: readonly TableName[];
  fold(state: Query, batch: readonly ProjectedEntry[]): Promise<readonly Write[]>;
}

/** What reads bodies into facts. Tests of the read models put one in its place whose bodies say outright what is to be read in them. */
export const readers = { readDelivery, readConsentRow, decisionIdOf, isAnonymousRepeat };
export type Readers = typeof readers;

/** Where the projector reports; pino fits. */
export interface ProjectorLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Rows to append. A row that exists already is a bug: entries are projected exactly once. */
export function appendTo<T extends TableName>(table: T, rows: readonly Insertable<Tables[T]>[]): Write {
  return { table, rows, onConflict: 'fail' } as unknown as Write;
}

/** Rows of the present picture: each replaces the one of its key. */
export function replaceIn<T extends TableName>(table: T, rows: readonly Insertable<Tables[T]>[]): Write {
  return { table, rows, onConflict: 'replace' } as unknown as Write;
}

/** Quarantine rows: the first reason given for an entry stays. */
export function quarantineRows(rows: readonly Row<'quarantine'>[]): Write {
  return { table: 'quarantine', rows, onConflict: 'keep' };
}
