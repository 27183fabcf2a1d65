import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { computeDeadlines } from '../../src/law/deadlines.ts';
import { countryCodes } from '../../src/law/jurisdictions.ts';
import { regimesFileSchema } from '../../src/law/regime-schema.ts';
import { createRegimeTable, findRegimeRows, regimeOf } from '../../src/law/regime-table.ts';
import { regimeCodeLines, regimeLines } from './regime-rows.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/deadlines.md'), 'utf8');

const plain = (cell: string) => cell.replaceAll('`', '');

/** The rows of the table under a heading. */
function tableUnder(heading: string): readonly string[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
}

describe('docs/deadlines.md', () => {
  it('has the rows of the program, in the same order', () => {
    expect(tableUnder('The rows')).toEqual(regimeLines());
  });

  it('has the regimes and their codes', () => {
    expect(tableUnder('Which laws')).toEqual(regimeCodeLines());
  });

  it('says how many countries have a confirmed row, only unconfirmed ones, or none', () => {
    const table = createRegimeTable();
    const stateOf = (code: string) => {
      const regime = regimeOf(table, code);
      if (regime === null) return 'none';
      return table.rows.some((row) => row.regime === regime.id && row.confirmed) ? 'confirmed' : 'unconfirmed';
    };
    const states = countryCodes().map(stateOf);
    const count = (state: string) => states.filter((one) => one === state).length;
    expect(states).toHaveLength(250);
    const sentence = /Of 250 countries [^.]*\./.exec(text.replaceAll('\n', ' '))?.[0];
    expect(sentence).toBe(
      `Of 250 countries (249 in ISO 3166-1, and Kosovo), ${count('confirmed')} have a confirmed row, ${count('unconfirmed')} only unconfirmed ones, and ${count('none')} none.`,
    );
    expect(Math.min(count('confirmed'), count('unconfirmed'), count('none'))).toBeGreaterThan(10);
  });

  const examples = tableUnder('Worked examples').map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

  it('has worked examples', () => {
    expect(examples.length).toBeGreaterThan(10);
  });

  it.each(examples)('%s from %s to a controller in %s, received %s, %s: aim for %s, due %s', (...cells) => {
    const [kind = '', place = '', controller = '', received = '', besides = '', aimFor, limit, law, laws = ''] = cells;
    const [country = null, region = null] = plain(controller).split('-');
    const [what = '', from = '', to = ''] = besides.split(/ to | /);
    const noon = (date: string) => `${date}T12:00:00.000Z`;
    const asked = { askedAt: what === '' ? '' : noon(from), receivedAt: to === '' ? null : noon(to) };
    expect(['', 'extended', 'clarification', 'identity']).toContain(what);
    const deadlines = computeDeadlines({
      kind: plain(kind) as RequestKind,
      place: place === '–' ? null : plain(place),
      controller: { country, region, timeZone: 'UTC' },
      regimes: createRegimeTable(),
      receivedAt: noon(received),
      receiptBasis: 'payload',
      extension: what === 'extended' ? { noticeAt: asked.askedAt } : null,
      clarifications: what === 'clarification' ? [asked] : [],
      identity: what === 'identity' ? asked : null,
    });
    const { atOnce } = deadlines;
    expect([deadlines.aimFor ?? '–', `${deadlines.limit ?? 'none'}${atOnce ? ' (at once)' : ''}`]).toEqual([
      aimFor,
      limit,
    ]);
    expect(deadlines.law ?? '–').toBe(plain(law ?? ''));
    expect(deadlines.laws.map((one) => `\`${one.id}\` ${one.limit}`).join(', ') || '–').toBe(laws);
  });

  it('explains a deadline as the program does', () => {
    const deadlines = computeDeadlines({
      kind: 'access',
      place: 'DE',
      controller: { country: 'DE', region: null, timeZone: 'Europe/Berlin' },
      regimes: createRegimeTable(),
      receivedAt: '2026-07-01T14:02:00.000Z',
      receiptBasis: 'payload',
    });
    expect(text).toContain(`\n${deadlines.laws[0]?.explanation.join('; ')}\n`);
  });

  it('shows a valid file', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
    const table = createRegimeTable(regimesFileSchema.parse(parse(yaml)));
    expect(findRegimeRows(table, 'xx-example', 'access')[0]?.citation).toContain('“Example Act s 1”');
    expect(findRegimeRows(table, 'ca-qc', 'access')[0]?.confirmed).toBe(true);
  });
});
