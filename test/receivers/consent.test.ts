import { describe, expect, it } from 'vitest';
import type { DecisionFact } from '../../receivers/consent.ts';
import { isAnonymousRepeat } from '../../receivers/index.ts';
import { decisionIdOf, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { bytes, context, factOf, RECEIVED, read } from './reading.ts';

const decision = (fields: object, fieldNames: Record<string, string[]> = {}) =>
  factOf(read({ event: 'consent.recorded', visitor_hash: 'v1', ...fields }, fieldNames), 'decision');
const all = { necessary: true, analytics: true };
const none = { necessary: true, analytics: false };

describe('the state of a decision', () => {
  it.each<[string, object, DecisionFact['state']]>([
    ['accept_all', { action: 'accept_all' }, 'given'],
    ['Accepted', { status: 'Accepted' }, 'given'],
    ['ALLOW', { choice: 'ALLOW' }, 'given'],
    ['opt-in', { decision: 'opt-in' }, 'given'],
    ['a flag', { consent: true }, 'given'],
    ['1', { granted: 1 }, 'given'],
    ['"true"', { consent_given: 'true' }, 'given'],
    ['reject_all', { action: 'reject_all' }, 'refused'],
    ['declined', { status: 'declined' }, 'refused'],
    ['denied', { consent_status: 'denied' }, 'refused'],
    ['false', { accepted: false }, 'refused'],
    ['0', { consent: 0 }, 'refused'],
    ['necessary only', { choice: 'necessary_only' }, 'refused'],
    ['a flag of refusal', { rejected: true }, 'refused'],
    ['withdrawn', { status: 'withdrawn' }, 'withdrawn'],
    ['revoke', { action: 'revoke' }, 'withdrawn'],
    ['a flag of withdrawal beside an old choice', { status: 'accepted', withdrawn: true }, 'withdrawn'],
    [
      'a time of withdrawal beside an old choice',
      { status: 'accepted', withdrawn_at: '2026-07-01T10:00:00Z' },
      'withdrawn',
    ],
    ['expired', { status: 'expired' }, 'expired'],
    ['invalid', { status: 'invalid' }, 'invalidated'],
    ['renewed', { status: 'renewed' }, 'renewed-given'],
    ['dismissed', { action: 'dismissed' }, 'request-deferred'],
    ['shown', { action: 'shown' }, 'requested'],
    ['a word that nobody knows', { status: 'frobnicated' }, 'unknown'],
    ['nothing', {}, 'unknown'],
    ['custom without purposes', { action: 'custom' }, 'unknown'],
    ['custom with something granted', { action: 'custom', categories: all }, 'given'],
    ['custom with what is necessary alone', { action: 'custom', categories: none }, 'refused'],
    ['save before a definite word', { action: 'save', status: 'rejected' }, 'refused'],
    ['accepted with what is necessary alone', { status: 'accepted', categories: ['strictly_necessary'] }, 'refused'],
    ['accepted with something more', { status: 'accepted', categories: all }, 'given'],
    ['unknown if a refusal and the purposes disagree', { status: 'rejected', categories: all }, 'unknown'],
    ['purposes alone, some granted', { categories: all }, 'given'],
    ['purposes alone, none granted', { categories: { analytics: false } }, 'refused'],
    ['an unknown word with purposes', { status: 'frobnicated', categories: all }, 'given'],
  ])('%s', (_name, fields, state) => {
    expect(decision(fields).state).toBe(state);
  });
  it('is unread if its word is unknown', () => {
    expect(read({ event: 'consent.recorded', visitor_hash: 'v', status: 'frobnicated' })).toMatchObject({
      unread: ['status'],
    });
  });
});

describe('a history', () => {
  const at = (day: number, more: object) => ({ date: `2026-06-0${day}T10:00:00Z`, ...more });
  it.each<[string, object[], DecisionFact['state']]>([
    ['its latest entry counts', [at(3, { status: 'revoked' }), at(1, { status: 'granted' })], 'withdrawn'],
    ['in any order', [at(1, { status: 'revoked' }), at(3, { status: 'granted' })], 'given'],
    ['two latest entries state nothing', [at(3, { status: 'revoked' }), at(3, { status: 'granted' })], 'unknown'],
    ['nor does an entry without a time', [{ status: 'revoked' }, at(3, { status: 'granted' })], 'unknown'],
    ['nor one that is not understood', [at(1, { status: 'frobnicated' }), at(3, { status: 'granted' })], 'unknown'],
    ['nor one with a flag that nobody knows', [at(3, { status: 'granted', pendingReview: true })], 'unknown'],
  ])('%s', (_name, history, state) => {
    expect(decision({ history }).state).toBe(state);
  });
});

describe('purposes are read from', () => {
  const expected = { analytics: 'granted', marketing: 'denied' };
  it.each<[string, object]>([
    ['flags', { categories: { analytics: true, marketing: false } }],
    ['0 and 1', { purposes: { analytics: 1, marketing: 0 } }],
    ['words', { consents: { analytics: 'granted', marketing: 'denied' } }],
    ['yes and no', { preferences: { analytics: 'Yes', marketing: 'No' } }],
    ['objects', { choices: { analytics: { granted: true }, marketing: { status: 'denied', since: 1 } } }],
    [
      'a list of objects',
      {
        purposes: [
          { name: 'analytics', granted: true },
          { name: 'marketing', granted: false },
        ],
      },
    ],
    [
      'a list of objects with words',
      {
        categories: [
          { category: 'analytics', status: 'accepted' },
          { category: 'marketing', status: 'declined' },
        ],
      },
    ],
    ['two lists', { accepted_categories: ['analytics'], rejected_categories: ['marketing'] }],
    ['two lists with short names', { accepted: ['analytics'], rejected: ['marketing'] }],
    ['JSON in text', { categories: '{"analytics":true,"marketing":false}' }],
    ['lists in text', { accepted_categories: 'analytics', rejected_categories: 'marketing' }],
    ['flags of the record', { analytics: true, marketing: false }],
    ['the consent itself', { consent: { analytics: true, marketing: false } }],
    [
      'a consent object with more in it',
      { consent: { id: 'c', status: 'custom', categories: { analytics: true, marketing: false } } },
    ],
  ])('%s', (_name, fields) => {
    expect(decision(fields).purposes).toEqual(expected);
  });
  it.each<[string, object, object]>([
    [
      'a list of accepted ones',
      { accepted_categories: ['necessary', 'Analytics Cookies'] },
      { necessary: 'granted', 'Analytics Cookies': 'granted' },
    ],
    ['names in text', { accepted: 'necessary, analytics' }, { necessary: 'granted', analytics: 'granted' }],
    [
      'a bare list under a word of acceptance',
      { action: 'accept_selected', categories: ['necessary', 'analytics'] },
      { necessary: 'granted', analytics: 'granted' },
    ],
    ['nothing in a bare list that does not say what it lists', { categories: ['necessary', 'analytics'] }, {}],
    ['none where only the whole is told', { status: 'accepted', consent: 'granted' }, {}],
    ['none out of other fields of a consent', { consent: { id: 'c', status: 'granted', given: true, version: 2 } }, {}],
    [
      'the names of Google consent mode',
      { consent: { ad_storage: 'denied', analytics_storage: 'granted' } },
      { ad_storage: 'denied', analytics_storage: 'granted' },
    ],
  ])('%s', (_name, fields, purposes) => {
    expect(decision(fields).purposes).toEqual(purposes);
  });
  it('keeps a purpose with a strange name unchanged', () => {
    const fact = factOf(
      read('{"event":"consent.recorded","visitor_hash":"v","categories":{"__proto__":true,"constructor":false}}'),
      'decision',
    );
    expect(Object.entries(fact.purposes)).toEqual([
      ['__proto__', 'granted'],
      ['constructor', 'denied'],
    ]);
    expect(decisionIdOf(fact)).toMatch(/^c:[0-9a-f]{64}$/);
  });
  it('names what it does not understand', () => {
    const reading = read({
      event: 'consent.recorded',
      visitor_hash: 'v',
      categories: { analytics: true, marketing: 'perhaps' },
    });
    expect(reading).toMatchObject({ fact: { purposes: { analytics: 'granted' } }, unread: ['categories.marketing'] });
  });
});

describe('the subject and the banner', () => {
  it.each<[object, object]>([
    [
      { visitorId: 'v1', bannerID: 'b1', Id: 'c1' },
      { subject: 'v1', bannerId: 'b1', recordId: 'c1' },
    ],
    [
      { visitor: { hash: 'v1' }, banner: { id: 'b1' }, consent: { id: 'c1' } },
      { subject: 'v1', bannerId: 'b1', recordId: 'c1' },
    ],
    [
      { id: 'evt', data: { subject_hash: 'v1', banner_id: 'b1', record_id: 'c1' } },
      { subject: 'v1', bannerId: 'b1', recordId: 'c1' },
    ],
    [
      { policy: { id: 'p', version: 3 }, visitor_id: 'v1' },
      { policyId: 'p', policyVersion: '3', recordId: null },
    ],
    [{ visitor_id: 'v1', geo: { country: 'US', region: 'CA' } }, { region: 'US-CA' }],
    [{ visitor_id: 'v1', country: 'DE', region: 'DE' }, { region: 'DE' }],
    [{ visitor_id: 'v1', expires_at: '2027-07-01' }, { expiresAt: '2027-07-01T00:00:00.000Z' }],
  ])('%j', (fields, expected) => {
    expect(factOf(read({ event: 'consent.recorded', action: 'accept', ...fields }), 'decision')).toMatchObject(
      expected,
    );
  });
  it('never reads the account’s user as the visitor', () => {
    expect(factOf(read({ event: 'consent.recorded', user_id: 'u1', action: 'accept' }), 'decision').subject).toBeNull();
  });
  it('keeps the digits of ids beyond 2^53', () => {
    const text =
      '{"event":"consent.recorded","id":12345678901234567890123,"visitor_id":-9007199254740993,"n":1.00000000000000000001,"s":"say \\"9007199254740993\\" 9007199254740995"}';
    const fact = factOf(read(text), 'decision');
    expect([fact.recordId, fact.subject]).toEqual(['12345678901234567890123', '-9007199254740993']);
  });
  it('tries a name that the source configures before the built-in ones', () => {
    const fact = decision(
      { person: { key: 'p1' }, kennung: 'k1' },
      { subject: ['data.person.key'], recordId: ['Kennung'] },
    );
    expect([fact.subject, fact.recordId]).toEqual(['p1', 'k1']);
  });
  it('cannot be read if nothing says who or what', () => {
    expect(read({ event: 'consent.recorded', foo: 1 })).toMatchObject({
      outcome: 'unreadable',
      event: 'consent.recorded',
    });
  });
  it('ignores an id that is longer than any real id', () => {
    expect(decision({ id: 'x'.repeat(301), action: 'accept' }).recordId).toBeNull();
  });
  it('makes text that any database can hold', () => {
    const fact = factOf(
      read('{"event":"consent.recorded","visitor_id":"a\\u0000b\\ud800c","action":"accept"}'),
      'decision',
    );
    expect(fact.subject).toBe('a\ufffdb\ufffdc');
    expect(decisionIdOf(fact)).toMatch(/^c:/);
  });
});

describe('when', () => {
  it.each<[object, string, string]>([
    [{ timestamp: '2026-07-01T10:00:00Z' }, '2026-07-01T10:00:00.000Z', 'payload'],
    [{ created_at: 1782900000 }, '2026-07-01T10:00:00.000Z', 'payload'],
    [{ recorded_at: '2026-07-01 10:00:00' }, '2026-07-01T10:00:00.000Z', 'assumed-offset'],
    [{ recorded_at: '2026-07-01T09:59:00Z', timestamp: '2026-07-01T10:00:00Z' }, '2026-07-01T09:59:00.000Z', 'payload'],
    [{}, RECEIVED, 'received'],
    [{ timestamp: 'soon' }, RECEIVED, 'received'],
  ])('%j', (fields, at, basis) => {
    expect(decision({ action: 'accept', ...fields }).occurred).toEqual({ at, basis, counts: true });
  });
  it('the time of a withdrawal is that of the withdrawal', () => {
    const fact = decision({
      status: 'withdrawn',
      recorded_at: '2026-06-01T10:00:00Z',
      withdrawn_at: '2026-07-01T10:00:00Z',
    });
    expect(fact.occurred.at).toBe('2026-07-01T10:00:00.000Z');
  });
});

describe('a row of the consent log', () => {
  const row = {
    id: 'c1',
    banner_id: 'b1',
    visitor_hash: 'v1',
    action: 'accept_all',
    created_at: '2026-07-01T10:00:00Z',
  };
  it('is a pulled decision with the row as its source', () => {
    const reading = readConsentRow(bytes(row), context);
    expect(reading).toMatchObject({ outcome: 'read', event: 'consent.recorded', unread: [] });
    expect(factOf(reading, 'decision')).toMatchObject({
      via: 'pull',
      recordId: 'c1',
      occurred: { basis: 'row', counts: true },
    });
  });
  it.each(['[]', '1', 'null', '{', '"text"', '{}', '{"foo":1}'])('cannot be read from %s', (text) => {
    expect(readConsentRow(bytes(text), context)).toMatchObject({ outcome: 'unreadable', event: 'consent.recorded' });
  });
});

describe('the identity of a decision', () => {
  const fields = { visitor_hash: 'v1', banner_id: 'b1', action: 'accept', categories: { b: true, a: true } };
  const fact = (more: object) => decision({ ...fields, ...more });
  it('is the record id where there is one', () => {
    expect(decisionIdOf(fact({ record_id: 'c9' }))).toBe('r:c9');
  });
  it('otherwise is shared by a webhook and a row that say the same, to the second', () => {
    const row = factOf(
      readConsentRow(
        bytes({
          visitor_hash: 'v1',
          banner_id: 'b1',
          state: 'accepted',
          purposes: ['a', 'b'],
          created_at: '2026-07-01T10:00:00.700Z',
        }),
        context,
      ),
      'decision',
    );
    expect(decisionIdOf(row)).toBe(decisionIdOf(fact({ timestamp: '2026-07-01T10:00:00Z' })));
  });
  it.each<[string, object]>([
    ['the subject', { visitor_hash: 'v2' }],
    ['the banner', { banner_id: 'b2' }],
    ['the second', { timestamp: '2026-07-01T10:00:01Z' }],
    ['the choice', { action: 'withdraw' }],
    ['the purposes', { categories: { a: true, b: false } }],
  ])('otherwise depends on %s', (_name, more) => {
    const timestamp = '2026-07-01T10:00:00Z';
    expect(decisionIdOf(fact({ timestamp, ...more }))).not.toBe(decisionIdOf(fact({ timestamp })));
  });
  it('keeps unknown visitors of the same second apart', () => {
    const ids = ['100', '200'].map((millis) =>
      decisionIdOf({ ...fact({ timestamp: `2026-07-01T10:00:00.${millis}Z` }), subject: null }),
    );
    expect(new Set(ids).size).toBe(2);
  });
  it('is uncertain in a repeat without id and time, and certain with either', () => {
    expect(isAnonymousRepeat(fact({}))).toBe(true);
    expect(isAnonymousRepeat(fact({ id: 'c1' }))).toBe(false);
    expect(isAnonymousRepeat(fact({ event_id: 'e1' }))).toBe(false);
    expect(isAnonymousRepeat(fact({ timestamp: '2026-07-01T10:00:00Z' }))).toBe(false);
  });
  it('uses the event’s own id only if no row could match anyway', () => {
    expect(fact({ event_id: 'e1' }).recordId).toBe('e1');
    expect(fact({ event_id: 'e1', timestamp: '2026-07-01T10:00:00Z' }).recordId).toBeNull();
  });
});

describe('what accompanies a choice', () => {
  it('is kept: the act, the page without its query, the site, the method and the version of the banner', () => {
    expect(
      decision({
        action: 'accept_all',
        page_url: 'https://anna:pw@Shop.example/cart/2?email=anna%40example.org#top',
        method: 'banner',
        banner: { id: 'b1', version: 7 },
      }),
    ).toMatchObject({
      action: 'accept_all',
      page: 'https://shop.example/cart/2',
      domain: 'shop.example',
      method: 'banner',
      bannerVersion: '7',
    });
    expect(decision({ choice: 'allow', banner: { id: 'b1', domain: 'Shop.Example' } })).toMatchObject({
      action: 'allow',
      domain: 'shop.example',
      page: null,
    });
  });
  it('is a statement and not a purpose: GPC, a TCF string, fields of the consent mode', () => {
    const fact = decision({
      categories: { analytics: true, marketing: false, ad_storage: 'denied' },
      consent_mode: { analytics_storage: 'granted', wait_for_update: 500 },
      gpc: true,
      tc_string: 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
    });
    // The TCF string has no consent at all.
    expect(fact).toMatchObject({ purposes: { marketing: 'denied' }, doubts: [{ reason: 'contradiction' }] });
    expect(fact.signals).toEqual({
      gpc: '1',
      tcf: 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
      'consent_mode.ad_storage': 'denied',
      'consent_mode.analytics_storage': 'granted',
    });
  });
  it('includes fields of the consent mode as purposes if they are the only choice', () => {
    const fact = decision({ action: 'save', consent_mode: { analytics_storage: 'granted', ad_storage: 'denied' } });
    expect(fact.purposes).toEqual({ ad_storage: 'denied', analytics_storage: 'granted' });
    expect(fact.state).toBe('given');
    expect(decision({ ad_storage: 'denied', security_storage: 'granted' }).purposes).toEqual({
      ad_storage: 'denied',
      security_storage: 'granted',
    });
  });
  it('includes Google’s additional consent and the names that apps store strings under', () => {
    const { signals } = decision({
      action: 'accept_all',
      addtl_consent: '2~7.12~dv.31',
      IABTCF_TCString: 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
      IABGPP_HDR_GppString: 'DBABTA~1YNN',
      IABUSPrivacy_String: '1YNN',
    });
    expect(signals).toEqual({
      addtl_consent: '2~7.12~dv.31',
      gpp: 'DBABTA~1YNN',
      tcf: 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
      us_privacy: '1YNN',
    });
    expect(decision({ action: 'save', tcData: { addtlConsent: '1~7' } }).signals).toEqual({ addtl_consent: '1~7' });
  });
  it('is bounded', () => {
    const fact = decision({ action: 'x'.repeat(200), method: 'y'.repeat(200), tc_string: 'C'.repeat(5000) });
    expect(fact).toMatchObject({ action: null, method: null, signals: { tcf: '(5000 characters)' } });
    expect(decision({ action: 'save', page_url: `https://shop.example/${'z'.repeat(900)}` }).page).toHaveLength(300);
  });
});

describe('a record that contradicts itself', () => {
  it.each<[object, readonly string[]]>([
    [{ consent: 'no', choice: 'accept' }, ['consent=no', 'choice=accept']],
    [{ action: 'reject_all', status: 'accepted' }, ['status=accepted', 'action=reject_all']],
    [{ status: 'rejected', categories: { analytics: true } }, ['status=rejected', 'analytics=granted']],
    [
      { purposes: [{ name: 'analytics', enabled: true, selected: false }] },
      ['purposes.enabled=true', 'purposes.selected=false'],
    ],
    [{ accepted: ['ads'], rejected: ['ads'] }, ['accepted=ads', 'rejected=ads']],
  ])('grants nothing and names both fields: %j', (fields, named) => {
    const { state, purposes, doubts } = decision(fields);
    expect(state).toBe('unknown');
    expect(Object.values(purposes)).not.toContain('granted');
    expect(doubts).toMatchObject([{ reason: 'contradiction' }]);
    expect(new Set(doubts[0]?.fields)).toEqual(new Set(named));
  });
  it.each<[string, object, DecisionFact['state']]>([
    ['a province', { action: 'reject_all', state: 'ON' }, 'refused'],
    ['whether the record is in use', { status: 'enabled', action: 'reject_all' }, 'refused'],
    ['the model of a region', { consent_type: 'opt-in', result: 'frobnicated' }, 'unknown'],
    ['that the visitor did something', { action: 'yes', consent: 'no' }, 'refused'],
    ['counts', { accepted: 1, rejected_count: 3 }, 'unknown'],
    [
      'an acceptance whose purposes are all denied',
      { status: 'accepted', categories: { analytics: false } },
      'refused',
    ],
  ])('is not made by %s', (_name, fields, state) => {
    expect(decision(fields)).toMatchObject({ state, doubts: [] });
  });
});

describe('what no visitor chose', () => {
  it.each<[string, object]>([
    ['a default of the region', { confirmed: false, purposes: { analytics: true } }],
    ['implied consent', { method: 'implied', categories: { analytics: true } }],
    ['no interaction', { interactionCount: 0, categories: { analytics: true } }],
    ['legitimate interest', { status: 'subscribed', legal_basis: 'legitimate_interest' }],
  ])('is not consent: %s', (_name, fields) => {
    expect(decision(fields)).toMatchObject({ state: 'unknown', doubts: [{ reason: 'not-chosen' }] });
  });
});

describe('a name with an opposite meaning', () => {
  it.each<[object, object, DecisionFact['state']]>([
    [{ categories: { doNotSell: true } }, { doNotSell: 'denied' }, 'refused'],
    [{ categories: { doNotSell: false, analytics: true } }, { analytics: 'granted' }, 'given'],
    [{ purposes: { limit_use_of_sensitive_data: true } }, { limit_use_of_sensitive_data: 'denied' }, 'refused'],
    [{ purposes: { marketing_denied: 'denied' } }, { marketing_denied: 'denied' }, 'refused'],
    [{ ccpaOptOut: true }, { ccpaOptOut: 'denied' }, 'refused'],
    [{ opt_out: true }, {}, 'refused'],
    [{ opt_out: false }, {}, 'unknown'],
  ])('refuses with true and says nothing with false: %j', (fields, purposes, state) => {
    expect(decision(fields)).toMatchObject({ purposes, state });
  });
});

describe('a purpose that needs no consent', () => {
  it.each<[object, DecisionFact['state']]>([
    [{ categories: { notwendig: true } }, 'refused'],
    [{ categories: { Nécessaires: true } }, 'refused'],
    [{ groups: ',C0001,' }, 'refused'],
    [{ categories: [{ name: 'Base', readOnly: true, enabled: true }] }, 'refused'],
    [
      {
        categories: [
          { name: 'Base', readOnly: true, enabled: true },
          { name: 'Ads', enabled: true },
        ],
      },
      'given',
    ],
  ])('is no grant: %j', (fields, state) => {
    expect(decision(fields).state).toBe(state);
  });
  it('may be named by the source', () => {
    const body = bytes({ event: 'consent.recorded', visitor_hash: 'v', categories: { Basis: true, ads: false } });
    const options = { ...context.options, necessaryPurposes: ['basis'] };
    expect(factOf(readDelivery(body, { ...context, options }), 'decision')).toMatchObject({
      state: 'refused',
      purposes: { Basis: 'necessary', ads: 'denied' },
    });
  });
});

describe('the time of a choice', () => {
  it.each<[string, object, string]>([
    [
      'is that of the latest change',
      { consent_date: '2026-06-01', updated_at: '2026-07-01T10:00:00Z' },
      '2026-07-01T10:00:00.000Z',
    ],
    ['is joined from a date and a time of day', { date: '2026-07-01', time: '10:00:00' }, '2026-07-01T10:00:00.000Z'],
    [
      'is not an older withdrawal',
      { status: 'accepted', given_at: '2026-07-01T10:00:00Z', revoked_at: '2026-05-01T10:00:00Z' },
      '2026-07-01T10:00:00.000Z',
    ],
  ])('%s', (_name, fields, at) => {
    expect(decision({ action: 'accept', ...fields }).occurred.at).toBe(at);
  });
  it('is the content’s own before that of the delivery', () => {
    const fact = factOf(
      read({
        event: 'consent.recorded',
        timestamp: '2026-07-01T11:00:00Z',
        data: { visitor_hash: 'v', choice: 'accept', created_at: '2026-07-01T10:00:00Z' },
      }),
      'decision',
    );
    expect(fact.occurred.at).toBe('2026-07-01T10:00:00.000Z');
  });
  it.each(['1970-01-01T00:00:00Z', '2031-01-01T00:00:00Z'])('is no withdrawal at %s', (revoked_at) => {
    expect(decision({ status: 'accepted', revoked_at }).state).toBe('given');
  });
  it('keeps the first consent beside a later change', () => {
    const fact = decision({
      choice: 'reject',
      consentTimestamp: '2026-05-01T10:00:00Z',
      lastConsentTimestamp: '2026-07-01T10:00:00Z',
    });
    expect(fact).toMatchObject({
      occurred: { at: '2026-07-01T10:00:00.000Z' },
      signals: { first_consent_at: '2026-05-01T10:00:00.000Z' },
    });
  });
});

it('a record keeps no character that a store cannot hold, in a name or a doubt', () => {
  const odd = 'no\ud800_marketing';
  const fact = factOf(
    read({ event: 'consent.recorded', consent: 'no', action: 'accepted', [odd]: true, ['consent\ud800']: 'accepted' }),
    'decision',
  );
  expect(JSON.stringify(fact)).not.toMatch(/\\ud800/);
});
