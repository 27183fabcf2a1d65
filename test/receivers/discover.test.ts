import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DiscoverySample, discover, effectsOfMapping } from '../../receivers/discover/discover.ts';
import { maskValue } from '../../receivers/discover/kinds.ts';
import { readConsentRow, readDelivery } from '../../receivers/read.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { dialectNames } from '../../src/sandbox/dialects.ts';
import { allRows, NOON, withSandbox } from '../sandbox/sandbox-world.ts';

const receivedAt = NOON.toISOString();
const plain = sourceOptionsSchema.parse({});
const delivery = (body: object): DiscoverySample => ({
  kind: 'delivery',
  seq: null,
  body: Buffer.from(JSON.stringify(body)),
  receivedAt,
});
const hash = (n: number) => createHash('sha256').update(String(n)).digest('hex');

/** A sender with unexpected names for everything. */
const alienDecision = (n: number) => ({
  hdr: { sig: 'consent.saved', v: 7 },
  zq: {
    klotho: `kx${90000 + n * 7}q`,
    hasher: hash(n),
    frame: `fr-${n % 2}a1`,
    verdikt: n % 3 === 0 ? 'declined' : 'agreed',
    toggles: { analytics: n % 3 !== 0, marketing: false },
    moment: new Date(Date.UTC(2026, 6, 1, 10, n)).toISOString(),
    lapses: new Date(Date.UTC(2027, 6, 1, 10, n)).toISOString(),
    soil: ['DE', 'FR', 'US-CA'][n % 3],
    tongue: ['de', 'fr', 'en'][n % 3],
  },
});
const alienRequest = (n: number) => ({
  hdr: { sig: 'privacy_request.new', v: 7 },
  zq: {
    klotho: `pr${5000 + n}x`,
    applicant: ['Ada Lovelace', 'Zoë Krüger', 'Jo Doe'][n % 3],
    replyTo: `person${n}@example.net`,
    wish: ['erase my data', 'access to my data', 'export'][n % 3],
    moment: new Date(Date.UTC(2026, 6, 2, 10, n)).toISOString(),
    soil: 'DE',
  },
});
const alien = [
  ...Array.from({ length: 12 }, (_, n) => delivery(alienDecision(n))),
  ...Array.from({ length: 6 }, (_, n) => delivery(alienRequest(n))),
];

/** Lists and their fields under unexpected names. */
const alienScan = (n: number) => ({
  event: 'cookie_scan.completed',
  scan: {
    domain: 'acme.example',
    jar: [
      { cookie_label: '_ga', grp: 'analytics', set_on_host: '.acme.example', fired_early: true },
      { cookie_label: `session-${n}`, grp: 'necessary', set_on_host: 'acme.example', fired_early: false },
    ],
    beacons: [{ cookie_label: 'pixel.example', grp: 'marketing' }],
  },
});

it('discovery proposes where the lists of a scan are, and the fields of their items', () => {
  const samples = [1, 2].map((n) => delivery(alienScan(n)));
  const { fieldNames } = discover(samples, plain);
  expect(fieldNames).toEqual({
    scanCookies: ['scan.jar'],
    scanTrackers: ['scan.beacons'],
    itemName: ['cookie_label'],
    itemCategory: ['grp'],
    itemDomain: ['set_on_host'],
    itemBeforeConsent: ['fired_early'],
  });
  const options = sourceOptionsSchema.parse({ fieldNames });
  const reading = readDelivery(Buffer.from(JSON.stringify(alienScan(1))), { receivedAt, options });
  expect(reading).toMatchObject({
    outcome: 'read',
    fact: {
      unreadItems: 0,
      items: [
        { name: '_ga', kind: 'cookie', category: 'analytics', domain: 'acme.example', beforeConsent: true },
        { name: 'pixel.example', kind: 'tracker', category: 'marketing' },
        { name: 'session-1', kind: 'cookie', category: 'necessary', beforeConsent: false },
      ],
    },
  });
});

