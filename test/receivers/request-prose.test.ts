import { describe, expect, it } from 'vitest';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { readProse } from '../../receivers/request-prose.ts';

/** Messages that plainly ask for rights. */
const plain: readonly (readonly [string, readonly RequestKind[]])[] = [
  ['Hello, please send me a copy of all the personal data you hold about me. Thanks', ['access']],
  ['I hereby request access to my personal data under Article 15 GDPR.', ['access']],
  ['Je vous demande l’accès à mes données personnelles.', ['access']],
  ['Solicito acceso a mis datos personales conforme al artículo 15 RGPD.', ['access']],
  ['Con la presente chiedo l’accesso ai miei dati personali.', ['access']],
  ['Graag ontvang ik inzage in mijn persoonsgegevens.', ['access']],
  ['Ich beantrage hiermit Auskunft über meine personenbezogenen Daten.', ['access']],
  ['Proszę o dostęp do moich danych osobowych.', ['access']],
  ['Gostaria de ter acesso aos meus dados pessoais.', ['access']],
  ['Jag begär tillgång till mina personuppgifter.', ['access']],
  ['Please delete my account and all my data.', ['erasure']],
  ['Could you please delete my account?', ['erasure']],
  ['I want my personal data erased.', ['erasure']],
  ['Bitte löschen Sie alle Daten über mich.', ['erasure']],
  ['Ich fordere Sie auf, meine personenbezogenen Daten unverzüglich zu löschen.', ['erasure']],
  ['Merci de supprimer toutes mes données personnelles.', ['erasure']],
  ['Quiero eliminar mi cuenta.', ['erasure']],
  ['Vi prego di cancellare i miei dati.', ['erasure']],
  ['Si prega di cancellare i miei dati.', ['erasure']],
  ['Ik verzoek u om verwijdering van al mijn gegevens.', ['erasure']],
  ['Ik wil mijn gegevens wissen.', ['erasure']],
  ['Proszę usunąć moje dane osobowe.', ['erasure']],
  ['Peço que apaguem os meus dados.', ['erasure']],
  ['Solicito a exclusão dos meus dados pessoais no prazo legal.', ['erasure']],
  ['Vänligen radera mitt konto.', ['erasure']],
  ['Please correct my data.', ['rectification']],
  ['Bitte berichtigen Sie meine Daten.', ['rectification']],
  ['Je demande la rectification de mes données.', ['rectification']],
  ['Jag begär rättelse av mina uppgifter.', ['rectification']],
  ['I request a restriction of the processing of my data.', ['restriction']],
  ['Ik verzoek u om beperking van de verwerking van mijn gegevens.', ['restriction']],
  ['Je demande la portabilité de mes données.', ['portability']],
  ['Deseo la portabilidad de mis datos.', ['portability']],
  ['Hiermit widerspreche ich der Verarbeitung meiner Daten.', ['objection']],
  ['Me opongo al tratamiento de mis datos con fines de publicidad.', ['objection']],
  ['Ik maak bezwaar tegen de verwerking van mijn gegevens.', ['objection']],
  ['Sprzeciwiam się przetwarzaniu moich danych.', ['objection']],
  ['I do not want to receive your newsletter.', ['objection']],
  ['Ich möchte keine Werbung mehr.', ['objection']],
  ['Please take note: do not sell my personal information.', ['opt-out']],
  ['I want to opt out of the sale of my personal data.', ['opt-out']],
  ['Please limit the use of my sensitive personal information.', ['limit']],
  ['I hereby withdraw my consent.', ['withdraw-consent']],
  ['Hiermit widerrufe ich meine Einwilligung in den Newsletter.', ['withdraw-consent']],
  ['Je retire mon consentement.', ['withdraw-consent']],
  ['Por la presente revoco mi consentimiento.', ['withdraw-consent']],
  ['Revoco il mio consenso.', ['withdraw-consent']],
  ['Hierbij trek ik mijn toestemming in.', ['withdraw-consent']],
  ['Cofam zgodę na przetwarzanie danych.', ['withdraw-consent']],
  ['Revogo o meu consentimento.', ['withdraw-consent']],
  ['Jag återkallar mitt samtycke.', ['withdraw-consent']],
  ['Please send me a copy of my data and then delete my account.', ['erasure', 'access']],
  [
    'Please send me a copy of my personal data. I do not want it to be deleted.\nIf you refuse, I will complain to the supervisory authority.',
    ['access'],
  ],
  ['Please delete my data.\n\nOn Mon, 3 Nov 2026 Shop wrote:\n> We do not delete data.', ['erasure']],
  ['You wrote “we restrict the processing of your data”. Please send me a copy of my data.', ['access']],
];

