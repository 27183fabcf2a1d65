import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factOf, read } from './reading.ts';

const decisionOf = (payload: Record<string, unknown>) =>
  factOf(read({ event: 'consent.recorded', ...payload }), 'decision');

describe('the category of a purpose', () => {
  const keys = fc.constantFrom(
    ...'category categorySlug category_name categoryId cookieCategory group groupName type kategorie categorie catégorie categoria categoría kategoria kategori luokka gruppe groupe grupo gruppo typ tipo'.split(
      ' ',
    ),
  );
  const necessary = fc.constantFrom(
    ...'essential necessary strictly_necessary Essenziell notwendig nécessaires necesarias necessari noodzakelijk necessários niezbędne nödvändiga'.split(
      ' ',
    ),
  );
  const flag = fc.constantFrom('status', 'consent', 'granted', 'enabled', 'zgoda');
  const as = fc.constantFrom<(name: string) => unknown>(
    (name) => name,
    (name) => ({ slug: name, position: 1 }),
    (name) => [name],
  );
  it('makes it necessary if it names necessity, so that it grants nothing', () => {
    fc.assert(
      fc.property(keys, necessary, flag, as, (key, name, said, form) => {
        const fact = decisionOf({
          services: [
            { name: 'Maps', [key]: 'statistics', [said]: false },
            { name: 'Tool', [key]: form(name), [said]: true },
          ],
        });
        expect([fact.state, Object.values(fact.purposes)]).toEqual(['refused', ['denied', 'necessary']]);
      }),
    );
  });
  it('of any other name leaves it granted', () => {
    fc.assert(
      fc.property(
        keys,
        fc.constantFrom('statistics', 'marketing', 'funktional', 'non_essential'),
        flag,
        (key, name, said) => {
          const { purposes } = decisionOf({ services: [{ name: 'Tool', [key]: name, [said]: true }] });
          expect(Object.values(purposes)).toEqual(['granted']);
        },
      ),
    );
  });
  it('does not undo a refusal', () => {
    const { purposes } = decisionOf({ services: [{ name: 'Tool', categorySlug: 'essential', status: false }] });
    expect(purposes).toEqual({ Tool: 'denied' });
  });
  it('says nothing of what nobody chose', () => {
    expect(decisionOf({ id: 'r1', services: [{ name: 'Tool', category: 'essential' }] }).state).toBe('unknown');
  });
  it.each([
    [{ services: { essential: { cms: true }, statistics: { maps: false } } }],
    [
      {
        categories: [
          { name: 'Essenziell', services: [{ name: 'cms', consent: true }] },
          { name: 'Statistik', services: [{ name: 'maps', consent: false }] },
        ],
      },
    ],
  ])('counts for what is in it: %j', (payload) => {
    const fact = decisionOf(payload);
    expect([fact.state, fact.purposes]).toEqual(['refused', { cms: 'necessary', maps: 'denied' }]);
  });
});

