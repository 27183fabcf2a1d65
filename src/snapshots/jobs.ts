import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type JobHandlers, type JobLog, JobRefused, readPayload } from '../jobs/handler.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Sources } from '../sources/sources.ts';
import type { Store } from '../store/store.ts';
import type { SnapshotDeps } from './fetching.ts';
import { createHostedUrls } from './hosted-url.ts';
import { sourcesToWatch, watchDescription } from './openapi-watch.ts';
import { SNAPSHOT_JOB } from './request.ts';
import { requestRoutineSnapshots } from './routine.ts';
import { takeSnapshots } from './take.ts';
import { createSnapshotTriggers } from './triggers.ts';

const snapshotPayload = z.object({
  source: z.string(),
  policyId: z.string().nullable(),
  policyType: z.string().nullable(),
  why: z.enum(['webhook', 'publish', 'schedule', 'command']),
  changedAt: z.string().nullable(),
  hostedOnly: z.boolean().optional(),
});

/** Jobs that fetch the texts of policies. */
export function createSnapshotJobs(context: {
  readonly snapshots: SnapshotDeps;
  readonly sources: Pick<Sources, 'find' | 'list'>;
}): JobHandlers {
  const urls = createHostedUrls(context.snapshots);
  return {
    async [SNAPSHOT_JOB](payload, { job, signal }) {
      const { source: slug, ...wish } = readPayload(snapshotPayload, payload);
      const source = context.sources.find(slug);
      if (source === null) throw new JobRefused(`There is no source ${slug}.`);
      const taking = await takeSnapshots(context.snapshots, urls, { ...wish, source, fetchId: job.id, signal });
      if (taking.outcome === 'not-configured') return { outcome: taking.outcome, reason: taking.reason };
      const refused = taking.looks.flatMap((look) => (look.outcome === 'refused' ? [look] : []));
      const sentence = refused.map((look) => look.sentence).join(' ');
      if (refused.some(({ transient }) => transient)) throw new Error(sentence);
      if (refused.length > 0) throw new JobRefused(sentence);
      return { outcome: 'looked', entries: taking.looks.flatMap((look) => ('seq' in look ? [look.seq] : [])) };
    },

    /** The schedule's turn: every known policy of every source. */
    async 'snapshot-all'(_payload, { signal }) {
      return { asked: await requestRoutineSnapshots(context.snapshots, context.sources.list(), signal) };
    },

    /** Looks at the service's own description, as one source's key sees it. */
    async 'openapi-watch'(payload, { job, signal }) {
      const parsed = z.object({ source: z.string() }).safeParse(payload);
      const source = parsed.success ? context.sources.find(parsed.data.source) : null;
      if (source === null) throw new JobRefused('There is no such source.');
      const watched = await watchDescription(context.snapshots, source, job.id, signal);
      if (watched.outcome === 'refused' && watched.transient) throw new Error(watched.sentence);
      return 'gone' in watched
        ? { outcome: watched.outcome, gone: watched.gone }
        : { outcome: watched.outcome, sentence: watched.sentence };
    },

    /** The schedule's turn: one job for each address of the service. */
    async 'openapi-watch-all'() {
      const sources = sourcesToWatch(context.sources.list());
      for (const { slug } of sources) {
        const job = { kind: 'openapi-watch', key: slug, payload: { source: slug }, maxAttempts: 3 };
        await context.snapshots.jobs.enqueue(job);
      }
      return { sources: sources.length };
    },
  };
}

/** How often changes of policies are looked for, milliseconds. */
const LOOK_MS = 2000;

/** Looks for changes that deliveries told of, until stopped; any number of processes may. */
export function startSnapshotTriggers(context: {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly sources: Pick<Sources, 'find'>;
  readonly log: JobLog;
}): { stop(): Promise<void> } {
  const triggers = createSnapshotTriggers({
    ...context,
    isFollowed: (slug) => (context.sources.find(slug)?.siteUrl ?? null) !== null,
  });
  let looking: Promise<unknown> | null = null;
  let failing = false;
  const timer = setInterval(() => {
    looking ??= triggers
      .tick()
      .then(() => {
        failing = false;
      })
      .catch((error: unknown) => {
        // Said once per outage; the next look tries again.
        if (!failing) context.log.warn({ err: error }, 'changes of policies cannot be looked for at the moment');
        failing = true;
      })
      .finally(() => {
        looking = null;
      });
  }, LOOK_MS);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
