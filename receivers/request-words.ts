import { withoutAccents } from './parse.ts';

/**
 * What a word says in a request of a data subject: the right it names, or how it bears on the words around it
 * (request-kinds.ts). Words of nine languages as statutes, authorities and request forms have them (GDPR Art. 7(3) and
 * 15 to 22 in the languages of the regulation; Cal. Civ. Code 1798.100 to 121; Swiss, British, Brazilian and Chilean
 * forms), in lower case and without accents. `*` at an end stands for further letters.
 */
const words = {
  /** Rights. A word of these counts wherever it stands. */
  access:
    'access accesses accessing acces acceso acessar acesso accedere acceder accesso *accessrequest* *subjectaccess* *dataaccess* ' +
    '*rightofaccess* *righttoknow* toknow sar dsar rtk *auskunft* *einsicht* inzage* *inzage* *dostep* tillgang* *registerutdrag* ' +
    'insyn dsarrequest copy copie copia copias kopia kopie kopii kopi kopior download* herunterladen ' +
    'telecharge* descarga* scaricare specificpieces',
  portability:
    '*portabil* *ubertragbar* *uebertragbar* *overdraagba* *przenoszen* *przenosn* przeniesieni* transfer transferring export exports ' +
    'exporting exportation exportar esportare *dataexport* eksport*',
  erasure:
    'eras* *erasure* delet* *deletion* *delete forget forgotten *forgotten* rtbf remov* redact* purge wipe *losch* *loesch* ' +
    '*vergessenwerden* effac* supprim* suppression oubli borrad* borrar borre borren borra supresion suprim* olvido elimin* cancelacion cancelamento cancellazion* ' +
    'cancellare cancellate cancella oblio verwijder* *wissing* wis gewist vergetelheid vergetenworden apaga* exclusao excluir esqueciment* apague apaguem ' +
    'esquecido usun* usuw* zapomn* skasowa* radera* radering* borttag* glomd bortglomd',
  rectification:
    'rectif* retific* rettific* correct correction* correcting corrig* correg* correcc* correcao correcoes correzion* corrett* korrigier* korrektur* ' +
    '*berichtig* korriger* amend* inaccura* correctie* verbeteren sprostow* poprawi* *rattelse* ratta',
  restriction:
    'restrict* *einschrank* schranken *einschraenk* *beschrankung* *beschraenkung* sperrung beperk* *beperking* ogranicz* *begransning* begransa bloqueo bloqueio ' +
    'blocage',
  objection:
    'object objecting objection* oppos* opos* opon* opporsi oppongo opporre widersprich* widersprech* *widerspruch* *bezwaar* sprzeciw* ' +
    '*invandning* invanda unsubscri* abmeld* abbestell* desabonn* desinscri* desuscri* disiscri* afmeld* uitschrijv* wypisa* avregistrer* ' +
    'avprenumer*',
  optOut: 'optout *optout* dns dnsmpi dnss dnsspi *donotsell* *donotshare* *stopsell* *stopselling*',
  /** Words for a right that also have other meanings: they count only if the text names no right otherwise. */
  vague:
    'view read know disclos* offenleg* divulgation information informations info informac* informatie informazion* informationen uppgifter udostepni*',
  vagueChange: 'update* updating change aktualis* actualis* actualiz* aktualiz* aggiorn* bijwerk* uppdater* modif*',

  /** Words that bear on a right. */
  not: 'not no never nor dont nicht kein* ne pas non niet geen nao nie inte ej jamais nunca aldrig nooit nigdy',
  without: 'without ohne sans sin senza zonder sem bez utan',
  withdraw:
    'withdraw* withdrew revok* revoc* revog* rescind* retract* *widerruf* *widerrufe* zuruckz* zurucknehm* zuruck rucknahme retirer retirez retire ' +
    'retiro retirar retirada retrait* ritir* intrek* ingetrokken herroep* wycofa* wycofuj* odwola* cofn* cofam aterkall* tillbaka aterta*',
  cancel:
    'cancel canceled cancelled canceling cancelling cancellation stornier* annul* anular anulow* cancelar cancele cancelacion cancelamento ' +
    'cancellare cancellate cancella abbrechen annuleren avbryt*',
  consent: 'consent* consenso *einwilligung* *zustimmung* toestemming* zgod* zgoda *samtycke* permission permissions',
  request:
    'request requests *antrag* *anfrage* *ersuchen demande demandes requete solicitud* peticion* richiest* domanda istanza *verzoek* pedido* ' +
    'solicitac* requerimento wnios* zadani* begaran* ansokan application ticket case dsar dsr complaint',
  appeal:
    'appeal* beschwerde* einspruch* recours recurso* recurrir reclamation* reclamacion* reclamacao reclamo reclami ricors* beroep* klacht* skarg* ' +
    'overklag* klagomal* complain* plainte',
  optIn: 'optin *optin',
  sell: 'sell selling sold sale sales share sharing verkauf* weitergeb* vendre vendez vente vender venda vendere verkopen verkoop sprzed* salja saljer dela',
  stop: 'stop stops stopping stopp* cease halt quit arret* cesser cessez dejar dejen detener smett* parar parem zaprzesta* przesta* sluta upphor* einstellen',
  marketing:
    '*marketing* *newsletter* promotion* promo *werbung* werbe* prospection publicit* publicidad publicidade propaganda reclame reklam* mailinglist ' +
    'mailings mailing spam advertis* commercial* comercial* emailing *nyhetsbrev* nieuwsbrief* boletin suppressionlist',
  targeted: 'targeted crosscontext behavioral behavioural profiling tracking',
  from: 'from aus von vom de du des dal dalla dai da do das dos uit van z ze fran ur off',
  contact: 'contact contacting contacted kontakt* contacter contactar contatt* contato email emails mails calls sms',
  sensitive:
    'sensitive sensibles sensible sensibel* sensibl* sensibil* sensivel sensiveis gevoelig* wrazliw* kanslig* spi lspi',
  processing:
    'process processing processed *verarbeit* traitement* tratamiento* trattament* *verwerk* tratamento* przetwarza* *behandling*',
  limit: 'limit limits limiting limited lspi',
  limitation: 'limitation* limitacion limitac* limitaz* limiter limitez limitar limitare',
  data:
    'data daten *daten donnees datos dati gegevens *gegevens dados dane danych *uppgifter account* accounts *konto kontos kontot compte* cuenta* conta ' +
    'profile* profil* information* history orders records',
  california: 'ccpa cpra california californian californien kalifornien calif',
  /** What follows is no longer governed by an earlier `not`. */
  but: 'but instead rather sondern aber mais pero sino maar ale men',
} as const;

