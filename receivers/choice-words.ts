import { foldedText, plainForm } from '../src/core/plain-words.ts';
import type { ConsentState } from '../src/core/vocabulary.ts';

/** What a word or flag says about consent. `by-purpose`: something was chosen, and only the purposes say what. */
export type ChoiceMeant = ConsentState | 'by-purpose';

/**
 * Spellings of a consent choice in plain form (core/plain-words.ts), with the state that each means (ISO/IEC TS 27560). English,
 * German, French, Spanish, Italian, Dutch, Portuguese, Polish and Swedish, with the words of consent banners in a few more languages.
 */
const words: Readonly<Record<ChoiceMeant, string>> = {
  given:
    'given givet gitt afgivet give accept accepted accepts acceptall acceptedall allaccepted allow allowed allowall allowedall agree agreed agrees agreetoall grant granted grantall grantedall ' +
    'consent consented consentgiven optin optedin yes y true 1 on enabled enable all approve approved permit permitted subscribed subscribe everything full fullconsent ' +
    'authorized authorised authorize authorise ' +
    // As somebody says who gives it, whole: `presto` alone is `soon`.
    'igivemyconsent igiveconsent ichgebemeineeinwilligung icherteilemeineeinwilligung jedonnemonconsentement doymiconsentimiento doyelconsentimiento prestomiconsentimiento prestoilconsenso prestoilmioconsenso doilconsenso doilmioconsenso ikgeeftoestemming ikgeefmijntoestemming douomeuconsentimento douconsentimento jaglamnarmittsamtycke ' +
    // German, French, Spanish, Italian, Dutch
    'annehmen angenommen alleannehmen einverstanden akzeptiert akzeptieren alleakzeptieren allesakzeptieren zugestimmt zustimmen zustimmung allezustimmen erlaubt erlauben eingewilligt einwilligung angenommen erteilt ja ' +
    'jaccepte daccord accepte acceptee acceptes acceptees accepter toutaccepter toutaccepte accord autorise autorisee autoriser consenti consentie oui ' +
    'aceptado aceptada aceptados aceptadas aceptar aceptartodo aceptartodas permitido permitir autorizado autorizada consentido otorgado otorgada concedido acepto aceptotodo autorizo si ' +
    'accettato accettata accettati accettare accetta accettatutto accettatutti accetto consentito autorizzato concesso concessa acconsento acconsentito acconsente autorizzo prestato ' +
    'geaccepteerd accepteren allesaccepteren alleaccepteren toegestaan toestaan allestoestaan akkoord verleend aanvaard aanvaarden toegekend ' +
    // Portuguese, Polish, Swedish, Danish, Norwegian, Finnish, Czech
    'aceito aceita aceite aceitar aceitartudo aceitartodos concedida aceito aceitei concordo autorizo permitir sim ' +
    'zaakceptowano zaakceptowane zaakceptowana akceptuj akceptujwszystkie wyrazono zgoda zgadzamsie udzielono udzielona akceptuje zgadzam wyrazam tak ' +
    'accepterad accepterade accepterat acceptera accepteraalla godkand godkant godkann godkannalla tillaten tillat tillatalla samtycke ' +
    'accepteret accepter acceptererallle tilladt tillad tilladalle samtykke godtatt godta hyvaksytty hyvaksy hyvaksykaikki sallittu salli kylla prijato prijmout souhlasim povoleno prijmoutvse prijimam udelen udeleno tillatalle godtaalle godtar hyvaksyn accepteralle accepterer aksepter aksepterer aksepteralle akseptert ano',
  'renewed-given': 'renewedgiven renew renewed reconfirmed reconfirm regiven reconsented',
  refused:
    'refused refuse refuseall refusedall refusal reject rejected rejects rejectall rejectedall allrejected rejection decline declined declines declineall declinedall deny denied denies denyall deniedall ' +
    'didnotconsent doesnotconsent donotconsent donotagree disagree disagreed disallow disallowed no n false 0 off disabled disable none nothing optout optedout donotsell donotshare donottrack notgiven noconsent notconsented notgranted notaccepted notallowed ' +
    'notagreed unsub unsubscribed unsubscribe notsubscribed blocked block blockall restricted notauthorized notauthorised notpermitted objected forbidden prohibited unchecked deselected hardoptout stop stopped stopall ' +
    'necessaryonly onlynecessary essentialonly onlyessential requiredonly onlyrequired strictlynecessary strictlynecessaryonly acceptnecessary acceptessential necessary essential rejectnonessential ' +
    // German, French, Spanish, Italian, Dutch
    'abgelehnt ablehnen alleablehnen allesablehnen ablehnung verweigert verweigern untersagt widersprochen nichtakzeptiert nichterteilt nichtzugestimmt keineeinwilligung keinezustimmung nichteinverstanden nurnotwendige nurnotwendigecookies nuressenzielle nurerforderliche keine ohneeinwilligung weiterohnezustimmung nein aus ' +
    'refusee refuses refusees refuser toutrefuser toutrefuse refus rejete rejetee rejeter continuersansaccepter interdit nonaccepte nonconsenti jerefuse aucun aucune non ' +
    'rechazado rechazada rechazados rechazadas rechazar rechazartodo rechazartodas rechazo denegado denegada denegar noaceptado noconsentido noacepto rechazotodo solonecesarias ninguno ninguna ' +
    'rifiutato rifiutata rifiutati rifiutare rifiuta rifiutatutto rifiutatutti rifiuto negato negata nonaccettato nonconsentito nonacconsento nonaccetto rifiutotutto solonecessari nessuno nessuna nonprestato ' +
    'geweigerd weigeren allesweigeren afgewezen afwijzen allesafwijzen nietgeaccepteerd niettoegestaan alleennoodzakelijk weiger nietakkoord geen nee uit ' +
    // As somebody says who refuses it, whole
    'idonotgivemyconsent idonotgiveconsent ichgebemeineeinwilligungnicht ichgebekeineeinwilligung icherteilekeineeinwilligung jenedonnepasmonconsentement jerefusemonconsentement niegomiconsentimiento niegoelconsentimiento nodoymiconsentimiento nodoyelconsentimiento noprestomiconsentimiento negoilconsenso negoilmioconsenso nonprestoilconsenso nonprestoilmioconsenso nondoilconsenso nondoilmioconsenso ikgeefgeentoestemming ikweigertoestemming naodouoconsentimento naodouconsentimento negooconsentimento jaglamnarinteintsamtycke jaglamnarintemittsamtycke ' +
    // Portuguese, Polish, Swedish, Danish, Norwegian, Finnish, Czech
    'recusado recusada recusar recusartudo rejeitado rejeitada rejeitar rejeitartudo negado negada naoaceito naoconcedido naoconcordo recuso nenhum nenhuma nao ' +
    'odrzucono odrzucone odrzucona odrzuc odrzucwszystkie odmowa odmowiono niewyrazono brakzgody odmawiam odrzucam nieakceptuje niezgadzamsie niewyrazam zadne nie ' +
    'avvisad avvisade avvisat avvisa avvisaalla avbojd avbojt nekad nekat neka nekaalla nej ' +
    'afvist afvis afvisalle avvist avvisalle avslatt nei hylatty hylkaa hylkaakaikki kielletty ei odmitnuto odmitnout odmitnoutvse zamitnuto nesouhlasim odmitam odmitnuta afslaet afslaa avsla avslar avviser afviser nejtak hylkaan kiella endastnodvandiga kunnodvendige barenodvendige ingen inga ne',
  withdrawn:
    'withdrawn withdraw withdrew withdrawal withdrawconsent consentwithdrawn revoke revoked revocation consentrevoked retracted retract ' +
    'widerrufen widerruf zuruckgezogen retire retiree retirer retrait revoque revoquee revoquer retirado retirada revocado revocada revocar revocato revocata revoca ritirato ' +
    'ingetrokken intrekken revogado revogada revogar wycofano wycofana wycofanie aterkallad aterkallat aterkalla cofnieta cofniete cofnieto cofniety cofnij cofniecie cofnalem baja dadodebaja desinscrit desinscrite desabonne desabonnee desinscription desabonnement abgemeldet abbestellt abmeldung disiscritto disiscritta disiscrizione afgemeld uitgeschreven wypisany wypisana wypisano avregistrerad avanmald tagettillbaka tilbagetrukket trukkettilbage trukkettilbake frameldt avmeldt perutettu peruttu odvolana odvolan odhlasen tilbagekaldt trukket tilbakekalt peruutettu odvolano',
  expired: 'expired expire lapsed abgelaufen expire expiree caducado scaduto verlopen expirado wygasla utgangen',
  terminated: 'terminated terminate',
  invalidated: 'invalidated invalidate invalid',
  requested: 'requested request pending show shown displayed prompted ausstehend enattente pendiente inattesa',
  'request-deferred': 'requestdeferred deferred dismiss dismissed closed close ignored later askmelater',
  unknown:
    'unknown undetermined notdetermined neversubscribed neverasked notseen notasked notset unset undefined unspecified unavailable notavailable obtained notrequired notanswered unanswered noanswer noresponse nochoice nodecision notcollected ' +
    'unbekannt unbestimmt keineangabe keineauswahl inconnu indefini nonrenseigne desconocido sinrespuesta sconosciuto nessunarisposta nonspecificato onbekend geenkeuze desconhecido semresposta nieznany nieznana brakodpowiedzi okand ukendt ukjent tuntematon neznamy',
  'by-purpose':
    'partial partially partiallyaccepted partialconsent acceptpartial custom customize customized customise customised customchoice some selected selection acceptselected acceptedselected acceptselection ' +
    'allowselection allowselected mixed granular save saved savepreferences savedpreferences savechoices savesettings savedsettings preferences update updated updatepreferences preferencesupdated changed changepreferences modified ' +
    'auswahlerlauben auswahlakzeptieren auswahlspeichern benutzerdefiniert personnalise enregistrer personalizado guardar personalizzato salva aangepast opslaan zapisz spara guardadas guardado seleccion enregistre speichern gespeichert salvar salvo gem lagre tallenna ulozit',
};

