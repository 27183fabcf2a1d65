import { z } from 'zod';
import { changePhrase, isInverting, readingChanges } from '../core/reading-change.ts';
import { type JobHandler, readPayload } from '../jobs/job.ts';
import type { NewJob } from '../jobs/jobs.ts';
import type { SourceReadings } from '../projections/reading-changes.ts';
import type { Context } from './context.ts';

const changesSchema = z.array(z.object({ change: z.enum(readingChanges), count: z.number() }));

const recordSchema = z.object({
  seq: z.number(),
  part: z.number(),
  source: z.string(),
  receivedAt: z.string(),
  changes: z.array(z.enum(readingChanges)),
  before: z.string(),
  after: z.string(),
});

const resultSchema = z.object({
  /** The versions of reading that were compared. */
  before: z.number(),
  now: z.number(),
  /** By source. */
  sources: z.array(z.object({ source: z.string(), changes: changesSchema })),
  /** Records that are read differently, and the first of them: those whose statement is inverted or lost come first. */
  total: z.number(),
  records: z.array(recordSchema),
  /** The reading is in force: nothing is read differently, or somebody decided so. */
  isAdopted: z.boolean(),
});

/** What this version of the program reads differently. */
export type ReadingsResult = z.infer<typeof resultSchema>;

/** Records whose readings are listed in the result of a job; `ledger readings` lists all. */
const RECORDS_KEPT = 1000;

/** A job that lists what this version reads differently; if that is nothing, it puts the reading in force. */
export function compareReadingsJob(): NewJob {
  return { kind: 'compare-readings', key: 'readings', payload: {}, priority: 1, maxAttempts: 3 };
}

/** A job that puts this version's reading in force ({@link Context.readings}). */
export function adoptReadingJob(actor: string): NewJob {
  return { kind: 'adopt-reading', key: 'readings', payload: { actor }, priority: 1, maxAttempts: 3 };
}

/** The result of such a job; null if it has none. */
export function readingsOf(result: unknown): ReadingsResult | null {
  return resultSchema.safeParse(result).data ?? null;
}

const adoptSchema = z.object({ actor: z.string() });

export function createReadingsJobs({ readings, projector, log }: Pick<Context, 'readings' | 'projector' | 'log'>) {
  return {
    async 'compare-readings'(_payload, { signal, progress }) {
      await projector.catchUp();
      const waiting = await readings.pending();
      if (waiting === null) return null;
      const worst: ReadingsResult['records'] = [];
      const others: ReadingsResult['records'] = [];
      let total = 0;
      const sources = await readings.compare({
        signal,
        onProgress: (done, all) => progress({ done, total: all, message: 'entries compared' }),
        onRecord: (record) => {
          total += 1;
          const records = record.changes.some(isInverting) ? worst : others;
          if (records.length < RECORDS_KEPT) records.push({ ...record, changes: [...record.changes] });
        },
      });
      const isAdopted = total === 0;
      if (isAdopted) await readings.adopt('consent-ledger', { signal });
      else
        log.warn(
          { sources: sources.map(({ source, changes }) => `${source}: ${phrasesOf(changes)}`) },
          'this version reads earlier records differently: look at the list and put the new reading in force (`consent-ledger ledger readings`)',
        );
      const records = [...worst, ...others].slice(0, RECORDS_KEPT);
      const found = sources.map(({ source, changes }) => ({ source, changes: [...changes] }));
      return { ...waiting, sources: found, total, records, isAdopted } satisfies ReadingsResult;
    },

    async 'adopt-reading'(payload, { signal, progress }) {
      const { actor } = readPayload(adoptSchema, payload);
      await projector.catchUp();
      const adopted = await readings.adopt(actor, {
        signal,
        onProgress: (done, total) => progress({ done, total, message: 'entries read again' }),
      });
      return { sources: adopted?.sources.map(({ source, changes }) => ({ source, changes: [...changes] })) ?? [] };
    },
  } satisfies Record<string, JobHandler>;
}

/** `21 refusals would become consent, 3 times would change`. */
export function phrasesOf(changes: SourceReadings['changes']): string {
  return changes.map(({ change, count }) => changePhrase(change, count)).join(', ');
}
