import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choiceMeant, purposeMeant } from '../../receivers/choice-words.ts';
import type { DecisionFact } from '../../receivers/consent.ts';
import { isApart } from '../../receivers/consent-dissent.ts';
import { roleOf } from '../../receivers/consent-names.ts';
import { isCommand } from '../../receivers/consent-purposes.ts';
import { envelopeNames, normaliseName } from '../../receivers/field-table.ts';
import { readConsentRow, readDelivery } from '../../receivers/read.ts';
import { isNecessary } from '../../src/core/consent-judgement.ts';
import { judgeDecision } from '../../src/core/consent-timeline.ts';
import { bytes, factOf } from './reading.ts';

/** A payload in the form of a consent platform's public format, and what it states. */
interface Shape {
  readonly name: string;
  readonly means: string;
  readonly payload: Record<string, unknown>;
  /** Acceptable judgements, best first. */
  readonly state: readonly string[];
  /** Names that count as granted (`a|b`: either name); no other may, except those in `either`, which need no consent. */
  readonly granted: readonly string[];
  readonly denied: readonly string[];
  readonly either: readonly string[];
  /** When the choice was made; null: any time. */
  readonly time: string | readonly string[] | null;
  /** The event's name; absent: consent.recorded. */
  readonly event?: string;
  readonly ways?: readonly Way[];
}
type Way = 'flat' | 'envelope' | 'row';

const shapes = JSON.parse(readFileSync(new URL('shapes/consent.json', import.meta.url), 'utf8')) as readonly Shape[];
const context = {
  receivedAt: '2026-11-26T15:05:00.000Z',
  options: { fieldNames: {}, assumedOffset: '+00:00' },
};
const SENT = '2026-11-26T15:04:59.000Z';

/** Forms whose meaning needs the platform's own documentation: they stay unknown, and an officer sees them. */
const leftUnknown: ReadonlySet<string> = new Set([
  'abdm-granted',
  'altinn-events',
  'amasty-disallowed',
  'apsis-optout',
  'athletic-optout-name',
  'autorizacion-no',
  'autorizacoes-pt',
  'axeptio-tout-refuser',
  'bloomreach-reject',
  'bridge-withdrew',
  'chehui-tongyi-zh',
  'cmnet-gtm-partial',
  'commanders-act',
  'commandersact-tcprivacy-cookie',
  'counts-grant',
  'counts-partial',
  'de-epa-widerspruch',
  'dk-reklamebeskyttet',
  'doui-form-ja',
  'dpv-given',
  'dpv-refused',
  'dpv-withdrawn',
  'dynamics-contactpoint',
  'egoi-removed',
  'es-publicidad',
  'espi-revoked',
  'fhir-optin',
  'fhir-permit',
  'fi-luvat',
  'fi-suoramarkkinointikielto',
  'frankfurt',
  'fusionauth-values',
  'ga4-hit-gcs-g100',
  'gcs-g100',
  'history-array',
  'inmobi-noniab-partial',
  'inmobi-noniab-refuse',
  'it-accetta',
  'it-fse-consensi',
  'j-stripe-checkout',
  'kakao',
  'kantara-explicit',
  'kantara-receipt',
  'kink-array',
  'laravel-consent-at-refuse',
  'liferay-cookies',
  'loyaltylion-unsub',
  'mailmagazine-ja',
  'matomo-given',
  'meta-leadgen',
  'mii-broadconsent',
  'model-optout-nochoice',
  'moodle-policy-declined',
  'netid-permissions',
  'nl-donorregister',
  'numbered-levels-cookie',
  'paziente-registrazione-it',
  'photos-yes-social-no-it',
  'pt-comunicacoes',
  'rdstation-legal-bases',
  'reddit-eucookie',
  'rgpd-acceptance-fr',
  'school-japan',
  'setu-aa-active',
  'shopify-customer',
  'skyscanner-triplecolon',
  'status-diff-history',
  'trustarc-cookie-string',
  'typeform-legal',
  'typo3-dp-approved',
  'uk-open-banking-revoked',
  'unomi-revokedate',
  'vendd-minus',
  'vendd-plus',
  'verein-einwilligung-de',
  'vungle-optedout',
  'zweck-bits-de',
]);

