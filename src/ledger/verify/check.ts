import type { KeyObject } from 'node:crypto';
import type { Entry } from '../../crypto/entry.ts';
import type { Frontier } from '../../crypto/merkle.ts';
import type { InstanceKeys } from '../../crypto/keys.ts';
import type { Store } from '../../store/store.ts';
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
  /** Cosignatures, tokens of time-stamping authorities, and copies elsewhere that stand for a checkpoint. */
  readonly cosignatures: number;
  readonly timestamps: number;
  readonly copies: number;
  /** Entries under the newest checkpoint that one of them is about. */
  readonly witnessed: number;
  /** Sentences about what witnesses said and could not be checked. No fault of the ledger. */
  readonly unchecked: readonly string[];
  readonly root: string;
}

/** One run over a ledger, as each check sees it. */
export interface Run {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  readonly evidenceFolder: string;
  /** DATA_DIR/documents. */
  readonly documentsFolder: string;
  /** DATA_DIR/erasures; null: it is not looked at. */
  readonly erasuresFolder: string | null;
  readonly publicKey: KeyObject;
  readonly signed: SignedNotes;
  /** The tree before the first entry that is read, as a checkpoint was signed for it; empty: the whole ledger is read. */
  readonly since: Frontier;
  /** Number of the last entry of each source before it. */
  readonly sourceEnds: ReadonlyMap<string, number>;
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
