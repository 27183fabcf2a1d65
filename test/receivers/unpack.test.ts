import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { MAX_EVENTS } from '../../receivers/batch.ts';
import { type Reading, type ReadingContext, readDelivery } from '../../receivers/read.ts';
import { MAX_DECOMPRESSED } from '../../receivers/unpack.ts';
import { computed, runs } from '../temporary.ts';
import { bytes, context, factOf, RECEIVED, read } from './reading.ts';

const request = (email: string, more: object = {}) => ({
  event: 'dsar.submitted',
  data: { email, request_type: 'access', submitted_at: '2026-07-01T10:00:00Z', ...more },
});
const consent = (visitor: string) => ({
  event: 'consent.recorded',
  timestamp: '2026-07-01T11:00:00Z',
  visitor_hash: visitor,
  status: 'accepted',
  categories: { analytics: true },
});
const [ann, ben] = [request('ann@example.org'), request('ben@example.org')];

/** Every event that was read, in order. */
const all = (reading: Reading): readonly Reading[] => [{ ...reading, more: [] }, ...(reading.more ?? [])];
const emails = (reading: Reading) =>
  all(reading).flatMap((one) =>
    one.outcome === 'read' && one.fact.type === 'request' ? [one.fact.requesterEmail] : [],
  );
const readBytes = (body: Uint8Array, more: Partial<ReadingContext> = {}) => readDelivery(body, { ...context, ...more });
const alone = (value: unknown) => read(value);

describe('one event in another wrapping is read as if delivered alone', () => {
  const json = JSON.stringify(ann);
  const packed: readonly (readonly [string, Uint8Array, string | null])[] = [
    ['a form with a field payload', bytes(`payload=${encodeURIComponent(json)}`), null],
    ['a form with a field data and others', bytes(`source=shop&data=${encodeURIComponent(json)}`), null],
    ['a form whose JSON is not encoded', bytes(`payload=${json}`), null],
    ['JSON in a string', bytes(JSON.stringify(json)), null],
    ['JSON in a string in JSON', bytes({ payload: json }), null],
    ['a notification with its message as text', bytes({ Type: 'Notification', MessageId: 'm-1', Message: json }), null],
    ['gzip', gzipSync(json), null],
    ['gzip, cut off after its content', gzipSync(json).subarray(0, -8), 'gzip'],
    ['zlib', deflateSync(json), 'deflate'],
    ['raw deflate', deflateRawSync(json), 'deflate'],
    ['Brotli', brotliCompressSync(json), 'br'],
    ['a form in gzip', gzipSync(`payload=${encodeURIComponent(json)}`), 'gzip'],
    ['a header that names a compression of a body that has none', bytes(json), 'br'],
    ['a list of one', bytes([ann]), null],
    ['a batch of one', bytes({ events: [ann] }), null],
  ];
  it.each(packed)('%s', (_name, body, encoding) => {
    const reading = readBytes(body, { encoding });
    expect(factOf(reading, 'request')).toEqual(factOf(alone(ann), 'request'));
    expect(reading.more).toBeUndefined();
  });
});

describe('a form with plain fields', () => {
  it.each([
    'event=dsar.submitted&email=ann%40example.org&request_type=erasure&name=Ann+Other',
    'event=dsar.submitted&data[email]=ann%40example.org&data[request_type]=erasure&data[name]=Ann+Other',
    'event=dsar.submitted&data%5Bemail%5D=ann%40example.org&data%5Brequest_type%5D=erasure&data%5Bname%5D=Ann%20Other',
  ])('%s', (text) => {
    expect(factOf(read(text), 'request')).toMatchObject({
      requesterEmail: 'ann@example.org',
      kind: 'erasure',
      requesterName: 'Ann Other',
    });
  });
  it('is kept and shown if its event is unknown', () => {
    expect(read('event=page.viewed&url=https%3A%2F%2Fshop.example')).toMatchObject({
      outcome: 'unknown-event',
      event: 'page.viewed',
    });
  });
});

