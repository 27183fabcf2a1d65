import { describe, expect, it, test } from 'vitest';
import { contradictsRecord } from '../../receivers/signals/contradictions.ts';
import { decodeSignals } from '../../receivers/signals/decode.ts';
import { statementsOf } from '../../receivers/signals/statements.ts';
import type { ConsentState } from '../../src/core/vocabulary.ts';
import { bitsOf, encodeBits, gppHeader, tcCore, tcString, vendorField } from './signal-strings.ts';

/** `+analytics -marketing` as the purposes of a record. */
const purposesIn = (text: string) =>
  Object.fromEntries(
    text
      .split(' ')
      .filter((part) => part !== '')
      .map((part) => [part.slice(1).replaceAll('_', ' '), part.startsWith('+') ? 'granted' : 'denied'] as const),
  );

/** Contradictions as `signal purpose record`, sorted. */
function found(signals: Readonly<Record<string, string>>, purposes: string, state: ConsentState = 'given') {
  return contradictsRecord(decodeSignals(signals), { state, purposes: purposesIn(purposes) })
    .map(({ signal, purpose, record }) => `${signal} ${purpose ?? '*'} ${record}`)
    .sort();
}

const none = { tcf: tcString({}) };
const some = { tcf: tcString({ consent: [1, 7], interest: [2, 9], vendors: vendorField([3]) }) };
/** A section for California: sale, sharing; GPC. */
const california = (sale: number, sharing: number, gpc = '') =>
  `${gppHeader([8])}~${encodeBits(`${bitsOf(1, 6)}010101${bitsOf(sale, 2)}${bitsOf(sharing, 2)}${'00'.repeat(12)}010000`)}${gpc}`;
const GPC_ON = `.${encodeBits('011')}`;
/** A section for Virginia: sale, targeted advertising. */
const virginia = (sale: number, targeted: number) =>
  `${gppHeader([9])}~${encodeBits(`${bitsOf(1, 6)}010101${bitsOf(sale, 2)}${bitsOf(targeted, 2)}${'00'.repeat(9)}010000`)}`;

describe('a TC string without any consent', () => {
  it('contradicts a record that grants something', () => {
    expect(found(none, '+analytics -marketing')).toEqual(['tcf * grants']);
    expect(found(none, '+tcf.1 +tcf.2')).toEqual(['tcf * grants']);
    expect(found({ gpp: `${gppHeader([2])}~${tcCore({})}` }, '+analytics')).toEqual(['gpp.tcfeuv2 * grants']);
  });
  it('contradicts consent that names no purposes', () => {
    expect(found(none, '', 'given')).toEqual(['tcf * grants']);
    expect(found(none, '', 'renewed-given')).toEqual(['tcf * grants']);
  });
  it('agrees with a refusal, a withdrawal, what is necessary, and a choice that is not known', () => {
    expect(found(none, '-analytics', 'refused')).toEqual([]);
    expect(found(none, '', 'withdrawn')).toEqual([]);
    expect(found(none, '+necessary -analytics')).toEqual([]);
    expect(found(none, '', 'unknown')).toEqual([]);
  });
  it('has none if it has only legitimate interest, and some if the publisher’s own purposes have it', () => {
    expect(
      found({ tcf: tcString({ interest: [2, 7, 8, 9, 10], interestVendors: vendorField([1, 2]) }) }, '+ads'),
    ).toEqual(['tcf * grants']);
    const own = encodeBits(`${bitsOf(3, 3)}1${'0'.repeat(47)}${bitsOf(0, 6)}`);
    expect(found({ tcf: `${tcString({})}.${own}` }, '+analytics')).toEqual([]);
    expect(found({ tcf: tcString({ specialFeatures: [1] }) }, '+analytics')).toEqual([]);
  });
  it('says so in plain words', () => {
    expect(contradictsRecord(decodeSignals(none), { state: 'given', purposes: { ads: 'granted' } })).toEqual([
      { signal: 'tcf', purpose: null, record: 'grants', says: 'the TC string has no consent for any purpose' },
    ]);
  });
});

