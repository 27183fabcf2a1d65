import { describe, expect, it } from 'vitest';
import { TEST_EVENT } from '../../src/core/vocabulary.ts';
import { factOf, read } from './reading.ts';

const email = 'person@example.org';

describe('what is not understood but may hold a request opens a case to be read', () => {
  it.each<[string, unknown]>([
    ['an event of Shopify', { topic: 'customers/redact', shop_domain: 'shop.example', customer: { email } }],
    ['another of them', { event: 'customers/data_request', customer: { email } }],
    ['a privacy request', { event: 'privacy_request.created', id: 'pr-1' }],
    ['a request tool', { type: 'request.created', request: { id: 'r-1' } }],
    ['dsr', { event: 'dsr.received', reference: 'r-1' }],
    ['words run together', { eventType: 'DataSubjectRequestCreated', id: 'r-1' }],
    ['an opt-out request', { event: 'opt_out_request.submitted' }],
    ['a field of a request', { event: 'record.updated', data: { dsar_id: 'd-1' } }],
    ['a field of the Data Rights Protocol', { exercise: 'sale:opt-out', regime: 'ccpa', email }],
    ['a data subject', { data_subject_identifier: email, operation: 'delete' }],
    ['a request with its type', { request: { id: 'x', type: 'SALE_OPT_IN', coreIdentifier: { value: email } } }],
    ['a kind beside an address', { event: 'form.submitted', fields: { request_type: 'Right to limitation', email } }],
    ['a request tool whose type reads like a choice', { event: 'request.created', id: 'r-1', type: 'OPT_OUT' }],
    ['a title in Dutch', { event: 'formulier.ontvangen', formulier: 'AVG-verzoek', email }],
    ['a title in Polish', { event: 'wniosek.zlozony', typ: 'wniosek RODO', wnioskodawca: { email } }],
    ['a form with a tick for consent', { form: 'Contact', email, text: 'Please delete all my data.', consent: true }],
    ['a right of the law, without an address', { subject: 'GDPR', text: 'I exercise my right to be forgotten.' }],
    ['text', `From: ${email}\n\nI want you to erase my account.`],
    ['a form', `formname=privacy&email=${encodeURIComponent(email)}&text=Please+send+me+a+copy+of+my+data`],
    ['XML', `<request><mail>${email}</mail><text>Please delete my data</text></request>`],
  ])('%s', (_name, body) => {
    const fact = factOf(read(body), 'request');
    expect(fact.kind).toBe('unknown');
  });

  it.each([
    ['de', 'Bitte löschen Sie alle meine Daten.'],
    ['de', 'Ich bitte um Auskunft über meine personenbezogenen Daten.'],
    ['fr', 'Merci de supprimer toutes mes données.'],
    ['fr', 'J’exerce mon droit d’accès.'],
    ['es', 'Quiero eliminar mis datos.'],
    ['it', 'Chiedo di cancellare i miei dati.'],
    ['nl', 'Graag verwijder al mijn gegevens.'],
    ['pl', 'Proszę usunąć moje dane.'],
    ['pt', 'Quero apagar os meus dados.'],
    ['sv', 'Vänligen radera mina uppgifter.'],
    ['en', 'Please stop selling my information.'],
    ['da', 'Slet venligst alle oplysninger om mig.'],
    ['it', 'Revoco il consenso al trattamento per finalità di marketing.'],
    ['pl', 'Cofam zgodę na marketing.'],
  ])('words of %s: %s', (_language, text) => {
    expect(factOf(read({ event: 'message.received', from: email, text }), 'request').kind).toBe('unknown');
  });

  it('with what can be read, and the event as its kind', () => {
    const body = { event: 'privacy_request.created', data: { id: 'pr-1', email, message: 'Hello', country: 'FR' } };
    expect(read(body)).toMatchObject({
      outcome: 'read',
      event: 'privacy_request.created',
      fact: {
        requestId: 'pr-1',
        kind: 'unknown',
        kindAsGiven: 'privacy_request.created',
        requesterEmail: email,
        message: 'Hello',
      },
      unread: expect.arrayContaining(['the event is unknown, but it may hold a request']),
    });
  });
  it('never as a known kind, because it was not understood', () => {
    const fact = factOf(read({ event: 'privacy_request.created', type: 'erasure', email }), 'request');
    expect(fact).toMatchObject({ kind: 'unknown', kindAsGiven: 'erasure' });
    const several = { event: 'privacy_request.created', request_types: ['access', 'erasure'], email };
    expect(factOf(read(several), 'request').kind).toBe('unknown');
    expect(factOf(read(several), 'request')).not.toHaveProperty('furtherKinds');
  });
  it('with the text itself as its message, if it is not JSON', () => {
    const text = `From: ${email}\n\nI want you to erase my account.`;
    expect(factOf(read(text), 'request').message).toBe(text);
  });
});

describe('what is plainly something else opens no case', () => {
  it.each<[string, unknown]>([
    ['the test event of this program', { event: TEST_EVENT, message: 'data subject request' }],
    ['a view of a page', { event: 'page.viewed', data: { url: 'https://shop.example/privacy', email } }],
    ['an order', { event: 'order.paid', customer: { email }, note: 'Please remove my discount code and my gift wrap' }],
    ['a choice', { event: 'cookie_consent.updated', email, message: 'I withdraw my consent, delete my data' }],
    [
      'a record of consent without a name',
      { subject: email, purposes: { ads: false }, notice: 'You have the right to erasure.' },
    ],
    ['a banner', { event: 'banner.shown', text: 'You have the right to be forgotten.' }],
    ['another scan', { event: 'scan.started', domain: 'shop.example', owner: email }],
    ['another policy event', { event: 'policy.archived', title: 'Right to erasure', author: email }],
    [
      'another event of an integration',
      { event: 'integration.failed', error: 'access to my data was restricted', email },
    ],
    ['a preference', { event: 'preferences.changed', email, unsubscribe: 'delete my data' }],
    ['a ping', { event: 'ping', zen: 'Delete your darlings.' }],
    ['an address alone', { event: 'user.created', email }],
    ['the words alone', { event: 'ticket.updated', text: 'Please delete my last message.' }],
    ['a request of a program', { event: 'error.raised', request: { method: 'GET', url: '/data' }, user: { email } }],
    ['a pull request', { event: 'pull_request.opened', author: email, title: 'Read access tokens' }],
    ['text', 'pong'],
    ['a mail about something else', `From: ${email}\n\nWhen will my order arrive?`],
  ])('%s', (_name, body) => {
    expect(read(body).outcome).toBe('unknown-event');
  });
});
