import { describe, expect, it, onTestFinished } from 'vitest';
import { type DialectName, dialectNames } from '../../src/sandbox/dialects.ts';
import type { FaultInput } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { createServiceClient } from '../../src/service/client.ts';
import { pullConsentLogs } from '../../src/sync/pull.ts';
import { sourceAt, syncingWith } from './syncing.ts';

const now = new Date('2026-07-10T00:00:00.000Z');

async function world(dialect: DialectName, faults: readonly FaultInput[] = []) {
  const { sandbox, baseUrl } = await startSandbox({
    seed: 7,
    clock: () => now,
    clients: 1,
    consentRows: 130,
    dialect,
    faults,
  });
  onTestFinished(() => sandbox.close());
  const [{ client, log } = expect.fail('the sandbox has no client')] = sandbox.worlds;
  const syncing = await syncingWith(baseUrl, now);
  const service = createServiceClient({ baseUrl, apiKey: client.apiKey, backOffMs: 1, retries: 3, timeoutMs: 300 });
  const pull = () =>
    pullConsentLogs(
      { ...syncing.deps, service },
      { source: sourceAt(baseUrl), bannerId: '', pageRows: 5, actor: 'test' },
    );
  const page = {
    bannerId: null,
    from: null,
    to: null,
    limit: 1000,
    position: null,
    now: now.getTime(),
    order: 'oldest-first',
  } as const;
  const rows = () => log.page(page).rows.map((row) => JSON.stringify(sandbox.dialect.row(row)));
  return { sandbox, syncing, pull, rows };
}

describe('pulling from the sandbox', () => {
  it.each(dialectNames)('stores exactly its rows, each once, in the dialect %s', async (dialect) => {
    const { pull, rows, syncing } = await world(dialect);
    const result = await pull();
    expect(result).toMatchObject({ outcome: 'finished', rows: 130, stored: 130, malformed: 0 });
    expect((await syncing.bodies()).sort()).toEqual(rows().sort());
    expect(await pull()).toMatchObject({ outcome: 'finished', stored: 0 });
  });

  it.each<FaultInput>([
    { name: 'latency', ms: 20 },
    { name: 'time-out', times: 2, after: 2 },
    { name: 'dropped-connection', rate: 0.5 },
    { name: 'too-many-requests', rate: 0.5, retryAfter: 0 },
    { name: 'server-error', rate: 0.5 },
    { name: 'payment-required', times: 1, after: 3 },
    { name: 'truncated-json', rate: 0.5 },
    { name: 'cut-off', rate: 0.5 },
    { name: 'invalid-json', rate: 0.5 },
    { name: 'web-page', rate: 0.5 },
    { name: 'repeated-page', rate: 0.5 },
    { name: 'looping-cursor', times: 2, after: 2 },
    { name: 'looping-cursor', times: 8, after: 2, disguised: true },
    { name: 'shifted-page', rate: 0.5, by: -3 },
    { name: 'reordered-page' },
    { name: 'empty-page', rate: 0.5 },
    { name: 'expired-cursor', times: 1, after: 3 },
    { name: 'expired-cursor', times: 3, after: 3, status: 410 },
  ])('repeated runs end with exactly its rows, each once, in spite of $name', async (fault) => {
    const { pull, rows, syncing, sandbox } = await world('plain', [{ ...fault, on: 'consent-logs' }]);
    let runs = 0;
    let result = await pull();
    while (result.outcome !== 'finished' && runs < 10) {
      runs += 1;
      result = await pull();
    }
    expect(sandbox.faults.counts()[0]).toBeGreaterThan(0);
    expect(result.outcome).toBe('finished');
    expect((await syncing.bodies()).sort()).toEqual(rows().sort());
  });
});
