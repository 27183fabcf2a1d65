import type { OfficerAttention } from '../attention/officer-attention.ts';
import type { Refusal } from '../attention/operator-warnings.ts';
import type { Warning } from '../attention/warning.ts';
import type { CaseWriting } from '../cases/deps.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../core/clock.ts';
import type { ControllerProfile } from '../core/profile.ts';
import type { Source } from '../core/source.ts';
import type { DocumentDeps } from '../documents/deps.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Keys } from '../keys.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Sealing } from '../ledger/seal.ts';
import type { Verification } from '../ledger/verify.ts';
import type { Log } from '../log.ts';
import type { PolicyDeps } from '../policies/deps.ts';
import type { RebuildReport } from '../projections/rebuild.ts';
import type { Projector } from '../projections/run.ts';
import type { RejectedRing } from '../rejected/ring.ts';
import type { SnapshotDeps } from '../snapshots/deps.ts';
import type { WatchDeps } from '../snapshots/openapi-watch.ts';
import type { Sources } from '../sources/contract.ts';
import type { Store } from '../store/store.ts';
import type { SyncDeps } from '../sync/sync-source.ts';
import type { LazyDistribution } from './distribution.ts';

/** Everything that commands, listeners and jobs work with. Opened by src/context.ts, the only place that knows concrete parts. */
export interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Of this program. */
  readonly version: string;
  readonly store: Store;
  readonly keys: Keys;
  /** Random name of this installation, part of every checkpoint's origin. */
  readonly instance: string;
  readonly epoch: number;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly sources: Sources;
  readonly rejected: RejectedRing;
  readonly projector: Projector;
  readonly sync: SyncDeps;
  readonly jobs: Jobs;
  /** How other processes' workers are told of jobs; null without REDIS_URL. */
  readonly distribution: LazyDistribution | null;
  /** What driving the service needs: generate, bulk, publish, list. */
  readonly policies: PolicyDeps;
  /** What fetching the texts of policies, and watching the service's own description, needs. */
  readonly snapshots: SnapshotDeps & WatchDeps;
  readonly documents: DocumentDeps;
  readonly cases: CaseWriting;
  /** DATA_DIR/evidence: files that entries commit to by their SHA-256. */
  readonly evidenceFolder: string;
  /** Why appends are refused at the moment; null when they are not. */
  refusal(): Refusal | null;
  /** Seals what was appended so far; a refusal is kept for the warnings. */
  seal(): Promise<Sealing>;
  verify(onProgress?: (done: number, total: number) => void): Promise<Verification>;
  rebuild(onProgress?: (done: number, total: number) => void): Promise<RebuildReport>;
  /** A projector of the same rules over another store. */
  projectorOver(store: Store): Projector;
  /** The controller profile that goes with a source; null when none is configured. Throws UsageError when the file is not valid. */
  loadProfile(source: Source | null): Promise<ControllerProfile | null>;
  warnings(): Promise<Warning[]>;
  /** What needs the officer's attention, of one source or of all. Throws UsageError as loadProfile. */
  attention(source?: string): Promise<OfficerAttention>;
  /** Finishes what is under way and closes everything, in the reverse order of opening. */
  close(): Promise<void>;
}
