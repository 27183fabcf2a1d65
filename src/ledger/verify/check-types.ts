import type { KeyObject } from 'node:crypto';
import type { Entry } from '../../crypto/entry.ts';
import type { InstanceKeys } from '../../crypto/keys.ts';
import type { Frontier } from '../../crypto/merkle.ts';
import type { Store } from '../../store/store.ts';
import type { Fault } from './entry-fault.ts';
import type { SignedNotes } from './signed-notes.ts';

/** A time at which the first `size` entries existed, as stated by a checkpoint, a cosignature or a token. */
export interface StatedTime {
  /** What states it, e.g. "the checkpoint at 12". */
  readonly what: string;
  readonly size: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** Times in the wrong order. Not a fault of the ledger: the order of its entries is proven, their times are not. */
export interface Misdated {
  /** The entry whose time contradicts another one. */
  readonly seq: number;
  readonly sentence: string;
}

/** Counts besides the faults. */
export interface Counts {
  readonly erased: number;
  readonly bytes: number;
  readonly sources: number;
  readonly checkpoints: number;
  /** Entries after the last checkpoint: protected by MACs but not yet by a signature. */
  readonly unsealed: number;
  /** Journal notes whose writing was cut off. They were never published and are not faults. */
  readonly unfinishedNotes: number;
  /** Evidence files to which entries commit. */
  readonly files: number;
  /** Document files that entries register. */
  readonly documents: number;
  /** Valid cosignatures, timestamp tokens and outside copies of checkpoints. */
  readonly cosignatures: number;
  readonly timestamps: number;
  readonly copies: number;
  /** Entries under the newest checkpoint with one of these. */
  readonly witnessed: number;
  /** Sentences about what could not be checked. Not faults of the ledger. */
  readonly unchecked: readonly string[];
  /** Times in the wrong order. Not faults of the ledger. */
  readonly misdated: readonly Misdated[];
  readonly root: string;
}

/** One run over a ledger, as passed to each check. */
export interface Run {
  readonly store: Store;
  readonly keys: Pick<InstanceKeys, 'append' | 'dedupe'>;
  /** By the clock of this machine: what is kept for a time only may be gone. */
  readonly now: Date;
  readonly evidenceFolder: string;
  /** DATA_DIR/documents. */
  readonly documentsFolder: string;
  /** DATA_DIR/erasures; null: not checked. */
  readonly erasuresFolder: string | null;
  readonly publicKey: KeyObject;
  /** DATA_DIR/log.vkey, and the key that it should hold; null: not checked. */
  readonly keyFile: { readonly path: string; readonly verifierKey: string } | null;
  readonly signed: SignedNotes;
  /** The signed tree before the first entry that is read; empty: the whole ledger is read. */
  readonly since: Frontier;
  /** The last entry number of each source before it. */
  readonly sourceEnds: ReadonlyMap<string, number>;
  /** Seq of the last entry that is read. */
  readonly highest: number;
  /** Times stated by valid cosignatures and tokens, added by the check of witnesses. */
  readonly stated: StatedTime[];
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

/** One check of `ledger verify`. */
export interface Check {
  /** The statement that holds for a sound ledger. */
  readonly claim: string;
  /** The columns, tables and folders that it reads. */
  readonly reads: string;
  /** Begins a run. Checks that need no entries are made at once. */
  begin(run: Run): Checking;
}
