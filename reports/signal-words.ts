import { type Damaged, type Ids, isDamaged } from '../receivers/signals/bits.ts';
import { contradictsRecord, type SignalContradiction } from '../receivers/signals/contradictions.ts';
import { type AdditionalConsent, type DecodedSignals, decodeSignals } from '../receivers/signals/decode.ts';
import type { CanadianTcf, GppSection, UsSection } from '../receivers/signals/gpp-string.ts';
import { TCF_2_3, type TcString } from '../receivers/signals/tc-string.ts';
import { tcfPurposeName, tcfSpecialFeatureName } from '../receivers/signals/tcf-names.ts';
import type { UsPrivacy } from '../receivers/signals/us-privacy.ts';
import { parsePurposes } from '../src/core/consent-judgement.ts';
import { parseJson } from '../src/core/json.ts';
import type { DecisionRow } from '../src/store/queries/history-decisions.ts';

/** What one signal says, as sentences without full stops. */
export interface SignalWords {
  /** `tcf`, `gpp.usca`, `consent_mode` … */
  readonly signal: string;
  readonly title: string;
  /** At least one. */
  readonly says: readonly string[];
  /** It could not be decoded; `says` is the reason. */
  readonly damaged: boolean;
}

type Time = (iso: string) => string;

/** The signals of a decision: what they say as data and in words (times in ISO 8601), and where they contradict it. */
export interface SaidSignals {
  readonly decoded: DecodedSignals;
  readonly words: readonly SignalWords[];
  readonly contradictions: readonly SignalContradiction[];
}

/** The signals of the first of a decision's records that has any, compared with that record; null: none has. */
export function signalsOf(rows: readonly Pick<DecisionRow, 'signals' | 'state' | 'purposes'>[]): SaidSignals | null {
  for (const { signals, state, purposes } of rows) {
    if (signals === null) continue;
    const decoded = decodeSignals(parseJson(signals) as Record<string, string>);
    const contradictions = contradictsRecord(decoded, { state, purposes: parsePurposes(purposes) });
    return { decoded, words: signalWords(decoded, (iso) => iso), contradictions };
  }
  return null;
}

/** Where signals contradict their record, as sentences; empty if they do not. */
export function contradictionWords(contradictions: readonly SignalContradiction[]): readonly string[] {
  return contradictions.map(
    ({ says, purpose, record }) =>
      `${says}; the record ${record === 'grants' ? 'grants' : 'refuses'} ${purpose ?? (record === 'grants' ? 'consent' : 'it')}`,
  );
}

/** What the signals of a decision say, in plain words. `time` writes an ISO 8601 UTC time for the reader. */
export function signalWords(decoded: DecodedSignals, time: Time): readonly SignalWords[] {
  const { gpc, tcf, gpp, usPrivacy, additionalConsent, consentMode } = decoded;
  const words = <T extends object | boolean>(
    signal: string,
    title: string,
    content: T | Damaged | null,
    say: (content: T) => readonly string[],
  ): readonly SignalWords[] =>
    content === null
      ? []
      : isDamaged(content)
        ? [{ signal, title, says: [`could not be decoded: ${content.damaged}`], damaged: true }]
        : [{ signal, title, says: say(content), damaged: false }];
  const sections = gpp === null || isDamaged(gpp) ? [] : gpp.sections;
  return [
    ...words('gpc', 'Global Privacy Control', gpc, (on) => [on ? 'on: do not sell or share my data' : 'off']),
    ...words('tcf', 'TC string', tcf, (content) => tcStringWords(content, time)),
    ...(isDamaged(gpp) ? words('gpp', 'GPP string', gpp, () => []) : []),
    ...sections.flatMap((section) => sectionWords(section)),
    ...words('us_privacy', 'US Privacy string', usPrivacy, usPrivacyWords),
    ...words('addtl_consent', 'Google additional consent', additionalConsent, additionalWords),
    ...Object.entries(consentMode).flatMap(([field, value]) =>
      words(
        `consent_mode.${field}`,
        `Google consent mode, ${field}`,
        typeof value === 'string' ? { value } : value,
        (said) => [said.value],
      ),
    ),
  ];

  function sectionWords(section: GppSection): readonly SignalWords[] {
    const signal = `gpp.${section.name}`;
    const title = (place: string) => `GPP string, ${place}`;
    switch (section.kind) {
      case 'tcf-eu':
        return words(signal, title('Europe (TC string)'), section.content, (content) => tcStringWords(content, time));
      case 'tcf-canada':
        return words(signal, title('Canada'), section.content, (content) => canadianWords(content, time));
      case 'us-privacy':
        return words(signal, title('US Privacy'), section.content, usPrivacyWords);
      case 'us':
        return words(signal, title(section.place), section.content, usWords);
      case 'unknown':
        return words(signal, title(section.name), section.content, () => []);
      default:
        return section satisfies never;
    }
  }
}

