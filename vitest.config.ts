import { defineConfig } from 'vitest/config';
import { everything, onBoth, onlyLong, onlyPostgres, onlySqlite } from './test/servers/suites.ts';

export default defineConfig({
  test: {
    // Texts are compared without colour, also where CI asks for it.
    env: { NO_COLOR: '1' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    // Each test owns its world. A process for each of the 240 suites would do no more than load the program once more, which is
    // most of a second of work.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'sqlite', include: [...everything], exclude: [onlyPostgres, onlyLong] } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...onBoth, onlyPostgres],
          exclude: [onlySqlite, onlyLong],
          globalSetup: ['test/servers/global-setup.ts'],
        },
      },
    ],
  },
});