describe('a TC string with some consent', () => {
  it('contradicts the purposes that the record names by number or by published name, one by one', () => {
    expect(found(some, '+tcf.1 +tcf.3 +iabv2_7 +IAB2V2_8')).toEqual(['tcf IAB2V2 8 grants', 'tcf tcf.3 grants']);
    expect(found(some, '+purpose_4 -purpose_7')).toEqual(['tcf purpose 4 grants', 'tcf purpose 7 refuses']);
    expect(found(some, '+Store_and/or_access_information_on_a_device +Use_limited_data_to_select_content')).toEqual([
      'tcf Use limited data to select content grants',
    ]);
    // As published with TCF 2.0, and in American spelling.
    expect(found(some, '+Measure_ad_performance +Create_a_personalized_ads_profile')).toEqual([
      'tcf Create a personalized ads profile grants',
    ]);
  });
  it('agrees with purposes that have other names: a bare number or "marketing" may be any platform’s', () => {
    expect(found(some, '+1 +2 +3 +marketing +C0004 +p3 -analytics')).toEqual([]);
    expect(found(some, '')).toEqual([]);
  });
  it('does not count legitimate interest as consent, and says so', () => {
    const [contradiction] = contradictsRecord(decodeSignals(some), {
      state: 'given',
      purposes: { 'tcf.2': 'granted' },
    });
    expect(contradiction?.says).toBe(
      'the TC string has no consent for purpose 2 Use limited data to select advertising, only legitimate interest, which is not consent',
    );
  });
  it('does not count purpose 1 as refused where it was not disclosed', () => {
    const german = { tcf: tcString({ consent: [2], purposeOneNotDisclosed: true }) };
    expect(found(german, '+tcf.1 +tcf.2')).toEqual([]);
    expect(found({ tcf: tcString({ consent: [2] }) }, '+tcf.1 +tcf.2')).toEqual(['tcf tcf.1 grants']);
  });
  it('never grants what the record refuses, but is reported', () => {
    expect(found(some, '-analytics -marketing', 'refused')).toEqual(['tcf * refuses']);
    expect(found(some, '', 'withdrawn')).toEqual(['tcf * refuses']);
    expect(found(some, '-tcf.1', 'refused')).toEqual(['tcf * refuses']);
    expect(found(some, '', 'unknown')).toEqual([]);
    expect(contradictsRecord(decodeSignals(some), { state: 'refused', purposes: {} })[0]?.says).toBe(
      'the TC string has consent for purposes 1, 7',
    );
  });
});

describe('an opt-out in a GPP or US Privacy string', () => {
  it('contradicts a purpose that is the sale of data or advertising, and no other', () => {
    for (const name of ['marketing', 'Advertising', 'ads'])
      expect(found({ us_privacy: '1YYN' }, `+${name}`), name).toHaveLength(1);
    for (const name of ['sale', 'Sale_of_personal_information', 'sell_or_share', 'SPD_BG', 'data-selling']) {
      expect(found({ us_privacy: '1YYN' }, `+${name}`), name).toHaveLength(1);
      expect(found({ gpp: `${gppHeader([6])}~1YYN` }, `+${name}`), name).toHaveLength(1);
      expect(found({ gpp: california(1, 2) }, `+${name}`), name).toHaveLength(1);
      expect(found({ us_privacy: '1YNN', gpp: california(2, 2) }, `+${name}`), name).toEqual([]);
    }
    for (const name of ['sale_alerts', 'sales', 'analytics', 'do_not_sell', 'wholesale'])
      expect(found({ us_privacy: '1YYN', gpp: california(1, 2) }, `+${name}`), name).toEqual([]);
  });
  it('contradicts sharing and targeted advertising where it says so', () => {
    expect(found({ gpp: california(2, 1) }, '+sharing +sale')).toEqual(['gpp.usca sharing grants']);
    expect(found({ gpp: virginia(2, 1) }, '+targeted_advertising +sharing')).toEqual([
      'gpp.usva targeted advertising grants',
    ]);
    expect(found({ gpp: virginia(2, 1) }, '+Targeting')).toEqual(['gpp.usva Targeting grants']);
    expect(found({ gpp: virginia(2, 2) }, '+targeted_advertising')).toEqual([]);
    expect(found({ gpp: virginia(0, 0) }, '+targeted_advertising +sale')).toEqual([]);
  });
  it('contradicts consent that names no purposes, since that covers the sale too', () => {
    expect(found({ us_privacy: '1YYN' }, '')).toEqual(['us_privacy * grants']);
    expect(found({ gpp: virginia(2, 1) }, '')).toEqual(['gpp.usva * grants']);
    expect(found({ us_privacy: '1YNN', gpp: california(2, 2) }, '')).toEqual([]);
    expect(found({ us_privacy: '1YYN' }, '', 'refused')).toEqual([]);
  });
  it('that is missing is not consent, so a refusal stands without comment', () => {
    expect(found({ us_privacy: '1YNN', gpp: california(2, 2) }, '-sale -sharing', 'refused')).toEqual([]);
  });
});

