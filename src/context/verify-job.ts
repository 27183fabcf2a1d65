import type { Context } from '../context.ts';
import type { JobHandler } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import { z } from 'zod';

/** Faults whose sentences a job keeps. */
const FAULTS_KEPT = 20;

const resultSchema = z.object({
  /** When it began, ISO 8601 UTC: that of the verification which is noted (ledger/verify/last-verification.ts). */
  at: z.string(),
  entries: z.number(),
  sources: z.number(),
  checkpoints: z.number(),
  /** Entries after the last checkpoint. */
  unsealed: z.number(),
  root: z.string(),
  faultCount: z.number(),
  faults: z.array(z.object({ seq: z.number().nullable(), sentence: z.string() })),
  /** What could not be looked at, in sentences. */
  unchecked: z.array(z.string()),
});

/** What a verification by a job came to. */
export type VerificationResult = z.infer<typeof resultSchema>;

/** Asks for a verification of the whole ledger. While one is under way, asking again gives the same job. */
export function verifyJob(actor: string): NewJob {
  return { kind: 'verify', key: 'verify', payload: { actor }, maxAttempts: 2 };
}

/** The result of a job that verified; null of one that has none. */
export function verificationOf(result: unknown): VerificationResult | null {
  return resultSchema.safeParse(result).data ?? null;
}

/** The job that verifies every entry, checkpoint and file, as `ledger verify` does. */
export function createVerifyJobs({ verify, lastVerification }: Pick<Context, 'verify' | 'lastVerification'>) {
  return {
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
