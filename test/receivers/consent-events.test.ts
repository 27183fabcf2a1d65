import { describe, expect, it } from 'vitest';
import { factOf, read } from './reading.ts';

const content = {
  visitor_id: 'v-1',
  purposes: { analytics: true, marketing: false },
  timestamp: '2026-07-01T10:00:00Z',
};

describe('an event that the service does not document', () => {
  it.each([
    'consent.updated',
    'consent_updated',
    'consent-saved',
    'consent.given',
    'Segment Consent Preference Updated',
    'cookie_consent_update',
    'preferences.updated',
    'zarazConsentChoicesUpdated',
    'einwilligung.gespeichert',
    'user.opt_in',
  ])('is read as a record of consent if its name and content are of consent: %s', (event) => {
    const reading = read({ event, ...content });
    const fact = factOf(reading, 'decision');
    expect(reading.event).toBe(event);
    expect(fact.purposes).toEqual({ analytics: 'granted', marketing: 'denied' });
    expect(factOf(read({ event, data: content }), 'decision').purposes).toEqual(fact.purposes);
  });

  it.each([
    'consent_banner.published',
    'consent.policy.updated',
    'consent_scan.finished',
    'cookie.scan',
    'consent.integration.added',
    'dsar_consent.saved',
    'optout.request.created',
    'consent.default',
    'banner.consent.shown',
    'user.updated',
  ])('is not read as a record of consent if its name is of something else: %s', (event) => {
    const reading = read({ event, ...content });
    expect(reading.outcome === 'read' ? reading.fact.type : reading.outcome).not.toBe('decision');
  });

  it.each(['features', 'available', 'initial', 'requested', 'banner', 'old'])(
    'grants nothing that is only described in its content: %s',
    (name) => {
      const fact = factOf(
        read({ event: 'consent.recorded', visitor_id: 'v-1', [name]: { analytics: true, marketing: true } }),
        'decision',
      );
      expect(fact.purposes).toEqual({});
      expect(fact.state).toBe('unknown');
    },
  );

  it('stays unknown if its preferences are not of consent', () => {
    const reading = read({ event: 'preferences.updated', user_id: 'u-1', preferences: { dark_mode: true } });
    expect(reading.outcome).toBe('unknown-event');
  });

  it('stays unknown if its content says nothing of a choice', () => {
    const reading = read({ event: 'consent.updated', id: 'x-1', visitor_id: 'v-1', note: 'hello' });
    expect(reading).toMatchObject({ outcome: 'unknown-event', event: 'consent.updated' });
  });

  it.each(['consent.withdrawn', 'consent.revoked', 'user_opted_out', 'newsletter.unsubscribed'])(
    'withdraws consent by its name alone if the content says nothing else: %s',
    (event) => {
      const fact = factOf(read({ event, visitor_id: 'v-1', timestamp: '2026-07-01T10:00:00Z' }), 'decision');
      expect(fact).toMatchObject({ state: 'withdrawn', doubts: [] });
    },
  );

  it('is in doubt if its name says withdrawn and its content grants', () => {
    const fact = factOf(read({ event: 'consent.withdrawn', visitor_id: 'v-1', purposes: { ads: true } }), 'decision');
    expect(fact.state).toBe('unknown');
    expect(fact.doubts).toMatchObject([{ reason: 'contradiction' }]);
  });

  it('is in doubt if its name says given and its content refuses', () => {
    const fact = factOf(read({ event: 'consent.given', visitor_id: 'v-1', decision: 'rejected' }), 'decision');
    expect(fact.state).toBe('unknown');
    expect(fact.doubts).toMatchObject([{ reason: 'contradiction' }]);
  });

  it('grants nothing that its content denies although its name says given', () => {
    const fact = factOf(read({ event: 'consent.given', purposes: { analytics: false } }), 'decision');
    expect(fact).toMatchObject({ state: 'refused', purposes: { analytics: 'denied' } });
  });
});
