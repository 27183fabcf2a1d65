import { plainForm, wordsOfName } from '../src/core/plain-words.ts';
import { choiceMeant } from './choice-words.ts';
import { type FlagMeaning, flagMeaning } from './consent-flag-words.ts';
import { isBlank, type JsonObject } from './parse.ts';
import type { Payload } from './payload.ts';

/**
 * What a name says about a flag or list in a consent record. `granting`: true grants (`accepted`, `marketing_consent`). `refusing`: true
 * refuses, and false says nothing (`doNotSell`, `opt_out`, `denied`). Null: neither.
 */
export type Polarity = 'granting' | 'refusing' | null;

/** What is known of a field in a consent record by its name alone. */
export interface NameRole {
  /** The name in plain form. */
  readonly plain: string;
  /** A flag of a purpose that needs no consent: with true, the purpose is necessary (ePrivacy Directive Art. 5(3)). */
  readonly isNecessaryFlag: boolean;
  /** A flag that says with this value that the visitor did not choose: `confirmed: false`, `implied: true`. */
  readonly notChosenIf: 'no' | 'yes' | null;
  /** How consent came about: its value may say that the visitor did not choose. */
  readonly isMethod: boolean;
  /** The legal basis. */
  readonly isBasis: boolean;
  readonly polarity: Polarity;
  /** What it means for a purpose to be in a list of this name. */
  readonly lists: 'granted' | 'denied' | null;
  /** How something stands: `state`, `consentStatus`. */
  readonly isState: boolean;
  /** A count, time, id or circumstance: its value is not a choice. */
  readonly isCircumstance: boolean;
  readonly isCount: boolean;
  /** It says which law applies, not what was chosen: `eea`, `isUserSubjectToGDPR`. */
  readonly isScope: boolean;
  /** Settings of a banner, and things that hold no choice of a visitor. */
  readonly isSetting: boolean;
  /** A word of consent, of granting or of refusing is in it. */
  readonly isConsent: boolean;
  /** Consent to something of its own: `zgodaFotografie`. */
  readonly isOfConsent: boolean;
  /** What applied before the choice. */
  readonly isFormer: boolean;
  /** One right to refuse (sale, sharing, targeted advertising, sensitive data) instead of the whole choice. */
  readonly isPartial: boolean;
  /** The whole choice: `isConsentGranted`, `privacyConsentStatus`, `einwilligung`. */
  readonly isWhole: boolean;
  /** Something that holds purposes: `categories`, `visitorConsent`, `finalites`. */
  readonly isContainer: boolean;
  /** A purpose, if its value is a choice and it is at the top level: `wp_consent_marketing`, `acceptsMarketing`. */
  readonly isPurpose: boolean;
  /** A flag of the record among its purposes: `hasConsentData`, `rejectedAny`, `isGpcEnabled`. */
  readonly isStatus: boolean;
  /** Legitimate interest is not consent (GDPR Art. 6(1)(f)), and the right to object to it is another one. */
  readonly isLegitimateInterest: boolean;
  /** Acceptance of terms or a notice, which is not consent to a purpose. */
  readonly isTerms: boolean;
  /** It may be a time, if nothing else is. */
  readonly mayBeTime: boolean;
  /** The time of a choice, of its change or of its withdrawal, or only a time, if its value is one. */
  readonly time: 'choice' | 'change' | 'withdrawal' | 'event' | null;
  /** It says that consent was given when it holds a time: `consentGivenDate`, `commercial_opted_in`. */
  readonly timeGrants: boolean;
  /** With which value a flag of this name says nothing against the record around it. */
  readonly flag: FlagMeaning;
  /** To which category something belongs: `categorySlug`, `kategorie`, `group_name`. */
  readonly isCategory: boolean;
  /** What was pressed. */
  readonly isButton: boolean;
  /** It asks for all or any of several: `allAllowed: false` refuses nothing of its own. */
  readonly isOfAll: boolean;
}

const setOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const refusing = setOf(
  `deny denied denies reject rejected rejects refuse refused refuses decline declined declines block blocked blocks disable disabled disallow disallowed
   revoke revoked withdraw withdrawn optout optedout unsubscribe unsubscribed exclude excluded objected objection opposed suppress suppressed
   sparr sparrad sparrat beskyttet skyddad frabedt blokada kielto kielletty kiellot reservert reserverte reservasjon sperre sperrvermerk werbesperre blocco bloqueo blocage bloqueio blokkering robinson donotcontact dnc reklamsparr suoramarkkinointikielto
   niezgoda odsubskrybuj odsubskrybowano abgemeldet afgemeld desinscrit desabonne
   dont dnt dns dnsmpi abgelehnt abgelehnte ablehnen verweigert gesperrt widersprochen widerspruch widerspruche widersprueche objections oppositions oposiciones opposizioni bezwaar bezwaren sprzeciw sprzeciwy oposicao oposicoes invandning invandningar indsigelse indsigelser refusee refuse refuses rejete bloque rechazado rechazados rechazada rechazadas denegado bloqueado
   rifiutato rifiutati rifiuta negato bloccato geweigerd geweigerde afgewezen recusado recusados rejeitado rejeitados negado odrzucone odrzucono zablokowane avvisad avvisade nekad nekade afvist afviste avvist avviste hylatty hylatyt odmitnuto odmitnute desactive desactives desactivado desactivados disattivato disattivati deaktiviert deaktivierte`,
);
const strictlyGranting = setOf(
  `grant granted grants accept accepted accepts allow allowed allows consented agree agreed agrees enable enabled approve approved permit permitted autoriza autorizo autorizzo authorised authorized
   optin optedin given subscribed dado dada gegeben gegeven prestado prestada prestato rilasciato givet givit gitt akzeptiert akzeptierte akzeptierten zugestimmt erlaubt erlaubte accepte acceptee acceptes acceptees autorise autorises aceptado aceptados
   aceptada aceptadas permitido permitidos accettato accettati accettate consentito consentiti geaccepteerd geaccepteerde toegestaan aceito aceitos aceitas
   acconsentito autorizado autorizada autorizados autorizzato autorizzati autorise autorisee toegestane aanvaard concedido concedida concesso
   zaakceptowane zaakceptowano accepterad accepterade tillaten accepteret accepterede tilladt godkendt godkend godtatt godtatte hyvaksytty hyvaksytyt sallittu prijato prijate povoleno`,
);
/** How inflected words of other languages begin: `erteilte`, `godkända`. */
const grantingStems =
  /^(?:akzeptiert|erlaubt|erteilt|zugestimmt|genehmigt|angenommen|acceptee?s?$|autorise|aceptad|autorizad|permitid|concedid|otorgad|accettat|autorizzat|concess[aoie]$|geaccepteerd|toegestan|toegestaan|verleend|aceit[aoe]s?$|zaakceptowan|udzielon|accepterad|tillat|godkan|godkend|accepteret|tilladt|godtatt|hyvaksyt|sallit|povolen|prijat)/;
const refusingStems =
  /^(?:abgelehn|verweiger|widerruf|revogad[ao]s$|revocad[ao]s$|revocat[ei]$|retirad[ao]s$|ritirat[ei]$|rejete|refuse|rechazad|denegad|rifiutat|negat[aoie]$|geweiger|afgewez|recusad|rejeitad|negad[ao]s?$|odrzucon|cofniet|wycofan|avvisad|nekad|aterkall|afvist|avvist|hylat|kiellet|odmitnut|odvolan|zamitnut)|.(?:sparr|sperre|kielto|verbot|beskyttet|skyddad|schutz|stopp?)$/;
/** Words for consent itself, which say nothing about a list: `consent_categories` may list those that were asked about. */
const consentWords = setOf(
  `consent consents einwilligung einwilligungen zustimmung consentement consentements consentimiento consentimientos consenso consensi toestemming toestemmingen consentimento consentimentos zgoda zgody samtycke samtycken samtykke samtykker suostumus souhlas`,
);
const negating = setOf(
  `not no never without nicht kein keine keinen keinerlei ohne ne pas aucun aucune sin ningun ninguna senza nessun nessuna geen niet nao nenhum nenhuma nie inte ej ingen inga ikke ei`,
);
/** Not a refusal: `non_essential`, `not_necessary`, `non_personalized_ads` are purposes. */
const notNegated = /^(?:essential|necessary|required|notwendig|notwendige|necessaires|personalized|personalised)$/;