type Read = (payload: Record<string, unknown>, event?: string) => ReturnType<typeof readDelivery>;
const reading: Readonly<Record<Way, Read>> = {
  flat: (payload, event = 'consent.recorded') => readDelivery(bytes({ event, ...payload }), context),
  envelope: (payload, event = 'consent.recorded') =>
    readDelivery(bytes({ event, timestamp: SENT, data: payload }), context),
  row: (payload) => readConsentRow(bytes(payload), context),
};

/** A single record as it is judged without any other. */
function judge(fact: DecisionFact) {
  const judged = judgeDecision(
    [
      {
        seq: 1,
        at: fact.occurred.at,
        decision_id: 'd',
        banner_id: null,
        state: fact.state,
        purposes: JSON.stringify(fact.purposes),
        expires_at: null,
        policy_id: null,
        policy_version: null,
        conflicts: fact.doubts.some(({ reason }) => reason === 'contradiction') ? 1 : 0,
      },
    ],
    new Map(),
  );
  const granted = [...judged.holds.values()].filter(({ doubt }) => doubt === null).map(({ purpose }) => purpose);
  return { label: judged.label, granted };
}

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
const anyOf = (names: readonly string[]) => new Set(names.flatMap((name) => name.split('|')).map(plain));

describe.each(shapes.map((shape) => [shape.name, shape] as const))('%s', (name, shape) => {
  it.each<Way>(shape.ways === undefined ? ['flat', 'envelope', 'row'] : [...shape.ways])(
    'grants nothing else than what it states: %s',
    (way) => {
      const read = reading[way](shape.payload, shape.event);
      if (read.outcome !== 'read') {
        if (shape.state[0] !== 'unknown') expect(leftUnknown).toContain(name);
        return;
      }
      const fact = factOf(read, 'decision');
      const { label, granted } = judge(fact);
      const allowed = anyOf([...shape.granted, ...shape.either]);
      const isGrant = shape.state[0] === 'given';
      const beyond = granted.filter((one) => !(one === '*' ? isGrant : allowed.has(plain(one)) || isNecessary(one)));
      expect(beyond).toEqual([]);
      if (leftUnknown.has(name)) return;
      expect([...shape.state, ...(shape.state.includes('unknown') ? ['disputed'] : [])]).toContain(label);
      if (shape.state[0] !== 'unknown') expect(label).not.toBe('unknown');
      const named = anyOf(Object.keys(fact.purposes).filter((one) => fact.purposes[one] === 'granted'));
      const denied = anyOf(Object.keys(fact.purposes).filter((one) => fact.purposes[one] === 'denied'));
      const says = (names: ReadonlySet<string>, wanted: string) =>
        wanted.split('|').some((one) => names.has(plain(one)));
      if (!granted.includes('*')) expect(shape.granted.filter((one) => !says(named, one))).toEqual([]);
      expect(shape.denied.filter((one) => !says(denied, one))).toEqual([]);
      const times = shape.time === null ? null : [shape.time].flat().map((time) => Date.parse(time));
      if (times !== null) expect(times).toContain(Date.parse(fact.occurred.at));
    },
  );
});

it('understands most forms', () => {
  expect(leftUnknown.size / shapes.length).toBeLessThan(0.15);
});

