import { GppModel, Sections } from '@iabgpp/cmpapi';
import { Segment, SegmentEncoder, TCModel, TCString as TcLibrary } from '@iabtcf/core';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isDamaged } from '../../receivers/signals/bits.ts';
import { decodeSignals } from '../../receivers/signals/decode.ts';
import { usLayouts } from '../../receivers/signals/gpp-sections.ts';
import { decodeGppString, type UsSection } from '../../receivers/signals/gpp-string.ts';
import { decodeTcString, type TcString } from '../../receivers/signals/tc-string.ts';
import { computed, runs } from '../temporary.ts';
import {
  bitsOf,
  encodeBits,
  flagsOf,
  gppHeader,
  rangesOf,
  tcCore,
  tcDisclosed,
  tcString,
  vendorField,
} from './signal-strings.ts';

function tc(text: string): TcString {
  const decoded = decodeTcString(text);
  if (isDamaged(decoded)) throw new Error(decoded.damaged);
  return decoded;
}

const reasonOf = (decoded: unknown) => (isDamaged(decoded) ? decoded.damaged : null);

// The format's specification prints these (Consent string and vendor list formats v2; GPP string specification).
const WITH_SEGMENTS =
  'CGL23UdMFJzvuA9ACCENAXCEAC0AAGrAAA5YA5ht7-_d_7_vd-f-nrf4_4A4hM4JCKoK4YhmAqABgAEgAA.IFut_a83_Ma_t-_SvB3v4-IAeIAACAIgSAAQAIAgEQACEABAAAgAQFAEAIAAAGBAAgAAAAQAIFAAMCQAAgAAQiRAEQAAAAANAAIAAggAIYQFAAARmggBC3ZCYzU2yIA.QFulWfTw4obx_Z2zUj6XkNIAeIAACAIgSAAQAIAgEQACEABAAAgAQFAEAIAAAGBAAgAAAAQAIFAAMCQAAgAAQiRAEQAAAAANAAIAAggAIYQFAAARmggBC3ZCYzU2yIA';
const NO_CONSENT = 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA';

