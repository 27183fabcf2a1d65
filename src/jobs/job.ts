import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../store/schema.ts';
import type { StoreTransaction } from '../store/store.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Progress {
  readonly done: number;
  /** Null: not known. */
  readonly total: number | null;
  readonly message: string | null;
}

/** A job as the table holds it. Times are ISO 8601 UTC. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: Json;
  readonly state: Tables['jobs']['state'];
  readonly priority: number;
  readonly runAt: string;
  /** Attempts begun so far, the present one among them. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  readonly progress: Progress | null;
  readonly result: Json;
  /** Why the last attempt failed. */
  readonly error: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly finishedAt: string | null;
}

/** A job that a worker holds until the lease runs out. `token` is the fence: it changes with every claim. */
export interface Claim {
  readonly job: Job;
  readonly owner: string;
  readonly token: number;
}

export type JobRow = Selectable<Tables['jobs']>;

/** The columns of a lease, given up. */
export const noLease = { lease_owner: null, lease_until: null } as const;

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    key: row.job_key,
    payload: JSON.parse(row.payload) as Json,
    state: row.state,
    priority: row.priority,
    runAt: row.run_at,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    cancelRequested: row.cancel_requested === 1,
    progress: row.progress === null ? null : (JSON.parse(row.progress) as Progress),
    result: row.result === null ? null : (JSON.parse(row.result) as Json),
    error: row.error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
  };
}

/** A group of kinds of jobs that share workers: a long document must not keep sealing waiting, nor a slow service a document. */
export const queueNames = ['sync', 'documents', 'service-calls', 'outgoing', 'maintenance'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * Jobs of a queue that one process runs at once. Pulling and calling wait for the network; documents compute, and two of
 * them leave a core to the deliveries.
 */
const queueConcurrency: Readonly<Record<QueueName, number>> = {
  sync: 12,
  documents: 2,
  'service-calls': 2,
  // A mail server that hangs must keep nothing else.
  outgoing: 2,
  maintenance: 1,
};

const queueOfKind: Readonly<Record<string, QueueName>> = {
  sync: 'sync',
  'sync-all': 'maintenance',
  recount: 'sync',
  'recount-all': 'maintenance',
  snapshot: 'sync',
  'snapshot-all': 'maintenance',
  'openapi-watch': 'sync',
  'openapi-watch-all': 'maintenance',
  document: 'documents',
  'scheduled-document': 'maintenance',
  'document-mail': 'outgoing',
  'letter-mail': 'outgoing',
  'task-mail': 'outgoing',
  'request-form-mail': 'outgoing',
  export: 'documents',
  // It computes for as long as a rebuild, and sealing must not wait for it.
  'check-read-models': 'documents',
  // The same is true of a verification of the whole ledger, and of a backup.
  verify: 'documents',
  backup: 'documents',
  // It waits for others, and sealing must not wait for it.
  witness: 'sync',
  // They rebuild and rewrite the database.
  retention: 'documents',
  erase: 'documents',
  offboard: 'documents',
  notify: 'maintenance',
  digest: 'maintenance',
  'mail-checkpoint': 'maintenance',
  'notify-send': 'outgoing',
  'checkpoint-mail': 'outgoing',
  seal: 'maintenance',
  maintenance: 'maintenance',
  'settle-calls': 'maintenance',
};

/** The queue of a kind of jobs. A kind listed in no queue calls the service; the others do not. */
export function queueOf(kind: string): QueueName {
  return queueOfKind[kind] ?? 'service-calls';
}

/** Some kinds of one queue, and how many of their jobs run at once in this process. */
export interface Lane {
  readonly queue: string;
  readonly kinds: readonly string[];
  readonly concurrency: number;
}

/** The kinds, put into their queues. `concurrency` replaces the usual number of each queue. */
export function lanesOf(kinds: readonly string[], concurrency?: number): Lane[] {
  return queueNames
    .map((queue) => ({
      queue,
      kinds: kinds.filter((kind) => queueOf(kind) === queue),
      concurrency: concurrency ?? queueConcurrency[queue],
    }))
    .filter((lane) => lane.kinds.length > 0);
}

/** The kinds that a list of kinds and queues names, of those that are known. `unknown`: what is neither. */
export function selectKinds(
  names: readonly string[],
  known: readonly string[],
): { readonly kinds: readonly string[]; readonly unknown: readonly string[] } {
  const isNamed = (kind: string) => names.includes(kind) || names.includes(queueOf(kind));
  const unknown = names.filter((name) => !known.includes(name) && !known.some((kind) => queueOf(kind) === name));
  return { kinds: known.filter(isNamed), unknown };
}

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
