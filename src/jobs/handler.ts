import { z } from 'zod';
import type { StoreTransaction } from '../store/store.ts';
import type { Job, Json, Progress } from './job.ts';

/** Why a running job was ended from outside. */
export type Ending = 'cancelled' | 'lost' | 'stopping' | 'overdue';

/** Reason of a job's signal: a handler may bring to its end what is under way, unless the process is about to end. */
export class JobEnded extends DOMException {
  readonly ending: Ending;
  constructor(ending: Ending) {
    super(`the job was ended: ${ending}`, 'AbortError');
    this.ending = ending;
  }
}

/** What a handler is given beside its payload. */
export interface JobContext {
  readonly job: Job;
  /** Aborted, with a {@link JobEnded}, when the job was cancelled, when another worker took it over, when its time is over, or when the process must end. */
  readonly signal: AbortSignal;
  /** Shown to people; written at most twice a second. */
  progress(progress: Progress): void;
  /**
   * Whether this worker may still act, asked inside the transaction it is about to act in. A handler that writes the database asks
   * this first: a worker that was paused past its lease finds that someone else does the job.
   */
  holds(tx: StoreTransaction): Promise<boolean>;
  /** Throws when this worker may not act any more; for a handler that writes files, just before a file gets its name. */
  assertHeld(): Promise<void>;
  /**
   * Completes the job in the transaction of its effect, with this result; throws (and so undoes the effect) when another worker has taken the
   * job over. For effects that a repetition would do once more.
   */
  completeIn(tx: StoreTransaction, result: Json): Promise<void>;
}

/**
 * Does one kind of job and returns its result. It may run again after a crash, so it must be harmless to repeat.
 * What it throws is retried with back-off, but for {@link JobRefused}.
 */
export type JobHandler = (payload: Json, context: JobContext) => Promise<Json>;

export type JobHandlers = Readonly<Record<string, JobHandler>>;

/** A job that no repetition will mend (its payload makes no sense, its case is gone): failed at once. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/** The payload as its schema says. Throws JobRefused when it is not valid. */
export function readPayload<T extends z.ZodType>(schema: T, payload: Json): z.infer<T> {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) throw new JobRefused(`The job's payload is not valid: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** The part of a pino logger that the runner uses. */
export interface JobLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