const count = (number: number, what: string, whats = `${what}s`) => `${number} ${number === 1 ? what : whats}`;

/** By the policy version that introduced it. */
function frameworkOf(policyVersion: number): string {
  const known: Readonly<Record<number, string>> = { 2: 'TCF 2.0', 4: 'TCF 2.2', 5: 'TCF 2.3' };
  const name = known[policyVersion];
  return `${name === undefined ? 'TCF' : name}, policy version ${policyVersion}`;
}

type Head = Pick<
  TcString,
  'created' | 'lastUpdated' | 'cmpId' | 'cmpVersion' | 'consentScreen' | 'language' | 'vendorListVersion'
>;

function madeWords(head: Head, time: Time): string {
  const updated = head.lastUpdated === head.created ? '' : `, updated ${time(head.lastUpdated)}`;
  return `created ${time(head.created)}${updated}, by consent platform ${head.cmpId} version ${head.cmpVersion}, screen ${head.consentScreen}, language ${head.language}, vendor list ${head.vendorListVersion}`;
}

function namedPurposes(purposes: readonly number[], policyVersion: number): string {
  return purposes.map((purpose) => tcfPurposeName(purpose, policyVersion)).join('; ');
}

function tcStringWords(tcf: TcString, time: Time): readonly string[] {
  const { purposes, vendors, policyVersion, publisher } = tcf;
  const named = (numbers: readonly number[]) => namedPurposes(numbers, policyVersion);
  return [
    `${frameworkOf(policyVersion)}, ${madeWords(tcf, time)}`,
    purposes.consent.length === 0 ? 'consent to no purpose' : `consent: ${named(purposes.consent)}`,
    ...(purposes.legitimateInterest.length === 0
      ? []
      : [`legitimate interest, which is not consent: ${named(purposes.legitimateInterest)}`]),
    ...(tcf.purposeOneNotDisclosed ? [`not disclosed: ${named([1])}`] : []),
    ...(tcf.specialFeatures.length === 0
      ? []
      : [`special features: ${tcf.specialFeatures.map(tcfSpecialFeatureName).join('; ')}`]),
    `vendors: ${vendors.consent.count} with consent, ${vendors.legitimateInterest.count} with legitimate interest, ${disclosedWords(tcf)}`,
    `for ${tcf.isServiceSpecific ? 'this service' : 'all services'}, publisher’s country ${tcf.publisherCountry}, ${count(tcf.publisherRestrictions, 'publisher restriction')}`,
    ...(publisher === null
      ? []
      : [
          `the publisher’s own use: ${publisher.consent.length === 0 ? 'consent to no purpose' : `consent: ${named(publisher.consent)}`}${publisher.customConsent.length === 0 ? '' : `; ${count(publisher.customConsent.length, 'purpose')} of its own`}`,
        ]),
  ];
}

function disclosedWords({ vendors, policyVersion }: TcString): string {
  if (vendors.disclosed !== null) return `${vendors.disclosed.count} disclosed`;
  return policyVersion >= TCF_2_3 ? 'disclosed vendors missing (mandatory in TCF 2.3)' : 'disclosed vendors not stated';
}