describe('a record that leaves the act of choosing or its time empty', () => {
  const empty = fc.constantFrom(null, '');
  const acts = fc.constantFrom(
    ...'action user_action consentAction consent_action_id decision_id interaction Entscheidung scelta azione acción keuze decyzja'.split(
      ' ',
    ),
  );
  const times = fc.constantFrom(
    ...'granted_at consented_at given_at accepted_at consentDate decided_at erteilt_am'.split(' '),
  );
  const choices = fc.oneof(
    fc.boolean().map((said) => ({ purposes: { analytics: said, marketing: false } })),
    fc.boolean().map((said) => ({ analytics: said, marketing: said })),
    fc.constant({ granted_purposes: [] }),
    fc.constantFrom('yes', 'no').map((said) => ({ analytics: said, marketing: 'no' })),
  );
  const noise = fc.constantFrom<Record<string, unknown>>(
    {},
    { created_at: '2026-06-01T10:00:00Z' },
    { created_at: '2026-06-01T10:00:00Z', updated_at: '2026-06-01T10:00:00Z' },
    { revoked_at: null },
    { region: 'EU', version: 3 },
  );
  it('is unknown: nobody has acted', () => {
    fc.assert(
      fc.property(fc.oneof(acts, times), empty, choices, noise, (name, value, chosen, beside) => {
        const fact = decisionOf({ subject: 's1', ...beside, ...chosen, [name]: value });
        expect(fact.state).toBe('unknown');
        expect(Object.values(fact.purposes)).not.toContain('granted');
      }),
    );
  });
  it.each<[string, (items: readonly object[]) => Record<string, unknown>]>([
    ['', (consents) => ({ consents })],
    ['', (consents) => ({ consents: JSON.stringify(consents) })],
    ['profile.', (consents) => ({ profile: { consents } })],
    ['profile.', (consents) => ({ profile: { consents: JSON.stringify(consents) } })],
  ])('is unknown where its purposes leave them empty, under %j', (at, place) => {
    const item = { purpose: 'service', granted: false, granted_at: null, revoked_at: null };
    const { state, doubts } = decisionOf({ subject: 's1', visitor: { id: 'v1' }, ...place([item]) });
    expect([state, doubts]).toEqual(['unknown', [{ reason: 'not-chosen', fields: [`${at}consents.granted_at=null`] }]]);
  });
  it.each([
    [
      'the time of another decision',
      { consents: [{ purpose: 'a', granted: false, granted_at: null, revoked_at: '2026-06-01T10:00:00Z' }] },
      'refused',
    ],
    [
      'the time of a later change',
      { marketing: false, granted_at: null, created_at: '2026-06-01T10:00:00Z', updated_at: '2026-06-02T10:00:00Z' },
      'refused',
    ],
    ['its own date', { marketing: false, granted_at: null, timestamp: '2026-06-01T10:00:00Z' }, 'refused'],
    ['a word of an act', { marketing: false, granted_at: null, action: 'save' }, 'refused'],
    ['a word of refusal', { marketing: false, granted_at: null, status: 'declined' }, 'refused'],
    ['an answer', { marketing: false, granted_at: null, interacted: true }, 'refused'],
    ['only an empty withdrawal', { marketing: true, revoked_at: null }, 'given'],
    ['only an empty change', { marketing: false, updated_at: null }, 'refused'],
    ['another thing accepted', { marketing: false, terms_accepted_at: null }, 'refused'],
    ['Global Privacy Control', { gpc: true, consented_at: null }, 'refused'],
  ])('is read as before beside %s', (_what, payload, state) => {
    expect(decisionOf({ subject: 's1', ...payload }).state).toBe(state);
  });
  it.each([
    ['the date of the record', { recordedAt: '2026-06-01T10:00:00Z', timestamp: '2026-06-01T10:00:00Z' }],
    ['a change', { created_at: '2026-06-01T10:00:00Z', updated_at: '2026-06-02T10:00:00Z' }],
    ['a word for a purpose', { personalization: 'denied' }],
  ])('is unknown if the act is empty, beside %s', (_what, beside) => {
    for (const said of ['yes', 'no']) {
      const { state, doubts } = decisionOf({ subject: 's1', ...beside, analytics: said, ads: said, action: '' });
      expect([state, doubts]).toEqual(['unknown', [{ reason: 'not-chosen', fields: ['action='] }]]);
    }
  });
  it.each([
    ['the time of the choice', { consented_at: '2026-06-01T10:00:00Z' }],
    ['the time of a withdrawal', { withdrawn_at: '2026-06-01T10:00:00Z' }],
    ['a word for the whole', { status: 'declined' }],
  ])('is read if the act is empty, beside %s', (_what, beside) => {
    expect(decisionOf({ subject: 's1', ...beside, analytics: 'no', ads: 'no', answer: null }).state).not.toBe(
      'unknown',
    );
  });
  it('is no known shape whose choice is dated', () => {
    const shapes = JSON.parse(readFileSync(new URL('shapes/consent.json', import.meta.url), 'utf8')) as readonly {
      readonly payload: Record<string, unknown>;
      readonly event?: string;
    }[];
    const dated = shapes.filter(({ payload }) =>
      Object.keys(payload).some((key) =>
        /^(?:timestamp|ts|date|consent_?(?:ed_?at|date|time(?:stamp)?)|(?:recorded|decided|given)_?at)$/i.test(key),
      ),
    );
    expect(dated.length).toBeGreaterThan(150);
    for (const { payload, event = 'consent.recorded' } of dated) {
      if ('granted_at' in payload) continue;
      const stateOf = (one: ReturnType<typeof read>) =>
        one.outcome === 'read' && one.fact.type === 'decision' ? one.fact.state : one.outcome;
      expect(stateOf(read({ event, ...payload, granted_at: null }))).toBe(
        stateOf(read({ event, ...payload, expires_at: null })),
      );
    }
  });
});

