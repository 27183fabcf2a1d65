import { inUrgency, type RequestKind } from '../src/core/vocabulary.ts';
import { articlesIn, clausesOf, joining, negationOf, rightsNamed, type Word } from './request-kinds.ts';
import { type Sense, sensesOf, sentencesOf } from './request-words.ts';

/**
 * The longest message that is read for what it asks, in UTF-16 units: what stands beyond could take back what stands
 * before, so a longer one is left to the officer.
 */
const MAX_PROSE = 4000;
/** As many as it can hold. */
const MAX_WORDS = MAX_PROSE / 2;
/** A longer sentence is not understood, in words. */
const MAX_SENTENCE = 150;

/** What a message says about rights. */
export interface Prose {
  /** Plainly asked for, the one that takes effect soonest first; empty if there is any doubt. */
  readonly asked: readonly RequestKind[];
  /** Rights that it says no to. */
  readonly denied: ReadonlySet<RequestKind>;
  /** It speaks of a refusal, an appeal or an earlier request that is withdrawn: what it asks for is not certain. */
  readonly isDoubtful: boolean;
}

/**
 * Reads what a message asks for, in nine languages. A right counts only in a sentence in which the writer asks (`please`,
 * `I request`, `je demande`), of their own data or beside its article of the GDPR, and that is no question, condition or
 * report. What is quoted does not count. Nothing is certain if the message also says no to a right that it asks for, or speaks
 * of a refusal, an appeal or an earlier request that is withdrawn. Consent is withdrawn only in words such as `I withdraw my
 * consent`, without a condition or an exception. A message of more than 4,000 characters, without the mail that it answers, is not read.
 */
export function readProse(message: string): Prose {
  const asked = new Set<RequestKind>();
  const denied = new Set<RequestKind>();
  let isDoubtful = false;
  for (const { words, isQuestion } of proseSentences(message)) {
    const line = ` ${words.join(' ')} `;
    const clauses = clausesOf(words);
    const has = (sense: Sense) => clauses.some((clause) => clause.some(({ senses }) => senses.has(sense)));
    if (words.length > MAX_SENTENCE) {
      isDoubtful = true;
      continue;
    }
    const isRefused = REFUSED.test(line);
    if (isRefused || has('appeal')) {
      // `If you refuse, I shall complain to the authority` is no appeal.
      isDoubtful ||= !CONDITION.test(line) && (isRefused || !AUTHORITY.test(line));
      continue;
    }
    isDoubtful ||= has('optIn') || (has('request') && (has('withdraw') || has('cancel')) && !WITHDRAWS.test(line));
    for (const clause of clauses) {
      const read = readClause(clause, line, isQuestion);
      for (const kind of read.asked) asked.add(kind);
      for (const kind of read.denied) denied.add(kind);
    }
  }
  const isCertain = !isDoubtful && ![...asked].some((kind) => denied.has(kind));
  return { asked: isCertain ? inUrgency(asked) : [], denied, isDoubtful };
}

interface Sentence {
  readonly words: readonly string[];
  readonly isQuestion: boolean;
}

/** Sentences of what the writer says: without quotations and the mail that is answered. Lines of one paragraph belong together. */
function proseSentences(message: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  const [written = '', ...earlier] = message.slice(0, MAX_PROSE).split(EARLIER_MAIL, 2);
  if (earlier.length === 0 && message.length > MAX_PROSE) return [];
  const unquoted = written.replace(QUOTED_LINES, '\n\n').replace(QUOTATION, ' ');
  let left = MAX_WORDS;
  for (const part of unquoted.split(/(?<=[!?;])\s|\n[ \t\r]*\n|\.\s+(?!\d)/)) {
    if (left <= 0) break;
    const pieces = part.replace(/[\r\n]+/g, ' ').split(/,(?!\d)/);
    const words = pieces
      .flatMap((piece, place) => [...(place === 0 ? [] : [',']), ...sentencesOf(piece, left).flat()])
      .slice(0, left);
    left -= words.length;
    const plain = ` ${words.join(' ')} `.replace(HARMLESS, ' ');
    const text = plain.replace(COURTESY, 'please');
    const isQuestion = part.includes('?') && text === plain;
    const own = text.trim();
    if (own !== '') sentences.push({ words: own.split(/ +/), isQuestion });
  }
  return sentences;
}

