import type { CaseReading } from '../cases/view.ts';
import type { Clock } from '../core/clock.ts';
import type { EntryKind } from '../core/vocabulary.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { Store } from '../store/store.ts';

/** What erasing needs. */
export interface ErasureDeps extends Pick<CaseReading, 'recipeOf'> {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly instance: string;
  readonly epoch: number;
  readonly documentsFolder: string;
  readonly evidenceFolder: string;
  /** How long scheduled backups are kept; null: this process knows of none. */
  readonly backupKeep: {
    readonly daily: number;
    readonly weekly: number;
    readonly monthly: number;
    /** Days for which a bucket locks each backup; absent: not locked. */
    readonly lockedDays?: number;
  } | null;
  readonly projector: { catchUp(): Promise<number> };
  /** Folds every entry again and repairs the read models. */
  readonly rebuild: () => Promise<unknown>;
  readonly rejected: Pick<RejectedRing, 'list' | 'read' | 'remove'>;
}

/** An entry to erase. */
export interface PlannedEntry {
  readonly seq: number;
  readonly source: string;
  readonly kind: EntryKind;
  /** The event or action; null: unknown. */
  readonly what: string | null;
  readonly receivedAt: string;
}

/** The properties of a decision to be erased that documents and holds refer to. */
export interface PlannedDecision {
  readonly seq: number;
  readonly source: string;
  readonly subject: string | null;
  readonly via: string;
  readonly at: string;
  readonly commitment: string;
}

/** Something that still needs the entries. To erase them anyway, it must be named (`--despite`). */
export interface Need {
  readonly name: string;
  readonly why: string;
  readonly seqs: readonly number[];
}
