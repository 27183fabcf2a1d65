import { isNecessary } from '../src/core/consent-judgement.ts';
import type { DecisionFact } from '../src/core/fact.ts';
import type { Purposes } from './consent-purposes.ts';
import { choiceOf } from './consent-words.ts';
import { consentModeFields, type FieldName } from './field-names.ts';
import { normaliseName } from './field-table.ts';
import type { Payload } from './payload.ts';
import { isJsonObject, textOf } from './text.ts';

type Circumstances = Pick<DecisionFact, 'action' | 'method' | 'domain' | 'page' | 'bannerVersion' | 'signals'>;

/** By which act, on which page and by which banner a choice was made, and what was stated along with it. */
export function readCircumstances(payload: Payload, signals: Circumstances['signals']): Circumstances {
  const page = firstOf(payload, 'consentPage', pageOf);
  return {
    action: firstOf(payload, 'consentAction', actionOf),
    method: firstOf(payload, 'consentMethod', (value) => textOf(value, MAX_WORD)),
    domain: firstOf(payload, 'consentDomain', domainOf) ?? (page === null ? null : domainOf(page)),
    page,
    bannerVersion: firstOf(payload, 'bannerVersion', (value) => textOf(value, MAX_WORD)),
    signals,
  };
}

const MAX_WORD = 100;
const MAX_PAGE = 300;
const MAX_SIGNAL = 4000;
const MAX_DOMAIN = 253;

/** The first usable value. Other values are not reported as unread, since these names may mean other things. */
function firstOf(payload: Payload, field: FieldName, read: (value: unknown) => string | null): string | null {
  for (const { value } of payload.each(field)) {
    const text = read(value);
    if (text !== null) return text;
  }
  return null;
}

function actionOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = textOf(value, MAX_WORD);
  // The name of the event is not what the visitor did; nor is a list of purposes.
  return text === null || /^[[{]|^consent[._]recorded$/i.test(text) ? null : text;
}

/** A host name, out of a host or an address. */
function domainOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  const host = URL.canParse(text) ? new URL(text).hostname : text;
  const name = host.toLowerCase().replace(/\.$/, '');
  const isHost = /^(?:[\p{L}\p{N}_-]{1,63}\.)+[\p{L}\p{N}-]{2,63}$|^localhost$/u.test(name);
  return isHost && name.length <= MAX_DOMAIN ? name : null;
}

/** Origin and path of an http address, or a path. Its query, fragment and any user name are left out: they may hold personal data. */
function pageOf(value: unknown): string | null {
  const text = textOf(value, 2 * MAX_SIGNAL);
  if (text === null || typeof value !== 'string') return null;
  let page: string | null = null;
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const { origin, pathname } = new URL(text);
    page = origin + pathname;
  } else if (/^\/(?!\/)\S*$/.test(text)) {
    page = text.replace(/[?#].*$/s, '');
  }
  return page === null ? null : page.slice(0, MAX_PAGE);
}

/**
 * Statements that are not purposes. Fields of Google's consent mode among the purposes move here when the record names another purpose
 * that needs consent; where they are all there is, they stay and are the purposes, since they then are the only choice on record.
 */
export function readSignals(payload: Payload, purposes: Purposes): Readonly<Record<string, string>> {
  const signals: [string, string][] = [];
  const add = (name: string, value: string | null) => {
    if (value !== null) signals.push([name, value.length > MAX_SIGNAL ? `(${value.length} characters)` : value]);
  };
  add('gpc', firstOf(payload, 'gpcSignal', flagOf));
  add('gpp', firstOf(payload, 'gppSignal', stringOf));
  add('tcf', firstOf(payload, 'tcfSignal', stringOf));
  add('us_privacy', firstOf(payload, 'uspSignal', stringOf));
  for (const [name, value] of takeConsentMode(payload, purposes)) add(`consent_mode.${name}`, value);
  return Object.fromEntries(signals);
}

const modeNames = new Map(consentModeFields.map((name) => [normaliseName(name), name]));

function takeConsentMode(payload: Payload, purposes: Purposes): ReadonlyMap<string, string> {
  const mode = new Map<string, string>();
  for (const { value } of payload.each('consentModeSignal')) {
    if (!isJsonObject(value)) continue;
    payload.use(value);
    for (const [key, stated] of Object.entries(value).slice(0, 50)) {
      const name = modeNames.get(normaliseName(key));
      const text = stated === true ? 'granted' : stated === false ? 'denied' : textOf(stated, MAX_WORD);
      if (name !== undefined && text !== null && !mode.has(name)) mode.set(name, text);
    }
  }
  const others = [...purposes.keys()].some(
    (purpose) => !modeNames.has(normaliseName(purpose)) && !isNecessary(purpose),
  );
  if (others) {
    for (const [purpose, choice] of [...purposes]) {
      const name = modeNames.get(normaliseName(purpose));
      if (name === undefined) continue;
      mode.set(name, choice);
      purposes.delete(purpose);
    }
    for (const name of consentModeFields) {
      const choice = choiceOf(payload.named(name));
      if ((choice === 'given' || choice === 'refused') && !mode.has(name))
        mode.set(name, choice === 'given' ? 'granted' : 'denied');
    }
  } else if (![...purposes.keys()].some((purpose) => !isNecessary(purpose))) {
    for (const [name, stated] of mode) {
      const choice = choiceOf(stated);
      if (choice === 'given' || choice === 'refused') purposes.set(name, choice === 'given' ? 'granted' : 'denied');
    }
  }
  return new Map([...mode].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function flagOf(value: unknown): string | null {
  if (value === true || value === 1) return '1';
  if (value === false || value === 0) return '0';
  return textOf(value, MAX_WORD);
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? textOf(value, 1_000_000) : null;
}