describe('several events in one body are all read', () => {
  it.each<[string, unknown]>([
    ['a list', [ann, ben, consent('v1')]],
    ['a list under events', { events: [ann, ben, consent('v1')] }],
    ['a list under a name in capitals', { Batch: [ann, ben, consent('v1')] }],
    ['a list in an envelope', { id: 'b-1', data: { items: [ann, ben, consent('v1')] } }],
    ['a batch with a name of its own', { event: 'batch.delivered', events: [ann, ben, consent('v1')] }],
    ['lines of JSON', [ann, ben, consent('v1')].map((one) => JSON.stringify(one)).join('\n')],
    [
      'lines of JSON with CRLF and an empty last one',
      `${[ann, ben, consent('v1')].map((one) => JSON.stringify(one)).join('\r\n')}\r\n`,
    ],
    ['a form with a list', `payload=${encodeURIComponent(JSON.stringify([ann, ben, consent('v1')]))}`],
    ['a list of texts', [ann, ben, consent('v1')].map((one) => JSON.stringify(one))],
    ['batches in a batch', { events: [{ events: [ann, ben] }, { events: [consent('v1')] }] }],
  ])('%s', (_name, value) => {
    const readings = all(read(value));
    expect(readings.map((one) => (one.outcome === 'read' ? one.fact : one))).toEqual(
      [ann, ben, consent('v1')].map((one) => (alone(one) as { fact?: unknown }).fact),
    );
  });
  it('with the event and time of the envelope where they have none of their own', () => {
    const reading = read({
      event: 'dsar.submitted',
      id: 'envelope-1',
      timestamp: '2026-07-01T09:00:00Z',
      data: [
        { email: 'ann@example.org', type: 'access' },
        { email: 'ben@example.org', type: 'erasure', submitted_at: '2026-07-01T08:00:00Z' },
      ],
    });
    const facts = all(reading).map((one) => factOf(one, 'request'));
    expect(facts).toMatchObject([
      {
        requesterEmail: 'ann@example.org',
        kind: 'access',
        requestId: null,
        occurred: { at: '2026-07-01T09:00:00.000Z' },
      },
      {
        requesterEmail: 'ben@example.org',
        kind: 'erasure',
        requestId: null,
        occurred: { at: '2026-07-01T08:00:00.000Z' },
      },
    ]);
  });
  it('a request comes first, because its case is named after the entry', () => {
    expect(all(read([consent('v1'), ann, consent('v2'), ben])).map(({ event }) => event)).toEqual([
      'dsar.submitted',
      'consent.recorded',
      'consent.recorded',
      'dsar.submitted',
    ]);
  });
  it('in the same order whatever the source calls its events', () => {
    const body = bytes([{ event: 'person.asks', email: 'zoe@example.org' }, ann, ben]);
    const options = { ...context.options, eventNames: { 'person.asks': 'dsar.submitted' } };
    expect(emails(readBytes(body, { options }))).toEqual(['ann@example.org', 'zoe@example.org', 'ben@example.org']);
    expect(all(readBytes(body))[0]).toMatchObject({ fact: { requesterEmail: 'ann@example.org' } });
  });
  it('a broken or unknown one among them does not hide the others, nor is it hidden', () => {
    const readings = all(read({ events: [ann, { event: 'policy.deleted' }, 'x', { event: 'page.viewed' }, ben] }));
    expect(emails({ ...(readings[0] as Reading), more: readings.slice(1) })).toEqual([
      'ann@example.org',
      'ben@example.org',
    ]);
    expect(readings.map(({ outcome }) => outcome)).toEqual([
      'read',
      'unreadable',
      'unknown-event',
      'unknown-event',
      'read',
    ]);
  });
  it('a line that was cut off opens a case if it names a request', () => {
    const text = `${JSON.stringify(consent('v1'))}\n${JSON.stringify(ann).slice(0, 60)}`;
    expect(all(read(text))).toMatchObject([
      { event: 'consent.recorded' },
      { event: 'dsar.submitted', fact: { type: 'request', kind: 'unknown' } },
    ]);
  });
  it('exact repeats are read once and counted', () => {
    const reading = read([ann, ann, ben]);
    expect(emails(reading)).toEqual(['ann@example.org', 'ben@example.org']);
    expect(reading).toMatchObject({ unread: expect.arrayContaining(['1 exact repeat in the list']) });
  });
  it('more than a thousand are counted, and the rest is reported as not read', () => {
    const readings = all(read(Array.from({ length: MAX_EVENTS + 5 }, (_, n) => request(`p${n}@example.org`))));
    expect(readings).toHaveLength(MAX_EVENTS + 1);
    expect(readings.at(-1)).toMatchObject({
      outcome: 'unreadable',
      reason: 'The body holds 1005 events: only the first 1000 are read.',
    });
  });
});

