import { TEST_EVENT } from '../src/core/vocabulary.ts';
import { normaliseName } from './field-table.ts';
import { isJsonObject, type JsonObject } from './parse.ts';
import { requestKindOf } from './request-kinds.ts';

/*
 * Whether something that is not understood may hold a data subject request, so that a case is opened for somebody to
 * read it (docs/assumptions.md, What may hold a request). A request that is missed has no deadline; a case too many costs
 * a look. Events of visitors' choices and of machines must not open cases: they come by the thousand.
 */

/** Words of an event's name that alone name a request: `dsr.created`, `customers/redact`. */
const requestWords = new Set('dsr dsrs dsar dsars redact redaction erasure datarequest privacyrequest'.split(' '));
/** Words that do so together with `request`: `privacy_request.created`, `customers/data_request`, `ccpa-request`. */
const rightsWords = new Set(
  'data privacy subject rights right gdpr dsgvo rgpd avg lgpd rodo ccpa cpra access deletion delete erase rectification portability objection optout opt'.split(
    ' ',
  ),
);
const askWords = new Set(
  'request requests verzoek richiesta wniosek antrag ersuchen demande solicitud pedido begaran anmodning zadost pyynto'.split(
    ' ',
  ),
);
/** What a name that begins with `request` has to go on with: `request.created`. */
const requestSteps = new Set('created submitted received opened new registered verified'.split(' '));
/** Words of events about choices, sites and business: never a request by name or words. */
const otherWords = new Set(
  (
    'consent consents cookie cookies banner banners purpose purposes preference preferences tcf gpp scan scans tracker trackers ' +
    'policy policies integration integrations webhook ping test order invoice payment page pageview'
  ).split(' '),
);

/** Fields that only a request has. */
const requestFields: ReadonlySet<string> = new Set(
  (
    'dsar dsar_id dsar_type dsar_request dsr dsr_id dsr_type dsr_request privacy_request privacy_request_id privacy_request_type ' +
    'data_subject_request data_subject_request_id subject_request subject_request_id subject_request_type data_request ' +
    'data_request_id data_subject_right data_subject_rights rights_request rights_request_id erasure_request deletion_request ' +
    'gdpr_request ccpa_request exercise'
  )
    .split(' ')
    .map(normaliseName),
);
/** Fields with the kind of a request, if its word is one. */
const kindFields: ReadonlySet<string> = new Set(
  'request_type request_kind right rights right_type operation'.split(' ').map(normaliseName),
);
/** Lists and maps of a visitor's choices: what has one is a record of consent, whatever its texts say. */
const choiceFields: ReadonlySet<string> = new Set(
  (
    'purposes categories vendors consents consent_purposes cookie_categories preferences choices tc_string tcf_string gpp_string ' +
    'cookies trackers groups accepted rejected accepted_categories rejected_categories ad_storage analytics_storage'
  )
    .split(' ')
    .map(normaliseName),
);

/** What is looked at: levels, fields and texts of a payload, and characters of them. */
const MAX_DEPTH = 5;
const MAX_VALUES = 500;
const MAX_TEXT = 20_000;
const VALUES_OF_FIELD = 5;

/** Whether a payload whose event is not known may hold a request. `event`: its name as given; null: none. */
export function mayHoldRequest(root: JsonObject, event: string | null): boolean {
  if (event !== null) {
    if (event === TEST_EVENT) return false;
    const words = wordsOf(event);
    if (words.some((word) => otherWords.has(word))) return false;
    if (namesRequest(words)) return true;
  }
  const seen: Seen = { fields: new Map(), texts: [], values: 0, length: 0 };
  look(root, 0, seen);
  const fields = [...seen.fields.keys()];
  if (fields.some((field) => choiceFields.has(field))) return false;
  if (fields.some((field) => requestFields.has(field))) return true;
  if (seen.texts.some((text) => NAME.test(text) && namesRequest(wordsOf(text)))) return true;
  const text = seen.texts.join('\n');
  return asks(text) || (namesKind(seen.fields) && ADDRESS.test(text));
}