const QUOTED_LINES = /^[ \t]*>.*$/gm;
const EARLIER_MAIL =
  /^[ \t]*(?:-{2,}|_{5,})[ \t]*(?:original|forwarded|urspr|weitergel|message d|mensaje|messaggio|oorspronk|wiadomo|mensagem|\n|$)|^(?:On|Am|Le|El|Il|Op|W dniu|Em|Den) [^\n]{1,200}(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|napisał|napisała|escreveu|skrev)[^\n]{0,100}:/im;
const QUOTATION = /["„“”«»][^"„“”«»]{1,1000}["“”«»]|(?<![\p{L}\p{N}])['‘‚][^'‘’‚\n]{1,300}['’](?!\p{L})/gu;

/** A phrase in words without accents, between whole words. */
function phrases(...languages: readonly string[]): RegExp {
  return new RegExp(`(?<![a-z])(?:${languages.join('|')})(?![a-z])`);
}

/** Words of a `not` that say no to nothing (`no later than`; Portuguese `no prazo`), and Dutch `een beroep doen op`. */
const HARMLESS = new RegExp(
  `${phrases('no later|not later|no (?:prazo|ambito|sentido|artigo|momento|termo|meu|seu|vosso)|beroep(?: mij| me| doen)? op').source}`,
  'g',
);

/** Questions and conditions in form only. */
const COURTESY = new RegExp(
  phrases(
    '(?:can|could|would|will) you (?:please|kindly)|si prega|konn(?:t?en) sie bitte|(?:pourriez|pouvez) vous|podrian?|potreste|potete|kunt u|zou u|czy (?:mozecie|moglibyscie)|(?:poderiam?|podem)|kan ni|kan du',
  ).source,
  'g',
);

/** The writer asks for something. */
const ASKING = phrases(
  'please|kindly|and (?:also )?(?:request|demand|ask)|i (?:[a-z]+ ){0,2}(?:request|demand|exercise|invoke|want|wish|ask)|i (?:would|d) like|i am (?:[a-z]+ ){0,2}(?:requesting|asking|exercising)',
  'bitte|und (?:[a-z]+ )?(?:verlange|beantrage|fordere)|ich (?:[a-z]+ ){0,2}(?:beantrage|verlange|fordere|ersuche|mochte|will|wunsche)|(?:beantrage|verlange|fordere|ersuche|mochte|wunsche) ich|mache ich|ich mache',
  'veuillez|merci de|et (?:vous )?demande|je (?:[a-z]+ ){0,2}(?:demande|prie|souhaite|voudrais|veux|desire|sollicite|exige|exerce)|priere de|s il vous plait',
  'por favor|solicito|solicitamos|quiero|quisiera|deseo|pido|ruego|exijo|ejerzo|ejercito|me gustaria',
  'per favore|per cortesia|chiedo|richiedo|vorrei|voglio|desidero|prego|esercito|si prega',
  'graag|gelieve|en (?:verzoek|wil)|alstublieft|ik (?:[a-z]+ ){0,2}(?:verzoek|vraag|wil|wens|eis)|(?:verzoek|wil|wens|vraag|eis) ik',
  'prosze|wnosze|zadam|chce|chcialbym|chcialabym|wnioskuje|domagam sie|korzystam',
  'peco|quero|gostaria|desejo|requeiro|exerco|venho',
  'vanligen|snalla|och (?:begar|ber)|jag (?:[a-z]+ ){0,2}(?:begar|vill|onskar|ber|kraver)|(?:begar|vill|onskar|ber|kraver) jag',
);

/** What follows is asked about, conditional, or told of another time: it is not asked for now. */
const NOT_NOW = phrases(
  'says|said|writes|wrote|if|unless|whether|when|until|before|after|once|in case|should you|how|why|did|have|has|had|was|were|been|already|earlier|previous|previously|tell|inform|confirm|know|explain|existence|can|may|might|could',
  'wenn|falls|sofern|sollten|ob|wann|bis|nachdem|bevor|wie|warum|habe|hatte|haben|hatten|wurde|wurden|bereits|schon|fruher|mitteilen|mitzuteilen|bestatig[a-z]*|wissen|bestehen|kann|darf',
  'si|quand|lorsque|comment|pourquoi|avant|apres|jusqu|ai|avais|avez|deja|precedente?|indiquer|informer|confirmer|savoir|existence|puis|peux',
  'cuando|como (?:puedo|se)|por que|antes|despues|hasta|he|habia|han|ya|anterior|indicar|informar|confirmar|saber|existencia|puedo',
  'se|quando|perche|prima|dopo|fino|ho|avevo|avete|gia|precedente|indicare|informare|confermare|sapere|esistenza|posso',
  'als|indien|wanneer|hoe|waarom|voordat|nadat|totdat|heb|had|heeft|hebt|eerder|eerdere|meedelen|bevestigen|weten|bestaan|kan|mag',
  'jesli|jezeli|kiedy|gdy|jak|dlaczego|czy|zanim|juz|wczesniej|wczesniejszy|poinformowanie|informacje|potwierdzenie|wiedziec|moge',
  'caso|quando|como (?:posso|se)|porque|ja|tinha|tenho|anterior|informem|confirmar|confirmacao',
  'om (?:ni|du|jag|det)|nar|hur|varfor|innan|efter|har|hade|redan|tidigare|bekrafta|veta|kan',
);
/** A sentence about what the writer does if they get no answer. */
const CONDITION =
  /^ (?:if|unless|should you|in case|falls|sollten|wenn|si|en cas|en caso|se|in caso|als|indien|mocht|jesli|jezeli|caso|om)(?![a-z])/;
/** A sentence about the authority to which the writer may turn. */
const AUTHORITY = phrases(
  'authority|commissioner|ico|aufsichtsbehorde|cnil|autorite|aepd|autoridad|agencia|garante|autorita|autoriteit|organ|uodo|urzed|anpd|cnpd|autoridade|imy|integritetsskyddsmyndigheten|tillsynsmyndighet[a-z]*',
);
/** A request was refused: what is asked may be an appeal. */
const REFUSED = phrases(
  'decline[ds]?|den(?:y|ied|ies|ial)|refus[a-z]*|reject[a-z]*|abgelehnt[a-z]*|ablehn[a-z]*|verweiger[a-z]*|zuruckgewiesen|rechaz[a-z]*|deneg[a-z]*|rifiut[a-z]*|respint[aoei]|geweigerd|weiger[a-z]*|afgewezen|odmow[a-z]*|odrzuc[a-z]*|recus[a-z]*|negad[ao]s?|indefer[a-z]*|avsla[a-z]*|avslog|nekad[a-z]*|vagra[a-z]*',
);

/** A withdrawal of consent in the first person. */
const WITHDRAWS = phrases(
  'i (?:(?:hereby|now|therefore|also|want to|wish to|would like to) ){0,2}(?:withdraw|revoke|rescind) (?:my|any|all) (?:[a-z]+ ){0,2}consent',
  '(?:widerrufe ich|ich widerrufe) (?:[a-z]+ ){0,4}(?:einwilligung|zustimmung)(?:en)?|ziehe (?:ich )?(?:[a-z]+ ){0,3}(?:einwilligung|zustimmung) (?:[a-z]+ ){0,8}zuruck',
  'je (?:retire|revoque) (?:[a-z]+ ){0,3}consentement',
  '(?:retiro|revoco) (?:[a-z]+ ){0,3}consentimiento',
  '(?:revoco|ritiro) (?:[a-z]+ ){0,3}consenso',
  '(?:trek ik|ik trek) (?:[a-z]+ ){0,4}toestemming (?:[a-z]+ ){0,8}in|(?:herroep ik|ik herroep) (?:[a-z]+ ){0,4}toestemming',
  '(?:cofam|wycofuje|odwoluje) (?:[a-z]+ ){0,3}zgod[ey]',
  '(?:retiro|revogo) (?:[a-z]+ ){0,3}consentimento',
  '(?:jag aterkallar|aterkallar jag|jag drar tillbaka|drar jag tillbaka) (?:[a-z]+ ){0,3}samtycke',
);
/** Only a part is meant. */
const PARTIAL = phrases(
  'only|except|but|apart|nur|ausser|ausgenommen|lediglich|seulement|sauf|uniquement|solo|salvo|excepto|soltanto|tranne|eccetto|alleen|behalve|tylko|oprocz|apenas|somente|exceto|bara|endast|forutom',
);
const OBJECTS = phrases(
  'i (?:hereby |also |therefore |strongly )?object to',
  'ich widerspreche|widerspreche ich|ich (?:[a-z]+ ){0,2}lege (?:[a-z]+ ){0,3}widerspruch|lege ich (?:[a-z]+ ){0,3}widerspruch',
  'je m oppose',
  'me opongo',
  'mi oppongo',
  '(?:ik maak|maak ik) (?:[a-z]+ ){0,3}bezwaar',
  'sprzeciwiam sie|wnosze sprzeciw|zglaszam sprzeciw|skladam sprzeciw',
  'oponho me|me oponho',
  'jag (?:[a-z]+ )?invander|invander jag|jag motsatter mig',
);
/** Marketing is not wanted. */
const UNWANTED = phrases(
  '(?:not|never|no longer) (?:[a-z]+ )?(?:want|wish|send)',
  '(?:mochte|will|wunsche|bitte) (?:[a-z]+ ){0,3}keine?n?|sen?den sie mir (?:[a-z]+ ){0,2}keine?n?',
  'ne (?:[a-z]+ ){0,2}plus (?:recevoir|etre|m envoyer)|ne m envoyez plus',
  'no (?:quiero|deseo) (?:[a-z]+ )?recibir',
  'non (?:voglio|desidero) (?:[a-z]+ )?ricevere',
  'wil (?:[a-z]+ ){0,2}geen',
  'nie (?:chce|zycze sobie) (?:[a-z]+ )?otrzymywac',
  'nao (?:quero|desejo) (?:[a-z]+ )?receber',
  'vill (?:[a-z]+ )?inte (?:[a-z]+ )?(?:ha|fa)',
);
/** What is to be undone or prevented, or the access of others. */
const UNDO = phrases(
  'undo|revert|reverse|prevent|avoid|restore|instead of|stop (?:the |any |this )?(?:deletion|erasure)|(?:restrict|limit|revoke|block|remove|delete) (?:[a-z]+ ){0,2}access',
  'ruckgangig|verhinder[a-z]*|wiederherstell[a-z]*|annuler|empecher|eviter|retablir|evitar|impedir|anular|restaurar|annullare|evitare|impedire|ripristinare|voorkom[a-z]*|herstel[a-z]*|zapobie[a-z]*|przywroc[a-z]*|forhindra|aterstall[a-z]*',
);
const UNSUBSCRIBE =
  /^(?:unsubscri|desabonn|desinscri|abbestell|abzubestell|abmeld|abzumeld|afmeld|uitschrij|avregistrer|avprenumer|disiscri|desuscri|wypisa)/;
/** Words for sale, without those that may mean any sharing. */
const SALE = phrases(
  'sell|selling|sale|sales|verkauf[a-z]*|vendre|vente|vender|venda|vendere|verkop[a-z]*|sprzeda[a-z]*|salja|saljer',
);

/** Words that say nothing against what is asked: how it is asked, for whom, by which law, how soon, of which systems. */
const fillers: ReadonlySet<string> = new Set(
  (
    ', i that you your to be it them then also hereby therefore now formally like as well with under pursuant accordance accord in article art section gdpr ccpa cpra act regulation law protection undue delay within days month soon possible from systems system database databases records files permanently please kindly would send sending provide give supply me us receive receiving obtain get exercise right rights held by want wish thank thanks regards sincerely without further any more anymore ' +
    'hiermit daher deshalb ausserdem zudem anschliessend danach gemass nach laut entsprechend dsgvo artikel abs satz lit verordnung eu um auf dass ihnen mir ihre ihren ihrem zukommen lassen senden zusenden ubersenden ubermitteln erteilen stellen verfugung recht mein meines ausuben gebrauch vollstandig vollstandige kostenlose unentgeltliche schriftlich ich aus systemen datenbanken sofort innerhalb eines monats frist mehr ' +
    'par presente conformement en application vertu rgpd droit mon exercer d votre vos base bases systemes dans plus brefs delais obtenir recevoir communiquer transmettre envoyer m ainsi prevu prevue prevus l article je bien vouloir de ' +
    'por conforme segun virtud articulo derecho ejercer proceda procedan obtener recibir enviar enviarme facilitarme facilitar me asi ley lopdgdd favor sus sistemas se ' +
    'con sensi dell articolo diritto esercitare ricevere ottenere inviarmi inviare voler procedere procediate vostri sistemi vostro ' +
    'hierbij daarnaast op grond overeenkomstig krachtens volgens avg gebruik gaan te ontvang ontvangen sturen toesturen verstrekken u uw uit systemen maken ik een wil meer ' +
    'souhaite veux plus etre quiero deseo voglio desidero chce zycze sobie otrzymywac quero desejo receber vill fa ' +
    'na podstawie zgodnie z art rodo prawo prawa niniejszym oraz przeslanie udostepnienie mi panstwa systemow ' +
    'nos termos artigo lgpd lei direito exercer este meio procedam solicitar requerer ter obter receber enviar enviem vossos sistemas legal ' +
    'harmed enligt dataskyddsforordningen ratt att fa ni er era register ur fran ut skicka skickar tack ha'
  ).split(' '),
);

/** Words that may stand between a right and the data that it concerns. */
const links: ReadonlySet<string> = new Set(
  (
    ', the a any all my our own personal private of to about on for that which you your hold have held stored collected process concerning regarding relating me full complete immediately permanently inaccurate incorrect outdated ' +
    'der die das den dem des ein eine einer meine meiner meinen meinem meines mein mich mir betreffend betreffenden betreffende betreffen personenbezogene personenbezogenen personenbezogener personliche personlichen gespeicherten gespeicherte verarbeiteten alle aller samtliche samtlicher zu uber sie bitte person unverzuglich umgehend welche ' +
    'de des du d la le les l mes mon ma toutes tous toute au aux caractere personnel personnelles vous detenez concernant ' +
    'los las el lo mis mi todos todas al personales sobre que ' +
    'di dei delle della degli i il miei mie mio mia tutti tutte personali ai alla alle agli che riguardano ' +
    'van het al mijn tot over in persoonlijke mij ' +
    'do moich moje mojego mojej wszystkich wszystkie swoich osobowych osobowe mnie ' +
    'dos das da os as o meus minhas minha meu pessoais aos mim ' +
    'av mina mitt min alla till personliga om mig'
  ).split(' '),
);
const MAX_LINK = 8;
const DATA = /(?:^|[a-z])(?:data|daten|donnees|datos|dati|gegevens|dados|dane|danych|uppgifter)$|^informa/;
const ACCOUNT = /^(?:accounts?|konto|kontos|kontot|compte|cuenta|conta|profile?)$/;
/** The data are the writer's own. */
const OWN =
  /^(?:my|me|mein[a-z]*|mich|mir|mes|mon|ma|mis|mi|miei|mie|mio|mia|mijn|mij|moje|moich|mojego|mnie|meus|meu|minhas?|mim|mina|mitt|mig|person[a-z]*|persoons?[a-z]*|osobow[a-z]*|pessoais)$/;
/** Words for rights that in prose mostly mean something else. */
const loose: ReadonlySet<string> = new Set(
  'toknow insyn transfer transferring inaccurate inaccuracy corretto corretta corretti corrette sar dsar remover'.split(
    ' ',
  ),
);

interface ClauseRead {
  readonly asked: Iterable<RequestKind>;
  readonly denied: Iterable<RequestKind>;
}

/** `line`: the words of the whole sentence. */
function readClause(clause: readonly Word[], line: string, isQuestion: boolean): ClauseRead {
  const has = (sense: Sense) => clause.some(({ senses }) => senses.has(sense));
  const text = ` ${clause.map(({ word }) => word).join(' ')} `;
  const named = clause.flatMap((word) => rightsNamed(word));
  const negation = negationOf(clause);
  if (negation !== null) {
    const isAsked = !isQuestion && named.length === 0 && isPlain('', clause, negation.at);
    if (isAsked && negation.of === 'sell' && SALE.test(text) && has('data') && ASKING.test(line))
      return { asked: ['opt-out'], denied: [] };
    if (isAsked && has('marketing') && UNWANTED.test(text)) return { asked: ['objection'], denied: [] };
    return { asked: [], denied: named };
  }
  if (UNDO.test(text)) return { asked: [], denied: named };
  if (isQuestion) return { asked: [], denied: [] };
  const asked = new Set<RequestKind>(ownWords(clause, text, line));
  if (!ASKING.test(line)) return { asked, denied: [] };
  const before = (place: number) =>
    ` ${clause
      .slice(0, place)
      .map(({ word }) => word)
      .join(' ')} `;
  const isNow = (place: number) => place >= 0 && !NOT_NOW.test(before(place));
  const articles = articlesIn(clause);
  for (const [place, word] of clause.entries())
    for (const right of rightsNamed(word)) {
      if (right === 'objection' || loose.has(word.word) || !isNow(place)) continue;
      // `Please ignore my request to delete my data`, `someone got access to my data, please help`.
      if (!isPlain(askedFrom(before(place)), clause, place)) continue;
      if (right === 'erasure' && has('marketing')) {
        if (!has('data')) asked.add('objection');
      } else if ((!articles.isUnclear && articles.kinds.includes(right)) || concernsOwnData(clause, place, right))
        asked.add(right);
    }
  const end = clause.findIndex(
    ({ word, senses }) => senses.has('optOut') || senses.has('stop') || UNSUBSCRIBE.test(word),
  );
  if (isNow(end) && named.every((right) => right === 'objection') && isPlain(askedFrom(before(end)), clause, end)) {
    if (SALE.test(text) && has('data')) asked.add('opt-out');
    else if (has('marketing')) asked.add('objection');
  }
  if (has('sensitive') && has('data') && isNow(clause.findIndex(({ senses }) => senses.has('limit'))))
    asked.add('limit');
  return { asked, denied: [] };
}

const EACH_ASKING = new RegExp(ASKING.source, 'g');

/** The words between the last word of asking and a right, or all words before the right. */
function askedFrom(before: string): string {
  let start = 0;
  for (const found of before.matchAll(EACH_ASKING)) start = found.index + found[0].length;
  return before.slice(start);
}

/**
 * Whether nothing that may turn what is asked into something else stands between the asking and the right, or after it up to
 * the next comma: every word there is known to say nothing against it.
 */
function isPlain(between: string, clause: readonly Word[], place: number): boolean {
  const comma = clause.findIndex(({ word }, at) => at > place && word === ',');
  const rest = clause.slice(place + 1, comma < 0 ? undefined : comma);
  const others = between.trim();
  return (others === '' || others.split(' ').every(isHarmless)) && rest.every(({ word }) => isHarmless(word));
}

function isHarmless(word: string): boolean {
  if (fillers.has(word) || links.has(word) || joining.has(word) || /^\d+$/.test(word) || OWN.test(word)) return true;
  const senses = sensesOf(word);
  return (
    harmless.some((sense) => senses.has(sense)) ||
    ASKING.test(` ${word} `) ||
    rightsNamed({ word, senses }).some((right) => right !== 'objection')
  );
}

const harmless = [
  'data',
  'processing',
  'marketing',
  'sell',
  'california',
  'consent',
  'sensitive',
  'targeted',
  'stop',
  'optOut',
] as const;

/** Withdrawals and objections in words that need no other word of asking. */
function* ownWords(clause: readonly Word[], text: string, line: string): Generator<RequestKind> {
  const isNow = (found: RegExpExecArray) => !NOT_NOW.test(text.slice(0, found.index));
  const after = (found: RegExpExecArray) =>
    text
      .slice(found.index + found[0].length)
      .trim()
      .split(' ');
  const withdrawal = WITHDRAWS.exec(text);
  if (withdrawal !== null && isNow(withdrawal) && !PARTIAL.test(line)) {
    const part = upToAnd(after(withdrawal));
    // Not one to a contract, a price or what is done for a right.
    if (!part.some(namesOtherRight) && (part.every(isHarmless) || part.some(isOfProcessing))) yield 'withdraw-consent';
  }
  const objection = OBJECTS.exec(text);
  if (objection !== null && isNow(objection)) {
    // `I object to the deletion of my data.`
    const part = upToAnd(after(objection));
    const whole = clause.map(({ word }) => word);
    const about = part.some(isOfProcessing) || whole.some(namesOtherRight) ? part : whole;
    if (!about.some(namesOtherRight) && about.some((word) => isOfProcessing(word) || sensesOf(word).has('data')))
      yield 'objection';
  }
}

/** The words up to the first `and` or comma. */
function upToAnd(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => word === ',' || ANDS.has(word));
  return (end < 0 ? words : words.slice(0, end)).filter((word) => word !== '');
}
/** As in {@link joining}, without Dutch `of` and `en`, Portuguese and Italian `o` and the like, which are other words elsewhere. */
const ANDS: ReadonlySet<string> = new Set(['and', 'und', 'et', 'y', 'oraz', 'och']);

