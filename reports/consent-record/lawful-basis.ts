/** The legal basis of a purpose, as terms of the Data Privacy Vocabulary. */
export interface LawfulBasis {
  /** `dpv:Consent`, `eu-gdpr:A6-1-a`; empty: not known, see `why`. */
  readonly terms: readonly string[];
  /** Whether it is consent. */
  readonly isConsent: boolean;
  /** Why it is not consent, or why there is no term; null: nothing to say. */
  readonly why: string | null;
}

/** The letters of GDPR Art. 6(1) and what they stand for, with the word for each in the languages of letters. */
const bases = {
  a: {
    term: 'dpv:Consent',
    words:
      /\bconsent\b|einwilligung|consentement|consentimiento|\bconsenso\b|toestemming|\bzgod|consentimento|samtycke/i,
  },
  b: {
    term: 'dpv:Contract',
    words: /\bcontract|\bvertrag|\bcontrat|\bcontratto|overeenkomst|\bumow|\bavtal/i,
  },
  c: {
    term: 'dpv:LegalObligation',
    words:
      /legal obligation|rechtliche verpflichtung|obligation l[ée]gale|obligaci[óo]n legal|obbligo legale|wettelijke/i,
  },
  d: { term: 'dpv:VitalInterest', words: /vital interest|lebenswichtig|int[ée]r[êe]ts? vita/i },
  e: { term: 'dpv:PublicInterest', words: /public (?:interest|task)|öffentliche[sn]? interesse|int[ée]r[êe]t public/i },
  f: {
    term: 'dpv:LegitimateInterest',
    words:
      /legitimate interest|berechtigte[sn]? interesse|int[ée]r[êe]ts? l[ée]gitime|inter[ée]s(?:es)? leg[íi]timo|interess[ei] legittim|legittim[oi] interess[ei]|gerechtvaardigd|uzasadnion|interesses? leg[íi]timo|ber[äa]ttiga/i,
  },
} as const;
type Letter = keyof typeof bases;
const letters = Object.keys(bases) as readonly Letter[];

/** `6(1)(a)`, `6 (1) a`, `6 Abs. 1 Buchst. a`, `6.1.a`, `6, par. 1, lett. a)`. */
const article =
  /\b(6|9)[,.\s]*(?:\(\s*[12]\s*\)|(?:abs|par|al|ust|ods|apdo|lid|n)\.?\s*[12]|§\s*[12]|[12])[,.\s-]*(?:(?:s|satz|sentence|unterabs)\.?\s*1[,\s]*)?(?:(?:buchst|lit|lett|let|letra|letter|lettera|point|punkt|sub|alinea|led)\.?\s*)?\(?\s*([a-f])\b/gi;

/**
 * The terms in a profile's words for a legal basis: those of the articles that it cites, otherwise of the bases that it
 * names. An article of the GDPR also has its own term, unless the words name another law that counts in the same way.
 */
function termsIn(stated: string): { readonly letters: readonly Letter[]; readonly terms: readonly string[] } {
  const own = !/\buk\b|\bfadp\b|\bdsg\b|\bjersey\b|\bguernsey\b/i.test(stated);
  const cited = [...stated.matchAll(article)].flatMap(([, number, letter]) => {
    const found = letter?.toLowerCase() as Letter;
    // Of Art. 9(2), only consent is a legal basis that a choice on a banner can be.
    return number === '6' || found === 'a' ? [{ number, letter: found }] : [];
  });
  if (cited.length > 0)
    return {
      letters: cited.map(({ letter }) => letter),
      terms: unique(
        cited.flatMap(({ number, letter }) => [
          bases[letter].term,
          ...(own ? [`eu-gdpr:A${number}-${number === '6' ? 1 : 2}-${letter}`] : []),
        ]),
      ),
    };
  if (/\b(?:no|not|without|ohne|keine?|nicht|sans|sin|senza|zonder|bez|sem|utan)\b/i.test(stated))
    return { letters: [], terms: [] };
  const named = letters.filter((letter) => bases[letter].words.test(stated));
  return { letters: named, terms: named.map((letter) => bases[letter].term) };
}

/**
 * The legal basis of a purpose: as the controller profile states it; without a statement, consent, since a choice was
 * asked for. Never consent for a visitor in the United States: the laws of its states let people opt out of processing
 * that goes on without consent (Cal. Civ. Code § 1798.120; Va. Code § 59.1-577), so a choice there permits nothing.
 *
 * @param stated the profile's words for the purpose; null: none
 * @param place code of the visitor's place (`US-CA`, `DE`); null: not known
 */
export function lawfulBasisOf(stated: string | null, place: string | null): LawfulBasis {
  const optOut = place !== null && /^US(?:-|$)/.test(place);
  const said = stated === null ? '' : ` (the controller profile states: ${stated})`;
  const inOptOut = `not consent: in ${place ?? ''}, the law lets people opt out and does not ask for consent${said}`;
  if (stated === null)
    return optOut
      ? { terms: [], isConsent: false, why: inOptOut }
      : { terms: ['dpv:Consent'], isConsent: true, why: null };
  const found = termsIn(stated);
  if (found.terms.length === 0)
    return {
      terms: [],
      isConsent: false,
      why: optOut ? inOptOut : `no term of the vocabulary is known for what the controller profile states: ${stated}`,
    };
  if (!found.letters.includes('a'))
    return { terms: found.terms, isConsent: false, why: `not consent: the controller profile states: ${stated}` };
  if (!optOut) return { terms: found.terms, isConsent: true, why: null };
  const others = found.terms.filter((term) => term !== 'dpv:Consent' && !/^eu-gdpr:A\d-\d-a$/.test(term));
  return { terms: others, isConsent: false, why: inOptOut };
}

function unique(terms: readonly string[]): string[] {
  return [...new Set(terms)];
}