describe('a word of refusal', () => {
  const refusals = shapes.filter(
    ({ name, state, payload }) =>
      (state[0] === 'refused' || state[0] === 'withdrawn') &&
      !leftUnknown.has(name) &&
      !ownWords.has(name) &&
      [...swaps(payload)].length > 0,
  );
  it('is found in most forms', () => {
    expect(refusals.length).toBeGreaterThan(60);
  });
  it.each(refusals.map((shape) => [shape.name, shape] as const))('decides in %s', (_name, shape) => {
    const judged = (payload: Record<string, unknown>) => {
      const read = reading.flat(payload, shape.event);
      if (read.outcome !== 'read') return read.outcome;
      const fact = factOf(read, 'decision');
      return JSON.stringify([judge(fact), fact.purposes, fact.state, fact.doubts.length]);
    };
    const before = judged(shape.payload);
    const swapped = [...swaps(shape.payload)];
    expect(
      swapped.length === 0 || swapped.some((payload) => judged(payload as Record<string, unknown>) !== before),
    ).toBe(true);
  });
});

/** Forms with encoded text, dates or words of their own, which {@link swaps} cannot turn. */
const ownWords: ReadonlySet<string> = new Set([
  'sapcommerce-consent-withdrawn',
  'sap-commerce-consent-withdrawn',
  'es-baja-boletin',
  'onetrust-cookie-refuse',
  'rcb-essential',
  'iabtcf-prefs',
  'nl-scribe-ingetrokken',
  'twilio-stop',
  'ecomail-unsubscribed',
  'hubspot-catpref',
  'gpp-optout',
  'onetrust-cookie-reject',
  'webex-sms-optout',
  'ai-baja-es',
  'webex-sms-stop',
  'lgpd-revogado',
  'tcf-bits',
]);

/** Copies of a value, each with one statement of refusal turned into one of consent, or a list of refused names renamed. */
function* swaps(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const swapped of swaps(item)) yield value.map((one: unknown, place) => (place === at ? swapped : one));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value))
      for (const swapped of swaps(item)) yield { ...value, [key]: swapped };
  } else if (value === false) yield true;
  else if (value === true) yield false;
  else if (value === 0 || value === -1) yield 1;
  else if (typeof value === 'string' && ['refused', 'withdrawn'].includes(purposeMeant(value) ?? '')) yield 'accepted';
  else if (typeof value === 'string' && /[:=](?:no|false|0|-1|deny|denied)\b/.test(value))
    yield value.replace(/([:=])(?:no|false|0|-1|deny|denied)\b/g, '$11');
}

const refusalWords = [
  'denied',
  'rejected',
  'no',
  'refuse',
  'opt_out',
  'REJECT_ALL',
  'decline',
  'abgelehnt',
  'nein',
  'refusé',
  'non',
  'rechazado',
  'rifiutato',
  'geweigerd',
  'nee',
  'recusado',
  'não',
  'odrzucono',
  'nie',
  'avvisad',
  'nej',
  'necessary_only',
];
const grantWords = [
  'granted',
  'accepted',
  'yes',
  'allow',
  'opt_in',
  'ACCEPT_ALL',
  'akzeptiert',
  'ja',
  'accepté',
  'oui',
  'aceptado',
  'sí',
  'accettato',
  'geaccepteerd',
  'aceito',
  'sim',
  'tak',
  'accepterad',
];
const purposeNames = [
  'analytics',
  'marketing',
  'Statistik',
  'publicité',
  'C0002',
  'preferences',
  'social_media',
  'pur_7',
  'google',
  'reklama',
];
const labels = [
  'consent',
  'consent_status',
  'choice',
  'decision',
  'consentDecision',
  'user_choice',
  'einwilligung',
  'choix',
  'zgoda',
];
const containers = [
  'purposes',
  'categories',
  'consents',
  'preferences',
  'cookie_categories',
  'kategorien',
  'finalites',
  'services',
  'selections',
];
const noise = fc.dictionary(
  fc.constantFrom(
    'id',
    'visitor_id',
    'timestamp',
    'region',
    'state',
    'version',
    'banner_id',
    'url',
    'method',
    'ua',
    'meta',
    'count',
    'regulation',
    'consent_model',
  ),
  fc.oneof(
    fc.constantFrom<unknown>(
      'ON',
      'eu',
      3,
      1,
      'v1',
      'banner',
      'active',
      '2026-11-26T15:00:00Z',
      'https://shop.example/',
    ),
    fc.string({ maxLength: 8 }).filter((text) => choiceMeant(text) === null),
  ),
  { maxKeys: 6 },
);

