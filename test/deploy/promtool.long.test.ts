import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { quietSources } from '../http/quiet-metrics.ts';

const folder = join(import.meta.dirname, '../../deploy/prometheus');

function promtool(args: readonly string[], input = '') {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, {
    cwd: folder,
    input,
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (error !== undefined)
    throw new Error(`promtool could not be started (${error.message}): install the Debian package prometheus.`);
  return { status, said: `${stdout}${stderr}` };
}

test('Prometheus accepts the alert rules', () => {
  const { status, said } = promtool(['check', 'rules', 'alerts.yml']);
  expect(status, said).toBe(0);
});

test('each alert fires when it must, and not otherwise', () => {
  const { status, said } = promtool(['test', 'rules', 'alerts.test.yml']);
  expect(status, said).toBe(0);
});

test('Prometheus accepts the output of /metrics, names and help included', async () => {
  const metrics = createMetrics(quietSources({ wakeUps: true }));
  metrics.countDelivery('shop "A"\n', 'stored');
  metrics.observeAppend(0.01);
  const { status, said } = promtool(['check', 'metrics'], await metrics.registry.metrics());
  // Exit code Exit code 3: readable, but some names break a convention. Those of Node.js do.
  expect([0, 3], said).toContain(status);
  expect(said.split('\n').filter((line) => line !== '' && !line.startsWith('nodejs_'))).toEqual([]);
  expect(promtool(['check', 'metrics'], 'consent_ledger_x{ 1\n').status).toBe(1);
});
