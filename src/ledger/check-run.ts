import type { KeyObject } from 'node:crypto';
import type { Entry } from '../crypto/entry.ts';
import type { InstanceKeys } from '../crypto/keys.ts';
import type { Store } from '../store/store.ts';
import type { Fault } from './entry-fault.ts';
import type { SignedNotes } from './signed-notes.ts';

/** What is counted beside the faults. */
export interface Counts {
  readonly erased: number;
  readonly bytes: number;
  readonly sources: number;
  readonly checkpoints: number;
  /** Entries after the last checkpoint: protected by their MACs, not yet by a signature. */
  readonly unsealed: number;
  /** Notes of the journal whose writing was cut off. They were never published, and are no fault. */
  readonly unfinishedNotes: number;
  /** Files of evidence that entries commit to. */
  readonly files: number;
  /** Files of documents that entries register. */
  readonly documents: number;
  readonly root: string;
}

/** One run over a ledger, as each check sees it. */
export interface Run {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  readonly evidenceFolder: string;
  /** DATA_DIR/documents. */
  readonly documentsFolder: string;
  readonly publicKey: KeyObject;
  readonly signed: SignedNotes;
  /** Seq of the last entry that is read. */
  readonly highest: number;
  report(fault: Fault): void;
}

/** One check during a run. */
export interface Checking {
  /** Called for each entry, in order of seq. */
  entry?(entry: Entry): void;
  /** Called after the last entry. */
  end?(): void | Promise<void>;
  counts?(): Partial<Counts>;
}

/** One thing that `ledger verify` checks. */
export interface Check {
  /** What is true of a sound ledger. */
  readonly claim: string;
  /** Columns, tables and folders that it reads. */
  readonly reads: string;
  /** Begins a run. What needs no entry is checked at once. */
  begin(run: Run): Checking;
}
