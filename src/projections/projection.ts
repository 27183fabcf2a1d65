import type { Insertable, Selectable } from 'kysely';
import { type Reading, readConsentRow, readDelivery } from '../../receivers/read.ts';
import type { Action } from '../core/action.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import type { TableName, Tables } from '../store/schema.ts';
import type { OnConflict, Query } from '../store/store.ts';

/** A row as read from a table. */
export type Row<T extends TableName> = Selectable<Tables[T]>;

/** Why an entry is in quarantine. */
export interface QuarantineReason {
  readonly event: string | null;
  readonly reason: string;
}

/** An entry whose body has been read once for all projections. Never an erased entry. */
export interface ProjectedEntry {
  readonly seq: number;
  readonly source: string;
  readonly kind: EntryKind;
  readonly receivedAt: string;
  /** Parsed meta; an empty object if it is not a JSON object. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /**
   * The ledger's commitment to its content, lower-case hex (crypto/entry.ts); documents cite it, never a plain hash of
   * the body.
   */
  readonly commitment: string;
  /** Set for deliveries and pulled rows. */
  readonly reading: Reading | null;
  /** Set for officers' actions that this version knows. */
  readonly action: Action | null;
  /** Set if the entry could not be read; it is quarantined and stays visible. */
  readonly fault: QuarantineReason | null;
}

/** Rows that one projection wants to write into one table. */
export type Write = {
  [T in TableName]: {
    readonly table: T;
    readonly rows: readonly Insertable<Tables[T]>[];
    readonly onConflict: OnConflict;
  };
}[TableName];

/**
 * One read model. `fold` is a function of the existing rows and the next entries: it reads what it needs through
 * `state`, and returns what to write. It never writes itself, so the write transaction stays short, and the same fold
 * fills the live tables and those of a rebuild. Its result must not depend on how entries are cut into batches.
 */
export interface Projection {
  readonly name: string;
  /** The tables that only this projection writes (the quarantine is shared). */
  readonly tables: readonly TableName[];
  fold(state: Query, batch: readonly ProjectedEntry[]): Promise<readonly Write[]>;
}

/** Reads bodies into facts. Tests of the read models replace it: their bodies state facts directly, or make it fail. */
export const readers = { readDelivery, readConsentRow };
export type Readers = typeof readers;

/** Where the projector logs; pino fits. */
export interface ProjectorLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Rows to insert. A row that already exists is a bug: entries are projected exactly once. */
export function appendTo<T extends TableName>(table: T, rows: readonly Insertable<Tables[T]>[]): Write {
  return { table, rows, onConflict: 'fail' } as unknown as Write;
}

/** State rows: each replaces the row with its key. */
export function replaceIn<T extends TableName>(table: T, rows: readonly Insertable<Tables[T]>[]): Write {
  return { table, rows, onConflict: 'replace' } as unknown as Write;
}

/** Quarantine rows: the first reason given for an entry is kept. */
export function quarantineRows(rows: readonly Row<'quarantine'>[]): Write {
  return { table: 'quarantine', rows, onConflict: 'keep' };
}
