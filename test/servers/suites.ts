/**
 * Which suites run on which engine (CONTRIBUTING.md). Every suite runs in the project `sqlite`; those that open a store or an
 * installation run in the project `postgres` as well. A suite about one engine says so in its name and why in its first line.
 */
export const onlySqlite: readonly string[] = ['test/**/*.sqlite.test.ts'];
export const onlyPostgres: readonly string[] = ['test/**/*.postgres.test.ts'];

/** Suites that touch a store or an installation. test/servers/suites.test.ts finds those that are missing here. */
export const onBoth: readonly string[] = [
  'attention',
  'cases',
  'cli',
  'commands',
  'dashboard',
  'demo',
  'http',
  'jobs',
  'ledger',
  'projections',
  'rejected',
  'reports',
  'serve',
  'snapshots',
  'sources',
  'store',
  'sync',
]
  .map((folder) => `test/${folder}/**/*.test.ts`)
  .concat('test/keys.test.ts');
