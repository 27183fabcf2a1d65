import { wordsOfName } from '../src/core/plain-words.ts';
import type { ConsentState } from '../src/core/vocabulary.ts';

/*
 * Names of events about a visitor's choice besides consent.recorded, the only one that the service documents
 * (docs/assumptions.md, How a field is found).
 */

const MAX_EVENT_NAME = 100;

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
/** Words of the name of an event about a visitor's choice, in plain form: `consent_updated`, `preferences.saved`, `user.opt_out`. */
const consentWords = setOf(
  `consent consents consented cookieconsent optin optout optedin optedout preference preferences unsubscribe unsubscribed subscription subscriptions
   einwilligung einwilligungen zustimmung consentement consentements consentimiento consentimientos consenso consensi toestemming consentimento consentimentos
   zgoda zgody samtycke samtycken samtykke samtykker suostumus souhlas`,
);
/** Words of events that are not a visitor's choice although they name consent: documents, scans, requests, and what comes before a choice. */
const otherWords = setOf(
  `policy policies terms scan scans tracker trackers integration integrations dsar dsars dsr dsrs request requests requested redact redaction erasure deletion access portability
   webhook ping test template templates config configuration version publish published plan billing invoice payment order renewal
   shown show displayed display viewed view impression opened loaded load ready init initialized initialised default defaults prompt prompted banner`,
);
const withdrawing = setOf(
  'withdrawn withdraw withdrawal withdrew revoked revoke revocation optout optedout unsubscribe unsubscribed removed widerrufen widerruf retire retrait retirado revocado revocato ingetrokken revogado wycofano wycofana aterkallat tilbagekaldt',
);
const refusing = setOf('refused refuse rejected reject declined decline denied deny');
const granting = setOf('given granted grant accepted accept allowed optin optedin');
const changing = setOf('renewed reconfirmed');

function wordsOfEvent(name: string): readonly string[] {
  const words = wordsOfName(name.slice(0, MAX_EVENT_NAME));
  return words.flatMap((word, at) => {
    if (/^opt(?:ed)?$/.test(word) && /^(?:in|out)$/.test(words[at + 1] ?? '')) return word + words[at + 1];
    return word;
  });
}

/** Whether the name of an event that the service does not document says clearly that it is about a visitor's choice: `consent.updated`. */
export function namesConsent(name: string): boolean {
  const words = wordsOfEvent(name);
  return (
    words.some((word) => consentWords.has(word) || (word.length <= 20 && word.endsWith('consent'))) &&
    !words.some((word) => otherWords.has(word))
  );
}

/** Whether such a name says only that preferences or a subscription changed, which may be of anything. */
export function namesPreferencesOnly(name: string): boolean {
  return !wordsOfEvent(name).some(
    (word) => word.endsWith('consent') || (consentWords.has(word) && !/^(?:preference|subscription)/.test(word)),
  );
}

/** What the name of such an event says of the choice: `consent.revoked`; null: nothing. */
export function choiceNamed(name: string): ConsentState | null {
  const words = wordsOfEvent(name);
  const any = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  if (any(withdrawing)) return 'withdrawn';
  if (any(refusing)) return 'refused';
  if (words.includes('expired')) return 'expired';
  if (any(changing)) return 'renewed-given';
  return any(granting) && !words.some((word) => /^(?:not|no|partially)$/.test(word)) ? 'given' : null;
}
