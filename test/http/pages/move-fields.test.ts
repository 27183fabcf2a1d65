import { describe, expect, it } from 'vitest';
import { type MoveName, moveDetails } from '../../../src/cases/move-details.ts';
import { detailTexts, fieldsOf, readDetails } from '../../../src/http/pages/move-fields.ts';

const moves = Object.keys(moveDetails) as MoveName[];

describe('the forms of moves', () => {
  it('have a label in words for every field of every move', () => {
    const unnamed = moves.flatMap((move) =>
      fieldsOf(move)
        .filter(({ name, label }) => label === name)
        .map(({ name }) => `${move}.${name}`),
    );
    expect(unnamed).toEqual([]);
    expect(moves.length).toBeGreaterThan(15);
  });

  it('require what the schema requires and offer the choices that it allows', () => {
    const field = (move: MoveName, name: string) => fieldsOf(move).find((one) => one.name === name);
    expect(field('extend', 'reasons')).toMatchObject({ type: 'text', required: true });
    expect(field('extend', 'until')).toMatchObject({ type: 'date', required: false });
    expect(field('acknowledge', 'at')).toMatchObject({ type: 'moment', required: false });
    expect(field('record-fee', 'paidAt')).toMatchObject({ type: 'moment', required: false });
    expect(field('mark-system', 'result')?.choices.map(([value]) => value)).toEqual([
      'nothing-found',
      'attached',
      'not-applicable',
    ]);
    expect(field('amend', 'kind')?.choices[0]).toEqual(['', '–']);
    expect(field('confirm-identity', 'requester')).toMatchObject({ type: 'choice', required: true });
    expect(fieldsOf('mark-system', { system: [['crm', 'CRM']] })[0]).toMatchObject({
      type: 'choice',
      choices: [['crm', 'CRM']],
    });
  });

  it('leave out what is empty, and read nothing that the schema does not know', () => {
    const read = readDetails(
      'acknowledge',
      { at: '2026-07-01T14:02', channel: '  ', _csrf: 'x', extra: 'y' },
      'Europe/Berlin',
    );
    expect(read).toEqual({ outcome: 'read', details: { at: '2026-07-01T12:02:00.000Z' } });
    expect(readDetails('note', { text: 'one\r\ntwo' }, 'UTC')).toEqual({
      outcome: 'read',
      details: { text: 'one\ntwo' },
    });
    expect(readDetails('acknowledge', { at: 'noon' }, 'UTC').outcome).toBe('refused');
  });

  it('read one part of an answer per row that has an outcome', () => {
    const read = readDetails(
      'answer',
      {
        channel: 'e-mail',
        disclosure: 'full',
        'parts.0.what': 'Erasure',
        'parts.0.outcome': 'refused',
        'parts.0.ground': 'Art. 17(3)(b) GDPR',
        'parts.1.what': 'Access',
        'parts.1.outcome': '',
      },
      'UTC',
    );
    expect(read).toMatchObject({
      details: { parts: [{ what: 'Erasure', outcome: 'refused', ground: 'Art. 17(3)(b) GDPR' }] },
    });
    const text = detailTexts(JSON.stringify(read.outcome === 'read' ? read.details : {}), 'UTC');
    expect(text.find(([label]) => label === 'What was done')?.[1]).toBe('Erasure: refused (Art. 17(3)(b) GDPR)');
  });
});