const circumstances = setOf(
  `id ids uuid uid guid date dates time times timestamp tstamp datetime at ts utc stamp expires expiry expire expiration until since valid version versions ver revision rev
   lang language locale country region jurisdiction city geo location url uri href page path host hostname domain origin referrer referer ip agent ua useragent browser device platform sdk
   hash token signature count counts counter number num total totals sum duration seconds days ttl method mechanism source model regulation law regime framework legal banner
   interaction interactions interacted prompted shown displayed visible hidden expanded collapsed description label text title name message hint metadata meta history reason notes applies previous old prior before former order index position sort rank weight eea applicable
   sprache langue idioma lingua taal jezyk sprak sprog kieli jazyk land pays pais paese kraj quelle fonte fuente origine origen bron zrodlo kalla kilde seite pagina strona sida side sivu
   viewed seen modal popup dismissed v1 v2 v3 v4
   titel titre titolo titulo tytul beschreibung grund motivo motif powod reden orsak arsag kanal canal canale kanaal`,
);
const partial = setOf(
  `sell selling sale sales share sharing ccpa cpra targeted target targeting advertising ads sensitive spi limit profiling sms email phone push mail marketing newsletter analytics tracking data`,
);
const whole = setOf(
  `dpv cookie cookies is has have user users visitor all full overall final gdpr dsgvo rgpd privacy tracking permission permissions status state decision choice answer response value result preference current
   auswahl entscheidung nutzer besucher choix decision decisao decyzja scelta decisione keuze beslissing escolha wybor val valg valinta volba beslut eleccion resposta
   aktion azione accion acao akcja actie handling toiminto atgard estado etat stato toestand stan tila stav tilstand antwort respuesta reponse risposta antwoord odpowiedz svar vastaus odpoved
   nouvel nouveau nouvelle nuevo nueva nuovo nuova nieuw nieuwe novo nova nowy nowa ny nya nye neu neue neuer neues new current actuel aktuell attuale actual huidige cookiebanner banner notice`,
);
const statusWords = setOf(
  `any vendor vendors purpose purposes to data some partially partial reconsent awaiting global iab gpc dnt enabled granular none interacted confirmed prompted updated completed answered multiple values options`,
);
/** At least one of these makes a name that of the whole choice. */
const wholeCore = setOf(
  `decision choice auswahl entscheidung choix decision decisao decyzja scelta decisione keuze beslissing escolha wybor val valg valinta volba beslut eleccion aktion azione accion acao akcja actie atgard toiminto estado etat stato toestand stan tila stav antwort respuesta reponse risposta antwoord resposta odpowiedz svar vastaus odpoved`,
);
const containerWords = setOf(
  `purposes categories category cookiecategories consents preferences choices decisions services selections permissions groups settings options topics vendors plugins cookies
   kategorien zwecke dienste einwilligungen einstellungen auswahl finalites categories choix preferences cookies finalidades categorias preferencias servicios
   finalita categorie preferenze scelte servizi voorkeuren categorieen doeleinden keuzes categorias preferencias finalidades kategorie cele preferencje kategorier andamal installningar
   formal luokat valinnat kategorie ucely nastaveni subscriptions abonnements permessi permisos permissoes pozwolenia tilladelser luvat berechtigungen autorisations autorizaciones autorizacoes autorizzazioni
   themen sujets temas argomenti tematy emner formaal andamal tjenester tjanster palvelut sluzby servizi servicos uslugi diensten tillatelser`,
);
const notContainers = setOf(
  `policy policies banner legal version versions id ids li text texts label labels template config configuration geo url script list html page domain expiry expires default defaults previous old asked offered available`,
);
const purposeWords = setOf(
  `necessary essential functional functionality preferences preference analytics analytic analytical statistics statistic performance marketing advertising advertisement advertisements ads ad
   targeting personalization personalisation personalized social media unclassified uncategorized tracking profiling remarketing retargeting newsletter measurement experience security
   notwendig notwendige essenziell funktional praferenzen statistik statistiken werbung reichweitenmessung
   necessaires fonctionnels statistiques publicite publicitaires mesure audience
   necesarias funcionales preferencias estadisticas estadistica analitica publicidad
   necessari funzionali preferenze statistiche statistici pubblicita
   noodzakelijk functioneel voorkeuren statistieken analytisch advertenties
   necessarios funcionais estatisticas niezbedne funkcjonalne preferencje statystyka statystyczne reklama reklamowe marketingowe
   nodvandiga funktionella installningar annonsering annonser sale sell sharing`,
);
const aroundPurposes = setOf(
  `consent consents cookie cookies allow allowed allows accept accepted accepts enable enabled grant granted grants opt in optin optedin opted is has user visitor data storage cmplz wp ck cc cky cli
   checkbox cookielawinfo category cat permission first third party strictly anonymous of personal info information email sms web site choice zgoda einwilligung`,
);
/** How words for purposes begin, in the languages of {@link purposeWords} and a few more. */
const purposeStems =
  /^(?:analy[ts]|analis|analit|analiz|statis|statyst|estatis|estadis|tilasto|marketing|marknadsf|markedsf|markkinoi|mercadot|mercadeo|werb|reklam|reclam|publici[dt]|pubblicit|advert|annons|mainon|mainos|remarket|retarget|targeting|profil(?:az|ag|ing|ow|er|bild|iel)|perfila|newsletter|nieuwsbrie|nyhetsbrev|nyhedsbrev|uutiskirj|boletin|infolettre|prospec|prospek|funktion|functi|fonction|funzion|funcion|funkcj|funkcn|toiminnal|preferen|voorkeur|praferen|personali[sz]|personnalis|personaliz|desempenho|rendimiento|prestazion|leistung|wydajno|prestanda|ydeevne|ytelse|suoritusk|komfort|comfort|confort|sozial|sociaux|sociales|spoleczno|medios|medien|messung|reichweite|medicion|misuraz|weitergabe|cession|cessao|cesion|comunica[zc]|partage|compart|udostepn|doorgifte|deling|esperienz|experienc|umfrage|sondage|encuesta|sondagg|forschung|recherche|ricerca|investiga|research|survey)/;