function namesOtherRight(word: string): boolean {
  return rightsNamed({ word, senses: sensesOf(word) }).some((right) => right !== 'objection');
}

function isOfProcessing(word: string): boolean {
  const senses = sensesOf(word);
  return senses.has('processing') || senses.has('marketing');
}

/** Whether a word for a right stands with the writer's own data: `delete all of my data`, `meine Daten zu löschen`. */
function concernsOwnData(clause: readonly Word[], place: number, right: RequestKind): boolean {
  const isTarget = ({ word, senses }: Word) =>
    DATA.test(word) ||
    (right === 'erasure' && ACCOUNT.test(word)) ||
    (right === 'restriction' && senses.has('processing'));
  const isLink = (one: Word) => links.has(one.word) || joining.has(one.word) || rightsNamed(one).length > 0;
  const reach = (step: 1 | -1): number => {
    for (let at = place + step, gap = 0; gap <= MAX_LINK; at += step, gap += 1) {
      const one = clause[at];
      if (one === undefined) return -1;
      if (isTarget(one)) return at;
      if (!isLink(one)) return -1;
    }
    return -1;
  };
  const word = clause[place]?.word ?? '';
  const isOwn = (from: number, to: number) => clause.slice(Math.max(from, 0), to).some((one) => OWN.test(one.word));
  // `You deleted my data` is a report, and `the correct data` is no request.
  const isVerb = !/^(?:delet|eras|remov|correct|rectifi|restrict|export)[a-z]*ed$/.test(word);
  const after = isVerb && (word !== 'correct' || links.has(clause[place + 1]?.word ?? '')) ? reach(1) : -1;
  if (after >= 0 && isOwn(place + 1, after + MAX_AFTER)) return true;
  const ahead = word === 'correct' ? -1 : reach(-1);
  return ahead >= 0 && isOwn(ahead - MAX_BEFORE, place);
}

/** How far around the data it is looked whether they are the writer's own. */
const MAX_AFTER = 5;
const MAX_BEFORE = 4;
