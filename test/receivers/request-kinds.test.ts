import { describe, expect, it } from 'vitest';
import { readKinds, requestKindOf } from '../../receivers/request-kinds.ts';
import { sentencesOf } from '../../receivers/request-words.ts';
import { inUrgency, type RequestKind } from '../../src/core/vocabulary.ts';

/** Texts that ask for exactly one right. */
const one: Readonly<Partial<Record<RequestKind, readonly string[]>>> = {
  access: [
    'access',
    'right_to_access',
    'Right to know',
    'subject access request',
    'SAR',
    'DSAR',
    'Art. 15',
    'copy of my data',
    'request for information',
    'access:categories',
    'customers/data_request',
    'default_access_policy',
    'read',
    'right_to_know',
    'RightToKnow',
    'DSARRequest',
    'Auskunft',
    'Recht auf Auskunft',
    'Datenauskunft',
    "droit d'accès",
    'derecho de acceso',
    'diritto di accesso',
    'recht van inzage',
    'direito de acesso',
    'prawo dostępu',
    'rätt till tillgång',
    'registerutdrag',
    'Art. 15 Abs. 1 DSGVO',
    'Art. 15(1)(h) GDPR',
    'Info Request',
  ],
  portability: [
    'portability',
    'data_portability',
    'data export',
    'Datenübertragbarkeit',
    'portabilité',
    'portabilidad',
    'portabilità',
    'overdraagbaarheid',
    'portabilidade',
    'przenoszenie danych',
    'dataportabilitet',
    'export',
  ],
  erasure: [
    'delete',
    'Deletion',
    'right-to-be-forgotten',
    'RTBF',
    'Article 17',
    'ACCOUNT_DELETION',
    'customers/redact',
    'shop/redact',
    'DeleteRequest',
    'default_erasure_policy',
    'Löschung',
    'Recht auf Löschung',
    'Recht auf Vergessenwerden',
    'Datenlöschung',
    "droit à l'effacement",
    'droit à l’oubli',
    'suppression de mes données',
    'derecho de supresión',
    'derecho al olvido',
    'cancelación',
    'Solicitud de cancelación',
    'diritto alla cancellazione',
    "diritto all'oblio",
    'Richiesta di cancellazione',
    'recht op gegevenswissing',
    'mijn gegevens wissen',
    'wissen van gegevens',
    'recht op vergetelheid',
    'verwijdering',
    'apagamento dos dados',
    'direito ao esquecimento',
    'eliminação',
    'prawo do usunięcia danych',
    'prawo do bycia zapomnianym',
    'radering',
    'rätten att bli bortglömd',
    'Delete my information',
    'Cal. Civ. Code 1798.105',
    'gdprart17',
  ],
  rectification: [
    'rectification',
    'correct my information',
    'update my data',
    'CorrectionRequest',
    'Berichtigung',
    'rectification',
    'rectificación',
    'rettifica',
    'rectificatie',
    'retificação',
    'sprostowanie',
    'rättelse',
  ],
  restriction: [
    'restrict_processing',
    'RestrictProcessingRequest',
    'Right to limitation of processing',
    'limitation du traitement',
    'Droit à la limitation du traitement',
    'limitación del tratamiento',
    'limitazione del trattamento',
    'limitação do tratamento',
    'Einschränkung der Verarbeitung',
    'beperking van de verwerking',
    'ograniczenie przetwarzania',
    'begränsning av behandling',
    'RESTRICTION',
  ],
  objection: [
    'object to processing',
    'CONTACT_OPT_OUT',
    'remove me from marketing',
    'unsubscribe',
    'stop direct marketing',
    'Remove me from your mailing list',
    'opt out of marketing emails',
    'Keine Werbung mehr',
    'Object to direct marketing',
    'Widerspruch gegen Direktwerbung',
    'do not contact me',
    'I no longer want to receive newsletters',
    'ne plus recevoir de publicité',
    'Widerspruch',
    'opposition',
    "je m'oppose",
    'oposición',
    'opposizione',
    'bezwaar',
    'oposição',
    'sprzeciw',
    'invändning',
    'stop processing my data',
  ],
  'opt-out': [
    'opt-out',
    'opt_out_of_sale',
    'do_not_sell',
    'Do Not Sell or Share My Personal Information',
    'sale:opt-out',
    'SALE_OPT_OUT',
    'TRACKING_OPT_OUT',
    'AUTOMATED_DECISION_MAKING_OPT_OUT',
    'nicht verkaufen',
    'ne pas vendre mes données',
    'no vender mis datos personales',
    'Meine Daten nicht verkaufen',
    'opt out of targeted advertising',
  ],
  limit: ['Limit the use of my sensitive personal information', 'USE_OF_SENSITIVE_INFORMATION_OPT_OUT'],
  'withdraw-consent': [
    'withdraw_consent',
    'consent withdrawal',
    'revoke consent',
    'Widerruf der Einwilligung',
    'retrait du consentement',
    'retirada del consentimiento',
    'revoca del consenso',
    'intrekking van toestemming',
    'revogação do consentimento',
    'wycofanie zgody',
    'återkallelse av samtycke',
    'återkalla samtycke',
    'Request to withdraw consent',
    'Art. 7(3) GDPR',
  ],
};