/** A value in the form of a name or short title: `customers/redact`, `AVG-verzoek`, `wniosek RODO`. */
const NAME = /^\p{L}[\p{L}\p{M}\w./: -]{2,60}$/u;

/** Whether a field says what a request is about; counts beside an e-mail address. */
function namesKind(fields: Seen['fields']): boolean {
  for (const [field, values] of fields) {
    if (field.startsWith('datasubject')) return true;
    const kinds = values.filter((value) => typeof value === 'string');
    if (kindFields.has(field) && kinds.some((kind) => requestKindOf(kind) !== 'unknown')) return true;
    if (field === 'request' && values.some((value) => isJsonObject(value) && typeof value['type'] === 'string'))
      return true;
  }
  return false;
}

/** Whether the name of an event alone names a request: `request.created`, `customers/redact`. */
export function isNamedAsRequest(event: string): boolean {
  return namesRequest(wordsOf(event));
}

/** Whether a text that is not JSON may hold a request. */
export function textMayHoldRequest(text: string): boolean {
  return asks(text.slice(0, MAX_TEXT));
}

/** `customers/dataRequest` → customers, data, request. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

function namesRequest(words: readonly string[]): boolean {
  const [first = '', second = ''] = words;
  if (words.some((word) => requestWords.has(word))) return true;
  if (askWords.has(first) && requestSteps.has(second)) return true;
  return words.some((word) => askWords.has(word)) && words.some((word) => rightsWords.has(word));
}

interface Seen {
  /** Names of fields, with their values that are not lists. */
  readonly fields: Map<string, unknown[]>;
  readonly texts: string[];
  values: number;
  length: number;
}

function look(value: unknown, depth: number, seen: Seen): void {
  if (seen.values >= MAX_VALUES || seen.length >= MAX_TEXT || depth > MAX_DEPTH) return;
  seen.values += 1;
  if (typeof value === 'string') {
    const text = value.slice(0, MAX_TEXT - seen.length);
    seen.texts.push(text);
    seen.length += text.length;
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_VALUES)) look(item, depth + 1, seen);
  } else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value).slice(0, MAX_VALUES)) {
      // A single flag, such as the tick under a form, says nothing about what else is asked.
      if (typeof inner !== 'boolean' && inner !== null && inner !== '') {
        const name = normaliseName(key);
        seen.fields.set(name, [...(seen.fields.get(name) ?? []), inner].slice(0, VALUES_OF_FIELD));
      }
      look(inner, depth + 1, seen);
    }
  }
}

