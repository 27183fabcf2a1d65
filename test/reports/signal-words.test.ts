import { describe, expect, it } from 'vitest';
import { decodeSignals } from '../../receivers/signals/decode.ts';
import { contradictionWords, signalsOf, signalWords } from '../../reports/signal-words.ts';
import { bitsOf, encodeBits, gppHeader, tcCore, tcString, vendorField } from '../receivers/signal-strings.ts';

const day = (iso: string) => iso.slice(0, 10);
const words = (signals: Readonly<Record<string, string>>) =>
  Object.fromEntries(signalWords(decodeSignals(signals), day).map(({ title, says }) => [title, says]));

describe('what signals say in words', () => {
  it('names the purposes of a TC string as published, who made it, and how many vendors were disclosed', () => {
    const tcf = tcString({ consent: [1, 11], interest: [7], specialFeatures: [2], vendors: vendorField([3, 4]) });
    expect(words({ tcf })).toEqual({
      'TC string': [
        'TCF 2.3, policy version 5, created 2026-01-05, by consent platform 300 version 4, screen 1, language DE, vendor list 120',
        'consent: 1 Store and/or access information on a device; 11 Use limited data to select content',
        'legitimate interest, which is not consent: 7 Measure advertising performance',
        'special features: 2 Actively scan device characteristics for identification',
        'vendors: 2 with consent, 0 with legitimate interest, 3 disclosed',
        'for this service, publisher’s country FR, 0 publisher restrictions',
      ],
    });
  });
  it('uses the names of the time, and says that disclosed vendors are missing only where they are mandatory', () => {
    const said = (policyVersion: number) => words({ tcf: tcCore({ policyVersion, consent: [2] }) })['TC string'] ?? [];
    expect(said(2)).toContain('consent: 2 Select basic ads');
    expect(said(4)).toContain('consent: 2 Use limited data to select advertising');
    expect(said(4).join()).toContain('disclosed vendors not stated');
    expect(said(5).join()).toContain('disclosed vendors missing (mandatory in TCF 2.3)');
    expect(words({ tcf: tcCore() })['TC string']).toContain('consent to no purpose');
  });
  it('says what was opted out of, section by section', () => {
    const fields = `${bitsOf(1, 6)}01100001 10${'00'.repeat(8)}01 0001 10 01 10 00`.replaceAll(' ', '');
    const gpp = `${gppHeader([6, 8])}~1YYN~${encodeBits(fields)}.${encodeBits('011')}`;
    expect(words({ gpp })).toEqual({
      'GPP string, US Privacy': [
        'opted out of the sale of personal data',
        'explicit notice given',
        'not covered by the Limited Service Provider Agreement',
      ],
      'GPP string, California': [
        'sale: opted out, sharing: not opted out',
        'Global Privacy Control: on',
        'notices given: Sale opt out',
        'notices not given: Sharing opt out',
        'sensitive data: refused for kind 9',
        'data of known children: no consent for kind 2',
        'other uses of personal data: consent',
        'version 1, covered by the Multi-State Privacy Agreement',
      ],
    });
  });
  it('covers the others', () => {
    expect(
      words({ gpc: '1', addtl_consent: '2~7.12~dv.', 'consent_mode.ad_storage': 'denied', us_privacy: '1---' }),
    ).toMatchObject({
      'Global Privacy Control': ['on: do not sell or share my data'],
      'Google additional consent': [
        'version 2, providers with consent: 2 (7, 12)',
        'providers disclosed without consent: 0',
      ],
      'Google consent mode, ad_storage': ['denied'],
      'US Privacy string': ['sale: not applicable', 'notice: not applicable', expect.any(String)],
    });
  });
  it('gives the reason for a damaged one', () => {
    const said = signalWords(decodeSignals({ tcf: tcCore().slice(0, 20), gpp: 'DBABLA~!' }), day);
    expect(said).toEqual([
      { signal: 'tcf', title: 'TC string', says: ['could not be decoded: it ends too early'], damaged: true },
      {
        signal: 'gpp.usnat',
        title: 'GPP string, United States',
        says: ['could not be decoded: it is empty or contains characters that such a section cannot contain'],
        damaged: true,
      },
    ]);
  });
});

describe('the signals of a decision', () => {
  const row = (signals: string | null, purposes: object) => ({
    signals,
    state: 'given' as const,
    purposes: JSON.stringify(purposes),
  });
  it('are those of the first record that has any, compared with that record', () => {
    const said = signalsOf([
      row(null, { sale: 'denied' }),
      row('{"us_privacy":"1YYN"}', { sale: 'granted' }),
      row('{"gpc":"1"}', {}),
    ]);
    expect(said?.decoded).toMatchObject({ usPrivacy: { optedOutOfSale: true }, gpc: null });
    expect(contradictionWords(said?.contradictions ?? [])).toEqual([
      'the US Privacy string says that the visitor opted out of the sale of personal data; the record grants sale',
    ]);
    expect(signalsOf([row(null, {})])).toBeNull();
  });
});
