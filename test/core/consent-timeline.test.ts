import { describe, expect, test } from 'vitest';
import { standingAt, timelineOf, type ToldDecision } from '../../src/core/consent-timeline.ts';

let next = 0;
function told(day: number, purposes: object, changes: Partial<ToldDecision> = {}): ToldDecision {
  next += 1;
  const at = `2026-06-${String(day).padStart(2, '0')}T10:00:00.000Z`;
  return {
    seq: next,
    received_at: at,
    at,
    via: 'webhook',
    decision_id: `r:${next}`,
    banner_id: 'b',
    state: 'given',
    purposes: JSON.stringify(purposes),
    expires_at: null,
    conflicts: 0,
    ...changes,
  };
}
const on = (day: number) => `2026-06-${String(day).padStart(2, '0')}T23:59:59.000Z`;
/** `analytics: granted` … of all banners together. */
const stateAt = (rows: readonly ToldDecision[], day: number) =>
  Object.fromEntries(
    standingAt(timelineOf(rows), on(day)).flatMap(({ purposes }) =>
      purposes.map(({ purpose, state }) => [purpose, state]),
    ),
  );

describe('how consent stood at a moment', () => {
  const rows = [
    told(1, { analytics: 'granted', marketing: 'granted', necessary: 'granted' }),
    told(10, { analytics: 'granted', marketing: 'denied' }),
    told(20, {}, { state: 'withdrawn', via: 'request' }),
    told(25, { analytics: 'granted', marketing: 'denied' }),
  ];

  test('is told purpose by purpose, and what comes later changes nothing before', () => {
    expect(stateAt(rows, 1)).toEqual({ analytics: 'granted', marketing: 'granted' });
    expect(stateAt(rows, 10)).toEqual({ analytics: 'granted', marketing: 'withdrawn' });
    expect(stateAt(rows, 20)).toEqual({ analytics: 'withdrawn', marketing: 'withdrawn' });
    expect(stateAt(rows, 25)).toEqual({ analytics: 'granted', marketing: 'refused' });
    expect(standingAt(timelineOf(rows), '2026-06-01T09:59:59.999Z')).toEqual([]);
    expect(standingAt(timelineOf(rows), on(1))[0]?.necessary).toEqual(['necessary']);
  });

  test('does not depend on the order in which the records became known', () => {
    for (const day of [1, 10, 20, 25]) expect(stateAt(rows.toReversed(), day)).toEqual(stateAt(rows, day));
  });

  test('names the decision that made it so and since when', () => {
    const [banner] = standingAt(timelineOf(rows), on(15));
    expect(banner?.purposes).toMatchObject([
      { purpose: 'analytics', since: '2026-06-10T10:00:00.000Z', decisionId: rows[1]?.decision_id },
      { purpose: 'marketing', since: '2026-06-10T10:00:00.000Z', decisionId: rows[1]?.decision_id },
    ]);
  });

  test('keeps banners apart', () => {
    const two = [told(1, { ads: 'granted' }), told(2, { ads: 'denied' }, { banner_id: 'other' })];
    expect(standingAt(timelineOf(two), on(3)).map(({ bannerId, purposes }) => [bannerId, purposes[0]?.state])).toEqual([
      ['b', 'granted'],
      ['other', 'refused'],
    ]);
  });
});

test('a decision whose records contradict each other grants nothing, and what both deny stays denied', () => {
  const both = [
    told(1, { analytics: 'granted', ads: 'granted', sale: 'denied' }, { decision_id: 'r:x' }),
    told(1, { analytics: 'denied', ads: 'granted', sale: 'denied' }, { decision_id: 'r:x', via: 'pull', conflicts: 1 }),
  ];
  expect(stateAt(both, 2)).toEqual({ ads: 'disputed', analytics: 'disputed', sale: 'refused' });
});

test('records that agree complete each other', () => {
  const both = [
    told(1, {}, { decision_id: 'r:x' }),
    told(1, { analytics: 'granted', ads: 'denied' }, { decision_id: 'r:x', via: 'pull' }),
  ];
  expect(stateAt(both, 2)).toEqual({ ads: 'refused', analytics: 'granted' });
});

test('consent expires at the time that its record states', () => {
  const rows = [told(1, { ads: 'granted' }, { expires_at: '2026-06-05T00:00:00.000Z' })];
  expect([stateAt(rows, 4), stateAt(rows, 5)]).toEqual([{ ads: 'granted' }, { ads: 'expired' }]);
});

test('consent that names no purpose is listed as such until a choice by purpose replaces it', () => {
  const rows = [told(1, {}), told(5, { ads: 'denied' })];
  expect([stateAt(rows, 2), stateAt(rows, 6)]).toEqual([{ '*': 'granted' }, { ads: 'withdrawn' }]);
  expect(stateAt([...rows.slice(0, 1), told(5, {}, { state: 'terminated' })], 6)).toEqual({ '*': 'terminated' });
});