/** What a word says. */
export type Sense = keyof typeof words;

/** Words that say something only together. */
const phrases: Readonly<Record<string, string>> = {
  'opt out': 'optout',
  'opting out': 'optout',
  'opted out': 'optout',
  'opt in': 'optin',
  'opting in': 'optin',
  'to know': 'toknow',
  'right know': 'toknow',
  'specific pieces': 'specificpieces',
  'vergessen werden': 'vergessenwerden',
  'vergessen zu': 'vergessenwerden',
  'vergeten te': 'vergetenworden',
  'mailing list': 'mailinglist',
  'suppression list': 'suppressionlist',
  'ta bort': 'borttagning',
  // Dutch for erasing; in German, `wissen` is to know.
  'gegevens wissen': 'gegevens gewist',
  'persoonsgegevens wissen': 'persoonsgegevens gewist',
  'wissen van': 'gewist',
  'te wissen': 'gewist',
};

const exact = new Map<string, Sense[]>();
const beginnings = new Map<string, [string, Sense][]>();
const endings: [string, Sense][] = [];
const anywhere: [string, Sense][] = [];
for (const [sense, listed] of Object.entries(words) as [Sense, string][])
  for (const word of listed.split(' ')) {
    const plain = word.replaceAll('*', '');
    if (word.startsWith('*') && word.endsWith('*')) anywhere.push([plain, sense]);
    else if (word.startsWith('*')) endings.push([plain, sense]);
    else if (word.endsWith('*')) add(beginnings, plain.slice(0, 2), [plain, sense]);
    else add(exact, word, sense);
  }

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Longer words are not looked up. */
const MAX_WORD = 40;
const MAX_REMEMBERED = 5000;
const remembered = new Map<string, ReadonlySet<Sense>>();
const meaningless: ReadonlySet<Sense> = new Set();

/** What one word says; several things if it has several meanings. */
export function sensesOf(word: string): ReadonlySet<Sense> {
  if (word.length > MAX_WORD) return meaningless;
  let senses = remembered.get(word);
  if (senses === undefined) {
    senses = lookUp(word);
    // Words repeat from text to text; if a sender invents endless new ones, the cache is cleared.
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(word, senses);
  }
  return senses;
}

function lookUp(word: string): ReadonlySet<Sense> {
  const senses = new Set<Sense>(exact.get(word));
  for (const [beginning, sense] of beginnings.get(word.slice(0, 2)) ?? [])
    if (word.startsWith(beginning)) senses.add(sense);
  for (const [part, sense] of anywhere) if (word.includes(part)) senses.add(sense);
  for (const [ending, sense] of endings) if (word.endsWith(ending)) senses.add(sense);
  return senses;
}

/** The most words of a text that are looked at. */
const MAX_WORDS = 80;
/**
 * The words of a text by sentence, in lower case without accents: `rightToKnow` is three words, `opt-out` one. At most
 * `max` words.
 */
export function sentencesOf(text: string, max: number = MAX_WORDS): readonly (readonly string[])[] {
  const isMixed = /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(text);
  const spaced = isMixed ? text.replace(/([a-z])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2') : text;
  const plain = withoutAccents(spaced).replace(/n['’]t\b/g, ' not');
  const sentences: string[][] = [];
  let left = max;
  for (const sentence of plain.split(/[!?;\n]+|\.\s+(?!\d)/)) {
    const found = sentence.match(/[a-z]+|\d+/g)?.slice(0, left) ?? [];
    left -= found.length;
    if (found.length > 0) sentences.push(joinPhrases(found));
  }
  return sentences;
}

function joinPhrases(found: readonly string[]): string[] {
  const joined: string[] = [];
  for (let place = 0; place < found.length; place += 1) {
    const phrase = phrases[`${found[place]} ${found[place + 1]}`];
    if (phrase === undefined) joined.push(found[place] ?? '');
    else {
      joined.push(...phrase.split(' '));
      place += 1;
    }
  }
  return joined;
}