describe('discovering how a sender writes its payloads', () => {
  it.each(dialectNames)('proposes nothing more for the dialect %s, and shows none of its values', (dialect) =>
    withSandbox({ dialect, consentRows: 60, clients: 1 }, async (sandbox) => {
      const samples: DiscoverySample[] = [];
      await sandbox.playTraffic({
        deliver: async ({ body, note }) => {
          // Forged deliveries have less content than the service's.
          if (note !== 'forged' && note !== 'unsigned') samples.push({ kind: 'delivery', seq: null, body, receivedAt });
          return { outcome: 'accepted' };
        },
      });
      const rows = await allRows(sandbox, sandbox.clients[0]?.apiKey ?? '');
      samples.push(
        ...rows.map((row) => ({ kind: 'row' as const, seq: null, body: Buffer.from(JSON.stringify(row)), receivedAt })),
      );
      const found = discover(samples, plain);
      const consent = found.events.find(({ event }) => event === 'consent.recorded');
      for (const event of [consent, found.events.find((one) => one.event === 'row')]) {
        expect(event?.samples).toBeGreaterThan(40);
        for (const word of ['hashed visitor', 'id of the record', 'banner', 'time of the choice', 'choice by purpose'])
          expect(event?.understood).toContain(word);
        // The further proposals only fill gaps.
        for (const { foundBefore, foundAfter } of event?.proposals ?? [])
          expect(foundAfter).toBeGreaterThan(foundBefore);
      }
      const said = JSON.stringify(found);
      const world = sandbox.worlds[0] ?? expect.fail('no world');
      for (const event of world.events) if ('email' in event) expect(said).not.toContain(event.email);
      for (const row of rows.slice(0, 20))
        for (const value of JSON.stringify(row).match(/[0-9a-f]{16,}/g) ?? []) expect(said).not.toContain(value);
    }),
  );

  it('finds the names of events and fields in an unknown dialect, and then reads every field', () => {
    const found = discover(alien, plain);
    expect(found.fieldNames).toMatchObject({
      event: ['hdr.sig'],
      recordId: ['zq.klotho'],
      subject: ['zq.hasher'],
      bannerId: ['zq.frame'],
      consentedAt: ['zq.moment'],
      consentExpiresAt: ['zq.lapses'],
      consentRegion: ['zq.soil'],
      language: ['zq.tongue'],
      requestId: ['zq.klotho'],
      requesterName: ['zq.applicant'],
      requesterEmail: ['zq.replyTo'],
      requestKind: ['zq.wish'],
      requestedAt: ['zq.moment'],
      requestJurisdiction: ['zq.soil'],
    });
    // Purposes that name themselves need no proposal.
    expect(found.fieldNames).not.toHaveProperty('purposes');
    // Neither `consent.saved` nor the other is a documented event.
    expect(found.eventNames).toEqual({ 'consent.saved': 'consent.recorded', 'privacy_request.new': 'dsar.submitted' });
    const options = sourceOptionsSchema.parse({ fieldNames: found.fieldNames, eventNames: found.eventNames });
    const reading = readDelivery(Buffer.from(JSON.stringify(alienDecision(1))), { receivedAt, options });
    expect(reading).toMatchObject({
      outcome: 'read',
      event: 'consent.recorded',
      fact: {
        recordId: 'kx90007q',
        subject: hash(1),
        bannerId: 'fr-1a1',
        state: 'given',
        purposes: { analytics: 'granted', marketing: 'denied' },
        region: 'FR',
        language: 'fr',
        expiresAt: '2027-07-01T10:01:00.000Z',
        occurred: { at: '2026-07-01T10:01:00.000Z', basis: 'payload' },
      },
    });
    const asked = readDelivery(Buffer.from(JSON.stringify(alienRequest(0))), { receivedAt, options });
    expect(asked).toMatchObject({
      event: 'dsar.submitted',
      fact: {
        requestId: 'pr5000x',
        requesterName: 'Ada Lovelace',
        requesterEmail: 'person0@example.net',
        kind: 'erasure',
      },
    });
    const said = JSON.stringify(found);
    for (const value of ['Lovelace', '@example.net', hash(1), 'kx90007q', '10:01']) expect(said).not.toContain(value);
    // Once the proposals are accepted, there is nothing more to propose.
    const again = discover(alien, options);
    expect([again.fieldNames, again.eventNames]).toEqual([{}, {}]);
  });

  it('rows of the log have their own names, and names that are values are masked', () => {
    const rows = Array.from({ length: 6 }, (_, n) => ({
      kind: 'row' as const,
      seq: null,
      body: Buffer.from(
        JSON.stringify({
          serial: `row-${7000 + n}`,
          who: { digest: hash(n) },
          reply: n % 2 === 0 ? 'yes' : 'no',
          when: 1_780_000_000 + n,
          [`p${n}@example.org`]: 1,
        }),
      ),
      receivedAt,
    }));
    const found = discover(rows, plain);
    expect(found.fieldNames).toMatchObject({
      recordId: ['serial'],
      subject: ['who.digest'],
      consentState: ['reply'],
      consentedAt: ['when'],
    });
    expect(JSON.stringify(found)).not.toContain('example.org');
    const options = sourceOptionsSchema.parse({ fieldNames: found.fieldNames });
    expect(readConsentRow(rows[0]?.body ?? Buffer.alloc(0), { receivedAt, options })).toMatchObject({
      fact: { recordId: 'row-7000', subject: hash(0), state: 'given' },
    });
  });

  it('proposes nothing for fields it cannot identify', () => {
    const odd = Array.from({ length: 5 }, (_, n) => delivery({ a: 'x', b: n, c: { d: 'hello there' } }));
    expect(
      discover([...odd, { kind: 'delivery', seq: null, body: Buffer.from('ping'), receivedAt }], plain),
    ).toMatchObject({
      samples: 6,
      notJson: 1,
      fieldNames: {},
      eventNames: {},
    });
    expect(discover([], plain)).toMatchObject({ samples: 0, events: [], fieldNames: {} });
  });

  it('learns nothing from the operator’s test events, whose name contains "consent"', () => {
    const tests = [1, 2, 3].map((n) => delivery({ event: TEST_EVENT, id: `t-${n}`, sent_at: receivedAt }));
    expect(discover(tests, plain)).toMatchObject({
      samples: 3,
      notJson: 0,
      events: [],
      fieldNames: {},
      eventNames: {},
    });
    const found = discover([...alien, ...tests], plain);
    expect(found.eventNames).toEqual({ 'consent.saved': 'consent.recorded', 'privacy_request.new': 'dsar.submitted' });
  });

  it('does not mistake an id for the name of an event, and shows none', () => {
    const records = [4711, 4712, 4713].map((n) =>
      delivery({ ref: `consent-rec-${n}`, nr: `choice_9f3ac1${n % 10}`, x: 'y' }),
    );
    const found = discover(records, plain);
    expect(found).toMatchObject({ fieldNames: {}, eventNames: {} });
    expect(JSON.stringify(found)).not.toMatch(/471|9f3ac1/);
  });

  it('masks values so that only their shape is left', () => {
    const masked: readonly [unknown, string][] = [
      ['ada@example.org', '…@…'],
      ['Ada Lovelace', 'text, 12 characters (letters, blanks)'],
      [hash(1), 'hash, 64 hex digits'],
      ['2026-07-01T10:00:00Z', 'time, like 0000-00-00T00:00:00Z'],
      ['accept_all', 'choice, “accept_all”'],
      ['+49 170 1234567', 'text, 15 characters (digits, blanks)'],
      [true, 'true or false'],
      [12345, 'whole number, 5 digits'],
      [['Ada', 'Bob'], 'list of text, 3 characters (letters)'],
      [{ a: 1 }, 'object with 1 fields'],
    ];
    for (const [value, shape] of masked) expect(maskValue(value)).toBe(shape);
    const deep = JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) as unknown;
    expect(maskValue(deep)).toBe('list of list of list of a list');
  });
});

