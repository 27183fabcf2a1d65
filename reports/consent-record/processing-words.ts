import { findJurisdiction, mapJurisdiction } from '../../src/law/jurisdictions.ts';
import type { ControllerProfile } from '../../src/law/profile.ts';
import { builtInRegimes } from '../../src/law/regimes.ts';
import type { ConsentRecord, Duration, NotKnown, Place } from './schema.ts';

const units: readonly (readonly [letter: string, words: RegExp])[] = [
  ['D', /^(?:days?|tage?n?|jours?)$/],
  ['W', /^(?:weeks?|wochen?|semaines?)$/],
  ['M', /^(?:months?|monate?n?|mois)$/],
  ['Y', /^(?:years?|jahre?n?|ans?|années?)$/],
];

/**
 * A retention period as a profile states it: `13 months` is the ISO 8601 period P13M. Anything else is the event until
 * which data is kept, in the profile's words (`until withdrawn`).
 */
export function keptFor(stated: string): Duration {
  const [, count = '', word = ''] = /^(\d{1,4})\s+(\p{L}+)$/u.exec(stated.trim().toLowerCase()) ?? [];
  const unit = units.find(([, words]) => words.test(word));
  return unit === undefined
    ? { '@type': 'dpv:UntilEventDuration', value: stated }
    : { '@type': 'dpv:TemporalDuration', value: `P${Number(count)}${unit[0]}`, stated };
}

/** A place by its code (`DE`, `US-CA`, `EU`), or by words that are no certain place. */
export function placeOf(words: string): Place {
  const found = findJurisdiction(words) ?? findJurisdiction(mapJurisdiction(words) ?? '');
  return found === null
    ? { '@type': 'dpv:Location', title: words }
    : { '@id': `loc:${found.code}`, '@type': 'dpv:Location', title: found.name };
}

const dataTypes: readonly (readonly [type: string, words: RegExp])[] = [
  ['pd:EmailAddress', /e-?mail/i],
  ['pd:IPAddress', /\bip[- ](?:address|adresse)/i],
  ['dpv:PseudonymisedData', /hash|pseudonym/i],
];

/**
 * The type of a category of data. Profiles state categories in words; only those that name one type are more than
 * `dpv:PersonalData`, the broadest type of the vocabulary.
 */
export function dataTypeOf(category: string): string {
  const found = dataTypes.filter(([, words]) => words.test(category));
  return found.length === 1 ? (found[0]?.[0] ?? 'dpv:PersonalData') : 'dpv:PersonalData';
}

/** The rights of the GDPR that a record of consent can state, with their terms. */
const gdprRights: readonly (readonly [term: string, title: string])[] = [
  ['eu-gdpr:A7-3', 'Right to withdraw consent (GDPR Art. 7(3))'],
  ['eu-gdpr:A15', 'Right of access (GDPR Art. 15)'],
  ['eu-gdpr:A16', 'Right to rectification (GDPR Art. 16)'],
  ['eu-gdpr:A17', 'Right to erasure (GDPR Art. 17)'],
  ['eu-gdpr:A18', 'Right to restriction of processing (GDPR Art. 18)'],
  ['eu-gdpr:A20', 'Right to data portability (GDPR Art. 20)'],
  ['eu-gdpr:A21', 'Right to object (GDPR Art. 21)'],
  ['eu-gdpr:A77', 'Right to lodge a complaint with a supervisory authority (GDPR Art. 77)'],
];

function lawOf(place: string | null) {
  if (place === null) return null;
  const byCode = (code: string) => builtInRegimes.find(({ jurisdictions }) => jurisdictions.includes(code)) ?? null;
  return byCode(place) ?? byCode(place.slice(0, 2));
}

/**
 * The rights of the data subject, with where to exercise them. Under the law of the visitor's place and, if that binds a
 * controller everywhere (GDPR Art. 3(1)), of the controller's country. The rights of the GDPR one by one; of other laws
 * as a whole, for which the vocabulary has no terms here.
 */
export function rightsOf(
  profile: ControllerProfile | null,
  place: string | null,
): ConsentRecord['processing']['privacy_rights'] {
  const at = profile?.email ?? profile?.website ?? profile?.phone ?? null;
  if (at === null) return [{ not_known: 'the controller profile does not state where rights are exercised' }];
  const own = lawOf(profile?.country ?? null);
  const laws = [...new Set([lawOf(place), own?.reach == null ? null : own])].filter((law) => law !== null);
  if (laws.length === 0) return [{ not_known: 'it is not known under which law the data subject has rights' }];
  return laws.flatMap((law): Right[] =>
    law.id === 'eu-gdpr'
      ? gdprRights.flatMap(([term, title]): Right[] => {
          const exercised_at = placeOfExercise(term, profile, at);
          return exercised_at === null ? [] : [{ '@type': ['dpv:DataSubjectRight', term], title, exercised_at }];
        })
      : [{ '@type': 'dpv:DataSubjectRight', title: `Rights under ${law.law}`, exercised_at: at }],
  );
}

type Right = Exclude<ConsentRecord['processing']['privacy_rights'][number], NotKnown>;

/** Consent is withdrawn as the profile says, and complaints go to the authority that it names (null: none); all else to the controller. */
function placeOfExercise(term: string, profile: ControllerProfile | null, at: string): string | null {
  if (term === 'eu-gdpr:A7-3') return profile?.withdrawalMethod ?? at;
  if (term !== 'eu-gdpr:A77') return at;
  const authority = profile?.supervisoryAuthority ?? null;
  return authority === null ? null : (authority.website ?? authority.address ?? authority.name);
}
