import { isDamaged } from './bits.ts';
import type { DecodedSignals } from './decode.ts';
import type { GppSection, OptOut } from './gpp-string.ts';
import type { TcString } from './tc-string.ts';

/** What one signal says, in a form that can be compared with a record. */
export interface SignalStatement {
  /** `gpc`, `tcf`, `gpp.tcfeuv2`, `gpp.usca`, `us_privacy`, `consent_mode`. */
  readonly from: string;
  /** In words, as the subject of a sentence. */
  readonly called: string;
  /** Whether it says that any purpose has consent; null: it says nothing about consent. Legitimate interest is not consent. */
  readonly consent: 'none' | 'some' | null;
  /** By purpose: `tcf.1`, or a field of the consent mode. */
  readonly purposes: ReadonlyMap<string, 'granted' | 'denied'>;
  /** Numbers of purposes with legitimate interest only. */
  readonly interestOnly: readonly number[];
  readonly sale: 'opted-out' | 'not-opted-out' | null;
  readonly sharing: 'opted-out' | 'not-opted-out' | null;
  readonly targetedAdvertising: 'opted-out' | 'not-opted-out' | null;
  /** It states a general preference of the browser, not a choice on this site. */
  readonly general: boolean;
}

const NO_PURPOSES: SignalStatement['purposes'] = new Map();

function statement(
  from: string,
  called: string,
): { -readonly [field in keyof SignalStatement]: SignalStatement[field] } {
  return {
    from,
    called,
    consent: null,
    purposes: NO_PURPOSES,
    interestOnly: [],
    sale: null,
    sharing: null,
    targetedAdvertising: null,
    general: false,
  };
}

/** The statements of the signals that could be decoded. A damaged one says nothing. */
export function statementsOf(decoded: DecodedSignals): readonly SignalStatement[] {
  const { gpc, tcf, gpp, usPrivacy, consentMode } = decoded;
  const statements: SignalStatement[] = [];
  if (gpc === true) statements.push(globalPrivacyControl('gpc', 'the Global Privacy Control signal'));
  if (tcf !== null && !isDamaged(tcf)) statements.push(ofTcString('tcf', 'the TC string', tcf));
  if (gpp !== null && !isDamaged(gpp)) statements.push(...gpp.sections.flatMap(ofSection));
  if (usPrivacy !== null && !isDamaged(usPrivacy))
    statements.push(ofUsPrivacy('us_privacy', 'the US Privacy string', usPrivacy.optedOutOfSale));
  const mode = ofConsentMode(consentMode);
  return mode === null ? statements : [...statements, mode];
}

/** GPC asks not to be sold or shared (California, 11 CCR 7025); its absence says nothing. */
function globalPrivacyControl(from: string, called: string): SignalStatement {
  const said = statement(from, called);
  said.sale = 'opted-out';
  said.sharing = 'opted-out';
  said.general = true;
  return said;
}

/** The purposes that a TC string of its policy version has: 10 before TCF 2.2, 11 since. */
const purposesOf = (policyVersion: number) => (policyVersion < 4 ? 10 : 11);

function ofTcString(from: string, called: string, tcf: TcString): SignalStatement {
  const { consent, legitimateInterest } = tcf.purposes;
  const purposes = new Map<string, 'granted' | 'denied'>();
  for (let purpose = 1; purpose <= purposesOf(tcf.policyVersion); purpose++) {
    if (consent.includes(purpose)) purposes.set(`tcf.${purpose}`, 'granted');
    else if (purpose !== 1 || !tcf.purposeOneNotDisclosed) purposes.set(`tcf.${purpose}`, 'denied');
  }
  const own = tcf.publisher;
  const some =
    consent.length > 0 ||
    tcf.specialFeatures.length > 0 ||
    (own !== null && own.consent.length + own.customConsent.length > 0);
  const said = statement(from, called);
  said.consent = some ? 'some' : 'none';
  said.purposes = purposes;
  said.interestOnly = legitimateInterest.filter((purpose) => !consent.includes(purpose));
  return said;
}

function ofSection(section: GppSection): readonly SignalStatement[] {
  const from = `gpp.${section.name}`;
  if (section.kind === 'unknown' || isDamaged(section.content)) return [];
  switch (section.kind) {
    case 'tcf-eu':
      return [ofTcString(from, 'the TC string in the GPP string', section.content)];
    case 'tcf-canada': {
      const { express, implied } = section.content.purposes;
      const said = statement(from, 'the Canadian section of the GPP string');
      said.consent = express.length + implied.length > 0 ? 'some' : 'none';
      return [said];
    }
    case 'us-privacy':
      return [ofUsPrivacy(from, 'the US Privacy section of the GPP string', section.content.optedOutOfSale)];
    case 'us': {
      const called = `the GPP string for ${section.place === 'United States' ? 'the United States' : section.place}`;
      const { sale, sharing, targetedAdvertising, gpc } = section.content;
      const said = statement(from, called);
      said.sale = choiceOf(sale);
      said.sharing = choiceOf(sharing);
      said.targetedAdvertising = choiceOf(targetedAdvertising);
      return gpc === true
        ? [said, globalPrivacyControl(from, `the Global Privacy Control signal in ${called}`)]
        : [said];
    }
    default:
      return section satisfies never;
  }
}

function choiceOf(optOut: OptOut | null): 'opted-out' | 'not-opted-out' | null {
  return optOut === 'not-applicable' ? null : optOut;
}

function ofUsPrivacy(from: string, called: string, optedOut: boolean | null): SignalStatement {
  const said = statement(from, called);
  if (optedOut !== null) said.sale = optedOut ? 'opted-out' : 'not-opted-out';
  return said;
}

/** Fields of the consent mode that ask for consent: the others are for what a site needs to work. */
const CONSENT_FIELDS = ['ad_storage', 'ad_user_data', 'ad_personalization', 'analytics_storage'];

function ofConsentMode(fields: DecodedSignals['consentMode']): SignalStatement | null {
  const purposes = new Map<string, 'granted' | 'denied'>();
  for (const [name, value] of Object.entries(fields)) if (!isDamaged(value)) purposes.set(name, value);
  if (purposes.size === 0) return null;
  const stated = CONSENT_FIELDS.flatMap((name) => purposes.get(name) ?? []);
  const complete = purposes.has('ad_storage') && purposes.has('analytics_storage');
  const said = statement('consent_mode', 'Google’s consent mode');
  said.consent = stated.includes('granted') ? 'some' : complete ? 'none' : null;
  said.purposes = purposes;
  return said;
}