/** Ways to reach somebody: a purpose only beside a word of consent or refusal. */
const channelWords = setOf(
  'bulkemail postalmail email emails sms phone call calls push whatsapp mail post letter telefon telefono telephone telefone telefoni telefonico partner partners partnern partenaires socios parceiros partnerzy partnerom partnerow terzi tiers dritte derden terceiros terceros courrier courriel correo brief telefonanruf anrufe',
);
/** Around the purposes of any language. */
const smallWords = setOf(
  `for per fur pour para voor do dla av till til a an to by via at with the and und et y e en i og och der die das des du de la le les los di da del della al alla on
   daten donnees datos dati gegevens dados danych party partner partners partenaires dritte dritten terzi terceros tiers derden terceiros trzecim tredje third anonym diretto direct directo intent`,
);
const termsWords = setOf(
  `terms tos tou agb conditions cgu cgv terminos termini voorwaarden termos regulamin villkor eula legal notices notice policy
   condiciones condicoes condizioni bedingungen nutzungsbedingungen geschaftsbedingungen podminky podminek betingelser vilkar kayttoehdot ehdot`,
);
const choiceTimes = setOf(
  `afgivet aceito aceita aceitou agreed concordado accordato accordata dado udzielono wyrazono
   consent consents consented decision decided choice chosen given granted accepted collected capture captured recorded interaction action expressed indicated signed optin optedin submitted
   einwilligung entscheidung erteilt auswahl consentement choix consentimiento decision consenso scelta toestemming keuze consentimento zgody samtycke samtykke suostumus souhlasu udzielenia udzielono wyrazenia wyrazono alta otorgamiento otorgado rilascio concessione concesso verleend gegeven concedido concessao lamnat gitt givet givit annettu udeleni udelen
   unterschrieben aceptacion accettazione acceptation annahme aceite akceptacji beslut valg beslutning`,
);
const changeTimes = setOf(
  `updated update modified changed change last latest edited geandert aktualisiert modifie actualizado aggiornato gewijzigd atualizado zmieniono andrad maj modification modificado modificata modifica cambio cambiado anderung wijziging alteracao alterado zmiana zmiany andring andret aendret aendring endret endring muutettu zmena zmeneno`,
);
const withdrawalTimes = setOf(
  `withdrawn withdrawal withdraw revoked revocation revoke optout optedout unsubscribed widerrufen widerruf retire retrait retirado revocado revocato ingetrokken revogado wycofano aterkallat aterkallelse wycofania cofniecia cofnieto cofniecie baja desabonnement desinscription desinscrit abmeldung abgemeldet revocacion revoca disiscrizione intrekking uitschrijving uitgeschreven cancelamento revogacao tilbagetrukket tilbagekaldt tilbagekaldelse tilbakekalt peruutus peruttu odvolani odvolano`,
);
const noTimes = setOf(
  `expires expiry expire expiration expired until valid end ends ended next notice sent received receipt dispatched delivered queued processed synced exported fetched birth policy published first initial start template version banner shown seen email renewed renewal reconsent
   ablauf ablaufdatum gultig gultigkeit verfall verfallt scadenza scade caducidad caduca vencimiento validez validade validite peremption verloopt vervalt vervaldatum geldig waznosc wygasa wygasniecia wazne utgar giltig udlober utloper gyldig vanhenee platnost vyprsi
   giltigt giltig till bis gyldigt
   geburt geburtsdatum birthday dob naissance nacimiento nascita nascimento geboorte urodzenia fodelse fodsels syntyma narozeni account konto cuenta compte registration registrierung login visit visite visita besuch session order bestellung commande pedido ordine
   vendor vendors gvl terms tos agb cgu informativa document due deadline frist retention install installed ancien ancienne alter alte vorher vorherige previous old former prior anterior precedente vorige oude poprzednia poprzedni tidigare forrige edellinen`,
);
const timeWords = setOf(
  `tid em at date time times timestamp tstamp datetime ts utc stamp datestamp on zeit zeitpunkt zeitstempel datum fecha hora heure horodatage data ora tijd tijdstip czas tidpunkt tidspunkt aika cas iso epoch unix unixtime when ms millis il el am den dia dato moment momento horario dt tidsstempel tidsstampel aikaleima pvm klockslag kellonaika dnia`,
);

/** Alone, the name of the only time of some records. */
const dispatchTimes = setOf('published received sent processed');

