import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { computeDeadline } from '../../src/core/deadline.ts';
import { regimesFileSchema } from '../../src/core/regime-schema.ts';
import { createRegimeTable, findRow } from '../../src/core/regime-table.ts';
import type { RequestKind } from '../../src/core/vocabulary.ts';
import { regimeCodeLines, regimeLines } from './regime-rows.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/deadlines.md'), 'utf8');

/** The rows of the table under a heading. */
function tableUnder(heading: string): readonly string[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
}

describe('docs/deadlines.md', () => {
  it('has the rows of the program, in their order', () => {
    expect(tableUnder('The rows')).toEqual(regimeLines());
  });

  it('has the regimes and their codes', () => {
    expect(tableUnder('Which law')).toEqual(regimeCodeLines());
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

  it.each(examples)('%s, %s (%s), received %s, %s: aim for %s, due %s', (...cells) => {
    const [regime = '', kind = '', country = '', received = '', besides = '', aimFor, legalLimit] = cells;
    const row = findRow(createRegimeTable(), regime.replaceAll('`', ''), kind as RequestKind);
    if (row === null) throw new Error(`no row for ${regime}`);
    const [what = '', from = '', to = ''] = besides.split(/ to | /);
    const noon = (date: string) => `${date}T12:00:00.000Z`;
    const asked = { askedAt: what === '' ? '' : noon(from), receivedAt: to === '' ? null : noon(to) };
    expect(['', 'extended', 'clarification', 'identity']).toContain(what);
    const deadline = computeDeadline({
      row,
      receiptAt: noon(received),
      receiptBasis: 'payload',
      timeZone: 'UTC',
      holidays: { country, region: null },
      extension: what === 'extended' ? { noticeAt: asked.askedAt } : null,
      clarifications: what === 'clarification' ? [asked] : [],
      identity: what === 'identity' ? asked : null,
    });
    expect([deadline.aimFor, deadline.legalLimit]).toEqual([aimFor, legalLimit]);
  });

  it('explains a deadline as the program does', () => {
    const row = findRow(createRegimeTable(), 'eu-gdpr', 'access');
    if (row === null) throw new Error('no row');
    const receiptAt = '2026-07-01T14:02:00.000Z';
    const holidays = { country: 'DE', region: null };
    const deadline = computeDeadline({ row, receiptAt, receiptBasis: 'payload', timeZone: 'Europe/Berlin', holidays });
    expect(text).toContain(`\n${deadline.explanation.join('; ')}\n`);
  });

  it('shows a file that is valid', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
    const table = createRegimeTable(regimesFileSchema.parse(parse(yaml)));
    expect(findRow(table, 'xx-example', 'access')?.citation).toBe('Example Act s 1');
    expect(findRow(table, 'ca-qc', 'access')).not.toBeNull();
  });
});