describe('a TC string', () => {
  it('of TCF 2.3 is decoded with the vendors that were disclosed', () => {
    expect(
      tc(
        `${tcCore({
          policyVersion: 5,
          consent: [1, 3, 4],
          interest: [2, 7],
          specialFeatures: [1],
          vendors: vendorField([2, 755]),
          interestVendors: `${bitsOf(900, 16)}1${rangesOf([
            [10, 20],
            [15, 30],
            [7, 7],
          ])}`,
          restrictions: bitsOf(1, 12) + bitsOf(2, 6) + '01' + rangesOf([[1, 500]]),
        })}.${tcDisclosed(vendorField([1, 2, 755]))}`,
      ),
    ).toEqual({
      policyVersion: 5,
      created: '2026-01-05T00:00:00.000Z',
      lastUpdated: '2026-01-05T00:00:00.000Z',
      cmpId: 300,
      cmpVersion: 4,
      consentScreen: 1,
      language: 'DE',
      vendorListVersion: 120,
      isServiceSpecific: true,
      publisherCountry: 'FR',
      purposeOneNotDisclosed: false,
      purposes: { consent: [1, 3, 4], legitimateInterest: [2, 7] },
      specialFeatures: [1],
      vendors: {
        consent: { count: 2, ids: [2, 755] },
        legitimateInterest: { count: 22, ids: [7, ...Array.from({ length: 21 }, (_, index) => index + 10)] },
        disclosed: { count: 3, ids: [1, 2, 755] },
        allowed: null,
      },
      publisherRestrictions: 1,
      publisher: null,
    });
  });
  it('without the segment of disclosed vendors says that they are not stated', () => {
    expect(tc(tcCore({ policyVersion: 4 })).vendors.disclosed).toBeNull();
    expect(tc(`${tcCore()}.${tcDisclosed(vendorField([]))}`).vendors.disclosed).toEqual({ count: 0, ids: [] });
  });
  it('printed in the specification is decoded with all its segments', () => {
    const { vendors, purposes } = tc(WITH_SEGMENTS);
    const library = TcLibrary.decode(WITH_SEGMENTS);
    expect(purposes.consent).toEqual([...library.purposeConsents.values()]);
    expect(vendors.consent.count).toBe(library.vendorConsents.size);
    expect(vendors.disclosed?.count).toBe(library.vendorsDisclosed.size);
    expect(vendors.allowed?.count).toBe(library.vendorsAllowed.size);
    expect(vendors.disclosed?.count).toBeGreaterThan(20);
  });
  it('lists the first hundred vendors and counts the others', () => {
    const { consent } = tc(tcCore({ vendors: `${bitsOf(2000, 16)}1${rangesOf([[1, 1500]])}` })).vendors;
    expect(consent.count).toBe(1500);
    expect(consent.ids).toHaveLength(100);
    expect(consent.ids.at(-1)).toBe(100);
  });
  it.each([
    ['', /empty/],
    ['!!!', /characters/],
    ['CP-x', /too early/],
    [`${tcCore()}=`, /characters/],
    [tcCore().replace('A', '+'), /characters/],
    [tcCore().slice(0, 30), /too early/],
    [tcCore().slice(0, -8), /too early|longer than/],
    [tcCore({ version: 1 }), /version 1/],
    ['DBABMA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA', /characters/],
    ['DBABMA', /GPP string/],
    [tcCore({ language: 'D^' }), /language/],
    [`${tcCore()}.`, /empty/],
    [`${tcCore()}._AAA`, /unknown kind/],
    [`${tcCore()}.${tcDisclosed(vendorField([1]))}.${tcDisclosed(vendorField([1]))}`, /twice/],
    [`${tcCore()}${'.IAAA'.repeat(5)}`, /more than 4/],
    [`${tcCore()}AAAA____`, /after its end/],
    [tcCore({ vendors: `${bitsOf(65_535, 16)}0` }), /list of vendors/],
    [tcCore({ vendors: `${bitsOf(65_535, 16)}1${bitsOf(4095, 12)}` }), /list of vendors/],
    [tcCore({ vendors: `${bitsOf(10, 16)}1${rangesOf([[9, 3]])}` }), /list of vendors/],
    [tcCore({ vendors: `${bitsOf(10, 16)}1${rangesOf([[1, 11]])}` }), /list of vendors/],
    [tcCore({ vendors: `${bitsOf(10, 16)}1${rangesOf([[0, 3]])}` }), /list of vendors/],
    [tcCore({ restrictions: bitsOf(4095, 12) }), /restrictions/],
    ['C'.repeat(30_000), /too long/],
  ])('that is damaged gives a reason: %s', (text, reason) => {
    expect(reasonOf(decodeTcString(text))).toMatch(reason);
  });
  it('that is cut off anywhere in its core is not decoded', () => {
    const whole = tcCore({ consent: [1, 2], vendors: vendorField([1, 2, 30]) });
    expect(isDamaged(decodeTcString(whole))).toBe(false);
    // Its last character is padding.
    for (let length = 0; length < whole.length - 1; length++)
      expect(isDamaged(decodeTcString(whole.slice(0, length))), `${length}`).toBe(true);
  });
});

