import type { ChoiceMeant } from './choice-words.ts';
import { isJsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/**
 * What is known of one consent platform's payloads beyond the general rules, as data. Sources and versions of the documentation are in
 * docs/assumptions.md (Consent platforms).
 */
export interface Platform {
  readonly name: string;
  /** Fields that such a payload has, all of them, in plain form; a dot leads into an object. */
  readonly has: readonly string[];
  /** How the name of one of its fields begins. */
  readonly begins?: string;
  /** A further condition on the value of the first of these fields. */
  readonly where?: (value: unknown) => boolean;
  /** Purposes that need no consent there, in plain form. */
  readonly necessary?: readonly string[];
  /** Fields that list what was granted although their names do not say so, in plain form. */
  readonly listed?: readonly string[];
  /** An object purpose → list of services names those that were accepted; `ignored`: it says nothing of the purpose. */
  readonly services?: true | 'ignored';
  /** A refusal leaves granted only what needs no consent. */
  readonly refusalKeepsNecessary?: true;
  /** Every flag at the top level is a purpose's. */
  readonly flags?: true;
  /** Fields that look like a choice and are none, in plain form. */
  readonly noChoice?: readonly string[];
  /** Field → value → what it means. Other values of the field mean nothing. */
  readonly words?: Readonly<Record<string, Readonly<Record<string, ChoiceMeant>>>>;
}

const oneTrustCodes =
  /^[,\s]*(?:C\d{4}|[A-Z]{1,6}\d{0,3}|\d{1,3})(?:\s*,+\s*(?:C\d{4}|[A-Z]{1,6}\d{0,3}|\d{1,3}))*[,\s]*$/;

/** Known platforms; the first that fits counts. */
export const platforms: readonly Platform[] = [
  {
    name: 'OneTrust active groups',
    has: ['onetrustactivegroups'],
    listed: ['onetrustactivegroups'],
    necessary: ['c0001'],
  },
  {
    name: 'OneTrust groups',
    has: ['groups'],
    // `C0001:1,C0002:0` has been unwrapped into an object.
    where: (value) =>
      isJsonObject(value)
        ? Object.keys(value).some((key) => /^C000\d$/.test(key))
        : typeof value === 'string' && /C000\d/.test(value) && oneTrustCodes.test(value),
    listed: ['groups'],
    necessary: ['c0001'],
  },
  {
    name: 'CookieYes',
    has: ['consent', 'consentid', 'action'],
    where: (value) => typeof value === 'string',
    noChoice: ['action'],
  },
  { name: 'Complianz', has: [], begins: 'cmplz', necessary: ['cmplzfunctional', 'functional'] },
  {
    name: 'vanilla-cookieconsent',
    has: ['categories', 'revision', 'consenttimestamp'],
    where: Array.isArray,
    listed: ['categories', 'acceptedcategories'],
    services: 'ignored',
  },
  { name: 'Klaro', has: ['consents', 'changes', 'type'], refusalKeepsNecessary: true },
  { name: 'Klaro', has: ['consents', 'config', 'type'], refusalKeepsNecessary: true },
  { name: 'TCF CMP API', has: ['tcstring', 'eventstatus', 'purpose.consents'], listed: ['consents'] },
  {
    name: 'vanilla-cookieconsent 2',
    has: ['level', 'revision'],
    where: Array.isArray,
    listed: ['level', 'categories'],
  },
  {
    name: 'c15t',
    has: ['purposeids', 'givenat'],
    listed: ['purposeids'],
    noChoice: ['type'],
    words: { status: { active: 'given', withdrawn: 'withdrawn', expired: 'refused' } },
  },
  {
    name: 'IBM Verify',
    has: ['consentstate', 'purposeid'],
    where: (value) => typeof value === 'number',
    noChoice: ['action'],
    words: { consentstate: { 1: 'given', 2: 'refused', 3: 'given', 4: 'refused' } },
  },
  {
    name: 'Borlabs Cookie',
    has: ['consents', 'domainpath'],
    where: isJsonObject,
    services: true,
    necessary: ['essential'],
  },
  { name: 'iubenda', has: ['purposes', 'cons'], where: isJsonObject, necessary: ['1'] },
  { name: 'WP Consent API', has: [], begins: 'wpconsent', necessary: ['wpconsentfunctional'] },
  { name: 'Moove GDPR Cookie Compliance', has: ['moovegdprpopup'], necessary: ['strict'] },
  { name: 'Axeptio', has: ['cookiesversion', 'completed'], flags: true },
  {
    name: 'Real Cookie Banner',
    has: ['buttonclicked', 'decision'],
    services: true,
    words: {
      buttonclicked: {
        main_all: 'given',
        ind_all: 'given',
        main_essential: 'refused',
        ind_essential: 'refused',
        main_custom: 'by-purpose',
        ind_custom: 'by-purpose',
      },
    },
  },
  {
    name: 'TrustArc',
    has: ['noticegdprprefs'],
    words: {
      noticegdprprefs: {
        '0:': 'refused',
        '0': 'refused',
        '0,1:': 'by-purpose',
        '0,1,2:': 'given',
        '0,1,2': 'given',
        '0,1,2,3:': 'given',
      },
    },
  },
  {
    name: 'Joomla privacy consents',
    has: ['subject', 'remind', 'state'],
    where: (value) => typeof value === 'string' && /PRIVACYCONSENT/i.test(value),
    words: { state: { 1: 'given', 0: 'invalidated', '-1': 'invalidated' } },
  },
  {
    name: 'Braze',
    has: ['externalid', 'subscriptionstate'],
    words: { subscriptionstate: { opted_in: 'given', unsubscribed: 'withdrawn' } },
  },
];

/** The platform that a payload looks like; null: none that is known. */
export function platformOf(payload: Payload): Platform | null {
  for (const platform of platforms) if (fits(platform, payload)) return platform;
  return null;
}

function fits({ has, begins, where }: Platform, payload: Payload): boolean {
  for (const name of has) if (!payload.has(name)) return false;
  if (begins !== undefined && !payload.hasBeginning(begins)) return false;
  return where === undefined || where(payload.named(has[0] ?? ''));
}
