import { describe, expect, it } from 'vitest';
import { judgeChoice, outcomesOf, type PurposeChoices } from '../../src/core/consent-judgement.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';

const choices = (text: string): PurposeChoices =>
  Object.fromEntries(
    text
      .split(' ')
      .filter((part) => part !== '')
      .map((part) => [part.slice(1), part.startsWith('+') ? 'granted' : 'denied'] as const),
  );

describe('a decision is judged by purpose', () => {
  const cases: readonly (readonly [string, string, ConsentState, string, string, string, string])[] = [
    ['everything granted', '', 'given', '+necessary +analytics +marketing', 'given', '', 'analytics marketing'],
    ['consent given again', 'analytics', 'renewed-given', '+analytics', 'renewed-given', '', 'analytics'],
    [
      'some granted, some denied',
      '',
      'given',
      '+necessary +preferences -analytics -marketing',
      'partly-given',
      '',
      'preferences',
    ],
    ['only necessary granted', '', 'given', '+necessary', 'refused', '', ''],
    ['everything denied', '', 'refused', '+necessary -analytics', 'refused', '', ''],
    ['a stated "given" that denies everything', '', 'given', '-analytics -marketing', 'refused', '', ''],
    [
      'a granted purpose denied, another kept',
      'analytics marketing',
      'given',
      '-analytics +marketing',
      'partly-withdrawn',
      'analytics',
      'marketing',
    ],
    [
      'a granted purpose denied, another not named',
      'analytics marketing',
      'refused',
      '-marketing',
      'partly-withdrawn',
      'marketing',
      'analytics',
    ],
    ['all granted purposes denied', 'analytics', 'refused', '-analytics -marketing', 'withdrawn', 'analytics', ''],
    [
      'a denied purpose that was never granted',
      'analytics',
      'given',
      '+analytics -marketing',
      'partly-given',
      '',
      'analytics',
    ],
    ['refused as a whole after consent', 'analytics', 'refused', '', 'withdrawn', 'analytics', ''],
    [
      'withdrawn without a known consent',
      '',
      'withdrawn',
      '-analytics -marketing',
      'withdrawn',
      'analytics marketing',
      '',
    ],
    ['withdrawn without purposes', 'analytics marketing', 'withdrawn', '', 'withdrawn', 'analytics marketing', ''],
    ['withdrawn, naming what had been granted', 'analytics', 'withdrawn', '+analytics', 'withdrawn', 'analytics', ''],
    [
      'withdrawn in part',
      'analytics marketing',
      'withdrawn',
      '+analytics -marketing',
      'partly-withdrawn',
      'marketing',
      'analytics',
    ],
    [
      'withdrawn, naming the old choice',
      'analytics',
      'withdrawn',
      '+analytics -marketing',
      'withdrawn',
      'analytics marketing',
      '',
    ],
    ['withdrawn after an accepted whole', '*', 'withdrawn', '', 'withdrawn', '*', ''],
    [
      'a purpose denied after an accepted whole',
      '*',
      'given',
      '-analytics +marketing',
      'partly-withdrawn',
      'analytics',
      'marketing',
    ],
    ['accepted as a whole', '', 'given', '', 'given', '', '*'],
    ['a refusal that lists granted purposes', '', 'refused', '+analytics', 'refused', '', ''],
    ['expired', 'analytics', 'expired', '+analytics', 'expired', '', ''],
    ['the banner shown again', 'analytics', 'requested', '', 'requested', '', 'analytics'],
    ['necessary denied', '', 'given', '-necessary +analytics', 'given', '', 'analytics'],
  ];
  it.each(cases)('%s', (_name, before, state, purposes, label, withdraws, stands) => {
    const list = (text: string) => (text === '' ? [] : text.split(' '));
    expect(judgeChoice(list(before), { state, purposes: choices(purposes) })).toMatchObject({
      label,
      withdraws: list(withdraws),
      stands: list(stands),
    });
  });
});

describe('totals by purpose', () => {
  it('count a purpose as granted, refused or withdrawn, and necessary ones not at all', () => {
    const said = { state: 'given', purposes: choices('+necessary +preferences -analytics -marketing') } as const;
    expect(Object.fromEntries(outcomesOf(said, ['marketing']))).toEqual({
      preferences: 'granted',
      analytics: 'refused',
      marketing: 'withdrawn',
    });
  });
  it('count nothing as granted in a withdrawal that names earlier grants', () => {
    const said = { state: 'withdrawn', purposes: choices('+analytics +marketing') } as const;
    expect([...outcomesOf(said, ['analytics', 'marketing']).values()]).toEqual(['withdrawn', 'withdrawn']);
  });
});