describe('a TC string that the IAB’s library encodes', () => {
  const purposeIds = fc.uniqueArray(fc.integer({ min: 1, max: 24 }), { maxLength: 24 });
  const vendorIds = fc.oneof(
    fc.uniqueArray(fc.integer({ min: 1, max: 1500 }), { maxLength: 40 }),
    // Runs of ids, which the library writes as ranges.
    fc
      .uniqueArray(fc.integer({ min: 1, max: 1500 }), { maxLength: 4 })
      .map((starts) => [
        ...new Set(starts.flatMap((start) => Array.from({ length: 90 }, (_, index) => start + index))),
      ]),
  );
  const model = fc.record({
    policyVersion: fc.integer({ min: 2, max: 5 }),
    cmpId: fc.integer({ min: 2, max: 4095 }),
    cmpVersion: fc.integer({ min: 1, max: 4095 }),
    consentScreen: fc.integer({ min: 0, max: 63 }),
    vendorListVersion: fc.integer({ min: 1, max: 4095 }),
    language: fc.constantFrom('EN', 'DE', 'FR', 'PL'),
    isServiceSpecific: fc.boolean(),
    specialFeatures: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
    consent: purposeIds,
    interest: purposeIds,
    purposeOne: fc.boolean(),
    vendors: vendorIds,
    interestVendors: vendorIds,
    disclosed: vendorIds,
    own: purposeIds,
    custom: fc.integer({ min: 0, max: 20 }),
  });
  const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);
  const listed = (ids: readonly number[]) => ({ count: ids.length, ids: sorted(ids).slice(0, 100) });

  test('says the same here', () => {
    fc.assert(
      fc.property(model, (said) => {
        const encoded = new TCModel();
        Object.assign(encoded, {
          policyVersion: said.policyVersion,
          cmpId: said.cmpId,
          cmpVersion: said.cmpVersion,
          consentScreen: said.consentScreen,
          consentLanguage: said.language,
          isServiceSpecific: said.isServiceSpecific,
          purposeOneTreatment: said.purposeOne,
          publisherCountryCode: 'AT',
          vendorListVersion: said.vendorListVersion,
          created: new Date('2026-02-01T00:00:00Z'),
          lastUpdated: new Date('2026-02-03T00:00:00Z'),
        });
        encoded.specialFeatureOptins.set(said.specialFeatures);
        encoded.purposeConsents.set(said.consent);
        encoded.purposeLegitimateInterests.set(said.interest);
        encoded.vendorConsents.set(said.vendors);
        encoded.vendorLegitimateInterests.set(said.interestVendors);
        encoded.vendorsDisclosed.set(said.disclosed);
        encoded.publisherConsents.set(said.own);
        encoded.numCustomPurposes = said.custom;
        encoded.publisherCustomConsents.set(Array.from({ length: said.custom }, (_, index) => index + 1));
        const text = [Segment.CORE, Segment.VENDORS_DISCLOSED, Segment.PUBLISHER_TC]
          .map((segment) => SegmentEncoder.encode(encoded, segment))
          .join('.');
        const decoded = tc(text);
        expect(decoded).toMatchObject({
          policyVersion: said.policyVersion,
          created: '2026-02-01T00:00:00.000Z',
          lastUpdated: '2026-02-03T00:00:00.000Z',
          cmpId: said.cmpId,
          cmpVersion: said.cmpVersion,
          consentScreen: said.consentScreen,
          language: said.language,
          vendorListVersion: said.vendorListVersion,
          isServiceSpecific: said.isServiceSpecific,
          publisherCountry: 'AT',
          purposeOneNotDisclosed: said.purposeOne,
          purposes: { consent: sorted(said.consent), legitimateInterest: sorted(said.interest) },
          specialFeatures: sorted(said.specialFeatures),
          publisher: { consent: sorted(said.own) },
        });
        expect(decoded.publisher?.customConsent).toHaveLength(said.custom);
        expect(decoded.vendors).toEqual({
          consent: listed(said.vendors),
          legitimateInterest: listed(said.interestVendors),
          disclosed: listed(said.disclosed),
          allowed: null,
        });
      }),
      { numRuns: runs(100) },
    );
  });
  test('with publisher restrictions has as many for the library', () => {
    const restriction = (purpose: number, ranges: readonly (readonly [number, number])[]) =>
      `${bitsOf(purpose, 6)}01${rangesOf(ranges)}`;
    const text = tcCore({
      restrictions:
        bitsOf(2, 12) +
        restriction(2, [[1, 40]]) +
        restriction(7, [
          [8, 8],
          [10, 12],
        ]),
    });
    expect(tc(text).publisherRestrictions).toBe(2);
    expect(TcLibrary.decode(text).publisherRestrictions.numRestrictions).toBe(2);
  });
  test('with one character changed never says something else than the library reads from it', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    let decodedOnes = 0;
    fc.assert(
      fc.property(fc.nat(200), fc.constantFrom(...letters), (place, letter) => {
        const whole = tcString({ consent: [1, 2, 3], vendors: vendorField([1, 5, 9, 30]) });
        const at = place % whole.length;
        const text = whole.slice(0, at) + letter + whole.slice(at + 1);
        const decoded = decodeTcString(text);
        if (isDamaged(decoded)) return;
        decodedOnes++;
        const library = TcLibrary.decode(text);
        expect(decoded.purposes.consent).toEqual([...library.purposeConsents.values()]);
        expect(decoded.vendors.consent.count).toBe(library.vendorConsents.size);
        expect(decoded.policyVersion).toBe(library.policyVersion);
        expect(decoded.created).toBe(library.created.toISOString());
      }),
      { numRuns: runs(300) },
    );
    expect(decodedOnes).toBeGreaterThan(10);
  });
});