const states = new Map<string, ChoiceMeant>();
for (const [state, spellings] of Object.entries(words)) {
  for (const word of spellings.split(' ')) if (word !== '') states.set(word, state as ChoiceMeant);
}

/** Words of a phrase that neither grant nor refuse. */
const filling = new Set(
  (
    'the a an of to by for in and or via on at this my your our status state user users visitor visitors consumer customer subject consent consents cookie cookies tracking banner button btn click clicked clicks ' +
    'category categories purpose purposes preference choice choices decision settings data main ind explicit explicitly has have been was is were are be user i we all any every ' +
    'alle alles von der die das und den cookie einwilligung nutzer besucher kategorien tous toutes tout les des le la et utilisateur visiteur todo todos todas el las los y usuario tutti tutte tutto il gli lo e utente ' +
    'alle de het en bezoeker gebruiker tudo o os wszystkie i alla'
  ).split(' '),
);
const negations = new Set(
  'not no non nicht kein keine keinen keinerlei pas ne sans sin senza geen niet zonder nao sem nie bez inte ej utan ikke ikkje never without dont didnt'.split(
    ' ',
  ),
);
const limits = new Set(
  'only just solely nur lediglich uniquement seulement seuls solo solamente unicamente sólo soltanto alleen slechts apenas somente tylko endast bara kun vain pouze jen'.split(
    ' ',
  ),
);
const necessaryWords = new Set(
  'necessary essential essentials required strictly technical technically technisch mandatory notwendige notwendig essenzielle erforderliche necessaires necessaire essentiels indispensables necesarias necesarios esenciales necessari essenziali noodzakelijke noodzakelijk necessarios essenciais niezbedne nodvandiga'.split(
    ' ',
  ),
);