/** Any payload whose every choice is one of these values. */
function payloads(words: readonly string[], flag: boolean, list: string): fc.Arbitrary<Record<string, unknown>> {
  const word = fc.constantFrom<unknown>(...words, flag, flag ? 1 : 0, String(flag));
  const text = fc.constantFrom(...words);
  const name = fc.constantFrom(...purposeNames);
  const choices: fc.Arbitrary<unknown> = fc.oneof(
    fc.dictionary(name, word, { minKeys: 1, maxKeys: 4 }),
    fc.array(fc.record({ name, [flag ? 'granted' : 'enabled']: word }), { minLength: 1, maxLength: 4 }),
    fc.array(fc.record({ id: name, consent: fc.record({ status: word }) }), { minLength: 1, maxLength: 4 }),
    fc
      .array(fc.tuple(name, text), { minLength: 1, maxLength: 4 })
      .map((pairs) => pairs.map((pair) => pair.join(':')).join(',')),
    fc
      .array(fc.tuple(name, text), { minLength: 2, maxLength: 4 })
      .map((pairs) => pairs.map((pair) => pair.join('=')).join('|')),
    fc.dictionary(name, word, { minKeys: 1, maxKeys: 4 }).map((object) => JSON.stringify(object)),
    fc
      .array(fc.tuple(name, text), { minLength: 1, maxLength: 4 })
      .map((pairs) => pairs.map(([one, said]) => `${one} (${said})`)),
  );
  const parts: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
    fc.tuple(fc.constantFrom(...labels), text).map(([key, said]) => ({ [key]: said })),
    fc.tuple(fc.constantFrom(...containers), choices).map(([key, said]) => ({ [key]: said })),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => ({ [list]: names })),
    fc.dictionary(name, word, { minKeys: 1, maxKeys: 3 }),
  );
  const flat = fc
    .tuple(noise, fc.array(parts, { minLength: 1, maxLength: 3 }))
    .chain(([fields, stated]) =>
      fc
        .shuffledSubarray(Object.entries(Object.assign({}, fields, ...stated) as object), { minLength: 1 })
        .map((entries) => Object.fromEntries(entries)),
    );
  const wrapped = fc.oneof(
    flat,
    flat.map((inner) => ({ consent: inner })),
    flat.map((inner) => ({ data: { consent: inner } })),
    flat.map((inner) => ({ payload: JSON.stringify(inner) })),
  );
  return wrapped;
}