describe('a GPP string', () => {
  const section = (id: number, text: string) => {
    const decoded = decodeGppString(`${gppHeader([id])}~${text}`);
    return isDamaged(decoded) ? decoded : decoded.sections[0];
  };
  it('printed in the specification is decoded section by section', () => {
    expect(decodeGppString(`DBACNY~${NO_CONSENT}~1YNN`)).toMatchObject({
      sections: [
        { kind: 'tcf-eu', name: 'tcfeuv2', content: { purposes: { consent: [] }, policyVersion: 2 } },
        {
          kind: 'us-privacy',
          name: 'uspv1',
          content: { notice: true, optedOutOfSale: false, limitedServiceProvider: false },
        },
      ],
    });
    expect(decodeGppString('DBABMA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA')).toMatchObject({
      sections: [{ name: 'tcfeuv2' }],
    });
  });
  it('names consecutive sections as a group', () => {
    expect(decodeGppString(`${gppHeader([[6, 7], 9])}~1YYN~BVVqAAAAAWA.YA~BVVVVVVWA`)).toMatchObject({
      sections: [{ name: 'uspv1' }, { name: 'usnat', content: { gpc: true } }, { name: 'usva' }],
    });
  });
  it('for California says who opted out of what, and whether Global Privacy Control was on', () => {
    const fields = `${bitsOf(1, 6)}01 10 00 01 10 ${'00'.repeat(8)}01 0001 10 01 10 00`.replaceAll(' ', '');
    expect(section(8, `${encodeBits(fields)}.${encodeBits('011')}`)).toEqual({
      kind: 'us',
      name: 'usca',
      place: 'California',
      content: {
        version: 1,
        notices: { SaleOptOut: 'given', SharingOptOut: 'not-given', SensitiveDataLimitUse: 'not-applicable' },
        sale: 'opted-out',
        sharing: 'not-opted-out',
        targetedAdvertising: null,
        sensitiveData: { refused: [9], permitted: [] },
        knownChild: { refused: [2], permitted: [] },
        otherUses: 'consent',
        mspaCovered: true,
        gpc: true,
      },
    });
    expect(section(8, encodeBits(fields))).toMatchObject({ content: { gpc: null } });
  });
  it('with the section header of the latest specifications is read like one without it', () => {
    const core = encodeBits(`${bitsOf(1, 6)}10 00 01 01 01 01 10 00`.replaceAll(' ', ''));
    const header = encodeBits(`${bitsOf(24, 6)}${bitsOf(1, 6)}${bitsOf(1, 12)}`);
    const content = { sale: 'opted-out', targetedAdvertising: 'not-opted-out', gpc: true };
    expect(section(24, `${core}.${encodeBits('011')}`)).toMatchObject({ name: 'usmd', content });
    expect(section(24, `${header}.${core}.${encodeBits('011')}`)).toMatchObject({ name: 'usmd', content });
  });
  it.each([
    ['', /header/],
    ['DB', /header/],
    ['DBABLA', /names 1 section, but 0/],
    ['DBABLA~BVVqAAAAAWA.QA~1YNN', /names 1 section, but 2/],
    ['1YNN', /not begin like a GPP/],
    [`${gppHeader([6], 3, 2)}~1YNN`, /version 2/],
    [`${gppHeader([[1, 99]])}~1YNN`, /99 sections/],
    [`${gppHeader([[1, 40_000_000]])}~1YNN`, /impossible/],
    [`${gppHeader([900])}~1YNN`, /impossible/],
    [`${'D'.repeat(20_001)}`, /too long/],
  ])('that is damaged gives a reason: %s', (text, reason) => {
    expect(reasonOf(decodeGppString(text))).toMatch(reason);
  });
  it.each([
    [7, 'BVVq', /too early/],
    [7, '', /empty/],
    [7, '!!!', /characters/],
    [7, 'FVVqAAAAAWA', /version 5/],
    [7, 'BVVqAAAAAWA.AA', /second part/],
    [7, 'BVVqAAAAAWA.QA.QA', /second part/],
    [7, 'B_VqAAAAAWA', /does not exist/],
    [7, 'BVVqAAAAAWAAAA_', /after its end/],
    [6, '1YN', /digit followed/],
    [6, '1XYZ', /digit followed/],
    [6, '2YNN', /version 2/],
    [2, 'CPXx', /too early/],
    [5, 'CPXx', /version 2/],
    [99, 'BAAA', /not known/],
  ])('with a damaged section %i gives its reason and keeps the others: %s', (id, text, reason) => {
    const decoded = decodeGppString(
      id === 6
        ? `${gppHeader([6, 7])}~${text}~BVVqAAAAAWA`
        : id < 6
          ? `${gppHeader([id, 6])}~${text}~1YNN`
          : `${gppHeader([6, id])}~1YNN~${text}`,
    );
    if (isDamaged(decoded)) throw new Error(decoded.damaged);
    const reasons = decoded.sections.map(({ content }) => reasonOf(content));
    expect(reasons).toHaveLength(2);
    expect(reasons.filter((one) => one !== null)).toEqual([expect.stringMatching(reason)]);
  });
});

