import type { createMetrics } from '../../src/http/metrics.ts';

/** The sources of metrics in an installation where nothing has happened yet. `wakeUps`: with Redis. */
export function quietSources({ wakeUps = false } = {}): Parameters<typeof createMetrics>[0] {
  return {
    slugs: () => [],
    labelOf: (slug) => slug,
    ledgerSeq: async () => 0,
    projectedSeq: () => 0,
    sealedSeq: async () => 0,
    witnessedSeq: async () => new Map(),
    witnessedAt: async () => new Map(),
    warnings: async () => [],
    due: async () => new Map(),
    lastTimes: async () => ({ delivered: new Map(), synced: new Map(), sealed: null, unsealed: null }),
    verification: async () => null,
    build: { version: '1', node: '20', database: 'sqlite' },
    clock: () => new Date('2026-03-01T12:00:00Z'),
    onError: (error) => {
      throw error;
    },
    queues: async () => [],
    wakeUps: wakeUps ? async () => ({ up: true, wakeUpsSent: 0, wakeUpsFailed: 0 }) : null,
    databaseBytes: async () => 0,
  };
}
