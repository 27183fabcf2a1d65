import { describe, expect, it } from 'vitest';
import { isAnonymousRepeat } from '../../receivers/index.ts';
import { readDelivery } from '../../receivers/read.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { context, factOf, RECEIVED, read } from './reading.ts';

const request = (fields: object) => factOf(read({ event: 'dsar.submitted', ...fields }), 'request');

describe('the kind of a request', () => {
  it.each<[object, RequestKind]>([
    [{ request_type: 'Right to know' }, 'access'],
    [{ request_type: 'general review' }, 'unknown'],
    [{ request_type: '' }, 'unknown'],
    [{ request_type: 'limit' }, 'unknown'],
    [{ request_type: 'limit', country: 'US', state: 'CA' }, 'limit'],
    [{ request_type: 'limit', regulation: 'CCPA' }, 'limit'],
    [{ request_type: 'Right to limitation of processing', country: 'FR' }, 'restriction'],
    [{ request_type: 'withdrawal' }, 'unknown'],
    [{ subject: 'Please delete my account' }, 'erasure'],
    [{ subject: 'Please do not delete my account' }, 'unknown'],
    [{ subject: 'Delete my account', message: 'On second thought, please do not delete my account.' }, 'unknown'],
    [{ asunto: 'Supresión de mis datos', mensaje: 'Ustedes rechazaron mi solicitud.' }, 'unknown'],
    [{ subject: 'Appeal', message: 'Please delete my data.' }, 'unknown'],
    [{ request_type: 'do not delete', message: 'Please delete my data.' }, 'unknown'],
    [{ request_type: 'Other', message: 'Please delete my data.' }, 'erasure'],
    [{ subject: 'My data', message: 'Please delete my data.' }, 'erasure'],
    [{ request_type: 'access', message: 'Please do not delete my data.' }, 'access'],
    [{ tipo: 'CONFIRMACAO_TRATAMENTO' }, 'access'],
    [{ tipo: 'ANONIMIZACAO' }, 'unknown'],
    [{ droits_exerces: ['effacement'] }, 'erasure'],
    [{ 'Derecho que ejerce': 'Oposición' }, 'objection'],
    [{ type: 'request', category: 'deletion' }, 'erasure'],
  ])('%j is %s', (fields, kind) => {
    expect(request(fields).kind).toBe(kind);
  });
  it('keeps the word as given, understood or not', () => {
    expect(request({ request_type: 'Right to be forgotten' }).kindAsGiven).toBe('Right to be forgotten');
    expect(read({ event: 'dsar.submitted', request_type: 'frobnicate' })).toMatchObject({
      fact: { kind: 'unknown', kindAsGiven: 'frobnicate' },
      unread: ['request_type'],
    });
  });
  it('is several if several are asked for, whether in a list, in flags, in words or in several fields', () => {
    for (const fields of [
      { request_types: ['access', 'deletion'] },
      { rights: { access: true, portability: false, erasure: true } },
      { request_type: 'Access and erasure' },
      { request_type: 'Löschung', rights: ['Auskunft'] },
      { requestTypes: [{ name: 'Right to know' }, { name: 'Delete' }] },
    ])
      expect(request(fields)).toMatchObject({ kind: 'erasure', furtherKinds: ['access'] });
    expect(request({ request_type: 'access' })).not.toHaveProperty('furtherKinds');
  });
  it('has an unknown part if something in a list is not understood', () => {
    expect(request({ request_types: ['other', 'deletion'] })).toMatchObject({
      kind: 'erasure',
      furtherKinds: ['unknown'],
      kindAsGiven: 'other, deletion',
    });
    expect(request({ request_types: ['other', 'do not delete'] })).toMatchObject({ kind: 'unknown' });
  });
  it('is not the name of the event', () => {
    expect(factOf(read({ type: 'dsar.submitted', data: { email: 'a@b.example' } }), 'request').kindAsGiven).toBeNull();
    expect(factOf(read({ type: 'dsar.submitted', data: { type: 'deletion' } }), 'request').kind).toBe('erasure');
  });
});