describe('a section for the United States that the IAB’s library encodes', () => {
  const isMode = (field: string) => field.startsWith('Mspa');
  test.each([...usLayouts.values()])('says the same here: $name', ({ id, name, place, versions, second }) => {
    expect(Sections.SECTION_ID_NAME_MAP.get(id)).toBe(name);
    const [version = 0] = Object.keys(versions)
      .map(Number)
      .sort((a, b) => b - a);
    const fields = versions[version] ?? [];
    const twoBits = fc.constantFrom(0, 1, 2);
    const said = fc.record({
      values: fc.tuple(...fields.map(([, count]) => fc.array(twoBits, { minLength: count, maxLength: count }))),
      gpc: fc.boolean(),
    });
    fc.assert(
      fc.property(said, ({ values, gpc }) => {
        const model = new GppModel();
        const stated = new Map<string, readonly number[]>();
        fields.forEach(([field, count], index) => {
          // The library refuses that nothing is stated about the agreement.
          const value = field === 'MspaCoveredTransaction' ? [1] : (values[index] ?? []);
          stated.set(field, value);
          model.setFieldValue(name, field, count === 1 ? value[0] : value);
        });
        const hasGpc = second === 'gpc' && model.hasField(name, 'Gpc');
        if (hasGpc) {
          model.setFieldValue(name, 'GpcSegmentIncluded', true);
          model.setFieldValue(name, 'Gpc', gpc);
        }
        const decoded = decodeGppString(model.encode());
        if (isDamaged(decoded)) throw new Error(decoded.damaged);
        const [found] = decoded.sections;
        expect(found).toMatchObject({ kind: 'us', name, place });
        if (found === undefined || isDamaged(found.content)) throw new Error(reasonOf(found?.content) ?? 'no section');
        const content = found.content as UsSection;
        expect(content.gpc).toBe(hasGpc ? gpc : null);
        const words = { 0: 'not-applicable', 1: 'opted-out', 2: 'not-opted-out' } as Record<number, string>;
        const wordOf = (field: string) => (stated.has(field) ? words[stated.get(field)?.[0] ?? 0] : null);
        expect(content.sale).toBe(wordOf('SaleOptOut'));
        expect(content.sharing).toBe(wordOf('SharingOptOut'));
        expect(content.targetedAdvertising).toBe(wordOf('TargetedAdvertisingOptOut'));
        const sensitive = stated.get('SensitiveDataProcessing');
        if (sensitive !== undefined)
          expect(content.sensitiveData?.refused).toEqual(
            sensitive.flatMap((value, index) => (value === 1 ? [index + 1] : [])),
          );
        expect(Object.keys(content.notices)).toHaveLength(
          fields.filter(([field]) => field.endsWith('Notice') && !isMode(field)).length,
        );
      }),
      { numRuns: runs(20) },
    );
  });
  it('in version 1 of the national section has fewer kinds of data', () => {
    const model = new GppModel();
    model.setFieldValue('usnat', 'Version', 1);
    model.setFieldValue('usnat', 'SaleOptOut', 1);
    model.setFieldValue('usnat', 'PersonalDataConsents', 2);
    expect(decodeGppString(model.encode())).toMatchObject({
      sections: [{ content: { version: 1, sale: 'opted-out', otherUses: 'consent', mspaCovered: true } }],
    });
  });
  it('knows every section that the library knows', () => {
    const known = [...Sections.SECTION_ID_NAME_MAP.keys()].filter((id) => id > 6);
    expect([...usLayouts.keys()].sort((a, b) => a - b)).toEqual(known.sort((a, b) => a - b));
    expect(known.length).toBeGreaterThan(20);
  });
  test('the Canadian section is read up to its purposes', () => {
    const model = new GppModel();
    model.setFieldValue('tcfcav1', 'CmpId', 50);
    model.setFieldValue('tcfcav1', 'ConsentLanguage', 'FR');
    model.setFieldValue(
      'tcfcav1',
      'PurposesExpressConsent',
      Array.from({ length: 24 }, (_, index) => index < 2),
    );
    model.setFieldValue(
      'tcfcav1',
      'PurposesImpliedConsent',
      Array.from({ length: 24 }, (_, index) => index === 6),
    );
    expect(decodeGppString(model.encode())).toMatchObject({
      sections: [
        { kind: 'tcf-canada', content: { cmpId: 50, language: 'FR', purposes: { express: [1, 2], implied: [7] } } },
      ],
    });
  });
});

