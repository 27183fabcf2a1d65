import { describe, expect, it } from 'vitest';
import { type MoveName, moves as table } from '../../../src/cases/moves.ts';
import { detailTexts, fieldsOf, readFields } from '../../../src/http/pages/parts/fields.tsx';

const moves = Object.keys(table) as MoveName[];

describe('the forms of moves', () => {
  it('label every field of every move in words', () => {
    const unnamed = moves.flatMap((move) =>
      fieldsOf(table[move].details)
        .filter(({ name, label }) => label === name)
        .map(({ name }) => `${move}.${name}`),
    );
    expect(unnamed).toEqual([]);
    expect(moves.length).toBeGreaterThan(15);
  });

  it('require what the schema requires and offer the choices that it allows', () => {
    const field = (move: MoveName, name: string) => fieldsOf(table[move].details).find((one) => one.name === name);
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
    expect(fieldsOf(table['mark-system'].details, { system: [['crm', 'CRM']] })[0]).toMatchObject({
      type: 'choice',
      choices: [['crm', 'CRM']],
    });
  });

  it('leave out empty fields, and ignore fields that the schema does not know', () => {
    const read = readFields(
      table.acknowledge.details,
      { at: '2026-07-01T14:02', channel: '  ', _csrf: 'x', extra: 'y' },
      'Europe/Berlin',
    );
    expect(read).toEqual({ outcome: 'read', values: { at: '2026-07-01T12:02:00.000Z' } });
    expect(readFields(table.note.details, { text: 'one\r\ntwo' }, 'UTC')).toEqual({
      outcome: 'read',
      values: { text: 'one\ntwo' },
    });
    expect(readFields(table.acknowledge.details, { at: 'noon' }, 'UTC').outcome).toBe('refused');
  });

  it('read one part of an answer from each row that has an outcome', () => {
    const read = readFields(
      table.answer.details,
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
      values: { parts: [{ what: 'Erasure', outcome: 'refused', ground: 'Art. 17(3)(b) GDPR' }] },
    });
    const text = detailTexts(JSON.stringify(read.outcome === 'read' ? read.values : {}), 'UTC');
    expect(text.find(([label]) => label === 'What was done')?.[1]).toBe('Erasure: refused (Art. 17(3)(b) GDPR)');
  });
});