/** Texts that name rights without asking for them, or of which one thing cannot be decided. */
const doubtful = [
  'without deletion',
  'ohne Löschung',
  'Access without deletion',
  'Annullare la richiesta di accesso',
  'revoke access',
  'limit',
  'sale:opt_in',
  'SALE_OPT_IN',
  'do not delete my data',
  "please don't erase my account",
  'nicht löschen',
  'Bitte löschen Sie meine Daten nicht',
  'ne pas supprimer',
  'Ne supprimez pas mes données',
  'no borrar mis datos',
  'non cancellare i miei dati',
  'niet verwijderen',
  'não apagar',
  'nie usuwać',
  'radera inte mina uppgifter',
  'withdraw my request',
  'Withdrawal of my deletion request',
  'cancel my erasure request',
  'Rücknahme meines Antrags',
  'Widerruf meines Löschantrags',
  'retirer ma demande',
  'retirar mi solicitud de supresión',
  'ritirare la richiesta',
  'verzoek intrekken',
  'wycofanie wniosku',
  'återkalla min begäran',
  'appeal',
  'Appeal of denied deletion',
  'Withdraw',
  'Widerruf',
  'do not withdraw my consent',
  'withdraw my request to withdraw consent',
  'do not unsubscribe me',
  'do not delete or sell my data',
  'Please do not delete, only restrict',
  'Art. 12',
  'cancellation request',
  'complaint',
  'opt-in',
];

/** Texts that name no right. */
const none = [
  'change my consent',
  'other',
  'general review',
  'LGPD Art. 18',
  'Cancelled',
  'consent',
  'marketing',
  'accessibility request',
  'copyright',
  'unknown',
  'tagForAction',
  'Article 7',
  'Ich möchte wissen',
];

/** Texts that ask for several rights, in the order of a case. */
const several: readonly (readonly [string, readonly RequestKind[]])[] = [
  ['access and erasure', ['erasure', 'access']],
  ['Access, Deletion', ['erasure', 'access']],
  ['Articles 15 and 17 GDPR', ['erasure', 'access']],
  ['right to know what you collect and delete it', ['erasure', 'access']],
  ['access / portability', ['access', 'portability']],
  ['Delete my data and do not sell it', ['opt-out', 'erasure']],
  ['Do not share my data and limit the use of my sensitive personal information', ['opt-out', 'limit']],
];

const mains = Object.entries(one) as [RequestKind, readonly string[]][];

describe('a range of articles', () => {
  it('asks for more than its first', () => {
    expect(readKinds('Articles 15 to 22')).toEqual({ kinds: ['access'], isUnclear: true });
  });
});

describe('the right that a text asks for', () => {
  it.each(mains.flatMap(([kind, texts]) => texts.map((text) => [text, kind] as const)))('%s: %s', (text, kind) => {
    expect(readKinds(text)).toEqual({ kinds: [kind], isUnclear: false });
    expect(requestKindOf(text)).toBe(kind);
    expect(readKinds(text.toUpperCase()).kinds).toEqual([kind]);
  });
  it.each(doubtful)('is in doubt for “%s”', (text) => {
    expect(readKinds(text)).toEqual({ kinds: [], isUnclear: true });
    expect(requestKindOf(text)).toBe('unknown');
  });
  it.each(none)('is none for “%s”', (text) => {
    expect(readKinds(text)).toEqual({ kinds: [], isUnclear: false });
  });
  it.each(several)('%s: several', (text, kinds) => {
    expect(readKinds(text)).toEqual({ kinds, isUnclear: false });
    expect(requestKindOf(text)).toBe('unknown');
  });
  it('is kept apart from a second one that is not wanted', () => {
    expect(readKinds('Delete my account but do not delete my orders')).toEqual({ kinds: ['erasure'], isUnclear: true });
    expect(readKinds('Do not sell my data and delete it')).toEqual({ kinds: ['opt-out'], isUnclear: true });
  });
  it('to limit is one of its own in California only', () => {
    for (const text of ['limit', 'Right to Limit', 'Limit processing', 'limitation of processing'])
      expect(readKinds(text, true).kinds).toEqual(['limit']);
    expect(readKinds('CCPA right to limit').kinds).toEqual(['limit']);
    expect(readKinds('limit processing').kinds).toEqual(['restriction']);
  });
  it('is never a withdrawal of consent unless consent is what is withdrawn', () => {
    const rest = [
      'my request',
      'my complaint',
      'from the contract',
      'the objection',
      '',
      'my data',
      'Antrag',
      'demande',
    ];
    for (const verb of [
      'withdraw',
      'Widerruf',
      'retirer',
      'retirar',
      'ritirare',
      'intrekken',
      'revogar',
      'wycofać',
      'återkalla',
    ])
      for (const object of rest) expect(readKinds(`${verb} ${object}`).kinds).toEqual([]);
  });
  it('is not asked for by any word for a right after a no in the same sentence', () => {
    const verbs = [
      'delete',
      'erase',
      'löschen',
      'effacer',
      'borrar',
      'cancellare',
      'verwijderen',
      'apagar',
      'usunąć',
      'radera',
    ];
    const noes = ['do not', 'never', "don't", 'nicht', 'ne', 'no', 'non', 'niet', 'não', 'nie', 'inte'];
    for (const verb of verbs)
      for (const no of noes) {
        expect(readKinds(`${no} ${verb} my data`).kinds).toEqual([]);
        expect(readKinds(`please ${verb} my data ${no}`).kinds).toEqual([]);
      }
  });
  it('is looked for in a bounded number of words', () => {
    const words = sentencesOf('no word. '.repeat(10_000)).flat();
    expect(words.length).toBeLessThanOrEqual(80);
    expect(requestKindOf('delete '.repeat(1000))).toBe('unknown');
  });
});

it('the main kind of a request is the one that takes effect soonest', () => {
  expect(inUrgency(['unknown', 'access', 'erasure', 'access', 'withdraw-consent'])).toEqual([
    'withdraw-consent',
    'erasure',
    'access',
    'unknown',
  ]);
});
