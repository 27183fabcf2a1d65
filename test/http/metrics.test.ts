import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { writeSetting } from '../../src/store/settings.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { createOfficeWorld, type OfficeWorld } from './office-world.ts';
import { quietSources } from './quiet-metrics.ts';

const scrape = async ({ adminUrl }: OfficeWorld) => (await fetch(`${adminUrl}/metrics`)).text();

/** The value of a metric, with labels in its name; null if it has none. */
function valueOf(text: string, name: string): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
}

const minutes = (count: number) => 60 * count;

it('/metrics names no source unless the operator wants it', async () => {
  const world = await createOfficeWorld({}, { worker: false });
  await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  const text = await scrape(world);
  expect(text).not.toContain('"default"');
  expect(text).toMatch(/consent_ledger_deliveries_total\{source="source-[0-9a-f]{8}",outcome="stored"\} 1/);
  expect(text).toMatch(/consent_ledger_since_delivery_seconds\{source="source-[0-9a-f]{8}"\}/);
});

it('/metrics serves a 0 for every refusal that an alert looks at, so that its first one counts as an increase', async () => {
  const world = await createOfficeWorld({ METRICS_SOURCES: 'names' }, { worker: false });
  await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  const text = await scrape(world);
  const count = (source: string, outcome: string) =>
    valueOf(text, `consent_ledger_deliveries_total{source="${source}",outcome="${outcome}"}`);
  expect(count('default', 'stored')).toBe(1);
  for (const outcome of ['store_unavailable', 'overloaded', 'internal', 'missing', 'mismatch'])
    expect([outcome, count('default', outcome)]).toEqual([outcome, 0]);
  expect(count('(unknown)', 'unknown-source')).toBe(0);
});

it('/metrics counts open requests by how near their legal limit is', async () => {
  const world = await createOfficeWorld({ METRICS_SOURCES: 'names' }, { worker: false });
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  for (const days of [60, 50, 27, 3])
    await world.event('dsar.submitted', {
      request_id: `r-${days}`,
      type: 'access',
      name: 'Ada Lovelace',
      jurisdiction: 'DE',
      submitted_at: ago(days),
    });
  const text = await scrape(world);
  const due = (state: string) => valueOf(text, `consent_ledger_dsar_due{state="${state}"}`);
  expect([due('overdue'), due('within-7-days'), due('later'), due('none')]).toEqual([2, 1, 1, 0]);
});

it('/metrics says how long ago the last delivery, pull, checkpoint, verification and witnessing were', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'share'));
  await writeFile(join(folder, 'policy'), `directory share ${join(folder, 'share')}\nquorum share\n`);
  const world = await createOfficeWorld(
    {
      METRICS_SOURCES: 'names',
      WITNESSES: join(folder, 'policy'),
      SERVICE_BASE_URL: 'http://127.0.0.1:1/api/v1',
      SERVICE_API_KEY: 'pak_live_test',
    },
    { worker: false },
  );
  const { context } = world;
  const at = Date.now();
  const later = (seconds: number) => world.setNow(new Date(at + 1000 * seconds).toISOString());
  await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  later(minutes(10));
  await context.witness();
  later(minutes(20));
  expect((await context.verify()).faults).toEqual([]);
  later(minutes(30));
  await world.event('consent.recorded', { banner_id: 'b', subject: 'i', status: 'granted' });
  await context.store.transaction((tx) =>
    tx.insertMany(
      'sync_positions',
      ['b', 'c'].map((banner_id, n) => ({
        source: 'default',
        banner_id,
        last_success_at: new Date(at - 1000 * minutes(30 * n)).toISOString(),
        updated_at: new Date(at).toISOString(),
        rows_total: 0,
      })),
      'keep',
    ),
  );
  later(minutes(60));
  const text = await scrape(world);
  const since = (what: string, labels = '') => {
    const value = valueOf(text, `consent_ledger_since_${what}_seconds${labels}`);
    return value === null ? null : Math.round(value / 60);
  };
  expect(since('delivery', '{source="default"}')).toBe(30);
  // The banner whose last pull is oldest counts.
  expect(since('sync', '{source="default"}')).toBe(90);
  expect(since('seal')).toBe(50);
  expect(since('oldest_unsealed')).toBe(30);
  expect(since('verification')).toBe(40);
  expect(valueOf(text, 'consent_ledger_verification_faults')).toBe(0);
  expect(since('witness', '{witness="share"}')).toBe(50);
  expect(text).toMatch(
    new RegExp(
      `^consent_ledger_build_info\\{version="[^"]+",node="${process.versions.node}",database="[a-z]+"\\} 1$`,
      'm',
    ),
  );

  await writeSetting(
    context.store,
    'ledger_verified',
    JSON.stringify({ at: new Date(at).toISOString(), faults: 0, mac: '00'.repeat(32) }),
  );
  expect(await context.lastVerification()).toBeNull();
});