function canadianWords(tcf: CanadianTcf, time: Time): readonly string[] {
  const listed = (purposes: readonly number[]) =>
    purposes.length === 0 ? 'no purpose' : `purposes ${purposes.join(', ')}`;
  return [
    `policy version ${tcf.policyVersion}, ${madeWords(tcf, time)}`,
    `express consent: ${listed(tcf.purposes.express)}`,
    `implied consent: ${listed(tcf.purposes.implied)}`,
  ];
}

function usPrivacyWords({ notice, optedOutOfSale, limitedServiceProvider }: UsPrivacy): readonly string[] {
  const word = (flag: boolean | null, yes: string, no: string, what: string) =>
    flag === null ? `${what}: not applicable` : flag ? yes : no;
  return [
    word(
      optedOutOfSale,
      'opted out of the sale of personal data',
      'not opted out of the sale of personal data',
      'sale',
    ),
    word(notice, 'explicit notice given', 'no explicit notice given', 'notice'),
    word(
      limitedServiceProvider,
      'covered by the Limited Service Provider Agreement',
      'not covered by the Limited Service Provider Agreement',
      'Limited Service Provider Agreement',
    ),
  ];
}

const optOutWords = {
  'opted-out': 'opted out',
  'not-opted-out': 'not opted out',
  'not-applicable': 'not applicable',
} as const;

/** `SensitiveDataLimitUse` in words. */
const spaced = (name: string) => name.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const kindsWord = (numbers: readonly number[]) => `${numbers.length === 1 ? 'kind' : 'kinds'} ${numbers.join(', ')}`;

function usWords(us: UsSection): readonly string[] {
  const choices = [
    ['sale', us.sale],
    ['sharing', us.sharing],
    ['targeted advertising', us.targetedAdvertising],
  ] as const;
  const kinds = (what: string, said: UsSection['sensitiveData'], refused: string, permitted: string) => [
    ...(said !== null && said.refused.length > 0 ? [`${what}: ${refused} for ${kindsWord(said.refused)}`] : []),
    ...(said !== null && said.permitted.length > 0 ? [`${what}: ${permitted} for ${kindsWord(said.permitted)}`] : []),
  ];
  const noticesBy = (wanted: string) =>
    Object.entries(us.notices).flatMap(([name, value]) => (value === wanted ? [spaced(name)] : []));
  const given = noticesBy('given');
  const missing = noticesBy('not-given');
  return [
    choices.flatMap(([what, said]) => (said === null ? [] : [`${what}: ${optOutWords[said]}`])).join(', '),
    `Global Privacy Control: ${us.gpc === null ? 'not stated' : us.gpc ? 'on' : 'off'}`,
    ...(given.length === 0 ? [] : [`notices given: ${given.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`notices not given: ${missing.join(', ')}`]),
    ...kinds('sensitive data', us.sensitiveData, 'refused', 'not refused'),
    ...kinds('data of known children', us.knownChild, 'no consent', 'consent'),
    ...(us.otherUses === null || us.otherUses === 'not-applicable'
      ? []
      : [`other uses of personal data: ${us.otherUses === 'consent' ? 'consent' : 'no consent'}`]),
    `version ${us.version}${us.mspaCovered === null ? '' : us.mspaCovered ? ', covered by the Multi-State Privacy Agreement' : ', not covered by the Multi-State Privacy Agreement'}`,
  ];
}

function additionalWords({ version, consented, disclosed }: AdditionalConsent): readonly string[] {
  const shown = ({ count: all, ids }: Ids) => {
    const first = ids.slice(0, 20);
    return all === 0 ? '0' : `${all} (${first.join(', ')}${all > first.length ? ' …' : ''})`;
  };
  return [
    `version ${version}, providers with consent: ${shown(consented)}`,
    `providers disclosed without consent: ${disclosed === null ? 'not stated' : shown(disclosed)}`,
  ];
}
