import { defineConfig } from 'vitest/config';
import { onlyLong } from './test/servers/suites.ts';

/** Suites that take minutes and the whole machine: `npm run test:long`, not part of `npm test`. One after the other. */
export default defineConfig({
  test: {
    env: { NO_COLOR: '1' },
    include: [onlyLong],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