describe('a past participle among purposes', () => {
  const words = fc.constantFrom(
    ...'isolated quarantined sandboxed rehearsed kontrolliert simuliert pendingReview dry_run'.split(' '),
  );
  const purposes = fc.constantFrom('purposes', 'consents', 'categories', 'preferences');
  const said = fc.constantFrom<unknown>(true, false, 'yes', 'no', 'true');
  it('leaves a grant in doubt like any flag that nobody knows', () => {
    fc.assert(
      fc.property(purposes, words, said, (name, word, value) => {
        const fact = decisionOf({ [name]: { necessary: true, analytics: true, ads: true, [word]: value } });
        const at = `${name}.${word}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
        expect([fact.state, fact.doubts]).toEqual(['unknown', [{ reason: 'not-understood', fields: [at] }]]);
      }),
    );
  });
  it('leaves a grant in doubt beside others of its kind', () => {
    expect(decisionOf({ purposes: { analytics: true, isolated: false, rehearsed: true } }).state).toBe('unknown');
  });
  it.each([
    [true, 'unknown'],
    [false, 'refused'],
  ])('is no purpose of a refusal, which it leaves in doubt if it says yes: %s', (said, state) => {
    for (const payload of [
      { purposes: { analytics: false, ads: false, isolated: said } },
      { analytics: false, ads: false, isolated: said },
    ]) {
      const fact = decisionOf(payload);
      expect([fact.state, fact.purposes]).toEqual([state, { analytics: 'denied', ads: 'denied' }]);
    }
  });
  it.each([
    ['known to say nothing', { analytics: true, verified: true }, { analytics: 'granted' }],
    ['that describes content', { analytics: true, embedded: true }, { analytics: 'granted', embedded: 'granted' }],
    ['of a purpose', { analytics: true, personalized: true }, { analytics: 'granted', personalized: 'granted' }],
    ['beside names of the site', { maps: true, isolated: true }, { maps: 'granted', isolated: 'granted' }],
    ['that is a number', { analytics: 1, isolated: 1 }, { analytics: 'granted', isolated: 'granted' }],
  ])('%s does not', (_what, purposes, read) => {
    const fact = decisionOf({ purposes });
    expect([fact.state, fact.purposes]).toEqual(['given', read]);
  });
});

describe('what a form says in a sentence', () => {
  it.each([
    ['Presto il consenso', 'Nego il consenso', 'consenso_immagini', 'consenso_marketing'],
    ['Presto il mio consenso', 'Non presto il consenso', 'consenso_foto', 'consenso_newsletter'],
    ['Doy mi consentimiento', 'No doy mi consentimiento', 'consentimiento_fotos', 'consentimiento_marketing'],
    ['Ich gebe meine Einwilligung', 'Ich gebe keine Einwilligung', 'einwilligung_fotos', 'einwilligung_werbung'],
    ['Je donne mon consentement', 'Je refuse mon consentement', 'consentement_photos', 'consentement_marketing'],
    ['Ik geef toestemming', 'Ik geef geen toestemming', 'toestemming_fotos', 'toestemming_marketing'],
  ])('%s, %s', (yes, no, granted, denied) => {
    const { state, purposes } = decisionOf({ [granted]: yes, [denied]: no, informativa: true });
    expect([state, purposes]).toEqual(['given', { [granted]: 'granted', [denied]: 'denied' }]);
  });
  it('grants nothing in a string of signals', () => {
    expect(decisionOf({ subject: 's1', timestamp: '2026-06-01T10:00:00Z', uspConsent: '1---' }).purposes).toEqual({});
  });
});

it('reads a cookie of pairs by the name in its text, whatever its field is called', () => {
  expect(
    decisionOf({ site: 'https://a.example', témoin: 'tarteaucitron=!id=a5c8!matomo=true!hotjar=false' }).purposes,
  ).toEqual({
    matomo: 'granted',
    hotjar: 'denied',
  });
});

it('reads a list of withdrawn purposes', () => {
  const { state, purposes } = decisionOf({
    subject: 's1',
    finalidades_revogadas: ['marketing'],
    consentimento_lgpd: false,
  });
  expect([state, purposes]).toEqual(['refused', { marketing: 'denied' }]);
});

describe('a refusal beside a list of names', () => {
  const statements = fc.constantFrom<Record<string, unknown>>(
    { status: 'deny' },
    { action: 'reject' },
    { cookieconsent_status: 'denied' },
  );
  const refusals = fc.oneof(statements, fc.constant({ marketing: false }));
  const names = fc.constantFrom<unknown>(['statistics'], ['necessary', 'analytics'], '["statistics"]');
  const stateBeside = (refusal: Record<string, unknown>, list: string, named: unknown) =>
    decisionOf({ subject: 's1', ...refusal, [list]: named }).state;
  it('is in doubt if the list is called consent', () => {
    const lists = fc.constantFrom(
      ...'consents consent cookie_consents cookieconsent_mode consentements einwilligungen'.split(' '),
    );
    fc.assert(
      fc.property(refusals, lists, names, (refusal, list, named) => {
        expect(stateBeside(refusal, list, named)).toBe('unknown');
      }),
    );
  });
  it('stands if the list may hold what was asked', () => {
    const lists = fc.constantFrom(
      ...'purposes categories requested_purposes consent_purposes consent_types scopes permissions'.split(' '),
    );
    fc.assert(
      fc.property(statements, lists, names, (refusal, list, named) => {
        expect(stateBeside(refusal, list, named)).toBe('refused');
      }),
    );
  });
  it.each([
    [{ status: 'withdrawn', consents: ['statistics'] }, 'withdrawn'],
    [{ status: 'deny', consents: ['necessary'] }, 'refused'],
    [{ status: 'deny', consents: [] }, 'refused'],
  ])('is read as before: %j', (payload, state) => {
    expect(decisionOf({ subject: 's1', ...payload }).state).toBe(state);
  });
});