describe('other signals', () => {
  const decode = (name: string, value: string) => {
    const { gpc, usPrivacy, additionalConsent, consentMode } = decodeSignals({ [name]: value });
    return gpc ?? usPrivacy ?? additionalConsent ?? Object.values(consentMode)[0];
  };
  it('are decoded', () => {
    expect(decode('gpc', '1')).toBe(true);
    expect(decode('gpc', '0')).toBe(false);
    expect(decode('us_privacy', '1YY-')).toEqual({ notice: true, optedOutOfSale: true, limitedServiceProvider: null });
    expect(decode('us_privacy', '1---')).toEqual({ notice: null, optedOutOfSale: null, limitedServiceProvider: null });
    expect(decode('consent_mode.ad_storage', 'granted')).toBe('granted');
    expect(decode('consent_mode.ad_storage', 'Denied')).toBe('denied');
  });
  it('of Google’s additional consent are decoded in both versions', () => {
    expect(decode('addtl_consent', '1~1.35.41.101')).toEqual({
      version: 1,
      consented: { count: 4, ids: [1, 35, 41, 101] },
      disclosed: null,
    });
    expect(decode('addtl_consent', '2~1.2.3~dv.4.5')).toEqual({
      version: 2,
      consented: { count: 3, ids: [1, 2, 3] },
      disclosed: { count: 2, ids: [4, 5] },
    });
    expect(decode('addtl_consent', '1~')).toMatchObject({ consented: { count: 0 } });
    expect(decode('addtl_consent', '2~~dv.4')).toMatchObject({ consented: { count: 0 }, disclosed: { count: 1 } });
    expect(decode('addtl_consent', '2~7~dv.')).toMatchObject({ consented: { count: 1 }, disclosed: { count: 0 } });
    expect(decode('addtl_consent', `2~${Array.from({ length: 900 }, (_, id) => id + 1).join('.')}~dv.`)).toMatchObject({
      consented: { count: 900, ids: { length: 100 } },
    });
  });
  it.each([
    ['gpc', 'perhaps'],
    ['us_privacy', '1YN'],
    ['us_privacy', '(9000 characters)'],
    ['addtl_consent', '3~1'],
    ['addtl_consent', '2~1..2~dv.4'],
    ['addtl_consent', '1~1~dv.4'],
    ['addtl_consent', '1.35'],
    ['addtl_consent', '2~-1~dv.'],
    ['consent_mode.ad_storage', 'G111'],
  ])('that are damaged give a reason: %s %s', (name, value) => {
    expect(reasonOf(decode(name, value))).toMatch(/^(?:its?|version) /);
  });
  it('that were too long to be kept say so', () => {
    expect(reasonOf(decodeSignals({ tcf: '(5000 characters)' }).tcf)).toBe(
      'it was too long to be kept: 5000 characters',
    );
  });
  it('that a record does not have are null', () => {
    expect(decodeSignals({})).toEqual({
      gpc: null,
      tcf: null,
      gpp: null,
      usPrivacy: null,
      additionalConsent: null,
      consentMode: {},
    });
  });
});

