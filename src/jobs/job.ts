import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../store/schema.ts';
import type { StoreTransaction } from '../store/store.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Progress {
  readonly done: number;
  /** Null: unknown. */
  readonly total: number | null;
  readonly message: string | null;
}

/** A job as stored in the table. Times are ISO 8601 UTC. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: Json;
  readonly state: Tables['jobs']['state'];
  readonly priority: number;
  readonly runAt: string;
  /** Attempts begun so far, including the current one. */
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

/** A job held by a worker until the lease expires. `token` is the fence: it changes with every claim. */
export interface Claim {
  readonly job: Job;
  readonly owner: string;
  readonly token: number;
}

export type JobRow = Selectable<Tables['jobs']>;

/** The columns of a released lease. */
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

/** Groups of job kinds that share workers: a slow service must not delay a document, and nothing may delay sealing. */
export const queueNames = ['sync', 'documents', 'service-calls', 'outgoing', 'maintenance', 'sealing'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * Jobs of a queue that one process runs at once. Pulls wait for the network and for commits, which they share;
 * documents compute, and two of them leave a core for deliveries.
 */
const queueConcurrency: Readonly<Record<QueueName, number>> = {
  sync: 32,
  documents: 2,
  'service-calls': 2,
  // A hanging mail server must not block anything else.
  outgoing: 2,
  maintenance: 1,
  sealing: 1,
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
  'address-notice': 'outgoing',
  'letter-mail': 'outgoing',
  'task-mail': 'outgoing',
  'reply-mail': 'outgoing',
  'request-form-mail': 'outgoing',
  export: 'documents',
  // Takes as much computing as a rebuild, and maintenance must not wait for it.
  'check-read-models': 'documents',
  // The same goes for a verification of the whole ledger and a backup.
  verify: 'documents',
  backup: 'documents',
  // Waits for other machines, and maintenance must not wait for it.
  witness: 'sync',
  // Rebuild the read models and rewrite the database.
  retention: 'documents',
  erase: 'documents',
  offboard: 'documents',
  reread: 'documents',
  notify: 'maintenance',
  digest: 'maintenance',
  'mail-checkpoint': 'maintenance',
  'notify-send': 'outgoing',
  'checkpoint-mail': 'outgoing',
  maintenance: 'maintenance',
  'settle-calls': 'maintenance',
  // Some other internal jobs wait until the read models have caught up, which takes minutes under load.
  seal: 'sealing',
};

/** The queue of a job kind. Kinds not listed in a queue call the service. */
export function queueOf(kind: string): QueueName {
  return queueOfKind[kind] ?? 'service-calls';
}

/** Kinds of jobs of one queue, and how many of their jobs run at once in this process. */
export interface Lane {
  readonly queue: string;
  readonly kinds: readonly string[];
  readonly concurrency: number;
}

/** Groups kinds into lanes, one per queue. `concurrency` replaces the default of each queue. */
export function lanesOf(kinds: readonly string[], concurrency?: number): Lane[] {
  return queueNames
    .map((queue) => ({
      queue,
      kinds: kinds.filter((kind) => queueOf(kind) === queue),
      concurrency: concurrency ?? queueConcurrency[queue],
    }))
    .filter((lane) => lane.kinds.length > 0);
}

/** The known kinds named by a list of kinds and queues. `unknown`: names that are neither. */
export function selectKinds(
  names: readonly string[],
  known: readonly string[],
): { readonly kinds: readonly string[]; readonly unknown: readonly string[] } {
  const isNamed = (kind: string) => names.includes(kind) || names.includes(queueOf(kind));
  const unknown = names.filter((name) => !known.includes(name) && !known.some((kind) => queueOf(kind) === name));
  return { kinds: known.filter(isNamed), unknown };
}

/** Why something else ended a running job. */
export type Ending = 'cancelled' | 'lost' | 'stopping' | 'overdue';

/** The reason in a job's abort signal: a handler may finish its current step, unless the process is about to end. */
export class JobEnded extends DOMException {
  readonly ending: Ending;
  constructor(ending: Ending) {
    super(`the job was ended: ${ending}`, 'AbortError');
    this.ending = ending;
  }
}

/** What a handler receives besides its payload. */
export interface JobContext {
  readonly job: Job;
  /**
   * Aborted with a {@link JobEnded} if the job was cancelled or taken over by another worker, exceeded its time, or the
   * process must end.
   */
  readonly signal: AbortSignal;
  /** Shown to people; written at most twice a second. */
  progress(progress: Progress): void;
  /**
   * Whether this worker may still act. A handler that writes to the database calls it first, inside its transaction:
   * that is how a worker that was paused past its lease learns that another has taken the job over.
   */
  holds(tx: StoreTransaction): Promise<boolean>;
  /** Throws if this worker may no longer act. Handlers that write files call it just before naming a file. */
  assertHeld(): Promise<void>;
  /**
   * Completes the job with this result in the transaction of its effect; throws, which undoes the effect, if another
   * worker has taken the job over. For effects that a repetition would cause twice.
   */
  completeIn(tx: StoreTransaction, result: Json): Promise<void>;
}

/**
 * Does one kind of job and returns its result. It may run again after a crash, so it must be idempotent. If it throws,
 * it is retried with back-off, except for {@link JobRefused}.
 */
export type JobHandler = (payload: Json, context: JobContext) => Promise<Json>;

export type JobHandlers = Readonly<Record<string, JobHandler>>;

/** Fails a job at once because no retry can help (its payload makes no sense, its case is gone). */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/** Parses the payload with a schema. Throws JobRefused if it is invalid. */
export function readPayload<T extends z.ZodType>(schema: T, payload: Json): z.infer<T> {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) throw new JobRefused(`The job's payload is not valid: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** A text from a job's payload; null if it is missing. */
export function payloadText(job: Job, name: string): string | null {
  const { payload } = job;
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return null;
  const value = (payload as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : null;
}

/** The part of a pino logger that the runner uses. */
export interface JobLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
