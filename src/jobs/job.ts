import type { Selectable } from 'kysely';
import type { Tables } from '../store/schema.ts';

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
