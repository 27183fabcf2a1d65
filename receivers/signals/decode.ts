import { type Damaged, type Ids, isDamaged } from './bits.ts';
import { decodeGppString, type GppString } from './gpp-string.ts';
import { decodeTcString, LONGEST_STRING, type TcString } from './tc-string.ts';
import { decodeUsPrivacy, type UsPrivacy } from './us-privacy.ts';

/** Google's Additional Consent string: providers that are not in the IAB's list, by Google's numbers. */
export interface AdditionalConsent {
  readonly version: number;
  readonly consented: Ids;
  /** Shown to the visitor, but not consented; null: version 1 does not say. */
  readonly disclosed: Ids | null;
}

/** What the statements that accompany a choice say (`DecisionFact.signals`); null: there is none. */
export interface DecodedSignals {
  readonly gpc: boolean | Damaged | null;
  readonly tcf: TcString | Damaged | null;
  readonly gpp: GppString | Damaged | null;
  readonly usPrivacy: UsPrivacy | Damaged | null;
  readonly additionalConsent: AdditionalConsent | Damaged | null;
  /** By the field of Google's consent mode. */
  readonly consentMode: Readonly<Record<string, 'granted' | 'denied' | Damaged>>;
}

const MODE = 'consent_mode.';

/**
 * Decodes the statements of a record. Never throws; takes time in proportion to their length. Pure: it needs no vendor
 * list and no network.
 */
export function decodeSignals(signals: Readonly<Record<string, string>>): DecodedSignals {
  const decoded = <T>(name: string, decode: (text: string) => T | Damaged): T | Damaged | null =>
    Object.hasOwn(signals, name) ? (notKept(signals[name] ?? '') ?? decode((signals[name] ?? '').trim())) : null;
  return {
    gpc: decoded('gpc', decodeGpc),
    tcf: decoded('tcf', decodeTcString),
    gpp: decoded('gpp', decodeGppString),
    usPrivacy: decoded('us_privacy', decodeUsPrivacy),
    additionalConsent: decoded('addtl_consent', decodeAdditionalConsent),
    consentMode: Object.fromEntries(
      Object.entries(signals).flatMap(([name, value]) =>
        name.startsWith(MODE) ? [[name.slice(MODE.length), decodeModeField(value)]] : [],
      ),
    ),
  };
}

/** A statement that was too long is kept as its length. */
function notKept(text: string): Damaged | null {
  const [, length] = /^\((\d+) characters\)$/.exec(text) ?? [];
  return length === undefined ? null : { damaged: `it was too long to be kept: ${length} characters` };
}

function decodeGpc(text: string): boolean | Damaged {
  if (/^(?:1|true|yes|on|enabled)$/i.test(text)) return true;
  if (/^(?:0|false|no|off|disabled)$/i.test(text)) return false;
  return { damaged: 'it is neither 1 nor 0' };
}

function decodeModeField(text: string): 'granted' | 'denied' | Damaged {
  const word = text.trim().toLowerCase();
  return word === 'granted' || word === 'denied' ? word : { damaged: 'it is neither “granted” nor “denied”' };
}

/** Google, Additional Consent technical specification: `1~7.12`, `2~7.12~dv.31`. */
function decodeAdditionalConsent(text: string): AdditionalConsent | Damaged {
  if (text.length > LONGEST_STRING) return { damaged: `it is too long: ${text.length} characters` };
  const [, version = '', consented = '', disclosed] = /^([12])~([\d.]*)(?:~dv\.?([\d.]*))?$/.exec(text) ?? [];
  if (version === '') return { damaged: 'it does not have the form 1~ids or 2~ids~dv.ids' };
  if (version === '1' && disclosed !== undefined) return { damaged: 'version 1 has no list of disclosed providers' };
  const ids = idsOf(consented);
  const others = disclosed === undefined ? null : idsOf(disclosed);
  if (isDamaged(ids)) return ids;
  return isDamaged(others) ? others : { version: Number(version), consented: ids, disclosed: others };
}

const LISTED = 100;

function idsOf(text: string): Ids | Damaged {
  const texts = text === '' ? [] : text.split('.');
  if (texts.some((id) => !/^[1-9]\d{0,8}$/.test(id)))
    return { damaged: 'its lists are not numbers with dots between them' };
  const ids = [...new Set(texts.map(Number))].sort((a, b) => a - b);
  return { count: ids.length, ids: ids.slice(0, LISTED) };
}
