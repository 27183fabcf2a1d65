import { defineConfig } from 'vitest/config';
import { quickFolder } from './test/servers/own-process.ts';
import { WaitingEarly } from './test/servers/sequencer.ts';
import { projects } from './test/servers/suites.ts';

export default defineConfig({
  test: {
    // Texts are compared without colour, even where CI forces it. Commits are synced, as in production: with a disk, that would be most of the wait.
    env: { NO_COLOR: '1', TMPDIR: quickFolder() },
    // Only to catch a test that never ends: a busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    pool: 'forks',
    // Two more than cores: a suite spends about a third of its time waiting for starts, stops, outages and other processes.
    maxWorkers: 4,
    // Most code runs a few times in a suite. At V8's default budget (an eighth of this), optimising it costs more than it saves.
    // Later versions of Node refuse the option.
    // Each worker collects garbage on its own thread, with a larger space for new objects: four workers already occupy all cores,
    // so helper threads would only wait for each other.
    execArgv: [
      ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1056768'] : []),
      '--single-threaded-gc',
      '--min-semi-space-size=32',
      '--max-semi-space-size=32',
    ],
    // Each test owns its world. A process per suite would only load the program again, which takes
    // most of a second.
    isolate: false,
    sequence: { sequencer: WaitingEarly },
    // What one project transformed, the other and the next run read from node_modules/.experimental-vitest-cache.
    experimental: { fsModuleCache: true },
    projects: [
      { extends: true, test: { name: 'sqlite', ...projects.sqlite } },
      {
        extends: true,
        test: { name: 'postgres', ...projects.postgres, globalSetup: ['test/servers/global-setup.ts'] },
      },
    ],
  },
});