/** Messages that name rights, of which none is plainly asked for. */
const doubtful = [
  'Please do not delete my data.',
  'Bitte löschen Sie meine Daten nicht.',
  'Ne supprimez surtout pas mes données, merci de me répondre.',
  'Por favor, no borren mis datos.',
  'Non cancellate i miei dati, per favore.',
  'Graag mijn gegevens niet verwijderen.',
  'Proszę nie usuwać moich danych.',
  'Por favor não apaguem os meus dados.',
  'Vänligen radera inte mina uppgifter.',
  'You declined my request to delete my data. Please delete my data.',
  'I am appealing your decision to delete my data. Please send me a copy of my data.',
  'Sie haben meine Löschung abgelehnt. Bitte löschen Sie meine Daten.',
  'I withdraw my request to delete my data.',
  'Please cancel my request for a copy of my data.',
  'Ich ziehe meinen Antrag auf Löschung meiner Daten zurück.',
  'How can I delete my account?',
  'Did you delete my data?',
  'Wie kann ich meine Daten löschen?',
  'Please tell me why you deleted my data.',
  'Please confirm the deletion of my data.',
  'Please note that I deleted my account.',
  'If you do not answer, please delete my data.',
  'I might ask you to delete my data.',
  'I can ask you to delete my data at any time.',
  'I lost access to my account, please help.',
  'Someone got access to my data, please help.',
  'Please restrict access to my data.',
  'Please undo the deletion of my data.',
  'Please restore my deleted data.',
  'Please remove the block on my account.',
  'Please use my correct data.',
  'Ich möchte wissen, welche Daten Sie haben.',
  'I wish you all the best. My data are fine.',
  '“Please delete my data” is what your form says.',
  'Your mail says: please delete my data?',
  'Please answer.\n> Please delete my data.',
  'Please help me.\n\n-----Original Message-----\nPlease delete my data.',
  'I withdrew my consent last year.',
  'J’ai retiré mon consentement.',
  'I can withdraw my consent at any time.',
  'If I withdraw my consent, what happens?',
  'I withdraw my consent only for the newsletter.',
  'I do not withdraw my consent.',
  'Ich habe meine Einwilligung widerrufen.',
  'You have the right to withdraw your consent.',
  'Please tell me of the existence of the right to erasure of my personal data.',
  'I have not received your newsletter, please send it.',
  'Please do not share my address with the courier.',
  'Please delete my data. Please do not delete my data.',
  `Please delete my data. ${'x '.repeat(4000)}`,
];

describe('the rights that a message asks for', () => {
  it.each(plain)('%j', (message, kinds) => {
    expect(readProse(message).asked).toEqual(kinds);
  });
  it.each(doubtful)('are none in %j', (message) => {
    expect(readProse(message).asked).toEqual([]);
  });
  it('are found in bounded time, whatever the message', () => {
    for (const text of ['i ', 'please ', '"', "'a ", '> \n', '\n', 'no ', '?', 'On a', 'delete my ', 'Ⱥ'])
      for (const size of [4000, 4_000_000]) {
        const start = performance.now();
        readProse(text.repeat(Math.ceil(size / text.length)).slice(0, size));
        expect(performance.now() - start).toBeLessThan(500);
      }
  });
});