const ADDRESS = /[^\s@<>"',;:=&]@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/i;

/** Phrases that name a request by themselves, or a right of the law; in nine languages. */
const CERTAIN = phrases(
  // en
  `dsars?(?![\\p{L}\\p{N}])|data subject (?:access )?requests?|subject access requests?|privacy requests?|right (?:of access|to (?:access|erasure|be forgotten|object|rectification|(?:data )?portability|delete|know|opt.?out|restriction))|do not sell|do not share my|opt.?out of (?:the )?(?:sale|sharing)|(?:gdpr|ccpa|dsgvo|rgpd)[^.\n]{0,20} requests?|art(?:icle|\\.)? ?(?:15|16|17|18|20|21)\\b[^.\n]{0,20}(?:gdpr|dsgvo|rgpd|avg|rodo)`,
  // de
  `betroffenenanfrage|auskunftsersuchen|recht auf (?:auskunft|löschung|vergessen|berichtigung|datenübertragbarkeit|einschränkung)|widerspruchsrecht`,
  // fr
  `droit (?:d['’]acc[eè]s|[àa] l['’](?:effacement|oubli)|d['’]opposition|de rectification|[àa] la portabilit[ée])|demande d['’](?:acc[eè]s|effacement)`,
  // es
  `derecho (?:de acceso|al olvido|de supresi[óo]n|de oposici[óo]n|de rectificaci[óo]n|a la portabilidad)|derechos? arco`,
  // it
  `diritto (?:di accesso|all['’]oblio|alla cancellazione|di opposizione|di rettifica|alla portabilit[àa])`,
  // nl
  `inzageverzoek|verwijderverzoek|recht op (?:inzage|vergetelheid|verwijdering|rectificatie|bezwaar|dataportabiliteit)`,
  // pl
  `prawo (?:do bycia zapomnianym|dost[ęe]pu|do usuni[ęe]cia|do sprostowania|sprzeciwu|do przenoszenia)`,
  // pt
  `direito (?:de acesso|ao esquecimento|ao apagamento|de oposi[çc][ãa]o|de retifica[çc][ãa]o|[àa] portabilidade)`,
  // sv
  `r[äa]tten? (?:till (?:tillg[åa]ng|radering|r[äa]ttelse|dataportabilitet)|att bli bortgl[öo]md)|registerutdrag`,
);

/** What someone asks for in their own words; counts beside an e-mail address. */
const LIKELY = phrases(
  // en
  `(?:delete|erase|remove|forget|correct|rectify|update|export|transfer|send me|copy of|access to|stop (?:using|processing|selling|sharing)|restrict|object to)[^.\n]{0,40}\\b(?:my|me|personal (?:data|information))\\b|(?:my|personal) data\\b[^.\n]{0,40}\\b(?:deleted|erased|removed|corrected|copy)|unsubscribe me|opt me out|withdraw my|\\bright to (?!left)\\w`,
  // de
  `(?:lösch|entfern|berichtig|sperr|übermittel|herausgabe|kopie|auskunft)[^.\n]{0,40}(?:mein|daten|konto)|(?:mein|persönliche|personenbezogene)[^.\n]{0,30}(?:daten|konto)[^.\n]{0,40}(?:lösch|entfern|berichtig|zu?senden|auskunft)|ich widerspreche|widerspruch gegen|(?:ich )?widerrufe[^.\n]{0,20}(?:einwilligung|zustimmung)`,
  // fr
  `(?:supprim|effac|rectifi|corrig|copie|communiqu|transf[ée]r|oppos)[^.\n]{0,40}(?:mes|mon compte|donn[ée]es)|je (?:retire|r[ée]voque) mon consentement`,
  // es
  `(?:elimin|borr|suprim|rectif|corrig|copia|acceder|acceso)[^.\n]{0,40}(?:mis|mi cuenta|datos)|me opongo|(?:retiro|revoco) (?:el|mi) consentimiento`,
  // it
  `(?:cancell|elimin|rettific|corregg|copia|accesso|accedere)[^.\n]{0,40}(?:miei|mio account|dati)|mi oppongo|(?:revoco|ritiro) il (?:mio )?consenso`,
  // nl
  `(?:verwijder|wis|corrigeer|rectific|kopie|inzage)[^.\n]{0,40}(?:mijn|gegevens)|mijn gegevens[^.\n]{0,40}(?:verwijder|wis|inzien)|ik maak bezwaar|ik trek mijn toestemming`,
  // pl
  `(?:usu[nń]|skasowa|sprostowa|popraw|kopi[ięae]|dost[ęe]p)[^.\n]{0,40}(?:moje|moich|danych|dane|konto)|sprzeciwiam si[ęe]|(?:cofam|wycofuj[ęe]) (?:moj[ąa] )?zgod[ęe]`,
  // pt
  `(?:apag|elimin|exclu|remov|retific|corrig|c[óo]pia|acesso)[^.\n]{0,40}(?:meus|minha conta|dados)|oponho-me|(?:retiro|revogo) o (?:meu )?consentimento`,
  // sv
  `(?:radera|ta bort|r[äa]tta|kopia|tillg[åa]ng)[^.\n]{0,40}(?:mina|mitt konto|uppgifter)|jag inv[äa]nder|jag (?:[åa]terkallar|drar tillbaka)[^.\n]{0,20}samtycke`,
  // da
  `(?:slet|fjern|ret|kopi|indsigt)[^.\n]{0,40}(?:mine|min konto|oplysninger)|jeg (?:g[øo]r indsigelse|tr[æa]kker)[^.\n]{0,20}(?:samtykke)?`,
);

function phrases(...languages: readonly string[]): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${languages.join('|')})`, 'iu');
}

function asks(text: string): boolean {
  return CERTAIN.test(text) || (ADDRESS.test(text) && LIKELY.test(text));
}