describe('the requester and their place', () => {
  it.each<[object, object]>([
    [
      { name: 'Ann', email: 'a@b.example' },
      { requesterName: 'Ann', requesterEmail: 'a@b.example' },
    ],
    [
      { requester: { full_name: 'Ann', email_address: 'a@b.example' } },
      { requesterName: 'Ann', requesterEmail: 'a@b.example' },
    ],
    [{ data: { request: { id: 'r1' }, data_subject: { name: 'Ann' } } }, { requesterName: 'Ann', requestId: 'r1' }],
    [{ first_name: 'Ann', last_name: 'Lee' }, { requesterName: 'Ann Lee' }],
    [{ requester: 'a@b.example' }, { requesterName: null, requesterEmail: 'a@b.example' }],
    [{ from: 'Ann Lee <a@b.example>' }, { requesterName: 'Ann Lee', requesterEmail: 'a@b.example' }],
    [{ email: 'not an address' }, { requesterEmail: null }],
    [{ country: 'US', state: 'CA' }, { jurisdiction: 'US-CA' }],
    [{ state: 'CA' }, { jurisdiction: 'US-CA' }],
    [{ country: 'DE', state: 'submitted' }, { jurisdiction: 'DE' }],
    [{ state: 'submitted' }, { jurisdiction: null }],
    [{ jurisdiction: 'us-ca', country: 'US' }, { jurisdiction: 'us-ca' }],
    [{ country: 'Germany' }, { jurisdiction: 'Germany' }],
    [{ country: 'US', region: 'California' }, { jurisdiction: 'US-CA' }],
    [{ country: 'United States', region: 'CA' }, { jurisdiction: 'US-CA' }],
    [{ country: 'US', state: 'California' }, { jurisdiction: 'US-CA' }],
    [{ country: 'China', region: 'Hong Kong SAR' }, { jurisdiction: 'HK' }],
    [{ country: 'CN', region: 'HK' }, { jurisdiction: 'HK' }],
    [{ country: 'NL', region: 'Aruba' }, { jurisdiction: 'AW' }],
    [{ country: 'NO', region: 'Akershus' }, { jurisdiction: 'NO' }],
    [{ country: 'FR', region: '75' }, { jurisdiction: 'FR' }],
    [{ country: 'DE', region: 'EU' }, { jurisdiction: 'DE' }],
    [{ country: 'DE', region: 'Lower Bavaria' }, { jurisdiction: 'DE' }],
    // The states have different laws, so the name of the state must not be lost.
    [{ country: 'US', region: 'Calfornia' }, { jurisdiction: 'Calfornia, US' }],
    // A tool's own code for a law does not hide the country next to it.
    [{ jurisdiction: 'zone_1', country: 'FR' }, { jurisdiction: 'FR' }],
    [{ jurisdiction: 'zone_1', country: 'US', state: 'MA' }, { jurisdiction: 'US-MA' }],
    [{ jurisdiction: 'Calfornia', country: 'US' }, { jurisdiction: 'Calfornia, US' }],
    [{ regulation: 'gdpr' }, { jurisdiction: 'gdpr' }],
    [{ regulation: 'gdpr', country: 'DE' }, { jurisdiction: 'DE' }],
    [{ regulation: 'house rules' }, { jurisdiction: null }],
    [
      {
        identities: [
          { type: 'user', value: 'x@y.example' },
          { type: 'email', value: 'a@b.example' },
        ],
      },
      { requesterEmail: 'a@b.example' },
    ],
    [{ identifiers: { phones: ['1'], emails: ['a@b.example'] } }, { requesterEmail: 'a@b.example' }],
    [{ identities: ['u-1', 'a@b.example'] }, { requesterEmail: 'a@b.example' }],
    [{ identities: [{ type: 'agent', agent_email: 'agent@b.example' }] }, { requesterEmail: null }],
    [{ identities: [{ type: 'email', value: 'b5e1…', format: 'sha256' }] }, { requesterEmail: null }],
    [{ visitor: { hash: 'v1' } }, { subject: 'v1' }],
    [{ data: { message: 'Hello' } }, { message: 'Hello' }],
    [
      { datos_interesado: { nombre: 'Ann', apellidos: 'Lee', contacto: { email: 'a@b.example' } } },
      { requesterName: 'Ann Lee', requesterEmail: 'a@b.example' },
    ],
    [
      { betroffener: { name: 'Ann', vertreter: { email: 'x@y.example' }, kontakt: { email: 'a@b.example' } } },
      { requesterName: 'Ann', requesterEmail: 'a@b.example' },
    ],
    [{ representante_del_interesado: { email: 'x@y.example' } }, { requesterEmail: null }],
    [{ email: 'privacy@shop.example', demandeur: { courriel: 'a@b.example' } }, { requesterEmail: 'a@b.example' }],
    [
      { emailRichiedente: 'a@b.example', nome_richiedente: 'Ann' },
      { requesterName: 'Ann', requesterEmail: 'a@b.example' },
    ],
    [{ from: { name: 'Ann', address: 'a@b.example' } }, { requesterName: 'Ann', requesterEmail: 'a@b.example' }],
    [
      { coordonnees: { nom: 'Lee', prenom: 'Ann', mel: 'a@b.example' } },
      { requesterName: 'Ann Lee', requesterEmail: 'a@b.example' },
    ],
  ])('%j', (fields, expected) => {
    expect(request(fields)).toMatchObject(expected);
  });
  it('is named by the source before any person', () => {
    const body = { event: 'dsar.submitted', interesado: { email: 'x@y.example' }, who: 'a@b.example' };
    const fact = factOf(read(body, { requesterEmail: ['who'] }), 'request');
    expect(fact.requesterEmail).toBe('a@b.example');
  });
  it('in an object of a language is not reported as unread', () => {
    expect(read({ event: 'dsar.submitted', titular: { email: 'a@b.example' } })).toMatchObject({ unread: [] });
  });
  it('cuts a very long message at a whole character', () => {
    const message = request({ message: `${'x'.repeat(19_999)}\u{1f600}${'y'.repeat(50)}` }).message ?? '';
    expect(message).toBe(`${'x'.repeat(19_999)} […]`);
  });
  it('has the receipt time that the event states, if any', () => {
    expect(request({ submitted_at: '2026-06-30T10:00:00Z' }).occurred).toEqual({
      at: '2026-06-30T10:00:00.000Z',
      basis: 'payload',
      counts: true,
    });
    expect(request({}).occurred).toEqual({ at: RECEIVED, basis: 'received', counts: true });
    const created = { timestamp: '2026-07-01T11:00:00Z', data: { created_at: '2026-06-30T10:00:00Z' } };
    expect(request(created).occurred.at).toBe('2026-06-30T10:00:00.000Z');
    expect(request({ expires_at: '2026-06-30T10:00:00Z', due_date: '2026-06-29' }).occurred.basis).toBe('received');
  });
  it('a repeat without id and time is uncertain', () => {
    expect(isAnonymousRepeat(request({ email: 'a@b.example' }))).toBe(true);
    expect(isAnonymousRepeat(request({ email: 'a@b.example', id: 1 }))).toBe(false);
  });
});