describe('a list that is part of one event is not taken apart', () => {
  it.each<[string, object]>([
    [
      'purposes',
      {
        event: 'consent.recorded',
        visitor_hash: 'v',
        data: [
          { id: 'analytics', granted: true },
          { id: 'ads', granted: false },
        ],
      },
    ],
    [
      'purposes without a visitor',
      { event: 'consent.recorded', consent_id: 'c', items: [{ id: 'analytics', granted: true }] },
    ],
    [
      'rights',
      {
        event: 'dsar.submitted',
        email: 'ann@example.org',
        items: [
          { id: 1, details: 'access' },
          { id: 2, details: 'erasure' },
        ],
      },
    ],
    [
      'cookies',
      { event: 'cookie_scan.completed', domain: 'shop.example', items: [{ name: '_ga', domain: 'shop.example' }] },
    ],
    ['order lines', { event: 'order.paid', items: [{ name: 'shoe' }, { name: 'sock' }] }],
  ])('%s', (_name, body) => {
    expect(read(body).more).toBeUndefined();
  });
});

test('a batch of any events is read as each of them alone', () => {
  const text = fc.constantFrom('a', 'b', 'ann@example.org', 'access', 'given', '2026-07-01T10:00:00Z');
  const field = fc.constantFrom(
    'id',
    'email',
    'visitor_hash',
    'status',
    'policy_id',
    'domain',
    'timestamp',
    'type',
    'message',
  );
  const event = fc.record({
    event: fc.constantFrom(
      'dsar.submitted',
      'consent.recorded',
      'policy.deleted',
      'cookie_scan.completed',
      'integration.connected',
    ),
    data: fc.dictionary(field, text, { maxKeys: 6 }),
  });
  const wrap = fc.constantFrom<(events: readonly object[]) => Uint8Array>(
    (events) => bytes(events),
    (events) => bytes({ events }),
    (events) => bytes({ id: 'b', data: { records: events } }),
    (events) => bytes(events.map((one) => JSON.stringify(one)).join('\n')),
    (events) => gzipSync(JSON.stringify({ batch: events })),
    (events) => bytes(`payload=${encodeURIComponent(JSON.stringify(events))}`),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(event, { minLength: 2, maxLength: 8, selector: (one) => JSON.stringify(one) }),
      wrap,
      (events, pack) => {
        const readings = all(readBytes(pack(events)));
        const expected = events.map((one) => alone(one));
        const key = (one: Reading) => JSON.stringify({ ...one, more: [] });
        expect(readings.map(key).sort()).toEqual(expected.map(key).sort());
        expect(readings.map(({ event: name }) => name).indexOf('dsar.submitted')).toBeLessThanOrEqual(0);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('a decompression bomb is refused by its size, quickly, and shown as not read', () => {
  for (const [bomb, encoding] of [
    [gzipSync(Buffer.alloc(100 << 20)), 'gzip'],
    [deflateSync(Buffer.alloc(100 << 20)), null],
    [brotliCompressSync(Buffer.alloc(100 << 20)), 'br'],
  ] as const) {
    const before = computed();
    const reading = readBytes(bomb, { encoding });
    expect(computed() - before).toBeLessThan(500);
    expect(reading).toMatchObject({ outcome: 'unknown-event', event: null });
    expect((reading as { reason: string }).reason).toMatch(/compressed and would take more than \d+ bytes/);
  }
  expect(MAX_DECOMPRESSED).toBeLessThanOrEqual(8 << 20);
});

test('a damaged compressed body is shown as not read', () => {
  const damaged = gzipSync(JSON.stringify(ann));
  damaged.fill(0xff, 12, 30);
  expect(readBytes(damaged)).toEqual({
    outcome: 'unknown-event',
    event: null,
    reason: 'The body is compressed and damaged.',
  });
});

test('nothing in a batch is dated later than its envelope says, or without its receipt', () => {
  const reading = read({ events: [{ event: 'dsar.submitted', email: 'ann@example.org' }, consent('v1')] });
  expect(factOf(reading, 'request').occurred).toEqual({ at: RECEIVED, basis: 'received', counts: true });
});