describe('a proposal is judged on all payloads before it is made', () => {
  /** 21 of 40 visitors refuse. */
  const samples = (more: object) =>
    Array.from({ length: 40 }, (_, n) => ({
      ...delivery({
        event: 'consent.recorded',
        record_id: `r-${n}00`,
        visitor_id: hash(n),
        decision: n < 21 ? 'rejected' : 'accepted',
        timestamp: '2026-07-01T10:00:00Z',
        ...more,
      }),
      seq: n + 1,
    }));
  const effects = (more: object, fieldNames: Record<string, string[]>) =>
    effectsOfMapping(samples(more), plain, { fieldNames, eventNames: {} });

  it('says how many refusals would become consent, with three examples', () => {
    expect(effects({ mood: 'accepted' }, { consentState: ['mood'] })).toEqual({
      changes: [{ change: 'refusal-becomes-consent', count: 21 }],
      examples: [1, 2, 3].map((seq) => ({ seq, before: 'refused', after: 'consent to everything' })),
    });
    expect(effects({ asked: ['ads', 'analytics'] }, { grantedPurposes: ['asked'] })).toMatchObject({
      changes: [
        { change: 'refusal-becomes-unclear', count: 21 },
        { change: 'purposes-change', count: 19 },
      ],
    });
    expect(effects({ mood: 'accepted' }, { bannerId: ['mood'] })).toEqual({ changes: [], examples: [] });
    // Until it is named, a flag that nobody knows leaves every consent in doubt.
    expect(effects({ mood: 'yes' }, { bannerId: ['mood'] })).toMatchObject({
      changes: [{ change: 'unclear-becomes-consent', count: 19 }],
    });
  });

  it('says how many times would change', () => {
    expect(effects({ window: '2026-07-02T10:00:00Z' }, { consentedAt: ['window'] })).toMatchObject({
      changes: [{ change: 'time-changes', count: 40 }],
      examples: [
        { before: 'refused; at 2026-07-01 10:00:00 UTC', after: 'refused; at 2026-07-02 10:00:00 UTC' },
        { seq: 2 },
        { seq: 3 },
      ],
    });
  });

  it('proposes no field named like an opt-out, an interaction, an expiry or a creation beside a change', () => {
    const rows = Array.from({ length: 20 }, (_, n) =>
      delivery({
        event: 'consent.recorded',
        nummer: `z-${7000 + n}`,
        wer: hash(n),
        hide_interaction_state: n % 2 === 0 ? 'yes' : 'no',
        never_state: n % 3 === 0 ? 'yes' : 'no',
        gone_out_expiry_moment: new Date(Date.UTC(2027, 6, 1, 10, n)).toISOString(),
        erstellt_moment: new Date(Date.UTC(2026, 5, 1, 10, n)).toISOString(),
        zuletzt_updated_at: new Date(Date.UTC(2026, 6, 1, 10, n)).toISOString(),
      }),
    );
    const { fieldNames } = discover(rows, plain);
    expect(fieldNames['consentState']).toBeUndefined();
    expect(fieldNames['consentedAt'] ?? []).not.toContain('erstellt_moment');
    expect(fieldNames['consentedAt'] ?? []).not.toContain('gone_out_expiry_moment');
  });

  it('leaves out a proposal that changes what is understood, unless its path is typed', () => {
    const doubtful = Array.from({ length: 8 }, (_, n) =>
      delivery({
        event: 'consent.recorded',
        id: `s-${n}00`,
        visitor_id: n < 6 ? hash(n) : null,
        decision: n % 2 === 0 ? 'reject' : 'accept',
        hasher: hash(100 + n),
        timestamp: `2026-07-01T10:00:0${n}Z`,
      }),
    );
    const found = discover(doubtful, plain);
    const proposal = found.events[0]?.proposals.find(({ field }) => field === 'subject');
    expect(proposal).toMatchObject({ path: 'hasher', doubt: '6 records would belong to other visitors' });
    expect(proposal?.effects.examples).toHaveLength(3);
    expect(found.fieldNames).toEqual({});
    expect(discover(doubtful, plain, ['hasher']).fieldNames).toEqual({ subject: ['hasher'] });
  });

  it('does not take a field that always says yes for the choice', () => {
    const constant = Array.from({ length: 6 }, (_, n) =>
      delivery({ event: 'consent.recorded', id: `s-${n}00`, visitor_id: hash(n), verdikt: 'agreed' }),
    );
    const found = discover(constant, plain);
    expect(found.fieldNames['consentState']).toBeUndefined();
    const proposal = found.events[0]?.proposals.find(({ field }) => field === 'consentState');
    expect(proposal?.doubt).toContain('it says the same in all 6 payloads');
    expect(discover(constant, plain, ['verdikt']).fieldNames).toMatchObject({ consentState: ['verdikt'] });
  });

  it('recognises a platform, whose own rules come before guesses', () => {
    const groups = Array.from({ length: 40 }, (_, n) =>
      delivery({
        event: 'consent.recorded',
        consentId: hash(n),
        groups: 'C0001:1,C0002:0',
        hasher: hash(n),
        when_it: 'x',
      }),
    );
    expect(discover(groups, plain).events[0]?.platforms).toEqual([{ name: 'OneTrust groups', count: 40 }]);
    expect(Object.keys(discover(groups, plain).fieldNames)).not.toContain('purposes');
  });
});