/** Words beside those for times in the name of any time of an event. */
const eventTimes = setOf(
  `original derived collector hit saved save signup event created creation log record row entry lat cas de del da der la le set stored pushed captured submitted completed saved fired effective processed noted fecha data
   abgesendet gesendet gespeichert erfasst erstellt angelegt eingegangen protokolliert enregistre enregistrement envoye saisi cree creation registrado guardado enviado creado creacion firmado registrato registrazione inviato salvato creato creazione firmato
   opgeslagen verzonden vastgelegd aangemaakt getekend registado gravado gravacao criado criacao assinado zapisano zapisu utworzono wyslano podpisano zarejestrowano sparad sparades skapad registrerad registrert inskickad gemt oprettet indsendt lagret opprettet sendt tallennettu luotu lahetetty ulozeno vytvoreno odeslano revision`,
);

/** Flags of a purpose that needs no consent, in plain form: with true, the purpose is necessary (ePrivacy Directive Art. 5(3)). */
const necessaryFlags: ReadonlySet<string> = setOf(
  `required isrequired readonly isreadonly essential isessential alwayson alwaysactive alwaysenabled isalwaysactive locked islocked lock mandatory ismandatory necessary isnecessary strictlynecessary isstrictlynecessary exempt consentexempt
   pflicht istpflicht notwendig erforderlich obligatoire necessaire obligatorio obligatoria necesario necesaria obbligatorio obbligatoria necessario necessaria verplicht noodzakelijk obrigatorio obrigatoria wymagane niezbedne obligatorisk nodvandig`,
);
/** Values instead of a choice that say that a purpose needs none. */
const alwaysActive = setOf(
  `alwaysactive alwayson alwaysenabled immeraktiv toujoursactif toujoursactifs siempreactivo siempreactivas sempreattivo sempreattivi altijdactief sempreativo zawszeaktywne alltidaktiv altidaktiv ainakaytossa vzdyaktivni acknowledge acknowledged`,
);
/** Whether the value of a purpose says that it needs no consent. */
export function isAlwaysActive(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 40 && alwaysActive.has(plainForm(value));
}

const notChosenIfFalse = setOf(
  `confirmed isconfirmed interacted hasinteracted interactedwith userinteracted answered isanswered explicit isexplicit explicitconsent completed iscompleted userresponded hasresponded interactioncount
   userchoiceexists choiceexists haschoice hasuserchoice choicemade userchoicemade haschosen consentexists hasconsentdata isuserchoice`,
);
const notChosenIfTrue = setOf(
  `implicit implict isimplicit implied isimplied impliedconsent default isdefault isdefaults auto autoaccepted autogranted autoconsent assumed assumedconsent bydefault preselected inherited`,
);
/** Ways in which consent is taken for granted, and stages before a choice, in plain form: no visitor chose. */
const notChosenWords = setOf(
  `implied implicit default defaults auto automatic automatically assumed scroll timeout geodefault regional emergency breaktheglass cmpuishown oninitialpageload initialpageload impliedconsent`,
);
/** Words of events before a choice: `FidesUIShown`, `banner_displayed`. */
const beforeChoice = setOf(
  `shown displayed impression impressions opened loaded initialized initialised ready prompted`,
);
const wordsOfMethod = setOf(
  `buttonclicked clickedbutton decisiontype method consentmethod collectionmethod capturemethod mechanism type consenttype trigger cause eventstatus action source command assertiontype event eventtype eventname`,
);

const formerWords = setOf(
  `previous old prior former before last ancien ancienne anciens alt alte alter altes vorher vorherig vorherige precedent precedente anterior oud oude vorige poprzedni poprzednia tidigare forrige edellinen predchozi unset`,
);
const settingWords = setOf(
  'default defaults initial initially requested available offered asked supported shown displayed banner config configuration template settings regulations device browser geo library sdk app labels names titles description descriptions features capabilities schema links styles theme texts translations',
);
const basisNames = setOf(`legalbasis lawfulbasis legalbasiscode legalground lawfulground`);

const remembered = new Map<string, NameRole>();
const MAX_REMEMBERED = 5000;

/** The {@link NameRole} of a field's name. */
export function roleOf(name: string): NameRole {
  let role = remembered.get(name);
  if (role === undefined) {
    role = roleOfWords(joined(wordsOfName(name)), plainForm(name.slice(0, 200)));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    if (name.length <= 200) remembered.set(name, role);
  }
  return role;
}

/** Last words of names that say whether there is a choice: `cookies_preferences_set`, `consent_saved`. */
const existing = setOf('set saved stored made exists exist present known submitted');

