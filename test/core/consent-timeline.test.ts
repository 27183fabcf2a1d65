import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contradicts } from '../../src/core/consent-judgement.ts';
import { MAX_SAYINGS, standingAt, type ToldDecision, timelineOf } from '../../src/core/consent-timeline.ts';

import { replay } from '../consent/plain-replay.ts';
import { runs } from '../temporary.ts';

let next = 0;
function told(day: number, purposes: object, changes: Partial<ToldDecision> = {}): ToldDecision {
  next += 1;
  const at = `2026-06-${String(day).padStart(2, '0')}T10:00:00.000Z`;
  return {
    seq: next,
    at,
    decision_id: `r:${next}`,
    banner_id: 'b',
    state: 'given',
    purposes: JSON.stringify(purposes),
    expires_at: null,
    policy_id: 'pol_1',
    policy_version: '1',
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

describe('the consent at a given time', () => {
  const rows = [
    told(1, { analytics: 'granted', marketing: 'granted', necessary: 'granted' }),
    told(10, { analytics: 'granted', marketing: 'denied' }),
    told(20, {}, { state: 'withdrawn' }),
    told(25, { analytics: 'granted', marketing: 'denied' }),
  ];

  test('is given by purpose, and later decisions do not change earlier times', () => {
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

  test('names the decision that determines it, and since when', () => {
    const [banner] = standingAt(timelineOf(rows), on(15));
    expect(banner?.purposes).toMatchObject([
      { purpose: 'analytics', since: '2026-06-10T10:00:00.000Z', decisionId: rows[1]?.decision_id },
      { purpose: 'marketing', since: '2026-06-10T10:00:00.000Z', decisionId: rows[1]?.decision_id },
    ]);
  });

  test('is separate for each banner', () => {
    const two = [told(1, { ads: 'granted' }), told(2, { ads: 'denied' }, { banner_id: 'other' })];
    expect(standingAt(timelineOf(two), on(3)).map(({ bannerId, purposes }) => [bannerId, purposes[0]?.state])).toEqual([
      ['b', 'granted'],
      ['other', 'refused'],
    ]);
  });
});

test('a decision with contradictory records grants nothing, but what both deny stays denied', () => {
  const both = [
    told(1, { analytics: 'granted', ads: 'granted', sale: 'denied' }, { decision_id: 'r:x' }),
    told(1, { analytics: 'denied', ads: 'granted', sale: 'denied' }, { decision_id: 'r:x', conflicts: 1 }),
  ];
  expect(stateAt(both, 2)).toEqual({ ads: 'disputed', analytics: 'disputed', sale: 'refused' });
});

test('records that agree complete each other', () => {
  const both = [
    told(1, {}, { decision_id: 'r:x' }),
    told(1, { analytics: 'granted', ads: 'denied' }, { decision_id: 'r:x' }),
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

test('a purpose keeps the expiry of the decision that granted it, until a later one renews it', () => {
  const ends = { expires_at: '2026-06-20T00:00:00.000Z' };
  const partly = [told(15, { analytics: 'granted' }, ends), told(16, { functional: 'granted' })];
  expect(stateAt(partly, 19)).toEqual({ analytics: 'granted', functional: 'granted' });
  expect(stateAt(partly, 20)).toEqual({ analytics: 'expired', functional: 'granted' });
  expect(timelineOf(partly).map(({ stands }) => stands)).toEqual([['analytics'], ['analytics', 'functional']]);
  const renewed = [...partly, told(25, { analytics: 'granted' }, { expires_at: '2026-06-28T00:00:00.000Z' })];
  expect([stateAt(renewed, 26)['analytics'], stateAt(renewed, 28)['analytics']]).toEqual(['granted', 'expired']);
});

test('expired consent is neither withdrawn by a later denial nor restored by a later choice', () => {
  const first = told(1, { analytics: 'granted' }, { expires_at: '2026-06-05T00:00:00.000Z' });
  const denied = timelineOf([first, told(10, { analytics: 'denied' })]);
  expect(denied[1]).toMatchObject({ label: 'refused', withdraws: [], stands: [] });
  expect(timelineOf([first, told(10, { ads: 'granted' })])[1]?.stands).toEqual(['ads']);
  expect(stateAt([first, told(10, {}, { state: 'refused' })], 11)).toEqual({ analytics: 'refused' });
});

test('names that differ only in case are one purpose, shown in its last spelling', () => {
  const rows = [told(1, { Analytics: 'granted', ads: 'granted' }), told(2, { analytics: 'denied', ADS: 'granted' })];
  expect(stateAt(rows, 3)).toEqual({ analytics: 'withdrawn', ADS: 'granted' });
  expect(timelineOf(rows)[1]).toMatchObject({ label: 'partly-withdrawn', withdraws: ['analytics'], stands: ['ADS'] });
});

test('a purpose that a disputed decision grants stays in doubt after a later choice about another', () => {
  const rows = [
    told(1, { analytics: 'granted' }, { decision_id: 'r:x' }),
    told(1, { analytics: 'denied' }, { decision_id: 'r:x', conflicts: 1 }),
    told(5, { ads: 'granted' }),
  ];
  expect(stateAt(rows, 6)).toEqual({ ads: 'granted', analytics: 'disputed' });
  expect(timelineOf(rows).map(({ stands }) => stands)).toEqual([[], ['ads']]);
});

test('a choice that could not be read leaves earlier consent unclear; asking again changes nothing', () => {
  const given = told(1, { ads: 'granted' });
  expect(stateAt([given, told(2, {}, { state: 'unknown' })], 3)).toEqual({ ads: 'unclear' });
  expect(stateAt([given, told(2, {}, { state: 'requested' })], 3)).toEqual({ ads: 'granted' });
  const all = [told(1, {}), told(2, {}, { state: 'withdrawn' }), told(3, {}, { state: 'requested' })];
  expect(stateAt(all, 4)).toEqual({ '*': 'withdrawn' });
});

test('consent to all purposes replaces earlier refusals', () => {
  const rows = [told(1, { ads: 'denied', analytics: 'granted' }), told(2, {})];
  expect(stateAt(rows, 3)).toEqual({ '*': 'granted', analytics: 'granted' });
});

test('a purpose named twice in a record is denied if it is denied once, in any order', () => {
  for (const twice of [
    { Analytics: 'granted', analytics: 'denied' },
    { Analytics: 'denied', analytics: 'granted' },
  ]) {
    expect(Object.values(stateAt([told(1, twice)], 2))).toEqual(['refused']);
    const saying = (purposes: object) => ({ ...told(1, purposes), subject: 's' });
    expect(contradicts(saying({ analytics: 'granted' }), saying(twice))).toBe(true);
    expect(contradicts(saying({ analytics: 'denied' }), saying(twice))).toBe(false);
  }
});

test('a purpose that one record withdraws and another grants with all others is disputed, until consent to all renews it', () => {
  const contested = [
    told(2, { analytics: 'denied' }, { decision_id: 'r:2', state: 'refused' }),
    told(2, {}, { decision_id: 'r:2', conflicts: 1 }),
  ];
  const rows = [told(1, { analytics: 'granted' }), ...contested];
  expect(stateAt(rows, 2)).toEqual({ '*': 'disputed', analytics: 'disputed' });
  expect(stateAt([...rows, told(3, {})], 3)).toEqual({ '*': 'granted', analytics: 'granted' });
});

test('grants of earlier decisions are kept up to a limit, those of the latest always', () => {
  const purposes = (prefix: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 'granted']));
  const standing = (rows: readonly ToldDecision[]) => timelineOf(rows).at(-1)?.stands.length;
  expect(standing([told(1, purposes('a', 400)), told(2, purposes('b', 1))])).toBe(401);
  expect(standing([told(1, purposes('a', 400)), told(2, purposes('b', 400))])).toBe(400);
  expect(standing(Array.from({ length: 28 }, (_, day) => told(day + 1, purposes(`${day}-`, 10))))).toBe(50);
});

test('a decision with ever more versions is disputed, and judging it takes no longer', () => {
  const ways = Array.from({ length: 1000 }, (_, i) =>
    told(1, { [`purpose-${i}`]: 'granted' }, { decision_id: 'r:same', conflicts: i >= MAX_SAYINGS ? 1 : 0 }),
  );
  const [judged] = timelineOf(ways);
  expect(judged).toMatchObject({ label: 'disputed', stands: [] });
  expect(judged?.outcomes.size).toBe(MAX_SAYINGS);
});

test('the timeline agrees with a plain replay of the records, purpose by purpose', () => {
  const purposes = fc.dictionary(
    fc.constantFrom('analytics', 'Analytics', 'ads', 'necessary'),
    fc.constantFrom('granted', 'denied'),
    { maxKeys: 3 },
  );
  const record = fc.record({
    day: fc.integer({ min: 1, max: 9 }),
    decision: fc.integer({ min: 1, max: 6 }),
    state: fc.constantFrom('given', 'given', 'refused', 'withdrawn', 'expired', 'terminated', 'requested', 'unknown'),
    purposes,
    until: fc.option(fc.integer({ min: 1, max: 12 })),
    version: fc.constantFrom('1', '2', null),
  });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 10 }), fc.integer({ min: 1, max: 12 }), (records, day) => {
      const rows: ToldDecision[] = [];
      for (const { day: made, decision, state, purposes: chosen, until, version } of records) {
        const before = rows.filter(({ decision_id }) => decision_id === `r:${decision}`);
        const row = told(made, chosen, { decision_id: `r:${decision}`, state, policy_version: version });
        const saying = (one: ToldDecision) => ({ ...one, subject: 's' });
        const conflicts = before.some((one) => contradicts(saying(one), saying(row))) ? 1 : 0;
        rows.push({ ...row, conflicts, expires_at: until === null ? null : on(until) });
      }
      const plain = replay(
        rows.map((row) => ({
          ...{ seq: row.seq, subject: 's', banner: 'b', decision: row.decision_id, at: row.at, state: row.state },
          ...{ purposes: JSON.parse(row.purposes) as Record<string, string>, until: row.expires_at },
          version: row.policy_version,
        })),
        on(day),
      );
      const said = Object.entries(stateAt(rows, day)).map(([purpose, state]) => [purpose.toLowerCase(), state]);
      const expected = [...(plain.get('s b') ?? [])].map(([purpose, { is }]) => [purpose, is]);
      // If records contradict each other, nothing may be granted that the replay does not grant.
      const counts = ([, state]: readonly (string | undefined)[]) =>
        state === 'granted' || rows.every(({ conflicts }) => conflicts === 0);
      expect(Object.fromEntries(said.filter(counts))).toEqual(Object.fromEntries(expected.filter(counts)));
    }),
    { numRuns: runs(200) },
  );
});