describe('whatever the form of a payload', () => {
  const ways = fc.constantFrom<Way>('flat', 'envelope', 'row');
  it('nothing is granted if every choice says no', () => {
    fc.assert(
      fc.property(payloads(refusalWords, false, 'rejected_categories'), ways, (payload, way) => {
        const read = reading[way](payload);
        if (read.outcome !== 'read') return;
        expect(judge(factOf(read, 'decision')).granted).toEqual([]);
      }),
    );
  });
  it.each(['hasInteracted', 'interacted', 'answered', 'confirmed', 'isConfirmed', 'completed'])(
    'nothing is granted if %s says no among known purposes, whose names it resembles',
    (name) => {
      for (const payload of [
        { cmp: { state: { analytics: 'granted', marketing: 'granted', [name]: false } }, visitor: { id: 'v' } },
        { purposes: { analytics: true, marketing: true, [name]: false } },
      ])
        expect(judge(factOf(reading.flat(payload), 'decision')).granted).toEqual([]);
    },
  );
  it.each(['withdrawn', 'isWithdrawn', 'revoked', 'optedOut', 'has_opted_out', 'unsubscribed'])(
    'nothing is granted if %s says yes among granted purposes',
    (name) => {
      for (const payload of [
        { cmp: { state: { analytics: 'granted', marketing: 'granted', [name]: true } }, visitor: { id: 'v' } },
        { purposes: { analytics: true, marketing: true, [name]: true } },
      ])
        expect(judge(factOf(reading.flat(payload), 'decision')).granted).toEqual([]);
    },
  );
  it('nothing is granted if the record says that nobody chose, where the choices stand', () => {
    const statements = fc.constantFrom<Record<string, unknown>>(
      { action: 'onInitialPageLoad' },
      { type: 'IMPLICIT' },
      { implicit: true },
      { confirmed: false },
      { preferences_set: 'false' },
      { hasInteracted: false },
      { consent_method: 'implied' },
      { is_default: true },
    );
    const places = fc.constantFrom<(one: Record<string, unknown>) => Record<string, unknown>>(
      (one) => one,
      (one) => ({ consent: one }),
      (one) => ({ data: { consent: one } }),
      (one) => ({ payload: JSON.stringify(one) }),
      (one) => ({ dataLayer: [one] }),
      (one) => ({ page: '/', visitor: { id: 'v' }, cmp: { state: one } }),
      (one) => ({ properties: { cmp: one } }),
    );
    const choices = payloads(grantWords, true, 'accepted_categories');
    fc.assert(
      fc.property(choices, statements, places, ways, (stated, notChosen, place, way) => {
        const read = reading[way](place({ ...stated, ...notChosen }));
        if (read.outcome !== 'read') return;
        expect(judge(factOf(read, 'decision')).granted).toEqual([]);
      }),
    );
  });
  it('nothing is granted if anything else in the payload speaks against it', () => {
    const statements = fc.constantFrom<Record<string, unknown>>(
      { properties: { action: 'reject' } },
      { overlay: { type: 'banner_shown' } },
      { cmp: { event: { status: 'withdrawn' } } },
      { user: { profile: [{ decision: 'abgelehnt' }] } },
      { details: { opt_out: true } },
      { context: { answer: 'geweigerd' } },
      { request: { state: 'pending' } },
    );
    const choices = payloads(grantWords, true, 'accepted_categories');
    fc.assert(
      fc.property(choices, statements, ways, (stated, dissent, way) => {
        // Beside an envelope, what is pending or shown may be the delivery.
        if ('data' in stated && /shown|pending/.test(JSON.stringify(dissent))) return;
        const read = reading[way]({ ...dissent, ...stated });
        if (read.outcome !== 'read' || Object.keys(dissent).some((key) => key in stated)) return;
        expect(judge(factOf(read, 'decision')).granted).toEqual([]);
      }),
    );
  });
  it('a yes under a name that may mean anything grants nothing', () => {
    const names = fc.constantFrom('complaints', 'sparr', 'zxq', 'spam_reports', 'hidden_for', 'werbesperre', 'todo');
    const purposes = fc.dictionary(fc.constantFrom(...purposeNames), fc.constantFrom(true, 1, 'yes'), {
      minKeys: 1,
      maxKeys: 3,
    });
    fc.assert(
      fc.property(names, purposes, ways, (name, stated, way) => {
        const read = reading[way]({ id: 'r-1', page: '/', [name]: stated });
        if (read.outcome !== 'read') return;
        expect(judge(factOf(read, 'decision')).granted).toEqual([]);
      }),
    );
  });
  it('nothing is refused if every choice says yes', () => {
    fc.assert(
      fc.property(payloads(grantWords, true, 'accepted_categories'), ways, (payload, way) => {
        const read = reading[way](payload);
        if (read.outcome !== 'read') return;
        const fact = factOf(read, 'decision');
        expect(Object.values(fact.purposes)).not.toContain('denied');
        expect(['refused', 'withdrawn']).not.toContain(fact.state);
      }),
    );
  });
});