function roleOfWords(words: readonly string[], plain: string): NameRole {
  const any = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  const refuses = any(refusing) || words.some((word) => refusingStems.test(word));
  const grants = any(strictlyGranting) || words.some((word) => grantingStems.test(word));
  // `pri_no_1` is a number.
  const isNegated = words.some(
    (word, at) =>
      negating.has(word) &&
      !notNegated.test(words[at + 1] ?? '') &&
      !(word === 'no' && /^\d/.test(words[at + 1] ?? '')),
  );
  const polarity = polarityOf(words, { refuses, grants: grants || any(consentWords), isNegated });
  const isCircumstance = any(circumstances) || any(formerWords);
  const isTerms = any(termsWords) && !(words.includes('notice') && (words.includes('cookie') || any(consentWords)));
  const time = any(noTimes)
    ? null
    : any(withdrawalTimes) || (words.includes('removed') && any(consentWords))
      ? 'withdrawal'
      : any(changeTimes)
        ? 'change'
        : any(choiceTimes)
          ? 'choice'
          : null;
  const known = (set: ReadonlySet<string>) =>
    words.every((word) => set.has(word) || whole.has(word) || consentWords.has(word) || strictlyGranting.has(word));
  return {
    plain,
    isNecessaryFlag: necessaryFlags.has(plain),
    notChosenIf: notChosenIfFalse.has(plain) || saysExists(words) ? 'no' : notChosenIfTrue.has(plain) ? 'yes' : null,
    isMethod: wordsOfMethod.has(plain),
    isBasis: basisNames.has(plain),
    polarity,
    lists:
      refuses !== grants && !isNegated
        ? grants
          ? 'granted'
          : 'denied'
        : isNegated && !refuses && grants
          ? 'denied'
          : null,
    isState: /(?:state|status)$/.test(plain),
    isCircumstance,
    isScope: isScope(words),
    isSetting: any(settingWords),
    isConsent: refuses || grants || any(consentWords),
    isOfConsent:
      polarity === 'granting' &&
      any(consentWords) &&
      !isCircumstance &&
      !isTerms &&
      !words.some((word) => word !== 'data' && word !== 'on' && timeWords.has(word)) &&
      !any(settingWords) &&
      words.length <= 6 &&
      words.some((word) => !whole.has(word) && !consentWords.has(word) && !statusWords.has(word)) &&
      !words.some((word) => /^(?:requir|need|necess|valid|mode|type|policy|string|manag)/.test(word)),
    isFormer: any(formerWords) && time === null,
    isCount: words.some((word) => /^(?:counts?|counter|number|num|total|totals|sum)$/.test(word)),
    isPartial: any(partial),
    isWhole:
      polarity !== 'refusing' &&
      words.length <= 6 &&
      known(whole) &&
      (grants || any(consentWords) || any(wholeCore)) &&
      !isTerms,
    isContainer:
      (any(containerWords) || any(consentWords)) &&
      !any(notContainers) &&
      !isTerms &&
      !isCircumstance &&
      time !== 'withdrawal',
    isPurpose:
      words.length <= 8 &&
      (words.some(isPurposeWord) || (any(channelWords) && (any(consentWords) || grants || refuses || isNegated))) &&
      words.every(
        (word) =>
          isPurposeWord(word) ||
          aroundPurposes.has(word) ||
          channelWords.has(word) ||
          smallWords.has(word) ||
          consentWords.has(word) ||
          strictlyGranting.has(word) ||
          refusing.has(word) ||
          negating.has(word),
      ),
    isStatus:
      words.length > 0 &&
      words.every(
        (word) =>
          whole.has(word) ||
          consentWords.has(word) ||
          strictlyGranting.has(word) ||
          refusing.has(word) ||
          statusWords.has(word),
      ),
    isLegitimateInterest:
      words.some((word) => /^(?:legitimate|legint|leg|li|legitimos|berechtigtes)$/.test(word)) &&
      (words.length === 1 ||
        words.some((word) => /^(?:interests?|int|purposes?|vendors?|li|legint|interesse)$/.test(word))),
    isTerms,
    time:
      time !== null &&
      (any(timeWords) ||
        time === 'withdrawal' ||
        words.includes('optedin') ||
        /^(?:update|updated|modified|changed)$/.test(words.at(-1) ?? ''))
        ? time
        : time === null && words.every((word) => timeWords.has(word) || eventTimes.has(word)) && !any(noTimes)
          ? 'event'
          : null,
    mayBeTime:
      (!any(noTimes) &&
        !any(formerWords) &&
        (any(timeWords) || any(eventTimes) || any(choiceTimes) || any(changeTimes))) ||
      (words.length === 1 && dispatchTimes.has(plain)),
    timeGrants:
      !any(noTimes) &&
      !refuses &&
      !isNegated &&
      words.some((word) => word === 'given' || word === 'granted' || word === 'optedin' || word === 'optin'),
    flag: flagMeaning(
      words,
      isChoiceWord,
      (word) => refusing.has(word) || refusingStems.test(word) || negating.has(word),
    ),
    isCategory: CATEGORY.test(plain),
    isButton: /^(?:clicked|pressed)?button(?:clicked|pressed)?$/.test(plain),
    isOfAll: words.some((word) => /^(?:all|any|every|both|full|fully)$/.test(word)),
  };
}

