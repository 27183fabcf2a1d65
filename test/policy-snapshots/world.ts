import { onTestFinished } from 'vitest';
import type { Context } from '../../src/context/context.ts';
import { type Source, sourceOptionsSchema } from '../../src/core/source.ts';
import { JobRefused, type Json } from '../../src/jobs/job.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { appendDelivery } from '../../src/ledger/append-delivery.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createSnapshotDeps } from '../../src/policy-snapshots/fetching.ts';
import { createSnapshotJobs, createSnapshotTriggers } from '../../src/policy-snapshots/snapshot-jobs.ts';
import { createProjector, type Projector, type ProjectorOptions } from '../../src/projections/run.ts';
import type { Policy } from '../../src/sandbox/policy-shelf.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Store } from '../../src/store/store.ts';
import { ON_LOOPBACK } from '../service/answering-server.ts';
import { temporaryLedger } from '../temporary.ts';

type Deps = Context['snapshots'];

export const START = '2026-07-20T12:00:00.000Z';
export const MINUTE = 60_000;

/** A sandbox and an installation that follows it, under one clock that only the test moves. */
export interface SnapshotWorld {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly projector: Projector;
  readonly projection: ProjectorOptions;
  readonly jobs: Jobs;
  readonly sandbox: Sandbox;
  readonly source: Source;
  readonly deps: Deps;
  /** A published policy of the source. */
  readonly policy: Policy;
  now(): Date;
  pass(milliseconds: number): void;
  /** Publishes a new version of the policy, and receives its delivery as the service sends it. */
  publish(deliver?: Record<string, unknown>): Promise<void>;
  /** Lets changes from deliveries request their fetches; resolves with their number. */
  trigger(): Promise<number>;
  /** Runs the due jobs; resolves with their results or errors, in order. */
  runDue(deps?: Deps): Promise<(Json | Error)[]>;
}

export async function createSnapshotWorld(changes: Partial<Source> = {}): Promise<SnapshotWorld> {
  let time = Date.parse(START);
  const clock = () => new Date(time);
  const { store, ledger } = await temporaryLedger();
  const sandbox = createSandbox({ seed: 7, clock, clients: 2, consentRows: 5 });
  const { baseUrl, siteUrl } = await sandbox.listen();
  onTestFinished(() => sandbox.close());
  const world = sandbox.worlds[0];
  const client = sandbox.clients[0];
  const policy = world?.shelf.list(clock())[0];
  if (world === undefined || client === undefined || policy === undefined) throw new Error('the sandbox is empty');
  const source: Source = {
    slug: 'default',
    name: 'default',
    baseUrl,
    siteUrl,
    apiKey: client.apiKey,
    siteKey: client.siteKey,
    webhookSecrets: [],
    options: sourceOptionsSchema.parse({}),
    ...changes,
  };
  const projection: ProjectorOptions = {
    store,
    optionsUpTo: async () => ({ of: () => source.options, rereadAt: 0 }),
  };
  const projector = createProjector(projection);
  onTestFinished(() => projector.close());
  const jobs = createJobs({ store, clock });
  const deps = createSnapshotDeps({ destinations: ON_LOOPBACK, store, ledger, jobs, clock, projector });
  const triggers = createSnapshotTriggers({ store, jobs, clock, isFollowed: (slug) => slug === source.slug });
  const handlersOf = (used: Deps) =>
    createSnapshotJobs({
      snapshots: used,
      sources: { list: () => [source], find: (slug: string) => (slug === source.slug ? source : null) },
    });

  return {
    store,
    ledger,
    projector,
    projection,
    jobs,
    sandbox,
    source,
    deps,
    policy,
    now: clock,
    pass: (milliseconds) => (time += milliseconds),
    async publish(deliver = {}) {
      const { version } = world.shelf.find(policy.id, clock()) ?? policy;
      world.shelf.apply(world.shelf.happening({ ...policy, version: version + 1 }, 'policy.updated', clock()));
      const answer = await fetch(`${baseUrl}/policies/${policy.id}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.apiKey}` },
      });
      if (answer.status !== 200) throw new Error(`publishing gave ${answer.status}`);
      const body = {
        event: 'policy.published',
        policy_id: policy.id,
        policy_type: policy.policyType,
        timestamp: clock().toISOString(),
        ...deliver,
      };
      const delivery = { source: source.slug, rawBody: Buffer.from(JSON.stringify(body)), headers: {}, secretId: 's' };
      await appendDelivery(ledger, { ...delivery, verdict: 'verified', contentType: null }, clock().toISOString());
      await projector.catchUp();
    },
    trigger: () => triggers.tick(),
    async runDue(used = deps) {
      const handlers = handlersOf(used);
      const results: (Json | Error)[] = [];
      for (;;) {
        const claim = await jobs.claim('test', Object.keys(handlers), 30_000);
        if (claim === null) break;
        const { job } = claim;
        const context = {
          job,
          signal: new AbortController().signal,
          progress: () => undefined,
          holds: async () => true,
          assertHeld: async () => undefined,
          completeIn: async () => undefined,
        };
        try {
          const result = (await handlers[job.kind]?.(job.payload, context)) ?? null;
          await jobs.complete(claim, result);
          results.push(result);
        } catch (error) {
          await jobs.fail(claim, String(error), !(error instanceof JobRefused));
          results.push(error as Error);
        }
      }
      await projector.catchUp();
      return results;
    },
  };
}

/** Rows of the history of fetches, in short. */
export async function looksOf(store: Store): Promise<
  {
    seq: number;
    target: string;
    phase: string;
    why: string;
    outcome: string;
    unchanged: number;
    bodySeq: number;
    text: string | null;
  }[]
> {
  const rows = await store.read.selectFrom('snapshot_history').selectAll().orderBy('seq').execute();
  return rows.map((row) => ({
    seq: row.seq,
    target: row.target,
    phase: row.phase,
    why: row.why,
    outcome: row.outcome,
    unchanged: row.unchanged,
    bodySeq: row.body_seq,
    text: row.text_sha256,
  }));
}

/** Everything in the ledger and the job table as text, to search for what must not be in it. */
export async function everythingStored(store: Store): Promise<{ meta: string; jobs: string; tables: string }> {
  const entries = await store.read.selectFrom('entries').select(['meta', 'kind']).execute();
  const jobs = await store.read.selectFrom('jobs').selectAll().execute();
  const tables = [
    await store.read.selectFrom('snapshot_history').selectAll().execute(),
    await store.read.selectFrom('policy_texts').selectAll().execute(),
    await store.read.selectFrom('policy_history').selectAll().execute(),
  ];
  return {
    meta: entries.map(({ meta }) => meta?.toString('utf8')).join('\n'),
    jobs: JSON.stringify(jobs),
    tables: JSON.stringify(tables),
  };
}