describe('what a string costs', () => {
  /** The longest that is kept with a record. */
  const KEPT = 4000;
  const someVendors: readonly (readonly [number, number])[] = [[1, 900]];
  const many = <T>(value: T, count: number) => Array.from({ length: count }, () => value);
  test.each([
    ['ranges of vendors', { tcf: tcCore({ vendors: `${bitsOf(900, 16)}1${rangesOf(many([1, 900] as const, 40))}` }) }],
    [
      'one restriction of many vendors',
      { tcf: tcCore({ restrictions: `${bitsOf(1, 12)}${bitsOf(1, 6)}01${rangesOf(someVendors)}` }) },
    ],
    [
      'some restrictions of many vendors',
      { tcf: tcCore({ restrictions: `${bitsOf(20, 12)}${`${bitsOf(1, 6)}01${rangesOf(someVendors)}`.repeat(20)}` }) },
    ],
    ['a header with many sections', { gpp: `${gppHeader([[1, 3000]])}~1YNN` }],
    [
      'a header without an end',
      { gpp: encodeBits(`${bitsOf(3, 6)}${bitsOf(1, 6)}${bitsOf(4095, 12)}${'0'.repeat(KEPT * 6)}`) },
    ],
    ['many empty sections', { gpp: `DBABMA${'~'.repeat(KEPT)}` }],
    ['many segments', { tcf: `${tcCore()}${'.IAAA'.repeat(700)}` }],
    ['ones only', { tcf: `C${'_'.repeat(KEPT)}`, gpp: `DB${'_'.repeat(KEPT)}`, addtl_consent: '9'.repeat(KEPT) }],
    ['dots only', { tcf: '.'.repeat(KEPT), gpp: '~'.repeat(KEPT), addtl_consent: `2~${'.'.repeat(KEPT)}` }],
  ])('is at most some milliseconds: %s', (_, signals) => {
    const before = computed();
    for (let time = 0; time < 10; time++) decodeSignals(signals);
    expect(computed() - before).toBeLessThan(300);
  });
  test('damaged strings of any kind never throw', () => {
    const valid = [
      WITH_SEGMENTS,
      tcString({ consent: [1, 2] }),
      `DBACNY~${NO_CONSENT}~1YNN`,
      'DBABLA~BVVqAAAAAWA.QA',
      '2~1.2.3~dv.4.5',
      '1YNN',
    ];
    const damaged = fc
      .tuple(fc.constantFrom(...valid), fc.nat(), fc.nat(9), fc.string({ maxLength: 12 }))
      .map(([text, place, removed, added]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + added + text.slice(at + removed);
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.string({ unit: 'binary', maxLength: 100 })), (text) => {
        const decoded = decodeSignals({ tcf: text, gpp: text, us_privacy: text, addtl_consent: text, gpc: text });
        expect(JSON.stringify(decoded).length).toBeLessThan(20_000);
      }),
      { numRuns: runs(500) },
    );
  });
});

test('a bit field says which ids are set, however it is cut into characters', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 60 }), fc.nat(40), (ids, more) => {
      const most = Math.max(0, ...ids) + more;
      const { consent } = tc(tcCore({ vendors: `${bitsOf(most, 16)}0${flagsOf(ids, most)}` })).vendors;
      expect(consent).toEqual({ count: ids.length, ids: [...ids].sort((a, b) => a - b) });
    }),
  );
});
