import { defineConfig } from 'vitest/config';
import { onlyLong, projects } from './test/servers/suites.ts';

/** Suites that take minutes and the whole machine, one after another; then all others on PostgreSQL, with many more runs of random tests: `npm run test:long`. */
export default defineConfig({
  test: {
    env: { NO_COLOR: '1', TEST_LONG: 'yes' },
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'long', include: [onlyLong], fileParallelism: false } },
      {
        extends: true,
        test: {
          name: 'postgres-all',
          ...projects['postgres-all'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          globalSetup: ['test/servers/global-setup.ts'],
        },
      },
    ],
  },
});