describe('a signed dsar event always opens a case', () => {
  it.each<[string, string, string]>([
    ['with nothing in it', '{"event":"dsar.submitted"}', 'dsar.submitted'],
    ['of another name', '{"event":"dsar.verification_requested","x":{"y":[1]}}', 'dsar.verification_requested'],
    ['in capitals', '{"event":"DSAR.Submitted"}', 'dsar.submitted'],
    ['with underscores', '{"type":"dsar_submitted"}', 'dsar.submitted'],
    ['of no further name', '{"event":"dsar"}', 'dsar'],
    [
      'with fields of every wrong type',
      '{"event":"dsar.submitted","name":[],"email":{},"type":[[]],"message":7,"id":true,"submitted_at":{},"country":[1]}',
      'dsar.submitted',
    ],
    ['alone in a list', '[{"event":"dsar.submitted"}]', 'dsar.submitted'],
    ['among others in a list', '[{"event":"policy.deleted"},{"event":"dsar.submitted"},5]', 'dsar.submitted'],
    ['cut off', '{"event":"dsar.submitted","name":"An', 'dsar.submitted'],
    ['sent as a form', 'event=dsar.submitted&email=a%40b.example', 'dsar.submitted'],
    ['with its name inside the envelope', '{"data":{"event":"dsar.submitted","id":"r"}}', 'dsar.submitted'],
  ])('%s', (_name, text, event) => {
    const reading = read(text);
    expect(reading).toMatchObject({ outcome: 'read', event });
    expect(factOf(reading, 'request').occurred.at).toBe(RECEIVED);
  });
  it('written in Latin-1', () => {
    const body = Buffer.from('{"event":"dsar.submitted","name":"J\u00f6rg"}', 'latin1');
    expect(factOf(readDelivery(body, context), 'request').requesterName).toBe('J\u00f6rg');
  });
  it('but a text that only mentions it does not', () => {
    expect(read('{"event":"policy.deleted","policy_id":"p","note":"dsar.submitted"}').outcome).toBe('read');
    expect(read('{"event":"dsarx.submitted"}')).toMatchObject({ outcome: 'unknown-event', event: 'dsarx.submitted' });
  });
});