/** Names of fields for a category, in nine languages and more, in plain form. */
const CATEGORY =
  /^(?:cookie|service|purpose|consent|dps|vendor)?(?:categor(?:y|ies?|ias?)|kategori(?:e|en|a|i)?|luokka|gr(?:oup|uppe|oupe|upo|uppo|oep|upa|upp)|ryhma|skupina|type|typ|tipo|tyyppi|soort|rodzaj|class|classification|klasse|classe|clase|klasa)(?:slug|name|id|key|code|label|title|nom|nome|nombre|naam|nazwa|namn|navn)?$/;

/** Words of consent, of purposes and around them. */
function isChoiceWord(word: string): boolean {
  return (
    consentWords.has(word) ||
    strictlyGranting.has(word) ||
    grantingStems.test(word) ||
    isPurposeWord(word) ||
    channelWords.has(word) ||
    smallWords.has(word) ||
    aroundPurposes.has(word) ||
    wholeCore.has(word)
  );
}

/** Whether a name asks if there is a choice at all: `cookies_preferences_set`. */
function saysExists(words: readonly string[]): boolean {
  return (
    words.length > 1 &&
    existing.has(words.at(-1) ?? '') &&
    words.slice(0, -1).every((word) => whole.has(word) || consentWords.has(word) || containerWords.has(word)) &&
    words.slice(0, -1).some((word) => !whole.has(word) || wholeCore.has(word))
  );
}

/** Which law applies to the visitor: `eea`, `gdprApplies`, `isUserSubjectToGDPR`. */
function isScope(words: readonly string[]): boolean {
  return (
    (words.includes('subject') && words.includes('to')) ||
    words.some((word) => word === 'eea' || word === 'applies' || word === 'applicable')
  );
}

function isPurposeWord(word: string): boolean {
  // `reklamebeskyttet`: a word for what is kept from somebody.
  return purposeWords.has(word) || (purposeStems.test(word) && !refusingStems.test(word));
}

function polarityOf(
  words: readonly string[],
  { refuses, grants, isNegated }: { readonly refuses: boolean; readonly grants: boolean; readonly isNegated: boolean },
): Polarity {
  // `limit` alone is a size; `limit_use`, `limitSensitiveData` is the right of Cal. Civ. Code 1798.121.
  const limits =
    words.includes('limit') &&
    words.some((word) => /^(?:use|usage|using|sensitive|spi|data|processing|disclosure)$/.test(word));
  // `not_rejected: true` says nothing that can be relied on; `consent_withdrawn`, `marketing_consent_denied` refuse.
  if (refuses) return isNegated ? null : 'refusing';
  // `allowAuctionWithoutConsent` says what a program may do.
  if (isNegated && words.includes('without') && words.some((word) => strictlyGranting.has(word))) return null;
  if (isNegated) return 'refusing';
  return limits ? 'refusing' : grants ? 'granting' : null;
}

const gluedBefore =
  /^(donot|dont|keinen|keine|optoutof|optedoutof|optout|optedout|disallow|disable|block|deny|reject|refuse|no|kein)(?=.{3})/;
/** Before any word; the others only before the name of a purpose or channel (`node`, `november`, `blocks`). */
const alwaysGlued = setOf('donot keinen keine optoutof optedoutof optout optedout');
const gluedAfter =
  /^(.{3,}?)(disallowed|unsubscribed|disabled|disable|blocked|denied|rejected|refused|declined|withdrawn|revoked|optout|optedout|optin|optedin|allowed|accepted|granted|enabled|approved|viewed|shown|seen|visible|hidden|dismissed|version)$/;

/** `donotemail` → `do`, `not`, `email`; `analyticsdenied` → `analytics`, `denied`; `bannershown` → `banner`, `shown`. */
function unglued(word: string): readonly string[] {
  if (word.length < 6 || word.length > 40 || isKnownWord(word)) return [word];
  const before = gluedBefore.exec(word)?.[1];
  if (before !== undefined) {
    const rest = word.slice(before.length);
    if (alwaysGlued.has(before) || isPurposeWord(rest) || partial.has(rest) || channelWords.has(rest))
      return before === 'donot' ? ['do', 'not', rest] : [before.replace(/of$/, ''), rest];
  }
  const after = gluedAfter.exec(word);
  return after === null ? [word] : [after[1] ?? '', after[2] ?? ''];
}

function isKnownWord(word: string): boolean {
  return (
    refusing.has(word) ||
    strictlyGranting.has(word) ||
    circumstances.has(word) ||
    purposeWords.has(word) ||
    consentWords.has(word) ||
    choiceTimes.has(word) ||
    withdrawalTimes.has(word)
  );
}

