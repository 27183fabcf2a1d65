import { describe, expect, it } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import { type Reading, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { isNecessary, judgeChoice, purposeKey } from '../../src/core/consent-judgement.ts';
import { type Capture, keptCaptures } from './captures/fixtures.ts';
import { bytes, context } from './reading.ts';

/** After the captured choices, before the receipt. */
const DISPATCHED = '2026-11-27T18:00:00.000Z';
const received = { ...context, receivedAt: '2026-11-28T08:00:00.000Z' };

/** How a payload may arrive. Flat only if it has no event of its own. */
function readingsOf(payload: object): ReadonlyMap<string, Reading> {
  const event = 'consent.recorded';
  const readings = new Map([
    ['in an envelope', readDelivery(bytes({ event, timestamp: DISPATCHED, data: payload }), received)],
    ['as a row', readConsentRow(bytes(payload), received)],
  ]);
  if (!('event' in payload)) readings.set('flat', readDelivery(bytes({ event, ...payload }), received));
  return readings;
}

type Expected = Capture['expect'];
const labelOf = (decision: DecisionFact): string => judgeChoice([], decision).label;

/** Everything that counts as granted: what then stands, and necessary purposes. */
function grantedBy(decision: DecisionFact): readonly string[] {
  const { stands } = judgeChoice([], decision);
  const necessary = Object.entries(decision.purposes).filter(
    ([name, choice]) => choice === 'granted' && isNecessary(name),
  );
  return [...stands, ...necessary.map(([name]) => name)];
}

/** Whether a name is one of those expected. One within an object counts by itself: `consents.analytics` is `analytics`. */
function isNamed(name: string, names: readonly string[]): boolean {
  const spellings = names.flatMap((one) => one.split('|')).map(purposeKey);
  return spellings.some((spelling) => `.${purposeKey(name)}`.endsWith(`.${spelling}`));
}

/** What is granted and must not be. Consent that names no purpose is right if nothing was refused. */
function wronglyGranted(decision: DecisionFact, { granted, denied, either }: Expected): readonly string[] {
  const allowed = [...granted, ...either, ...(granted.length > 0 && denied.length === 0 ? ['*'] : [])];
  return grantedBy(decision).filter((name) => !isNamed(name, allowed));
}

/** A label that says the opposite of the choice. Doubt is safe. */
function wrongLabel(decision: DecisionFact, { granted }: Expected, necessaryUnsaid: boolean): string | null {
  const label = labelOf(decision);
  const refusal = label === 'refused' || label === 'withdrawn';
  if (granted.length > 0) return refusal ? label : null;
  // A necessary purpose that does not look like one makes a refusal of all others a partial grant.
  if (label === 'partly-given' && necessaryUnsaid) return null;
  return /given/.test(label) ? label : null;
}

/** Another time than the stated one. A time of receipt, marked as such, is safe, and so is any time of an unknown choice. */
function wrongTime(decision: DecisionFact, { time }: Expected): string | null {
  const { occurred } = decision;
  if (time === null || occurred.basis === 'received' || labelOf(decision) === 'unknown') return null;
  return Date.parse(occurred.at) === Date.parse(time) ? null : occurred.at;
}

/** Whether the choice is read: everything granted is, and a refusal is one. */
function isUnderstood(decision: DecisionFact, { granted }: Expected): boolean {
  if (granted.length === 0) return ['refused', 'withdrawn'].includes(labelOf(decision));
  const found = grantedBy(decision);
  return found.includes('*') || granted.every((name) => found.some((one) => isNamed(one, [name])));
}

const captured = keptCaptures().flatMap(([, { package: name, version, necessaryUnsaid = false, captures }]) =>
  captures.flatMap(({ scenario, form, payload, expect: expected }) =>
    [...readingsOf(payload as object)].map(([way, reading]) => ({
      what: `${name} ${version}, ${scenario}, ${form}, ${way}`,
      decision: reading.outcome === 'read' && reading.fact.type === 'decision' ? reading.fact : null,
      expected,
      necessaryUnsaid,
    })),
  ),
);

/** What was read, each with what is wrong with it. */
function wrong(find: (decision: DecisionFact, one: (typeof captured)[number]) => string | null): readonly string[] {
  return captured.flatMap((one) => {
    const found = one.decision === null ? null : find(one.decision, one);
    return found === null ? [] : [`${one.what}: ${found}`];
  });
}

describe('what consent packages give after a visitor’s choice', () => {
  it('is kept for at least eight packages with three scenarios each', () => {
    const rich = keptCaptures().filter(([, { captures }]) => new Set(captures.map((one) => one.scenario)).size >= 3);
    expect(rich.length).toBeGreaterThanOrEqual(8);
  });

  it('is never read as consent to what the visitor did not choose', () => {
    expect(wrong((decision, { expected }) => wronglyGranted(decision, expected).join(', ') || null)).toEqual([]);
  });

  it('is never shown as the opposite of the choice', () => {
    const found = wrong((decision, { expected, necessaryUnsaid }) => wrongLabel(decision, expected, necessaryUnsaid));
    expect(found).toEqual([]);
  });

  it('is dated by the latest choice, or by the receipt', () => {
    expect(wrong((decision, { expected }) => wrongTime(decision, expected))).toEqual([]);
  });

  it('is understood in at least 60 % of the cases', () => {
    const understood = captured.filter(
      ({ decision, expected }) => decision !== null && isUnderstood(decision, expected),
    );
    expect(understood.length / captured.length).toBeGreaterThanOrEqual(0.6);
  });
});