describe('Global Privacy Control', () => {
  it('contradicts purposes that are the sale or sharing of data', () => {
    expect(found({ gpc: '1' }, '+sale +analytics')).toEqual(['gpc sale grants']);
    expect(found({ gpc: '1' }, '+data_sharing')).toEqual(['gpc data sharing grants']);
    expect(found({ gpp: california(2, 2, GPC_ON) }, '+sale')).toEqual(['gpp.usca sale grants']);
  });
  it('is a general preference, so it contradicts neither an explicit "accept all" nor advertising', () => {
    expect(found({ gpc: '1' }, '')).toEqual([]);
    expect(found({ gpc: '1' }, '+targeting +marketing')).toEqual([]);
    expect(found({ gpc: '0' }, '+sale')).toEqual([]);
  });
});

describe('Google’s consent mode', () => {
  const mode = (fields: Record<string, string>) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [`consent_mode.${name}`, value]));
  it('contradicts the purpose of the same name, and the one that platforms report under it', () => {
    const signals = mode({ ad_storage: 'denied', analytics_storage: 'granted', ad_user_data: 'denied' });
    expect(found(signals, '+ad_storage')).toEqual(['consent_mode ad storage grants']);
    expect(found(signals, '+marketing +analytics')).toEqual(['consent_mode marketing grants']);
    expect(found(signals, '-marketing -statistics')).toEqual(['consent_mode statistics refuses']);
    expect(found(mode({ analytics_storage: 'denied' }), '+Statistics +marketing')).toEqual([
      'consent_mode Statistics grants',
    ]);
  });
  it('agrees with other purposes and with equal choices', () => {
    const signals = mode({ ad_storage: 'denied', analytics_storage: 'granted' });
    expect(found(signals, '+analytics -marketing +video +email_marketing +performance')).toEqual([]);
    expect(found(mode({ functionality_storage: 'denied', security_storage: 'granted' }), '+functional')).toEqual([]);
  });
  it('contradicts consent without purposes only if advertising and analytics are denied', () => {
    expect(found(mode({ ad_storage: 'denied', analytics_storage: 'denied' }), '')).toEqual(['consent_mode * grants']);
    expect(found(mode({ ad_storage: 'denied', analytics_storage: 'granted' }), '')).toEqual([]);
    expect(found(mode({ ad_storage: 'denied' }), '')).toEqual([]);
  });
});

test('a damaged string and additional consent say nothing about a record', () => {
  const signals = {
    tcf: tcString({}).slice(0, 40),
    gpp: 'DBABLA~!',
    us_privacy: '1Y',
    gpc: 'x',
    addtl_consent: '2~~dv.4',
  };
  expect(found(signals, '+sale +tcf.1 +ads')).toEqual([]);
  expect(statementsOf(decodeSignals(signals))).toEqual([]);
  expect(found({}, '+ads')).toEqual([]);
});

test('a signal never grants: whatever it says, a record that grants nothing is only reported as refusing', () => {
  const everything = {
    tcf: tcString({ consent: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }),
    gpp: california(2, 2),
    us_privacy: '1YNN',
    gpc: '0',
    addtl_consent: '1~1.2.3',
    'consent_mode.ad_storage': 'granted',
    'consent_mode.analytics_storage': 'granted',
  };
  for (const state of ['refused', 'withdrawn'] as const)
    expect(new Set(found(everything, '-ads -tcf.1', state).map((text) => text.split(' ').at(-1)))).toEqual(
      new Set(['refuses']),
    );
});
