import { z } from 'zod';
import type { JobHandler } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import type { Context } from './context.ts';

/** Maximum number of faults whose sentences are kept in the result. */
const FAULTS_KEPT = 20;

const resultSchema = z.object({
  /** When it began, ISO 8601 UTC; the same as in the noted verification (ledger/verify/last-verification.ts). */
  at: z.string(),
  entries: z.number(),
  sources: z.number(),
  checkpoints: z.number(),
  /** Entries after the last checkpoint. */
  unsealed: z.number(),
  root: z.string(),
  faultCount: z.number(),
  faults: z.array(z.object({ seq: z.number().nullable(), sentence: z.string() })),
  /** What could not be checked, in sentences. */
  unchecked: z.array(z.string()),
});

/** The result of a verification job. */
export type VerificationResult = z.infer<typeof resultSchema>;

/** A job that verifies the whole ledger. Enqueuing it again while one is pending or running gives the same job. */
export function verifyJob(actor: string): NewJob {
  return { kind: 'verify', key: 'verify', payload: { actor }, maxAttempts: 2 };
}

/** The result of a verification job; null if it has none. */
export function verificationOf(result: unknown): VerificationResult | null {
  return resultSchema.safeParse(result).data ?? null;
}

/**
 * `verify`: verifies every entry, checkpoint and file, like `ledger verify`. `check-read-models`: compares the read models
 * with the ledger.
 */
export function createVerifyJobs({
  verify,
  lastVerification,
  readModels,
}: Pick<Context, 'verify' | 'lastVerification' | 'readModels'>) {
  return {
    async 'check-read-models'(_payload, { signal, progress }) {
      const { seq, position, counts, indexes } = await readModels.check((done, total) => {
        signal.throwIfAborted();
        progress({ done, total, message: null });
      });
      return { seq, position, counts, indexes };
    },

    async verify(_payload, { signal, progress }) {
      const found = await verify((done, total) => {
        signal.throwIfAborted();
        progress({ done, total, message: null });
      });
      const { entries, sources, checkpoints, unsealed, root, faults, moreFaults, unchecked } = found;
      return {
        at: (await lastVerification())?.at ?? '',
        ...{ entries, sources, checkpoints, unsealed, root },
        faultCount: faults.length + moreFaults,
        faults: faults.slice(0, FAULTS_KEPT).map(({ seq, sentence }) => ({ seq, sentence })),
        unchecked: [...unchecked],
      } satisfies VerificationResult;
    },
  } satisfies Record<string, JobHandler>;
}