/** `opt`, `out` → `optout`; `cookieconsent` → `consent`. */
function joined(given: readonly string[]): readonly string[] {
  const words = given.flatMap(unglued);
  return words.flatMap((word, at) => {
    if ((word === 'opt' || word === 'opted') && (words[at + 1] === 'in' || words[at + 1] === 'out'))
      return word + words[at + 1];
    if ((word === 'in' || word === 'out') && (words[at - 1] === 'opt' || words[at - 1] === 'opted')) return [];
    return word !== 'consent' && word.endsWith('consent') && word.length <= 20 ? 'consent' : word;
  });
}

/** Whether a field next to an envelope belongs to the record, or an object may be the record itself ({@link Family.nameSays}). */
export function placeOf(key: string): 'content' | 'wrapper' | null {
  const role = roleOf(key);
  if (role.isConsent && !role.isCircumstance && !role.isTerms && role.time === null && !role.isSetting)
    return 'content';
  const isOther =
    role.isContainer ||
    role.isCircumstance ||
    role.isPurpose ||
    role.isTerms ||
    role.isSetting ||
    role.isFormer ||
    role.isWhole ||
    role.lists !== null ||
    things.has(role.plain);
  return isOther ? null : 'wrapper';
}
/** Objects beside a choice. */
const things = setOf(
  'user customer contact client profile person visitor subject site page policy account actor target error links pagination visiteur besucher nutzer kunde utente usuario cliente klant klient kund kunde session vendor purpose',
);

/** A field of a record's content with what its name says. */
export interface NamedField {
  /** Normalised. */
  readonly name: string;
  /** As received. */
  readonly key: string;
  readonly path: string;
  readonly value: unknown;
  /** The object that contains it. */
  readonly parent: JsonObject;
  readonly role: NameRole;
}

/** The fields of a record's content at the top level that have a value. What stands next to the envelope describes the delivery. */
export function fieldsOf(payload: Payload): readonly NamedField[] {
  return namedFields(payload, false);
}

/** What stands next to the envelope. */
export function fieldsBeside(payload: Payload): readonly NamedField[] {
  return payload.hasBeside() ? namedFields(payload, true) : [];
}

function namedFields(payload: Payload, wanted: boolean): readonly NamedField[] {
  const fields: NamedField[] = [];
  for (const { name, key, found } of payload.fields()) {
    const { path, value, parent, beside } = found;
    if (beside === wanted && !isBlank(value)) fields.push({ name, key, path, value, parent, role: roleOf(key) });
  }
  return fields;
}

/** Fields whose value says what somebody did or how things stand, in plain form. */
const statementNames = setOf(
  `action useraction consentaction status state choice decision event eventtype eventname type result response answer outcome interaction act button mode command operation optstatus consent consentstatus consentstate
   aktion entscheidung auswahl antwort choix decision reponse accion decision eleccion respuesta azione scelta decisione risposta actie keuze beslissing antwoord acao escolha decisao resposta akcja wybor decyzja odpowiedz val beslut svar handling`,
);

/** Whether a name, in plain form, is that of a statement about the whole of something. */
export function isStatementName(plain: string): boolean {
  return statementNames.has(plain);
}

/** Whether a name is of the time when something was created. */
export function isCreation(name: string): boolean {
  return /^creat(?:ed|ion)/i.test(name);
}

/** The name of the field at a path. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Whether a field says that the visitor did not choose. */
export function saysNotChosen({ notChosenIf, isMethod }: NameRole, value: unknown): boolean {
  if (typeof value === 'object' || value === undefined) return false;
  if (notChosenIf !== null) {
    const meant = choiceMeant(value);
    return notChosenIf === 'no' ? meant === 'refused' : meant === 'given';
  }
  if (!isMethod || typeof value !== 'string' || value.length > 40) return false;
  return isNotChosenWord(value);
}

/** The same for a field next to an envelope, whose `source: default` or `type: auto` is about the delivery. */
export function saysNotChosenBeside(role: NameRole, value: unknown): boolean {
  if (!saysNotChosen(role, value)) return false;
  return role.notChosenIf !== null || (typeof value === 'string' && /^impli|page|uishown/.test(plainForm(value)));
}

const rememberedWords = new Map<string, boolean>();
const MAX_WORDS = 1000;

function isNotChosenWord(value: string): boolean {
  let is = rememberedWords.get(value);
  if (is === undefined) {
    const word = plainForm(value);
    is =
      notChosenWords.has(word) ||
      /^impli(?:cit|ed)/.test(word) ||
      (word.length > 5 && wordsOfName(value).some((one) => beforeChoice.has(one)));
    if (rememberedWords.size >= MAX_WORDS) rememberedWords.clear();
    rememberedWords.set(value, is);
  }
  return is;
}

/** Whether a field says that processing rests on something else than consent (GDPR Art. 6(1)(b) to (f)): being allowed is then no consent. */
export function saysOtherBasis({ isBasis }: NameRole, value: unknown): boolean {
  return (
    isBasis &&
    typeof value === 'string' &&
    /legit|contract|obligation|vital|public|perform|disclos/.test(plainForm(value))
  );
}
