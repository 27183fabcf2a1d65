import type { KeyObject } from 'node:crypto';
import type { DocumentInput } from '../../reports/report.ts';
import type { Clock } from '../core/clock.ts';
import type { ControllerProfile } from '../core/profile.ts';
import type { RegimeTable } from '../core/regime-table.ts';
import type { Source } from '../core/source.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Query, StoreTransaction } from '../store/store.ts';

/** What producing documents works with. */
export interface DocumentDeps {
  readonly read: Query;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** DATA_DIR/documents. */
  readonly folder: string;
  /** DATA_DIR/evidence. */
  readonly evidenceFolder: string;
  readonly history: DocumentInput['history'];
  readonly timeZone: string;
  readonly version: string;
  readonly epoch: number;
  readonly publicKey: KeyObject;
  readonly sources: { find(slug: string): Source | null };
  /** Projects everything appended so far; resolves with the position. */
  readonly catchUp: () => Promise<number>;
  /** Seals everything appended so far. */
  readonly seal: () => Promise<unknown>;
  /** Throws when a job produces the document and another worker has taken it over. */
  readonly assertHeld?: () => Promise<void>;
  /** Told in the transaction that registers the document: a job is done there and then, and makes no second one when it is repeated. */
  readonly registeredIn?: (tx: StoreTransaction, document: RegisteredDocument) => Promise<void>;
  readonly loadProfile: (source: Source | null) => Promise<ControllerProfile | null>;
  /** Marks every page SAMPLE. */
  readonly sample: boolean;
  readonly regimes: RegimeTable;
}

/** A document as it is registered: the file, and the entry that holds its hash. */
export interface RegisteredDocument {
  readonly documentId: string;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The last entry that the document knows. */
  readonly asOf: number;
  /** The entry `document.produced`. */
  readonly seq: number;
  /** What it was made from besides the entries up to asOf. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
