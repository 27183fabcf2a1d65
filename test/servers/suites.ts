/**
 * Which suites run on which engine (CONTRIBUTING.md). Every suite runs on SQLite. Suites in which the database matters,
 * and one path through every other part that queries it, also run on PostgreSQL; `npm run test:long` runs all on both.
 * A suite about one engine has it in its name, `x.sqlite.test.ts` or `x.postgres.test.ts`, and says why in its first
 * line. `x.long.test.ts` runs only in `npm run test:long`.
 */

/** Folders and suites that `npm test` runs on both engines. */
export const onBoth: readonly string[] = [
  'test/jobs',
  'test/people',
  'test/projections',
  'test/rejected/ring.test.ts',
  'test/store',
  'test/keys.test.ts',
  'test/attention/operator-warnings.test.ts',
  'test/cases/messages.test.ts',
  'test/cases/use-cases.test.ts',
  'test/cases/withdrawal.test.ts',
  'test/cli/doctor.test.ts',
  'test/cli/surface.test.ts',
  'test/commands/backup.test.ts',
  'test/commands/lost-tail.test.ts',
  'test/commands/export.test.ts',
  'test/commands/doctor-redis.test.ts',
  'test/commands/store-copy.test.ts',
  'test/commands/worker.test.ts',
  'test/consent/look-up.test.ts',
  'test/context/own-regimes.test.ts',
  'test/erasure/subject.test.ts',
  'test/http/approval.test.ts',
  'test/http/assignees.test.ts',
  'test/http/at-once.test.ts',
  'test/http/limits-at-once.test.ts',
  'test/http/pages/pages.test.ts',
  'test/http/readings.test.ts',
  'test/ledger/append.test.ts',
  'test/ledger/prove.test.ts',
  'test/ledger/refused-counts.test.ts',
  'test/ledger/seal-together.test.ts',
  'test/ledger/verify.test.ts',
  'test/policies/bulk.test.ts',
  'test/policies/limits.test.ts',
  'test/policies/publish-and-list.test.ts',
  'test/reports/agreement.test.ts',
  'test/reports/reconciliation.test.ts',
  'test/serve/position.test.ts',
  'test/policy-snapshots/after-a-change.test.ts',
  'test/sources/sources.test.ts',
  'test/sync/recount.test.ts',
  'test/sync/settle-repeats.test.ts',
  'test/sync/sync-source.test.ts',
];

/** Suites that take much longer than they compute, the longest first: they begin early (sequencer.ts). */
export const waiting: readonly string[] = [
  'test/http/pages/browser.sqlite.test.ts',
  'test/sync/worker.test.ts',
  'test/serve/stop-during-outage.postgres.test.ts',
  'test/serve/stop-during-outage.test.ts',
  'test/serve/start-and-stop.sqlite.test.ts',
  'test/tracing/traces.test.ts',
  'test/commands/worker.test.ts',
  'test/http/month.sqlite.test.ts',
  'test/jobs/runner.test.ts',
  'test/http/api-work.test.ts',
  'test/chaos/chaos.postgres.test.ts',
  'test/policies/publish-and-list.test.ts',
  'test/serve/rolling-restart.test.ts',
  'test/jobs/bullmq.test.ts',
  'test/http/public.test.ts',
];

export const onlySqlite = 'test/**/*.sqlite.test.ts';
export const onlyPostgres = 'test/**/*.postgres.test.ts';
export const onlyLong = 'test/**/*.long.test.ts';
const patterns = onBoth.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.test.ts`));

const everything = ['test/**/*.test.ts', 'test/**/*.test.tsx'];

/** The vitest projects; `postgres-all` is part of `npm run test:long`. */
export const projects = {
  sqlite: { include: everything, exclude: [onlyPostgres, onlyLong] },
  postgres: { include: [...patterns, onlyPostgres], exclude: [onlySqlite, onlyLong] },
  'postgres-all': { include: everything, exclude: [onlySqlite, onlyLong] },
};