const WORDS_OF_A_PHRASE = 8;
const LONGEST = 60;
const MAX_REMEMBERED = 2000;
const remembered = new Map<string, ChoiceMeant | null>();

/**
 * The consent state that a word, short phrase, flag or 0/1 means; null if it is not understood. A phrase grants only if it contains a word of
 * consent and otherwise only words without a meaning of their own.
 */
export function choiceMeant(value: unknown): ChoiceMeant | null {
  if (value === true || value === 1) return 'given';
  if (value === false || value === 0) return 'refused';
  // Ids and times have digits in a row, words have none.
  if (typeof value !== 'string' || value.length > LONGEST || /\d{3}/.test(value)) return null;
  let meant = remembered.get(value);
  if (meant === undefined) {
    // `dpv:ConsentGiven`
    meant = signedMeant(value.trim().replace(/^dpv:/, ''));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(value, meant);
  }
  return meant;
}

const ticks: Readonly<Record<string, ChoiceMeant>> = {
  '✓': 'given',
  '✔': 'given',
  '☑': 'given',
  '✅': 'given',
  '✗': 'refused',
  '✘': 'refused',
  '❌': 'refused',
  '☐': 'refused',
};

/** Words for undoing something, and for refusals that may be undone. */
const reversals: ReadonlySet<string> = new Set(
  'deleted removed cancelled canceled undone reverted reversed lifted cleared geloscht aufgehoben entfernt supprime supprimee annule annulee eliminado eliminada rimosso rimossa annullato verwijderd opgeheven removido removida usunieto usuniety borttagen fjernet'.split(
    ' ',
  ),
);
const refusals: ReadonlySet<string> = new Set(
  'unsubscribe unsubscribed unsubscription optout objection refusal suppression block blocklist blacklist abmeldung widerspruch sperre desabonnement opposition baja oposicion disiscrizione opposizione afmelding bezwaar oposicao sprzeciw'.split(
    ' ',
  ),
);

