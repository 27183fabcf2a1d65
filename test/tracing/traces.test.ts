import { expect, onTestFinished, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openContext } from '../../src/context/context.ts';
import { packJob } from '../../src/documents/document-jobs.ts';
import { createLog } from '../../src/log/log.ts';
import { syncJob } from '../../src/sync/sync-jobs.ts';
import { deliver, environment, startServing } from '../serving.ts';
import { PATIENTLY, temporaryFolder } from '../temporary.ts';
import { startCollector } from './collector.ts';

const NAME = 'Ottilie Quellwasser';
const EMAIL = 'ottilie.quellwasser@example.org';
const KEY = 'pak_live_never-in-a-trace';
const request = JSON.stringify({
  id: 'evt-otel-1',
  event: 'dsar.submitted',
  data: { request_id: 'req-otel-1', type: 'access', language: 'en', name: NAME, email: EMAIL, message: 'secret words' },
});

/** Enqueues jobs for a serving process of this folder, as an officer's page does. */
async function beside(folder: string) {
  const context = await openContext(loadConfig(environment(folder), folder), createLog('silent'));
  onTestFinished(() => context.close());
  return context;
}

test('a delivery, its entry and its fold are one trace; the pack links to it; no personal data is sent', async () => {
  const [folder, collector, service] = await Promise.all([temporaryFolder(), startCollector(), startCollector()]);
  const server = await startServing(folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=collector%20key',
    OTEL_SERVICE_NAME: 'ledger-of-the-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    SERVICE_BASE_URL: `${service.url}/api/v1`,
    SERVICE_API_KEY: KEY,
  });
  const answer = await deliver(server.url, request, undefined, { 'x-forwarded-for': '203.0.113.77' });
  expect(answer.body).toEqual({ status: 'stored', seq: expect.any(Number) as number });
  expect((await deliver(server.url, request)).body.status).toBe('duplicate');
  const unknown = JSON.stringify({ event: `dsar.${EMAIL}`, data: {} });
  expect((await deliver(server.url, unknown)).status).toBe(200);

  const context = await beside(folder);
  const caseId = await vi.waitFor(async () => {
    const row = await context.store.read.selectFrom('cases').select('case_id').executeTakeFirstOrThrow();
    return row.case_id;
  }, PATIENTLY);
  const asked = [
    await context.jobs.enqueue(packJob(caseId, 'a test')),
    await context.jobs.enqueue(syncJob('default', 'a test')),
  ];
  for (const { id } of asked)
    await vi.waitFor(async () => expect((await context.jobs.find(id))?.finishedAt).not.toBeNull(), PATIENTLY);
  expect(await server.stop()).toBe(0);

  const spans = collector.spans();
  const { seq } = answer.body;
  const [delivery] = spans.filter(
    ({ name, attributes }) => name === 'delivery' && attributes['consent_ledger.seq'] === seq,
  );
  expect(delivery).toMatchObject({
    kind: 2,
    attributes: {
      'consent_ledger.source': 'default',
      'consent_ledger.outcome': 'stored',
      'consent_ledger.bytes': request.length,
    },
    resource: { 'service.name': 'ledger-of-the-test', 'deployment.environment.name': 'test' },
  });
  expect(delivery?.parentSpanId ?? '').toBe('');
  const childOf = (parent: string | undefined, name: string) =>
    spans.filter((span) => span.parentSpanId === parent && span.name === name);
  const [append] = childOf(delivery?.spanId, 'append');
  expect(append?.attributes).toMatchObject({ 'consent_ledger.seq': seq, 'consent_ledger.kind': 'webhook' });
  const folds = childOf(append?.spanId, 'fold');
  expect(
    folds.map(({ traceId, attributes }) => [
      traceId,
      attributes['consent_ledger.seq'],
      attributes['consent_ledger.event'],
    ]),
  ).toEqual([[delivery?.traceId, seq, 'dsar.submitted']]);
  expect(spans.filter(({ attributes }) => attributes['consent_ledger.event'] === 'other')).toHaveLength(1);
  expect(
    spans.filter(({ name, attributes }) => name === 'delivery' && attributes['consent_ledger.outcome'] === 'duplicate'),
  ).toHaveLength(1);

  const [pack] = spans.filter(({ attributes }) => attributes['consent_ledger.job'] === asked[0]?.id);
  expect(pack?.name).toBe('job document');
  expect(pack?.links.map(({ traceId, spanId }) => [traceId, spanId])).toContainEqual([append?.traceId, append?.spanId]);
  expect(childOf(pack?.spanId, 'append').length).toBeGreaterThan(0);

  const [syncing] = spans.filter(({ attributes }) => attributes['consent_ledger.job'] === asked[1]?.id);
  const [sync] = childOf(syncing?.spanId, 'sync');
  expect(sync?.attributes).toMatchObject({ 'consent_ledger.source': 'default' });
  expect(service.requests.length).toBeGreaterThan(0);
  expect(childOf(sync?.spanId, 'GET service')[0]).toMatchObject({
    kind: 3,
    attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 },
  });
  // The owner of the service need not know of these traces.
  expect(service.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent');

  expect(collector.requests.map(({ path, headers }) => [path, headers['x-key']])[0]).toEqual([
    '/v1/traces',
    'collector key',
  ]);
  const everything = collector.requests.map(({ body }) => body.toString()).join('\n');
  for (const secret of [
    NAME,
    EMAIL,
    'quellwasser',
    'secret words',
    KEY,
    '203.0.113.77',
    '127.0.0.1',
    'req-otel-1',
    'a-signing-secret',
  ])
    expect(everything.toLowerCase()).not.toContain(secret.toLowerCase());
});

test('spans are sent as protobuf unless JSON is configured, and only the configured share of traces', async () => {
  const [folder, collector] = await Promise.all([temporaryFolder(), startCollector()]);
  const server = await startServing(folder, {
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`,
  });
  expect((await deliver(server.url, request)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  const [first] = collector.requests;
  expect([first?.path, first?.headers['content-type']]).toEqual(['/own/path', 'application/x-protobuf']);
  expect(Buffer.concat(collector.requests.map(({ body }) => body)).includes('consent_ledger.seq')).toBe(true);

  const second = await startServing(folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  const before = collector.requests.length;
  expect((await deliver(second.url, request)).status).toBe(200);
  expect(await second.stop()).toBe(0);
  expect(collector.requests).toHaveLength(before);
});

test('a collector that hangs or is unreachable delays neither a sender nor the end of the process', async () => {
  const hanging = await startCollector({ hangs: true });
  for (const url of [hanging.url, 'http://127.0.0.1:9']) {
    const server = await startServing(await temporaryFolder(), { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    // More than one batch of spans, so one is always being sent to the collector.
    const times: number[] = [];
    for (let n = 0; n < 300; n += 1) {
      const started = performance.now();
      expect((await deliver(server.url, JSON.stringify({ id: `evt-${n}` }))).status).toBe(200);
      times.push(performance.now() - started);
    }
    expect(Math.max(...times)).toBeLessThan(2000);
    if (url === hanging.url) expect(hanging.requests.length).toBeGreaterThan(0);
    else await vi.waitFor(() => expect(server.errors()).toContain('traces could not be sent'), PATIENTLY);
    const stopped = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - stopped).toBeLessThan(8000);
  }
});