/** Copies of a payload with one field more, in each object down to a depth whose content counts. */
function* withField(value: unknown, field: Record<string, unknown>, depth: number): Generator<unknown> {
  if (typeof value !== 'object' || value === null || depth < 0) return;
  // What was set by default is not what was chosen.
  if (isCommand(value) && value[1] !== 'update') return;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const more of withField(item, field, depth - 1))
        yield value.map((one: unknown, place) => (place === at ? more : one));
    return;
  }
  // Next to an envelope, a field describes the delivery.
  const isAround = Object.keys(value).some((key) => envelopeNames.has(normaliseName(key)));
  if (!isAround) yield { ...value, ...field };
  for (const [key, item] of Object.entries(value)) {
    if (isApart(roleOf(key)) || (isAround && !envelopeNames.has(normaliseName(key)))) continue;
    for (const more of withField(item, field, depth - 1)) yield { ...value, [key]: more };
  }
}

describe('a flag beside what was chosen', () => {
  const decided = (payload: Record<string, unknown>, event: string | undefined, way: Way) => {
    const read = reading[way](payload, event);
    if (read.outcome !== 'read') return null;
    const fact = factOf(read, 'decision');
    return { fact, ...judge(fact) };
  };
  const granting = shapes.filter(({ payload, event }) => /given$/.test(decided(payload, event, 'flat')?.label ?? ''));
  const shape = fc.constantFrom(...granting);
  const ways = fc.constantFrom<Way>('flat', 'envelope', 'row');
  const words = fc.constantFrom(
    ...'pendingReview isolated underReview sandboxed byProxy nonbinding rehearsal quarantined zxqv is_provisional testMode onBehalf madeByAgent kontrolliert probeweise'.split(
      ' ',
    ),
  );
  const letters = fc
    .array(fc.constantFrom(...'bcdfghklmnprstvwxz'), { minLength: 5, maxLength: 9 })
    .map((some) => some.join(''))
    .filter((name) => {
      const { isPurpose, isConsent, flag } = roleOf(name);
      return !isPurpose && !isConsent && flag === null;
    });
  it('leaves it in doubt if nobody knows what the flag says', () => {
    expect(granting.length).toBeGreaterThan(150);
    fc.assert(
      fc.property(shape, fc.oneof(words, letters), fc.boolean(), fc.nat(), ways, (one, name, given, at, way) => {
        const value = given || !['is_provisional', 'testMode'].includes(name) ? given : true;
        const payloads = [...withField(one.payload, { [name]: value }, 3)];
        const payload = payloads[at % payloads.length] as Record<string, unknown> | undefined;
        const told = payload === undefined ? null : decided(payload, one.event, way);
        if (told === null) return;
        // Among purposes, it is one of them.
        if (Object.keys(told.fact.purposes).some((purpose) => plain(purpose).includes(plain(name)))) return;
        expect([one.name, JSON.stringify(payload), told.granted]).toEqual([one.name, JSON.stringify(payload), []]);
      }),
      { numRuns: 3000 },
    );
  });
  it('changes nothing if it is known to say nothing', () => {
    const flags = fc.constantFrom<Record<string, unknown>>(
      { livemode: true },
      { IsDeleted: false },
      { verified: false },
      { isWildcard: true },
      { isOutsideEU: false },
      { isActiveUser: true },
      { primary: false },
      { autodetect_ip_address: true },
      { isCustomised: false },
      { bannershown: true },
      { isNewVisitor: true },
      { isMobileDevice: true },
      { is_test: false },
    );
    fc.assert(
      fc.property(shape, flags, ways, (one, flag, way) => {
        const [payload] = [...withField(one.payload, flag, 0)] as Record<string, unknown>[];
        const before = decided(one.payload, one.event, way);
        const told = payload === undefined ? null : decided(payload, one.event, way);
        const [name = ''] = Object.keys(flag);
        if (told === null || Object.keys(told.fact.purposes).some((purpose) => purpose.includes(name))) return;
        expect([one.name, JSON.stringify(payload), told.label]).toEqual([
          one.name,
          JSON.stringify(payload),
          before?.label,
        ]);
      }),
      { numRuns: 2000 },
    );
  });
});