/** A sign before a word is part of it: `-1` and `!yes` grant nothing. A question is not an answer. */
function signedMeant(text: string): ChoiceMeant | null {
  const tick = ticks[text.replace('\ufe0f', '')];
  if (tick !== undefined) return tick;
  if (text.endsWith('?') || /^[[{]/.test(text)) return null;
  const meant = states.get(plainForm(text)) ?? phraseMeant(text);
  if (!/^[-!~¬]/.test(text)) return meant;
  return meant === 'given' && !/\d/.test(text) ? 'refused' : null;
}

function phraseMeant(text: string): ChoiceMeant | null {
  const all = joinedWords(foldedText(text));
  if (all.length < 2 || all.length > WORDS_OF_A_PHRASE) return null;
  const meanings = all.map((word) => (filling.has(word) || negations.has(word) ? undefined : states.get(word)));
  const isNegated = all.some((word) => negations.has(word));
  const has = (...wanted: readonly ChoiceMeant[]) => meanings.some((one) => one !== undefined && wanted.includes(one));
  const onlyNecessary = all.some((word) => necessaryWords.has(word));
  const rest = all.filter(
    (word, at) =>
      meanings[at] === undefined &&
      !filling.has(word) &&
      !negations.has(word) &&
      !limits.has(word) &&
      !necessaryWords.has(word),
  );
  const grants = all.some((word, at) => meanings[at] === 'given' && !necessaryWords.has(word));
  const refuses = all.some((word, at) => meanings[at] === 'refused' && !necessaryWords.has(word));
  if (has('unknown')) return null;
  // `unsubscribe.deleted`: whether that restores a consent is not said.
  if (all.some((word) => reversals.has(word)) && all.some((word) => refusals.has(word))) return null;
  if (has('withdrawn')) return isNegated || grants ? null : 'withdrawn';
  if (has('expired', 'terminated', 'invalidated', 'requested')) return null;
  if (has('request-deferred')) return isNegated || grants || refuses || rest.length > 0 ? null : 'request-deferred';
  // `rejectedNone`: nothing was refused, which does not mean that anything was granted.
  if (refuses && all.length > 1 && all.some((word) => word === 'none' || word === 'nothing')) return null;
  if (refuses) return isNegated || grants ? null : 'refused';
  if (onlyNecessary) return isNegated || rest.length > 0 || has('by-purpose') ? null : 'refused';
  if (!grants || has('by-purpose') || all.some((word) => limits.has(word))) return null;
  if (isNegated) return 'refused';
  return rest.length === 0 ? 'given' : null;
}

/** Words for a switch that is on or off. They say whether a purpose is granted; as the status of a record they say whether it is in use. */
const switches: ReadonlyMap<string, ChoiceMeant> = new Map<string, ChoiceMeant>([
  ...'active valid activated aktiv aktiviert actif active activee activo activa activado activada attivo attiva attivato actief geactiveerd ativo ativa ativado aktywny aktywne aktywna wlaczone wlaczono aktiverad aktiveret aktivert paalla zapnuto'
    .split(' ')
    .map((word) => [word, 'given'] as const),
  ...'inactive deactivated inaktiv deaktiviert inactif desactive desactivee inactivo inactiva desactivado desactivada inattivo disattivo disattivato disattiva inactief gedeactiveerd inativo inativa desativado nieaktywny nieaktywne nieaktywna wylaczone wylaczono inaktiverad avaktiverad deaktiveret deaktivert poispaalta vypnuto'
    .split(' ')
    .map((word) => [word, 'refused'] as const),
]);

const rememberedSwitches = new Map<string, ChoiceMeant | null>();

/** What the value of a purpose means: {@link choiceMeant}, or a word for a switch. */
export function purposeMeant(value: unknown): ChoiceMeant | null {
  const choice = choiceMeant(value);
  if (choice !== null || typeof value !== 'string' || value.length > 20) return choice;
  let meant = rememberedSwitches.get(value);
  if (meant === undefined) {
    meant = switches.get(plainForm(value)) ?? null;
    if (rememberedSwitches.size >= MAX_REMEMBERED) rememberedSwitches.clear();
    rememberedSwitches.set(value, meant);
  }
  return meant;
}

/** The words of a folded text, with those of `opt in`, `opt out` joined. */
function joinedWords(text: string): readonly string[] {
  return text
    .replace(/\b(opt|opted)[^\p{L}\p{N}]+(in|out)\b/gu, '$1$2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