it('/metrics has no value for events that never happened', async () => {
  const world = await createOfficeWorld({ METRICS_SOURCES: 'names' }, { worker: false });
  const text = await scrape(world);
  expect(text).toContain('# TYPE consent_ledger_since_delivery_seconds gauge');
  expect(text).not.toMatch(/^consent_ledger_since_/m);
  expect(text).not.toMatch(/^consent_ledger_verification_faults/m);
});

it('/metrics remembers only verifications of the whole ledger', async () => {
  const world = await createOfficeWorld({ METRICS_SOURCES: 'names' }, { worker: false });
  await world.event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  await world.context.seal();
  const seq = await world.event('consent.recorded', { banner_id: 'b', subject: 'i', status: 'granted' });
  expect((await world.context.verify(undefined, seq)).since).toBeGreaterThan(0);
  expect(await world.context.lastVerification()).toBeNull();
});

const quiet = quietSources();

it('/metrics names at most 200 sources, and reports the longest wait among the others', async () => {
  const delivered = new Map(
    Array.from({ length: 500 }, (_, n) => [
      `shop-${String(n).padStart(3, '0')}`,
      new Date(Date.parse('2026-03-01T11:59:00Z') - 60_000 * n).toISOString(),
    ]),
  );
  const metrics = createMetrics({ ...quiet, lastTimes: async () => ({ ...(await quiet.lastTimes()), delivered }) });
  await metrics.registry.metrics();
  for (const source of delivered.keys()) metrics.countDelivery(source, 'stored');
  const text = await metrics.registry.metrics();
  expect(text.match(/^consent_ledger_since_delivery_seconds\{/gm)).toHaveLength(201);
  expect(text.match(/^consent_ledger_deliveries_total\{/gm)).toHaveLength(202); // and (unknown)
  expect(valueOf(text, 'consent_ledger_since_delivery_seconds{source="(others)"}')).toBe(500 * 60);
  expect(valueOf(text, 'consent_ledger_since_delivery_seconds{source="shop-000"}')).toBe(60);
  expect(valueOf(text, 'consent_ledger_deliveries_total{source="(others)",outcome="stored"}')).toBe(300);
});

it('/metrics names the silent sources, and does not delay a scrape for slow figures', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let answer = Promise.resolve([{ code: 'silent-source', source: 'shop' } as const]);
  const { registry } = createMetrics({ ...quiet, warnings: () => answer });
  const text = await registry.metrics();
  expect(valueOf(text, 'consent_ledger_source_silent{source="shop"}')).toBe(1);
  expect(valueOf(text, 'consent_ledger_warnings{code="silent-source"}')).toBe(1);
  answer = new Promise(() => undefined);
  vi.advanceTimersByTime(60_000);
  expect(valueOf(await registry.metrics(), 'consent_ledger_source_silent{source="shop"}')).toBe(1);
});

it('/metrics warns of an overdue verification until the scheduled job has run one', async () => {
  const { context, event, setNow } = await createOfficeWorld({ METRICS_SOURCES: 'names' }, { worker: false });
  await event('consent.recorded', { banner_id: 'b', subject: 'h', status: 'granted' });
  const overdue = async () => (await context.warnings()).filter(({ code }) => code === 'verification-overdue');
  expect(await overdue()).toEqual([]);
  setNow(new Date(Date.now() + 15 * 86_400_000).toISOString());
  expect(await overdue()).toHaveLength(1);
  const worker = await startWorker(context);
  onTestFinished(() => worker.stop());
  // It is now Sunday.
  await context.store.transaction((tx) =>
    tx.query
      .updateTable('schedules')
      .set({ next_at: context.clock().toISOString() })
      .where('name', '=', 'verify')
      .execute(),
  );
  await vi.waitFor(async () => expect(await overdue()).toEqual([]), PATIENTLY);
});

it('/metrics leaves out figures that cannot be computed and shows the rest', async () => {
  const failed: string[] = [];
  const metrics = createMetrics({
    ...quiet,
    due: async () => Promise.reject(new Error('the controller profile is not valid')),
    onError: (_error, metric) => failed.push(metric),
  });
  const text = await metrics.registry.metrics();
  expect(failed).toEqual(['consent_ledger_dsar_due']);
  expect(text).not.toMatch(/^consent_ledger_dsar_due/m);
  expect(text).toContain('consent_ledger_build_info{version="1",node="20",database="sqlite"} 1');
});

it('/metrics has exactly the metrics that docs/monitoring.md explains', async () => {
  const names = (await createMetrics(quietSources({ wakeUps: true })).registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('consent_ledger_'));
  const page = await readFile(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8');
  const explained = [...page.matchAll(/^\| `(consent_ledger_\w+)/gm)].map(([, name]) => name);
  expect(explained.sort()).toEqual([...names].sort());
});
