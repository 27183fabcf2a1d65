import { describe, expect, it } from 'vitest';
import type { Fact } from '../../receivers/index.ts';
import { decisionIdOf, type Reading, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { requestKinds } from '../../src/core/vocabulary.ts';
import { dialectNames, dialects, renderBody } from '../../src/sandbox/dialects.ts';
import type { Choice, DecisionHappening, Happening, PurposeChoices } from '../../src/sandbox/happenings.ts';

const at = new Date('2026-06-30T08:15:42.000Z');
const context = { receivedAt: '2026-06-30T08:15:43.500Z', options: { fieldNames: {}, assumedOffset: '+00:00' } };

const chosen: Record<Choice, { purposes: PurposeChoices; state: string }> = {
  accept: { purposes: { necessary: true, preferences: true, analytics: true, marketing: true }, state: 'given' },
  reject: { purposes: { necessary: true, preferences: false, analytics: false, marketing: false }, state: 'refused' },
  choose: { purposes: { necessary: true, preferences: false, analytics: true, marketing: false }, state: 'given' },
  withdraw: {
    purposes: { necessary: true, preferences: false, analytics: false, marketing: false },
    state: 'withdrawn',
  },
};
const decision = (choice: Choice, region = 'DE'): DecisionHappening => ({
  event: 'consent.recorded',
  recordId: 'rec_1',
  visitorHash: 'ab'.repeat(32),
  bannerId: 'bn_1',
  choice,
  purposes: chosen[choice].purposes,
  region,
  language: 'de',
  policyId: 'pol_1',
  policyVersion: 3,
  domain: 'shop.example',
  expiresAt: new Date('2027-06-30T08:15:42.000Z'),
  at,
});

function factOf<T extends Fact['type']>(reading: Reading, type: T): Extract<Fact, { type: T }> {
  if (reading.outcome !== 'read' || reading.fact.type !== type) throw new Error(`not read: ${JSON.stringify(reading)}`);
  return reading.fact as Extract<Fact, { type: T }>;
}

describe.each(dialectNames)('the sandbox is understood in its %s dialect', (name) => {
  const dialect = dialects[name];
  const deliver = (happening: Happening) => readDelivery(renderBody(dialect, happening, 'dl_1'), context);

  it.each(Object.keys(chosen) as Choice[])('a decision: %s, the same by webhook and by row', (choice) => {
    for (const region of ['DE', 'US-CA']) {
      const happening = decision(choice, region);
      const told = factOf(deliver(happening), 'decision');
      const row = factOf(readConsentRow(Buffer.from(JSON.stringify(dialect.row(happening))), context), 'decision');
      const purposes = Object.fromEntries(
        Object.entries(happening.purposes).map(([purpose, granted]) => [purpose, granted ? 'granted' : 'denied']),
      );
      for (const fact of [told, row]) {
        expect(fact).toMatchObject({
          recordId: 'rec_1',
          subject: happening.visitorHash,
          bannerId: 'bn_1',
          state: chosen[choice].state,
          purposes,
          region,
          language: 'de',
        });
        expect([fact.occurred.at, fact.occurred.counts]).toEqual([at.toISOString(), true]);
      }
      expect([told.via, row.via]).toEqual(['webhook', 'pull']);
      expect(decisionIdOf(told)).toBe(decisionIdOf(row));
    }
  });
  it.each(requestKinds)('a request: %s', (kind) => {
    const fact = factOf(
      deliver({
        event: 'dsar.submitted',
        requestId: 'rq_1',
        kind,
        name: 'Zo\u00eb Garc\u00eda',
        email: 'zoe@mail.example',
        visitorHash: 'cd'.repeat(32),
        jurisdiction: 'US-CA',
        language: 'en',
        message: 'Please.',
        at,
      }),
      'request',
    );
    expect(fact).toMatchObject({
      requestId: 'rq_1',
      kind,
      requesterName: 'Zo\u00eb Garc\u00eda',
      requesterEmail: 'zoe@mail.example',
      subject: 'cd'.repeat(32),
      jurisdiction: 'US-CA',
      language: 'en',
      message: 'Please.',
    });
    expect(fact.occurred.at).toBe(at.toISOString());
  });
  it('a scan', () => {
    const fact = factOf(
      deliver({
        event: 'cookie_scan.completed',
        scanId: 'sc_1',
        domain: 'shop.example',
        pages: 40,
        cookiesFound: 21,
        trackersFound: 5,
        uncategorised: 3,
        score: 87,
        at,
      }),
      'scan',
    );
    expect(fact).toMatchObject({
      scanId: 'sc_1',
      domain: 'shop.example',
      cookiesFound: 21,
      trackersFound: 5,
      score: 87,
    });
    if (name !== 'terse') expect(fact.uncategorised).toBe(3);
    expect(fact.occurred.at).toBe(at.toISOString());
  });
  it.each(['integration.connected', 'integration.disconnected'] as const)('%s', (event) => {
    const fact = factOf(
      deliver({ event, integrationId: 'in_1', name: 'Shopware', site: 'shop.example', at }),
      'integration',
    );
    expect(fact).toMatchObject({
      integrationId: 'in_1',
      name: 'Shopware',
      site: 'shop.example',
      change: event.split('.')[1],
    });
    expect(fact.occurred.at).toBe(at.toISOString());
  });
  it.each(['policy.created', 'policy.published', 'policy.updated', 'policy.deleted'] as const)('%s', (event) => {
    const fact = factOf(
      deliver({
        event,
        policyId: 'pol_1',
        policyType: 'privacy-policy',
        title: 'Privacy',
        brandName: 'Shop',
        jurisdiction: 'DE',
        language: 'de',
        userId: 'us_1',
        version: 4,
        at,
      }),
      'policy',
    );
    expect(fact).toMatchObject({
      policyId: 'pol_1',
      policyType: 'privacy-policy',
      jurisdiction: 'DE',
      language: 'de',
      event,
      change: event.split('.')[1],
    });
    expect(fact.version).toBe(event === 'policy.published' ? null : '4');
    expect(fact.occurred.at).toBe(at.toISOString());
  });
});
