import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { unknownSource } from '../core/errors.ts';
import { type JobHandlers, type JobLog, JobRefused, readPayload } from '../jobs/job.ts';
import type { Jobs, WakeUp } from '../jobs/jobs.ts';
import type { Sources } from '../sources/sources.ts';
import type { Query, Store } from '../store/store.ts';
import type { SnapshotDeps } from './fetching.ts';
import { sourcesToWatch, watchDescription } from './openapi-watch.ts';
import { requestRoutineSnapshots, requestSnapshotsIn, SNAPSHOT_JOB, type SnapshotWish } from './request.ts';
import { createHostedUrls, takeSnapshots } from './take.ts';

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
      if (source === null) throw new JobRefused(unknownSource(slug));
      const taking = await takeSnapshots(context.snapshots, urls, { ...wish, source, fetchId: job.id, signal });
      if (taking.outcome === 'not-configured') return { outcome: taking.outcome, reason: taking.reason };
      const refused = taking.looks.flatMap((look) => (look.outcome === 'refused' ? [look] : []));
      const sentence = refused.map((look) => look.sentence).join(' ');
      if (refused.some(({ transient }) => transient)) throw new Error(sentence);
      if (refused.length > 0) throw new JobRefused(sentence);
      return { outcome: 'looked', entries: taking.looks.flatMap((look) => ('seq' in look ? [look.seq] : [])) };
    },

    /** Scheduled: every known policy of every source. */
    async 'snapshot-all'(_payload, { signal }) {
      return { asked: await requestRoutineSnapshots(context.snapshots, context.sources.list(), signal) };
    },

    /** Fetches the service's description with one source's key. */
    async 'openapi-watch'(payload, { job, signal }) {
      const parsed = z.object({ source: z.string() }).safeParse(payload);
      const source = parsed.success ? context.sources.find(parsed.data.source) : null;
      if (source === null) throw new JobRefused('Unknown source.');
      const watched = await watchDescription(context.snapshots, source, job.id, signal);
      if (watched.outcome === 'refused' && watched.transient) throw new Error(watched.sentence);
      return 'gone' in watched
        ? { outcome: watched.outcome, gone: watched.gone }
        : { outcome: watched.outcome, sentence: watched.sentence };
    },

    /** Scheduled: one job for each address of the service. */
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

/** How often to look for changes of policies, milliseconds. */
const LOOK_MS = 2000;

/** Watches for changes reported by deliveries until stopped; any number of processes may do so. */
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
        // Logged once per outage; the next poll tries again.
        if (!failing) context.log.warn({ err: error }, 'cannot look for changed policies at the moment');
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

interface SnapshotTriggersOptions {
  readonly store: Pick<Store, 'read' | 'transaction'>;
  readonly jobs: Jobs;
  readonly clock: Clock;
  /** Whether texts of this source can be fetched at all. */
  isFollowed(source: string): boolean;
}

/** A page of changes after a position; null if there are none. */
interface Changes {
  readonly to: number;
  readonly wishes: readonly SnapshotWish[];
}

const PAGE = 200;
/** Older changes (in a ledger that is older than this reader) request nothing, because the schedule runs every day. */
const WORTHWHILE_MS = 24 * 3_600_000;

const readers: readonly { readonly position: string; load(read: Query, after: number): Promise<Changes | null> }[] = [
  { position: 'snapshot-triggers', load: loadToldChanges },
  { position: 'snapshot-triggers:publish', load: loadPublished },
];

/**
 * Turns changes of policies, reported by deliveries or made from here, into fetches of their text. Each reader of projected
 * changes has its own position. Position and jobs commit together, and the position moves
 * by compare-and-set: after a crash nothing is lost and nothing is requested twice, however many processes read.
 */
export function createSnapshotTriggers(options: SnapshotTriggersOptions) {
  const { store, jobs, clock } = options;

  async function advance({ position, load }: (typeof readers)[number]): Promise<number> {
    const row = await store.read.selectFrom('positions').select('seq').where('name', '=', position).executeTakeFirst();
    const from = row?.seq ?? 0;
    const changes = await load(store.read, from);
    if (changes === null) return 0;
    const since = new Date(clock().getTime() - WORTHWHILE_MS).toISOString();
    const wanted = changes.wishes.filter(({ changedAt, source }) => changedAt >= since && options.isFollowed(source));
    const wakeUps: WakeUp[] = [];
    const moved = await store.transaction(async (tx) => {
      await tx.insertMany('positions', [{ name: position, seq: 0 }], 'keep');
      const { numUpdatedRows } = await tx.query
        .updateTable('positions')
        .set({ seq: changes.to })
        .where('name', '=', position)
        .where('seq', '=', from)
        .executeTakeFirstOrThrow();
      if (numUpdatedRows !== 1n) return false;
      for (const wish of wanted) wakeUps.push(...(await requestSnapshotsIn(tx, jobs, wish)));
      return true;
    });
    if (!moved) return 0;
    jobs.wake(wakeUps);
    return wanted.length;
  }

  return {
    async tick() {
      let asked = 0;
      for (const reader of readers) asked += await advance(reader);
      return asked;
    },
  };
}

/** Changes reported by deliveries. A policy that was only generated has no public text yet. */
async function loadToldChanges(read: Query, after: number): Promise<Changes | null> {
  const rows = await read
    .selectFrom('policy_history')
    .select(['seq', 'source', 'policy_id', 'policy_type', 'change', 'received_at'])
    // Whole entries, which may hold several changes.
    .where('seq', 'in', (page) =>
      page.selectFrom('policy_history').select('seq').where('seq', '>', after).orderBy('seq').limit(PAGE),
    )
    .orderBy('seq')
    .orderBy('part')
    .execute();
  const last = rows.at(-1);
  if (last === undefined) return null;
  const wishes = rows
    .filter(({ change }) => change !== 'created')
    .map((row): SnapshotWish => {
      const { source, policy_id: policyId, policy_type: policyType, received_at: changedAt } = row;
      return { source, policyId, policyType, why: 'webhook', changedAt };
    });
  return { to: last.seq, wishes };
}

/** States of a publish that is in progress, or certainly changed nothing. */
const unchanged: ReadonlySet<string> = new Set(['sent', 'refused', 'not-happened']);

/** Policies that were or may have been published from here; an unknown outcome is worth a fetch too. */
async function loadPublished(read: Query, after: number): Promise<Changes | null> {
  const rows = await read
    .selectFrom('calls')
    .select(['last_seq', 'source', 'policy_id', 'policy_type', 'state', 'asked_at', 'finished_at'])
    .where('operation', '=', 'publish')
    .where('last_seq', '>', after)
    .orderBy('last_seq')
    .limit(PAGE)
    .execute();
  const last = rows.at(-1);
  if (last === undefined) return null;
  const wishes = rows
    .filter(({ state, policy_id: policyId }) => policyId !== null && !unchanged.has(state))
    .map((row): SnapshotWish => {
      const { source, policy_id: policyId, policy_type: policyType } = row;
      return { source, policyId, policyType, why: 'publish', changedAt: row.finished_at ?? row.asked_at };
    });
  return { to: last.last_seq, wishes };
}
