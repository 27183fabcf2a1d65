import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldNames } from '../../receivers/field-names.ts';
import { eventNameOf, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { documentedEvents, knownEvents } from '../../src/core/vocabulary.ts';
import { canonicalJson } from '../../src/crypto/canonical.ts';
import { anyCharacter } from '../any-character.ts';
import { computed, runs } from '../temporary.ts';
import { bytes, context, factOf, read } from './reading.ts';

const published = {
  event: 'policy.published',
  policy_id: 'p1',
  policy_type: 'privacy-policy',
  brand_name: 'Shop',
  jurisdiction: 'GB',
  language: 'en',
  user_id: 'u1',
  timestamp: '2026-07-01T11:59:58Z',
};

describe('a policy event', () => {
  it('as documented is read in full', () => {
    expect(read(published)).toEqual({
      outcome: 'read',
      event: 'policy.published',
      fact: {
        type: 'policy',
        event: 'policy.published',
        change: 'published',
        policyId: 'p1',
        policyType: 'privacy-policy',
        title: null,
        brandName: 'Shop',
        jurisdiction: 'GB',
        language: 'en',
        userId: 'u1',
        version: null,
        hostedUrl: null,
        occurred: { at: '2026-07-01T11:59:58.000Z', basis: 'payload', counts: true },
      },
      unread: [],
    });
  });
  it('without the id of its policy goes to the quarantine', () => {
    expect(read({ event: 'policy.deleted', title: 'x' })).toMatchObject({
      outcome: 'unreadable',
      event: 'policy.deleted',
    });
  });
  it.each([
    ['https://s.example/policy/privacy-policy/p1?token=abc', 'https://s.example/policy/privacy-policy/p1'],
    ['https://s.example/p#token', 'https://s.example/p'],
    ['https://user:pass@s.example/p', 'https://s.example/p'],
    ['javascript:alert(1)', null],
  ])('keeps an address without any part that could be a secret: %s', (url, expected) => {
    expect(factOf(read({ ...published, hosted_url: url }), 'policy').hostedUrl).toBe(expected);
  });
  it('is read in the shape of the other generate form, too', () => {
    const fact = factOf(
      read({
        event: 'policy.created',
        data: {
          id: 'p',
          type: 'privacy_policy',
          version: 2,
          jurisdiction: ['GB', 'EU'],
          hosted_url: 'https://s.example/x?t=1',
          created_at: '2026-07-01T10:00:00Z',
          html: '<p>',
        },
      }),
      'policy',
    );
    expect(fact).toMatchObject({
      policyId: 'p',
      policyType: 'privacy-policy',
      version: '2',
      jurisdiction: 'GB,EU',
      hostedUrl: 'https://s.example/x',
      occurred: { at: '2026-07-01T10:00:00.000Z' },
    });
  });
  it('does not read the time of another change as its own', () => {
    expect(
      factOf(read({ event: 'policy.updated', id: 'p', created_at: '2026-01-01T00:00:00Z' }), 'policy').occurred.basis,
    ).toBe('received');
    expect(
      factOf(
        read({
          event: 'policy.updated',
          id: 'p',
          created_at: '2026-01-01T00:00:00Z',
          updated_at: '2026-06-01T00:00:00Z',
        }),
        'policy',
      ).occurred.at,
    ).toBe('2026-06-01T00:00:00.000Z');
  });
  it('has the id of the policy inside the envelope, not that of the event next to it', () => {
    expect(factOf(read({ id: 'evt_1', event: 'policy.deleted', data: { id: 'p1' } }), 'policy').policyId).toBe('p1');
    expect(read({ id: 'evt_1', event: 'policy.deleted', data: { title: 'x' } }).outcome).toBe('unreadable');
  });
});

describe('scans and integrations', () => {
  it.each<[object, object]>([
    [
      {
        scan_id: 9,
        url: 'https://User@Shop.example:8443/x?token=1',
        cookies: ['a', 'b'],
        trackers_found: '4',
        score: '87%',
      },
      { scanId: '9', domain: 'shop.example', cookiesFound: 2, trackersFound: 4, score: 87 },
    ],
    [
      { scan: { id: 's', cookies: { total: 12, uncategorized: 3 }, score: 62.5 }, site: { domain: 'shop.example' } },
      { scanId: 's', domain: 'shop.example', cookiesFound: 12, uncategorised: 3, score: 62.5 },
    ],
    [
      { cookies_found: -1, trackers_found: 1.5, score: 'good' },
      { cookiesFound: null, trackersFound: null, score: null },
    ],
  ])('a scan: %j', (fields, expected) => {
    expect(factOf(read({ event: 'cookie_scan.completed', ...fields }), 'scan')).toMatchObject(expected);
  });
  const item = { kind: 'cookie', category: null, domain: null, provider: null, beforeConsent: null, thirdParty: null };
  it.each<[string, object, object]>([
    [
      'a list of objects',
      {
        cookies: [
          { name: '_ga', category: 'analytics', domain: '.Shop.example', before_consent: true, party: 'first' },
          { cookieName: 'sid', purpose: { name: 'necessary' }, vendor: 'Shop', preConsent: 'yes', third_party: false },
          { name: 'x', category: 'Unclassified', first_party: 0 },
        ],
      },
      {
        items: [
          {
            ...item,
            name: '_ga',
            category: 'analytics',
            domain: 'shop.example',
            beforeConsent: true,
            thirdParty: false,
          },
          { ...item, name: 'sid', category: 'necessary', provider: 'Shop', beforeConsent: true, thirdParty: false },
          { ...item, name: 'x', thirdParty: true },
        ],
        ...{ cookiesFound: 3, uncategorised: 1, beforeConsent: 1, unreadItems: 0 },
      },
    ],
    [
      'names by category, and a list of what came before consent',
      {
        data: {
          scan: { cookies: { analytics: ['_ga'], marketing: ['_fbp'], total: 2 } },
          pre_consent_trackers: ['_fbp'],
        },
      },
      {
        items: [
          { ...item, kind: 'tracker', name: '_fbp', category: 'marketing', beforeConsent: true },
          { ...item, name: '_ga', category: 'analytics' },
        ],
        ...{ cookiesFound: 2, beforeConsent: 1 },
      },
    ],
    [
      'details by name, beside trackers named by address',
      {
        cookies: { _ga: { category: 'statistics', host: 'shop.example' } },
        trackers: [{ src: 'https://user@t.example/p.js?id=secret', type: 'script' }],
      },
      {
        items: [
          { ...item, name: '_ga', category: 'statistics', domain: 'shop.example' },
          { ...item, kind: 'tracker', name: 'https://t.example/p.js', domain: 't.example' },
        ],
        ...{ cookiesFound: 1, trackersFound: 1, beforeConsent: null },
      },
    ],
    [
      'category by name, as JSON in a string',
      { cookies: '{"_ga":"analytics"}' },
      { items: [{ ...item, name: '_ga', category: 'analytics' }] },
    ],
    [
      'numbers alone',
      { cookies: { total: 3, uncategorized: '1' }, trackers_before_consent: 2 },
      { items: null, cookiesFound: 3, beforeConsent: 2 },
    ],
    ['an empty list', { cookies: [] }, { items: [], cookiesFound: 0 }],
    ['an empty list beside a number', { cookies_found: 4, cookies: [] }, { items: null, cookiesFound: 4 }],
    [
      'items that cannot be read',
      { cookies: ['a', 7, null, { category: 'x' }, 'y'.repeat(301)] },
      {
        items: [
          { ...item, name: '7' },
          { ...item, name: 'a' },
        ],
        unreadItems: 3,
      },
    ],
    [
      'a scan that failed',
      { status: 'failed', cookies: [{ name: 'a', before_consent: false }] },
      { failed: true, beforeConsent: null },
    ],
  ])('what a scan found: %s', (_what, fields, expected) => {
    expect(factOf(read({ event: 'cookie_scan.completed', ...fields }), 'scan')).toMatchObject(expected);
  });
  it('keeps 1,000 items of a scan, counts the rest, and names the list as unread', () => {
    const reading = read({
      event: 'cookie_scan.completed',
      cookies: Array.from({ length: 1003 }, (_, n) => ({ name: `c${n}` })),
    });
    expect(factOf(reading, 'scan')).toMatchObject({ cookiesFound: 1003, unreadItems: 3, items: { length: 1000 } });
    expect(reading).toMatchObject({ unread: ['cookies'] });
  });
  it('does not treat an unreadable list as an inventory, and counts items beyond the limit of an object', () => {
    const scan = (cookies: unknown) => factOf(read({ event: 'cookie_scan.completed', cookies }), 'scan');
    expect(scan({ _ga: 'analytics', [`x${'y'.repeat(400)}`]: 'x' })).toMatchObject({
      items: [{ name: '_ga' }],
      unreadItems: 1,
    });
    expect(scan([{}, {}])).toMatchObject({ items: null, unreadItems: 2 });
    const byName = Object.fromEntries(Array.from({ length: 1003 }, (_, n) => [`c${n}`, { category: 'x' }]));
    expect(scan(byName)).toMatchObject({ items: { length: 1000 }, unreadItems: 3 });
  });
  it('finds the fields of a cookie under the names that the source gives them', () => {
    const names = { scanCookies: ['kekse'], itemName: ['heisst'], itemCategory: ['art.wort'] };
    const body = { event: 'cookie_scan.completed', kekse: [{ heisst: '_ga', art: { wort: 'Statistik' } }] };
    expect(factOf(read(body, names), 'scan').items).toEqual([{ ...item, name: '_ga', category: 'Statistik' }]);
  });
  it.each<[object, object]>([
    [{ reason: 'The access token expired.' }, { change: 'lost', error: 'The access token expired.' }],
    [{ status: 'failed' }, { change: 'lost', error: null }],
    [{ error: { message: 'HTTP 401 Unauthorized' } }, { change: 'lost', error: 'HTTP 401 Unauthorized' }],
    [{ reason: 'revoked by the user' }, { change: 'disconnected', error: 'revoked by the user' }],
    [{ status: 'disconnected' }, { change: 'disconnected', error: null }],
  ])('distinguishes a lost integration from a disconnected one: %j', (fields, expected) => {
    expect(factOf(read({ event: 'integration.disconnected', ...fields }), 'integration')).toMatchObject(expected);
  });
  it.each<[object, object]>([
    [
      { integration_id: 'i1', provider: 'shopify', shop_domain: 'a.myshop.example' },
      { integrationId: 'i1', name: 'shopify', site: 'a.myshop.example' },
    ],
    [
      { integration: { id: 'i1', name: 'WordPress' }, site_url: 'https://a.example/?key=1' },
      { integrationId: 'i1', name: 'WordPress', site: 'a.example' },
    ],
    [{ data: { type: 'shopify', shop: 'my-shop' } }, { integrationId: null, name: 'shopify', site: 'my-shop' }],
  ])('an integration: %j', (fields, expected) => {
    for (const change of ['connected', 'disconnected']) {
      expect(factOf(read({ event: `integration.${change}`, ...fields }), 'integration')).toMatchObject({
        ...expected,
        change,
      });
    }
  });
});

describe('the name of an event', () => {
  it.each<[unknown, string | null]>([
    [{ event: 'policy.published' }, 'policy.published'],
    [{ Event: 'Policy_Published' }, 'policy.published'],
    [{ event_type: 'consent.recorded' }, 'consent.recorded'],
    [{ type: 'event', name: 'cookie-scan.completed' }, 'cookie_scan.completed'],
    [{ event: { type: 'policy.deleted' } }, 'policy.deleted'],
    [{ meta: { event: 'policy.deleted' } }, 'policy.deleted'],
    [{ payload: { event: 'policy.deleted' } }, 'policy.deleted'],
    [{ event: 'invoice.paid' }, 'invoice.paid'],
    [{ name: 'Ann' }, null],
    [{ name: 'invoice.paid' }, 'invoice.paid'],
    [{ user: { type: 'admin' } }, null],
    [{ event: 5 }, null],
    [{ event: 'x'.repeat(200) }, null],
    [[], null],
    ['not json', null],
  ])('%j', (value, event) => {
    expect(eventNameOf(bytes(value))).toBe(event);
  });
  it('is understood for every event that the service documents or mentions', () => {
    expect(knownEvents.length).toBeGreaterThan(documentedEvents.length);
    for (const event of knownEvents) expect(read({ event, id: 'x', status: 'accepted' }).outcome).toBe('read');
  });
});

describe('unknown content is kept and shown', () => {
  it.each<[unknown, object]>([
    [{ event: 'invoice.paid', amount: 1 }, { event: 'invoice.paid' }],
    [{ hello: 'world' }, { event: null }],
    ['{broken', { event: null }],
    ['', { event: null }],
    ['"text"', { event: null }],
    ['null', { event: null }],
    ['[]', { event: null }],
    ['[{"event":"invoice.paid"},{"event":"invoice.sent"},7]', { event: 'invoice.paid' }],
  ])('%j', (value, expected) => {
    const reading = read(value);
    expect(reading).toMatchObject({ outcome: 'unknown-event', ...expected });
    expect((reading as { reason: string }).reason).toMatch(/\.$/);
  });
  it('bytes that are not text', () => {
    expect(readDelivery(Buffer.from([0xff, 0xfe, 0x00, 0x80]), context).outcome).toBe('unknown-event');
  });
  it('a body with a byte order mark', () => {
    expect(read(`\ufeff${JSON.stringify(published)}`).outcome).toBe('read');
  });
  it('unknown fields are named, but never their values', () => {
    const reading = read({ ...published, favourite: 'secret-value', data: { more: 'secret-value' } });
    expect(reading).toMatchObject({ unread: ['data.more', 'favourite'] });
    expect(JSON.stringify(reading)).not.toContain('secret-value');
  });
});

describe('whatever is in a body', () => {
  const names = [
    ...new Set(
      Object.values(fieldNames)
        .flat()
        .map((name) => name.replace('^', '').split('.').at(-1) ?? ''),
    ),
  ];
  const key = fc.oneof(
    fc.constantFrom(...names, 'data', 'payload', 'object', 'consent', 'request', 'scan', '__proto__', 'constructor'),
    fc.string(),
  );
  const { value } = fc.letrec((tie) => ({
    leaf: fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.boolean(),
      fc.constant(null),
      fc.double(),
      fc.maxSafeInteger(),
      fc.date({ noInvalidDate: true }).map((date) => date.toJSON()),
      fc.constantFrom(
        'accepted',
        'withdrawn',
        'custom',
        'a@b.example',
        'analytics,marketing',
        '{"a":true}',
        '[1',
        1782900000,
        '9007199254740993',
        'https://a.example/?t=1',
      ),
    ),
    value: fc.oneof(
      { depthSize: 'small' },
      tie('leaf'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 8 }),
    ),
  }));
  const event = fc.constantFrom(...knownEvents, 'dsar.other', 'unknown.event');
  const body = fc
    .tuple(event, fc.dictionary(key, value, { maxKeys: 12 }))
    .map(([name, fields]) => ({ name, text: JSON.stringify({ ...fields, event: name }) }));

  it('reading gives the same outcome each time, one that any store can hold', () => {
    let read = 0;
    fc.assert(
      fc.property(body, ({ name, text }) => {
        const reading = readDelivery(bytes(text), context);
        expect(readDelivery(bytes(text), { ...context, options: { fieldNames: {}, assumedOffset: '+00:00' } })).toEqual(
          reading,
        );
        // Throws on lone surrogates and on numbers that JSON cannot hold.
        expect(canonicalJson(reading).includes('\\u0000')).toBe(false);
        if (reading.outcome === 'read') read++;
        if (name.startsWith('dsar.')) expect(reading).toMatchObject({ outcome: 'read', fact: { type: 'request' } });
        // A field such as `dsar_id` is a sign of a request; nothing else may be read from it.
        if (name === 'unknown.event' && reading.outcome !== 'unknown-event')
          expect(reading).toMatchObject({ outcome: 'read', fact: { type: 'request', kind: 'unknown' } });
        expect(['read', 'unreadable']).toContain(readConsentRow(bytes(text), context).outcome);
      }),
      { numRuns: runs(200) },
    );
    expect(read).toBeGreaterThan(runs(40));
  });
  it('random bytes give an outcome', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (random) =>
        ['unknown-event', 'read'].includes(readDelivery(random, context).outcome),
      ),
    );
  });
  it('large integers keep their digits and all else keeps its value', () => {
    const leaf = fc.oneof(
      fc.bigInt().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
      fc.string().map((text) => JSON.stringify(text)),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 16n, max: 10n ** 40n }), fc.array(leaf), (id, leaves) => {
        const fact = factOf(
          read(`{"x":[${leaves.join(',')}],"event":"dsar.submitted","request_id":${id},"message":"n \\" ${id}"}`),
          'request',
        );
        expect(fact).toMatchObject({ requestId: String(id), message: `n " ${id}` });
      }),
    );
  });
  it('a mebibyte of anything is read quickly', () => {
    const strange = [
      `{"event":"consent.recorded","categories":{${Array.from({ length: 60_000 }, (_, i) => `"p${i}":true`).join(',')}}}`,
      `{"event":"consent.recorded",${Array.from({ length: 60_000 }, (_, i) => `"k${i}":{"a":{"b":${i}}}`).join(',')}}`,
      `{"event":"dsar.submitted","data":${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      `{"event":"dsar.submitted","n":[${'12345678901234567890,'.repeat(45_000)}1]}`,
      `{"event":"dsar.submitted","email":"${'a@'.repeat(500_000)}"}`,
      `{"event":"dsar.submitted","message":"${'\\\\\\"'.repeat(250_000)}","id":12345678901234567890}`,
      ` `.repeat(1_000_000),
    ];
    for (const text of strange) {
      const body = bytes(text);
      const before = computed();
      readDelivery(body, context);
      expect([computed() - before < 3000, text.slice(0, 60)]).toEqual([true, text.slice(0, 60)]);
    }
  });
});
